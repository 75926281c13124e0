"""Strategies of Delaunay refinement.

They differ in how triangles that would disturb one another are kept apart, and so in which go first; each ends when no
triangle is left that it can improve.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from clgraph.algorithms.delaunay.problem import RefineProblem
from clgraph.algorithms.delaunay.rounds import Refinement
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Gathers, Work
from clgraph.model.strategy import Kind, Strategy
from clgraph.runtime.device_queue import has_device_queue
from clgraph.runtime.session import Session

_LOOKS = 30.0  # at corners, links and points in an attempt to put a point in, where others are not near
_CLAIMS = 12.0  # of triangles in an attempt


def unsupported(facts: DeviceFacts) -> str | None:
    """Return the reason why a device cannot refine meshes, or ``None``."""
    if not facts.has_fp64:
        return "it has no 64-bit floats"
    return None if facts.has_int64_atomics else "it has no 64-bit atomics"


def expected_points(problem: RefineProblem) -> float:
    """Return about how many points are put into a mesh of random points for this angle."""
    return problem.mesh.n_points * 2.0 * (problem.min_angle / 30.0) ** 3


def _work(problem: RefineProblem, *, attempts: float, rounds: float, launches: int) -> Work:
    """Count a run whose points take so many *attempts* each, in so many *rounds*."""
    points = expected_points(problem)
    slots, tries = problem.mesh.n_triangles + 2 * points, attempts * points
    return Work(
        launches * rounds, rounds, streamed_bytes=rounds * slots, gathers=(Gathers(_LOOKS * tries, 60.0 * slots),),
        atomics=(Atomics(_CLAIMS * tries, max(1.0, slots)),),
    )


def _work_of_sets(problem: RefineProblem, _facts: DeviceFacts, *, factor: float = 1.0, launches: int = 6) -> Work:
    """Count rounds of which each puts in a fifth of its candidates."""
    rounds = 2.5 * problem.min_angle + 5.0 * math.log2(2 + problem.mesh.n_triangles)
    return _work(problem, attempts=5.0 * factor, rounds=rounds * factor, launches=launches)


def _work_of_claims(problem: RefineProblem, facts: DeviceFacts, *, rounds: float) -> Work:
    """Count rounds that are few where workers are; on a GPU their patches are so small that most claims fail."""
    attempts, more = (1.3, 1.0) if facts.is_cpu else (20.0, 10.0)
    return _work(problem, attempts=attempts, rounds=more * rounds, launches=3)


def _strategy(kind: Kind, method: str, work: Callable[..., Work], **counts: float) -> Strategy:
    return Strategy(kind, partial(_plan, method=method), partial(work, **counts), unsupported)


def _plan(session: Session, problem: RefineProblem, *, method: str) -> Refinement:
    return Refinement(
        session, problem, method=method, from_device=method == "child_launch" and has_device_queue(session)
    )


STRATEGIES: dict[str, Strategy] = {
    "patches": _strategy("online", "patches", _work_of_claims, rounds=32.0),
    "atomic": _strategy("online", "atomic", _work_of_claims, rounds=64.0),
    "priority": _strategy("offline", "priority", _work_of_sets),
    "three_phase": _strategy("offline", "three_phase", _work_of_sets, factor=4.0),
    "two_stage": _strategy("offline", "two_stage", _work_of_sets, factor=2.0),
    "two_stage_balanced": _strategy("offline", "two_stage_balanced", _work_of_sets, factor=2.0, launches=7),
    "child_launch": _strategy("offline", "child_launch", _work_of_sets, factor=2.0, launches=8),
}


def contenders(_problem: RefineProblem, _facts: DeviceFacts) -> tuple[str, ...]:
    """Claims by atomics against independent sets; how often claims fail decides between them."""
    return "patches", "priority"
