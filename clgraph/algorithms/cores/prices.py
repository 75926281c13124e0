"""Predicted work of each strategy of core numbers, from graph statistics."""

from __future__ import annotations

import math

from clgraph.algorithms.cores.problem import CoresProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Chain, Gathers, Part, Work

# The number of steps of a peeling, which are scans and waves. R-MAT graphs of 2^16 to 2^20 vertices take 400 to 800
# steps, about 3.5 times the square root of the largest degree. A uniform graph takes 73, and a grid takes half as many
# steps as the length of its diameter.
_LEAST_STEPS, _STEPS_PER_SQRT_DEGREE, _STEPS_PER_DEPTH = 20.0, 3.5, 0.5
_LISTED, _LOWERED, _STEP_LOADS = 12.0, 0.5, 6.0  # scans of each vertex, atomics of an entry, loads after each other
# Seconds of one core of an EPYC (family 26) in the kernels peel_step and peel_in_order, for an entry and for a vertex.
_PEEL_SECONDS_PER_ENTRY, _PEEL_SECONDS_PER_VERTEX = 3.5e-8, 6e-8
_CORE_SECONDS_PER_ENTRY, _CORE_SECONDS_PER_VERTEX = 6e-9, 2e-8


def steps(problem: CoresProblem) -> float:
    """Return about how many scans and waves peeling takes."""
    stats = problem.stats
    of_levels = _STEPS_PER_SQRT_DEGREE * math.sqrt(stats.max_degree)
    return _LEAST_STEPS + of_levels + _STEPS_PER_DEPTH * stats.estimated_depth


def peel(problem: CoresProblem, facts: DeviceFacts) -> list[Part]:
    """Return the work of ``peel``: scans and waves, and an atomic for every second entry."""
    n, m = float(problem.stats.n_vertices), float(problem.stats.n_edges)
    count, one_launch = steps(problem), facts.dialect.has_grid_barrier
    driven = Work(
        launches=2.0 if one_launch else 1.0 + count,
        read_backs=1.0 if one_launch else 1.0 + count / 16.0,
        grid_barriers=count if one_launch else 0.0,
    )
    if facts.is_cpu:
        seconds = (_PEEL_SECONDS_PER_ENTRY * m + _PEEL_SECONDS_PER_VERTEX * n) / facts.compute_units
        return [(driven, 1.0, 1.0), (Work(host_seconds=seconds), 1.0, 1.0)]
    work = Work(
        streamed_bytes=12.0 * _LISTED * n + 12.0 * m,
        gathers=(Gathers(m + _LISTED * n, 4.0 * n),),
        atomics=(Atomics(_LOWERED * m, max(2.0, n), "add_int32"),),
    )
    return [(driven, 1.0, 1.0), (work, 1.0, 1.0), (Work(chains=(Chain(_STEP_LOADS * count, 4.0 * m),)), 1.0, 1.0)]


def buckets(problem: CoresProblem, _facts: DeviceFacts) -> list[Part]:
    """Return the work of ``buckets``: one core removes all vertices."""
    n, m = float(problem.graph.n_vertices), float(problem.graph.n_edges)
    return [(Work(launches=1.0, host_seconds=_CORE_SECONDS_PER_ENTRY * m + _CORE_SECONDS_PER_VERTEX * n), 1.0, 1.0)]
