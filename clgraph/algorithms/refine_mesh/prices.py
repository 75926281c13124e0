"""Predicted work of each strategy of Delaunay refinement, from the sizes of the mesh.

An attempt looks for a point that improves a bad triangle, and for the triangles that this point would change. There are
two kinds of strategies. In the first kind, a work-item claims these triangles by atomics, and each failed claim is a
wasted attempt. In the second kind, a round inserts an independent set of points, and each set costs a round.
"""

from __future__ import annotations

import math

from clgraph.algorithms.refine_mesh.problem import RefineProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Gathers, Work

# An attempt to insert a point reads 30 corners, neighbour links and points of triangles, and claims 12 triangles.
ATTEMPT_GATHERS, ATTEMPT_CLAIMS = 30.0, 12.0
# Without atomics, an attempt to insert a point accesses keys of triangles 24 times, to write, raise and read keys.
KEY_GATHERS = 24.0
TRIANGLE_BYTES = 60.0  # memory per triangle
# Attempts per inserted point if work-items claim triangles. Most attempts fail on a GPU, where patches are small.
CPU_ATTEMPTS, GPU_ATTEMPTS = 1.3, 20.0
GPU_ROUNDS = 10.0  # If work-items claim triangles, a GPU needs 10 times the number of rounds that a CPU needs.
# A round that inserts an independent set of points inserts a fifth of its candidates, so a point takes 5 attempts.
SET_ATTEMPTS = 5.0


def new_points(problem: RefineProblem) -> float:
    """Estimate the number of points that refinement inserts, from measurements of random meshes at several angles."""
    return problem.mesh.n_points * 2.0 * (problem.min_angle / 30.0) ** 3


def claims(problem: RefineProblem, facts: DeviceFacts, *, rounds: float) -> Work:
    """Return the predicted work of refinement in *rounds* rounds in which work-items claim triangles by atomics."""
    attempts, more = (CPU_ATTEMPTS, 1.0) if facts.is_cpu else (GPU_ATTEMPTS, GPU_ROUNDS)
    return _refined(problem, attempts, more * rounds, 3)


def sets(
    problem: RefineProblem, _facts: DeviceFacts, *, factor: float = 1.0, launches: int = 6, has_atomics: bool = True
) -> Work:
    """Return the predicted work of refinement whose rounds insert points that change disjoint sets of triangles."""
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
