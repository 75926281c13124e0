"""Strategies of Delaunay refinement.

They differ in how triangles that would disturb one another are kept apart, and so in which go first; each ends when no
triangle is left that it can improve.
"""
from __future__ import annotations

import math
from functools import partial

from clgraph.algorithms.delaunay.problem import RefineProblem
from clgraph.algorithms.delaunay.rounds import Refinement
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Gathers, Work
from clgraph.model.strategy import Strategy

_LOOKS = 60.0  # at corners, links and points in an attempt to put a point in
_CLAIMS = 12.0  # of triangles in an attempt


def unsupported(facts: DeviceFacts) -> str | None:
    """Return the reason why a device cannot refine meshes, or ``None``."""
    if not facts.has_fp64:
        return "it has no 64-bit floats"
    return None if facts.has_int64_atomics else "it has no 64-bit atomics"


def expected_points(problem: RefineProblem) -> float:
    """Return about how many points are put into a mesh of random points for this angle."""
    return problem.mesh.n_points * 2.0 * (problem.min_angle / 30.0) ** 3


def _work(problem: RefineProblem, _facts: DeviceFacts, *, attempts: float, rounds: float, launches: int) -> Work:
    """Count a run whose points take so many *attempts* each, in so many *rounds*."""
    points = expected_points(problem)
    slots = problem.mesh.n_triangles + 2 * points
    tries = attempts * points
    return Work(
        launches * rounds, rounds, streamed_bytes=rounds * slots, gathers=(Gathers(_LOOKS * tries, 60.0 * slots),),
        atomics=(Atomics(_CLAIMS * tries, max(1.0, slots)),),
    )


def _rounds_by_hash(problem: RefineProblem) -> float:
    return 10.0 * math.log2(2 + problem.mesh.n_triangles)


def _work_of_sets(problem: RefineProblem, facts: DeviceFacts) -> Work:
    return _work(problem, facts, attempts=5.0, rounds=_rounds_by_hash(problem), launches=6)


def _work_of_patches(problem: RefineProblem, facts: DeviceFacts) -> Work:
    return _work(problem, facts, attempts=1.3, rounds=32.0, launches=3)


def _work_of_claims(problem: RefineProblem, facts: DeviceFacts) -> Work:
    return _work(problem, facts, attempts=4.0, rounds=64.0, launches=3)


STRATEGIES: dict[str, Strategy] = {
    "patches": Strategy("online", partial(Refinement, method="patches"), _work_of_patches, unsupported),
    "atomic": Strategy("online", partial(Refinement, method="atomic"), _work_of_claims, unsupported),
    "priority": Strategy("offline", partial(Refinement, method="priority"), _work_of_sets, unsupported),
    "three_phase": Strategy("offline", partial(Refinement, method="three_phase"), _work_of_sets, unsupported),
}
