"""Predicted work of each strategy of strongly connected components, from graph statistics."""

from __future__ import annotations

import math

from clgraph.algorithms.strongly_connected_components.problem import StrongProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Gathers, Part, Work

_SWEEPS, _FILTERS = 12.0, 4.0


def min_propagation(problem: StrongProblem, facts: DeviceFacts) -> list[Part]:
    """Return the work of sweeps along all edges."""
    return [(_start(problem), 1.0, 1.0), (_sweeps(problem, facts, float(problem.stats.n_edges)), 1.0, 1.0)]


def forward_backward(problem: StrongProblem, facts: DeviceFacts) -> list[Part]:
    """Return the work of a search both ways, and of sweeps along the edges that it leaves."""
    stats = problem.stats
    n, m = float(stats.n_vertices), float(stats.n_edges)
    rounds = min(32.0, stats.estimated_depth + 2.0)
    search = Work(launches=rounds, streamed_bytes=12.0 * n * rounds + 8.0 * m, gathers=(Gathers(3.0 * m, 4.0 * n),))
    left = 0.05 * m if stats.estimated_depth < 30.0 else m
    return [(_start(problem), 1.0, 1.0), (search, 1.0, 1.0), (_sweeps(problem, facts, left), 1.0, 1.0)]


def _start(problem: StrongProblem) -> Work:
    n = float(problem.stats.n_vertices)
    return Work(launches=8.0, read_backs=2.0, streamed_bytes=48.0 * n)


def _sweeps(problem: StrongProblem, _facts: DeviceFacts, m: float) -> Work:
    n = float(problem.stats.n_vertices)
    sweeps = _SWEEPS + math.log2(1.0 + problem.stats.estimated_depth)
    return Work(launches=sweeps, streamed_bytes=8.0 * sweeps * m, gathers=(Gathers(4.0 * sweeps * m, 4.0 * n),))
