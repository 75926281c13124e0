"""Predicted work of each strategy of Delaunay refinement, from the sizes of the mesh.

There are two kinds of strategies. With claims by atomics, each failed claim is a wasted attempt. With independent sets,
each set costs a round.
"""

from __future__ import annotations

import math

from clgraph.algorithms.refine_mesh.problem import RefineProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Gathers, Work

ATTEMPT_GATHERS, ATTEMPT_CLAIMS = 30.0, 12.0  # corners, links and points read, and triangles claimed, per attempt
KEY_GATHERS = 24.0  # accesses to keys per attempt, without atomics: keys are written, raised and read
TRIANGLE_BYTES = 60.0  # memory per triangle
CPU_ATTEMPTS, GPU_ATTEMPTS = 1.3, 20.0  # attempts per new point. On a GPU patches are small, so most claims fail.
GPU_ROUNDS = 10.0  # rounds of claims on a GPU, relative to a CPU
SET_ATTEMPTS = 5.0  # attempts per new point by independent sets: a round inserts a fifth of its candidates


def new_points(problem: RefineProblem) -> float:
    """Return the estimated number of new points, as measured on meshes of random points for this angle."""
    return problem.mesh.n_points * 2.0 * (problem.min_angle / 30.0) ** 3


def claims(problem: RefineProblem, facts: DeviceFacts, *, rounds: float) -> Work:
    """Return the work of strategies whose work-items claim triangles by atomics."""
    attempts, more = (CPU_ATTEMPTS, 1.0) if facts.is_cpu else (GPU_ATTEMPTS, GPU_ROUNDS)
    return _refined(problem, attempts, more * rounds, 3)


def sets(
    problem: RefineProblem, _facts: DeviceFacts, *, factor: float = 1.0, launches: int = 6, has_atomics: bool = True
) -> Work:
    """Return the work of strategies whose rounds insert points with disjoint cavities."""
    rounds = 2.5 * problem.min_angle + 5.0 * math.log2(2 + problem.mesh.n_triangles)
    return _refined(problem, SET_ATTEMPTS * factor, rounds * factor, launches, has_atomics=has_atomics)


def _refined(
    problem: RefineProblem, attempts: float, rounds: float, launches: int, *, has_atomics: bool = True
) -> Work:
    points = new_points(problem)
    triangles, tries = problem.mesh.n_triangles + 2 * points, attempts * points
    gathers = ATTEMPT_GATHERS + (0.0 if has_atomics else KEY_GATHERS)
    return Work(
        launches * rounds,
        rounds,
        streamed_bytes=rounds * triangles,
        gathers=(Gathers(gathers * tries, TRIANGLE_BYTES * triangles),),
        atomics=(Atomics(ATTEMPT_CLAIMS * tries, max(1.0, triangles)),) if has_atomics else (),
    )
