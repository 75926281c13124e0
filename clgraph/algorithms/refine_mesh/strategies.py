"""The strategies of Delaunay refinement.

A new point replaces the triangles of its cavity. The strategies differ in how they resolve conflicts between points
whose cavities overlap, and so in the order in which they insert points. Each strategy ends when it cannot improve any
remaining triangle.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from clgraph.algorithms.refine_mesh import prices
from clgraph.algorithms.refine_mesh.problem import RefineProblem
from clgraph.algorithms.refine_mesh.rounds import Refinement
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Work
from clgraph.model.strategy import Kind, Strategy
from clgraph.runtime.session import Session


def unsupported(facts: DeviceFacts) -> str | None:
    """Return the reason why the device cannot refine meshes, or ``None`` if it can."""
    if not facts.has_fp64:
        return "it has no 64-bit floats"
    return None if facts.has_int64_atomics else "it has no 64-bit atomics"


def _unfit(problem: RefineProblem, *, method: str) -> str | None:
    if not problem.deterministic or method == "priority":
        return None
    if method in ("patches", "atomic"):
        return "the mesh depends on which work-item claims a triangle first, so it is not deterministic"
    return "the mesh depends on which of several keys written at once is left, so it is not deterministic"


def _strategy(kind: Kind, method: str, work: Callable[..., Work], **counts: float) -> Strategy:
    plan, unfit = partial(_plan, method=method), partial(_unfit, method=method)
    return Strategy(kind, plan, partial(work, **counts), unsupported, unfit)


def _plan(session: Session, problem: RefineProblem, *, method: str) -> Refinement:
    return Refinement(
        session, problem, method=method, from_device=method == "child_launch" and session.commands.has_device_queue
    )


STRATEGIES: dict[str, Strategy] = {
    "patches": _strategy("online", "patches", prices.claims, rounds=32.0),
    "atomic": _strategy("online", "atomic", prices.claims, rounds=64.0),
    "priority": _strategy("offline", "priority", prices.sets),
    "three_phase": _strategy("offline", "three_phase", prices.sets, factor=4.0, has_atomics=False),
    "two_stage": _strategy("offline", "two_stage", prices.sets, factor=2.0),
    "two_stage_balanced": _strategy("offline", "two_stage_balanced", prices.sets, factor=2.0, launches=7),
    "child_launch": _strategy("offline", "child_launch", prices.sets, factor=2.0, launches=8),
}


def contenders(problem: RefineProblem, _facts: DeviceFacts) -> tuple[str, ...]:
    """Return the names of the mesh refinement strategies that ``"auto"`` compares.

    In ``patches`` work-items claim triangles; in ``priority`` each round inserts an independent set of points. Only
    ``priority`` is deterministic.
    """
    return ("priority",) if problem.deterministic else ("patches", "priority")
