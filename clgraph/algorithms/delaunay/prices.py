"""Predicted work of each strategy of mesh refinement: online claims by atomics, or rounds of offline sets.

A claim that fails wastes an attempt, and claims are atomics; a round of sets wastes the candidates that lose, and needs
launches and barriers in place of luck. So the measured throughput of atomics decides between ``patches``, which claims
all it touches, ``priority``, whose winners are found by atomics, and ``three_phase``, which has none.

The constants are fitted to meshes of 4,000 to 5.6 million triangles on two CPUs and a GPU
(``benchmarks/results/refine_mesh-*.json``), so that picks lose the least; kernels are not predicted one by one.
"""
from __future__ import annotations

import math

from clgraph.algorithms.delaunay.problem import RefineProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Gathers, Work

POINTS_PER_POINT, POINTS_ANGLE = 2.0, 30.0  # points put in per point of a random mesh, and the bound in degrees for it
LOOKS = 30.0  # loads of corners, links and points per attempt to put a point in
CLAIMS = 12.0  # triangles of a cavity and around it, per attempt
SLOT_BYTES = 60.0  # of a triangle with its corners, links, sides and half of a point
TRIES, RIVAL_TRIES = 1.3, 20.0  # attempts per point of claims: by a CPU's few workers, and by a GPU's thousands
PATCH_ROUNDS, RIVAL_ROUNDS = 32.0, 10.0  # launches of patches on a CPU, and how often as many a GPU needs
SET_TRIES = 5.0  # attempts per point of sets, of which a fifth wins
DEGREE_ROUNDS, DOUBLING_ROUNDS = 2.5, 5.0  # rounds of sets per degree of the bound, and per doubling of the mesh
CLAIM_LAUNCHES, SET_LAUNCHES = 3.0, 6.0  # per round
THREE_PHASES, TWO_STAGES = 4.0, 2.0  # rounds over those of "priority": both take the triangles around a cavity, too


def patches(problem: RefineProblem, facts: DeviceFacts) -> Work:
    """Return the work of workers that claim patches and keep them."""
    more, tries = (1.0, TRIES) if facts.is_cpu else (RIVAL_ROUNDS, RIVAL_TRIES)
    return _work(problem, tries, PATCH_ROUNDS * more, CLAIM_LAUNCHES)


def atomic(problem: RefineProblem, facts: DeviceFacts) -> Work:
    """Return the work of ``patches`` where a worker claims one triangle at a time."""
    more, tries = (1.0, TRIES) if facts.is_cpu else (RIVAL_ROUNDS, RIVAL_TRIES)
    return _work(problem, tries, 2.0 * PATCH_ROUNDS * more, CLAIM_LAUNCHES)


def priority(problem: RefineProblem, _facts: DeviceFacts) -> Work:
    """Return the work of rounds whose winners are found by atomics."""
    return _work(problem, SET_TRIES, rounds(problem), SET_LAUNCHES)


def three_phase(problem: RefineProblem, _facts: DeviceFacts) -> Work:
    """Return the work of rounds whose winners are found by keys that candidates write, raise and read."""
    more = THREE_PHASES
    return _work(problem, more * SET_TRIES, more * rounds(problem), SET_LAUNCHES, has_atomics=False)


def two_stage(problem: RefineProblem, _facts: DeviceFacts, *, more_launches: float = 0.0) -> Work:
    """Return the work of rounds of keys, with two rounds of claims behind each."""
    more = TWO_STAGES
    return _work(problem, more * SET_TRIES, more * rounds(problem), SET_LAUNCHES + more_launches)


def two_stage_balanced(problem: RefineProblem, facts: DeviceFacts) -> Work:
    """Return the work of ``two_stage`` with a launch that looks at the new triangles."""
    return two_stage(problem, facts, more_launches=1.0)


def child_launch(problem: RefineProblem, facts: DeviceFacts) -> Work:
    """Return the work of ``two_stage`` with grids that look at the new triangles."""
    return two_stage(problem, facts, more_launches=2.0)


def rounds(problem: RefineProblem) -> float:
    """Return about how many rounds of sets there are."""
    return DEGREE_ROUNDS * problem.min_angle + DOUBLING_ROUNDS * math.log2(2 + problem.mesh.n_triangles)


def _work(problem: RefineProblem, tries: float, rounds: float, launches: float, *, has_atomics: bool = True) -> Work:
    """Return the work of so many *tries* per point and *launches* per round; keys stand for missing atomics."""
    points = POINTS_PER_POINT * problem.mesh.n_points * (problem.min_angle / POINTS_ANGLE) ** 3
    slots = max(1.0, problem.mesh.n_triangles + 2.0 * points)
    claims, keys = (CLAIMS, 0.0) if has_atomics else (0.0, 2.0 * CLAIMS)
    return Work(
        launches * rounds, rounds, streamed_bytes=rounds * slots,
        gathers=(Gathers((LOOKS + keys) * tries * points, SLOT_BYTES * slots),),
        atomics=(Atomics(claims * tries * points, slots),) if has_atomics else (),
    )
