"""Predicted work of each strategy of strongly connected components, from graph statistics."""

from __future__ import annotations

import math

from clgraph.algorithms.strongly_connected_components.problem import StrongProblem
from clgraph.data.graphs.stats import FAR_IN_MESHES, GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import scanned, walked
from clgraph.model.cost import Gathers, Part, Work

# A search from a pivot looks at all entries in about two rounds, and at a quarter of them in each round after four.
_LOOKS, _LATE_LOOKS, _EARLY_ROUNDS = 2.0, 0.25, 4.0
_CPU_SEARCH = 2.0  # On two cores of an EPYC the search takes about 2 × the time of its predicted gathers.
MAX_ROUNDS = 32  # rounds of a search before it is cut off
# Steps of the propagation on graphs of any depth, and for each level of depth. Graphs that are deeper than 2 √n are
# long paths, along which keys travel quickly. Counted on meshes and random graphs.
_LEAST_STEPS, _STEPS_PER_LEVEL, _LEVELS_PER_ROOT = 10.0, 0.25, 2.0
# Gathers of an edge in a step, and the mean share of the edges that a step processes: the list becomes shorter, and
# edges between near vertices rest.
_GATHERS, _MEAN_SHARE, _MEAN_SHARE_IN_MESHES = 6.0, 0.5, 0.1
_LEFT_SHARE = 0.02  # share of the entries that are still live after a complete search
# Time of scipy's search in units of a plain traversal, and its passes over entries and vertices. On one core of an EPYC
# (family 26) the search of R-MAT graphs, random graphs and meshes takes 3 to 6 times as long as a traversal.
_TRAVERSALS, _SCANS, _SCANS_OF_VERTICES = 5.0, 0.5, 4.0
_OWN_TRAVERSALS = 2.5  # the same for the kernel find_in_depth, which takes 0.5 × the time of scipy's search
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
    looks = m * (_LOOKS + _LATE_LOOKS * max(0.0, rounds - _EARLY_ROUNDS))
    search = _waits(rounds, facts) + Work(
        streamed_bytes=12.0 * n * rounds + 4.0 * looks, gathers=(Gathers(looks, 4.0 * n),)
    )
    left = _LEFT_SHARE * m if depth < MAX_ROUNDS else m
    if facts.is_cpu:
        search = search.times(_CPU_SEARCH)
    return [(_ends(stats), 1.0, 1.0), (search, 1.0, 1.0), (_propagation(stats, facts, left), 1.0, 1.0)]


def depth_first(problem: StrongProblem, _facts: DeviceFacts) -> list[Part]:
    """Return the work of one core's search, and of a pass that numbers the components."""
    search = walked(problem.graph, "traverse").times(_OWN_TRAVERSALS)
    asked = Work(launches=1.0, read_backs=1.0), search, scanned(problem.graph, 0.0, 2.0)
    return [(each, 1.0, 1.0) for each in asked]


def host(problem: StrongProblem) -> list[Part]:
    """Return the host's work: scipy's search, and passes that number the components."""
    search = walked(problem.graph, "traverse").times(_TRAVERSALS)
    asked = search, scanned(problem.graph, _SCANS, _SCANS_OF_VERTICES), _CALL
    return [(each, 1.0, 1.0) for each in asked]


def _ends(stats: GraphStats) -> Work:
    """Return the work before and after a search: start, numbers of components."""
    return Work(launches=8.0, read_backs=2.0, streamed_bytes=64.0 * stats.n_vertices)


def _propagation(stats: GraphStats, facts: DeviceFacts, edges: float) -> Work:
    depth = min(stats.estimated_depth, _LEVELS_PER_ROOT * math.sqrt(stats.n_vertices))
    steps = _LEAST_STEPS + _STEPS_PER_LEVEL * depth
    is_mesh = stats.far_neighbor_share < FAR_IN_MESHES
    looks = (_MEAN_SHARE_IN_MESHES if is_mesh else _MEAN_SHARE) * steps * edges
    return _waits(steps, facts) + Work(
        streamed_bytes=8.0 * looks + 16.0 * edges,
        gathers=(Gathers(_GATHERS * looks, 8.0 * min(stats.n_vertices, edges)),),
    )


def _waits(steps: float, facts: DeviceFacts) -> Work:
    """Return how steps are separated: by barriers of the grid, or by launches after some of which the host reads."""
    if facts.dialect.has_grid_barrier:
        return Work(launches=1.0, grid_barriers=steps)
    return Work(launches=steps, read_backs=steps / 8.0)
