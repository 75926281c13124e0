"""Predicted work of each strategy of strongly connected components, from graph statistics."""

from __future__ import annotations

from clgraph.algorithms.strongly_connected_components.problem import StrongProblem
from clgraph.data.graphs.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import scanned, walked
from clgraph.model.cost import Gathers, Part, Work

# A search from a pivot looks at all entries in about two rounds, and in half of the rounds after the fourth one.
_LOOKS, _SHALLOW_DEPTH = 2.0, 4.0
MAX_ROUNDS = 32  # rounds of a search before it is cut off
# Steps of the propagation, on graphs of any depth and for each level of depth, and gathers of an edge in a step. The
# list of edges becomes shorter, so on average a step processes half of them. Counted on meshes and random graphs.
_LEAST_STEPS, _STEPS_PER_LEVEL, _GATHERS, _MEAN_LIST = 10.0, 0.25, 6.0, 0.5
_LEFT_SHARE = 0.02  # entries that a complete search leaves
# Seconds of scipy's search per item of a plain traversal, and its passes over entries and vertices. On one core of an
# EPYC (family 26) the search of R-MAT graphs, random graphs and meshes takes 5 to 20 times as long as a traversal.
_TRAVERSALS, _SCANS, _SCANS_OF_VERTICES = 9.0, 0.5, 4.0
_CALL = Work(host_seconds=5e-5)  # A call to scipy takes this time on a graph of any size.


def min_propagation(problem: StrongProblem, facts: DeviceFacts) -> list[Part]:
    """Return the work of a propagation along all edges."""
    stats = problem.stats
    return [(_ends(stats), 1.0, 1.0), (_propagation(stats, facts, float(stats.n_edges)), 1.0, 1.0)]


def forward_backward(problem: StrongProblem, facts: DeviceFacts) -> list[Part]:
    """Return the work of a search both ways, and of a propagation along the edges that it leaves."""
    stats = problem.stats
    n, m, depth = float(stats.n_vertices), float(stats.n_edges), stats.estimated_depth
    rounds = min(MAX_ROUNDS, depth + 2.0)
    looks = m * (_LOOKS + 0.5 * max(0.0, rounds - _SHALLOW_DEPTH))
    search = _waits(rounds, facts) + Work(
        streamed_bytes=12.0 * n * rounds + 4.0 * looks, gathers=(Gathers(looks, 4.0 * n),)
    )
    left = _LEFT_SHARE * m if depth < MAX_ROUNDS else m
    return [(_ends(stats), 1.0, 1.0), (search, 1.0, 1.0), (_propagation(stats, facts, left), 1.0, 1.0)]


def host(problem: StrongProblem) -> list[Part]:
    """Return the host's work: scipy's search, and passes that number the components."""
    search = walked(problem.graph, "traverse").times(_TRAVERSALS)
    asked = search, scanned(problem.graph, _SCANS, _SCANS_OF_VERTICES), _CALL
    return [(each, 1.0, 1.0) for each in asked]


def _ends(stats: GraphStats) -> Work:
    """Return the work before and after a search: start, numbers of components."""
    return Work(launches=8.0, read_backs=2.0, streamed_bytes=64.0 * stats.n_vertices)


def _propagation(stats: GraphStats, facts: DeviceFacts, edges: float) -> Work:
    steps = _LEAST_STEPS + _STEPS_PER_LEVEL * stats.estimated_depth
    looks = _MEAN_LIST * steps * edges
    return _waits(steps, facts) + Work(
        streamed_bytes=8.0 * looks + 16.0 * edges,
        gathers=(Gathers(_GATHERS * looks, 8.0 * min(stats.n_vertices, edges)),),
    )


def _waits(steps: float, facts: DeviceFacts) -> Work:
    """Return how steps are separated: by barriers of the grid, or by launches after some of which the host reads."""
    if facts.dialect.has_grid_barrier:
        return Work(launches=1.0, grid_barriers=steps)
    return Work(launches=steps, read_backs=steps / 8.0)
