"""What the strategies of minimum spanning forests ask of a device, from the statistics of the graph.

The counts follow the kernels: a pass over the entries moves weight and neighbour and spends as much again on finding
rows; a visit to a listed edge reads and writes it, reads the trees and the best edges of both ends, and lowers them.
"""
from __future__ import annotations

import math

from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Gathers, Work
from clgraph.stats import GraphStats

_NEAR_BYTES = 2.0**18
_PASS_BYTES = 28.0  # an entry
_VISIT_BYTES = 48.0
_VISITS = 2.5  # of an edge before it is inside a tree
_HOOKS = 0.25  # visits that lower a best edge
_LIGHT_FROM_DEGREE = 8.0
_HEAVY_SHARE = 0.3  # edges a vertex that the light ones leave between trees


def default_light_edges(stats: GraphStats) -> float:
    """Edges a vertex to join first; 0 where most edges would be among them."""
    return 1.25 if stats.mean_degree >= _LIGHT_FROM_DEGREE else 0.0


def edge_list_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    n, m = float(stats.n_vertices), float(stats.n_edges)
    light = default_light_edges(stats)
    parts, listed = (2, (light + _HEAVY_SHARE) * n) if light else (1, 0.4 * m)
    rounds, visits = _rounds(stats), _VISITS * listed
    if facts.dialect.has_grid_barrier:
        control = Work(launches=3.0 + 5 * parts, grid_barriers=3 * rounds * parts)
    else:
        control = Work(launches=3.0 + (2 + 3 * rounds) * parts, read_backs=rounds * parts)
    trees = Work(
        streamed_bytes=40.0 * n * parts, gathers=(*_values(stats, 4 * visits + 2 * n * parts), Gathers(n, _NEAR_BYTES))
    )
    edges = Work(
        streamed_bytes=_PASS_BYTES * m * (1 + parts) + _VISIT_BYTES * visits,
        atomics=(Atomics(_HOOKS * 2 * visits, max(2.0, n)),),
    )
    return control + trees + edges


def two_pass_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    """The first round and every offer twice."""
    work = edge_list_work(stats, facts)
    again = Work(launches=_rounds(stats) + 1, streamed_bytes=_PASS_BYTES * stats.n_edges + 0.2 * work.streamed_bytes)
    return work + again


def segmented_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    n, m = float(stats.n_vertices), float(stats.n_edges)
    a_round = Work(
        launches=3.0, read_backs=1.0, streamed_bytes=_PASS_BYTES * m + 40.0 * n, gathers=_values(stats, m + 4 * n),
        atomics=(Atomics(_HOOKS * n, max(2.0, n)),),
    )
    return Work(launches=1.0) + a_round.times(_rounds(stats))


def _rounds(stats: GraphStats) -> float:
    """Rounds until no component has an edge left: each leaves about a quarter."""
    return 2.0 + 0.5 * math.log2(1 + stats.n_vertices - stats.n_isolated)


def _values(stats: GraphStats, count: float) -> tuple[Gathers, ...]:
    """Read what *count* neighbours or their trees hold."""
    far = stats.far_neighbor_share
    return Gathers(far * count, 8.0 * stats.n_vertices), Gathers((1 - far) * count, _NEAR_BYTES)
