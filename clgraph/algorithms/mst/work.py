"""What the strategies of minimum spanning forests ask of a device, from the statistics of the graph.

The counts follow the kernels: a pass over the entries moves weight and neighbour and spends as much again on finding
rows; a visit to a listed edge reads and writes it, reads the trees and the best edges of both ends, and lowers them.
"""
from __future__ import annotations

import math

from clgraph.algorithms.mst.problem import ForestProblem
from clgraph.data.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Gathers, Work

_NEAR_BYTES = 2.0**18
_PASS_BYTES = 28.0  # an entry
_FLATTEN_BYTES = 40.0  # a vertex
_VISIT_BYTES = 48.0
_VISITS = 2.5  # of an edge before it is inside a tree
_HOOKS = 0.25  # visits that lower a best edge
_OFFERED_AGAIN = 0.2  # of the bytes
_LIGHT_FROM_DEGREE, _JOINED_FIRST = 8.0, 1.25
_RANDOM = 0.5  # of the numbers, from which on the lightest edges lead anywhere
_DIGIT_BITS, _PASS_LAUNCHES, _KEY_BYTES = 8, 3.0, 12.0  # of a sort, which reads each key twice and writes it
# Beside the sort: its key of a vertex's edge, that in order twice, the edge's number, and a copy of it on the host.
_ANSWER_LAUNCHES, _ANSWER_BYTES, _LINE_BYTES = 3.0, 56.0, 64.0
_TREES_LEFT = 4.0  # 1 / the share of the vertices that are trees when each has taken its edge, where weights differ
_HEAVY_SHARE = 0.3  # edges a vertex that the light ones leave between trees


def default_light_edges(problem: ForestProblem, facts: DeviceFacts, *, whole: bool) -> float:
    """Edges a vertex to join first; 0 where most edges would be among them, or few are left between trees anyhow.

    Where many edges are the lightest, the vertices of a *whole* graph first take the edge to the least neighbor of
    theirs, which leaves few trees unless the numbering is random. CPUs then look at all edges once, not twice.
    """
    stats = problem.stats
    if stats.mean_degree < _LIGHT_FROM_DEGREE:
        return 0.0
    if whole and facts.is_cpu and not problem.maximum and stats.randomness < _RANDOM:
        return 0.0 if 0.5 * problem.graph.least_share * stats.mean_degree > _JOINED_FIRST else _JOINED_FIRST
    return _JOINED_FIRST


def rounds(stats: GraphStats) -> float:
    """Rounds until no component has an edge left: each leaves about a quarter."""
    return 2.0 + 0.5 * math.log2(1 + stats.n_vertices - stats.n_isolated)


def walk(stats: GraphStats) -> Work:
    """Look at the weights and neighbours of all entries."""
    return Work(streamed_bytes=_PASS_BYTES * stats.n_edges)


def hook_rows(stats: GraphStats) -> Work:
    return Work(gathers=(Gathers(float(stats.n_vertices), _NEAR_BYTES),))


def flatten(stats: GraphStats) -> Work:
    n = float(stats.n_vertices)
    return Work(streamed_bytes=_FLATTEN_BYTES * n, gathers=_values(stats, 2 * n))


def visits(problem: ForestProblem, facts: DeviceFacts, light_edges: float) -> float:
    """Visits to listed edges in all rounds; *light_edges* a vertex were joined first.

    Where edges weigh the same, the first hooks of a CPU leave as many trees as those of components do. A GPU waits for
    all its work-groups in each round, however few edges are left.
    """
    stats = problem.stats
    listed = (light_edges + _HEAVY_SHARE) * stats.n_vertices if light_edges else 0.4 * stats.n_edges
    if facts.is_cpu:
        least, trees = problem.graph.least_share, min(1.0, _TREES_LEFT * stats.first_hook_tree_share)
        listed *= 1.0 - least + least * trees
    return _VISITS * listed


def join(stats: GraphStats, n_visits: float, again: float = 0.0, barriers: float = 0.0) -> Work:
    """Hook, settle and offer in rounds that make *n_visits* to listed edges; *again* are bytes of other offers."""
    return Work(
        streamed_bytes=_VISIT_BYTES * n_visits + again, grid_barriers=barriers, gathers=_values(stats, 4 * n_visits),
        atomics=(Atomics(_HOOKS * 2 * n_visits, max(2.0, float(stats.n_vertices))),),
    )


def offered_again(stats: GraphStats, n_visits: float, n_parts: int) -> float:
    """Return the bytes of offering edges whose weight won once more, while a list of *n_parts* is worked off."""
    once = _FLATTEN_BYTES * stats.n_vertices + (1 + 1 / n_parts) * _PASS_BYTES * stats.n_edges + _VISIT_BYTES * n_visits
    return _OFFERED_AGAIN * once


def label_components(stats: GraphStats) -> Work:
    n = float(stats.n_vertices)
    return Work(streamed_bytes=40.0 * n, gathers=_values(stats, 4 * n))


def discover_components(stats: GraphStats) -> Work:
    n, m = float(stats.n_vertices), float(stats.n_edges)
    return Work(
        streamed_bytes=_PASS_BYTES * m, gathers=_values(stats, m), atomics=(Atomics(_HOOKS * n, max(2.0, n)),)
    )


def answer(stats: GraphStats) -> Work:
    """Name the edges, sort them, number and weigh them, and copy them to the host."""
    n, passes = float(stats.n_vertices), math.ceil(stats.n_edges.bit_length() / _DIGIT_BITS)
    weights = min(4.0 * stats.n_edges, _LINE_BYTES * n)
    return Work(
        launches=_ANSWER_LAUNCHES + _PASS_LAUNCHES * passes, gathers=(Gathers(passes * n, _NEAR_BYTES),),
        streamed_bytes=(_ANSWER_BYTES + _KEY_BYTES * passes) * n + weights,
    )


def _values(stats: GraphStats, count: float) -> tuple[Gathers, ...]:
    """Read what *count* neighbours or their trees hold."""
    far = stats.far_neighbor_share
    return Gathers(far * count, 8.0 * stats.n_vertices), Gathers((1 - far) * count, _NEAR_BYTES)
