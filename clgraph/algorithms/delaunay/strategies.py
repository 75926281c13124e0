"""Strategies of Delaunay refinement.

They differ in how triangles that would disturb one another are kept apart, and so in which go first; each ends when no
triangle is left that it can improve.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial

from clgraph.algorithms.delaunay import prices
from clgraph.algorithms.delaunay.problem import RefineProblem
from clgraph.algorithms.delaunay.rounds import Refinement
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Work
from clgraph.model.strategy import Kind, Strategy
from clgraph.runtime.device_queue import has_device_queue
from clgraph.runtime.session import Session


def unsupported(facts: DeviceFacts) -> str | None:
    """Return the reason why a device cannot refine meshes, or ``None``."""
    if not facts.has_fp64:
        return "it has no 64-bit floats"
    return None if facts.has_int64_atomics else "it has no 64-bit atomics"


def _plan(session: Session, problem: RefineProblem, *, method: str) -> Refinement:
    return Refinement(
        session, problem, method=method, from_device=method == "child_launch" and has_device_queue(session)
    )


def _strategy(kind: Kind, method: str, price: Callable[[RefineProblem, DeviceFacts], Work]) -> Strategy:
    return Strategy(kind, partial(_plan, method=method), price, unsupported)


STRATEGIES: dict[str, Strategy] = {
    "patches": _strategy("online", "patches", prices.patches),
    "atomic": _strategy("online", "atomic", prices.atomic),
    "priority": _strategy("offline", "priority", prices.priority),
    "three_phase": _strategy("offline", "three_phase", prices.three_phase),
    "two_stage": _strategy("offline", "two_stage", prices.two_stage),
    "two_stage_balanced": _strategy("offline", "two_stage_balanced", prices.two_stage_balanced),
    "child_launch": _strategy("offline", "child_launch", prices.child_launch),
}


def contenders(_problem: RefineProblem, _facts: DeviceFacts) -> tuple[str, ...]:
    """Online claims, sets that atomics find, and sets without atomics: the throughput of atomics decides."""
    return "patches", "priority", "three_phase"
