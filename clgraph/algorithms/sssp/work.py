"""What the searches of shortest paths ask of a device, their launches not counted.

``distance_bytes`` is the size of one distance on the device, 4 or 8.
"""
from __future__ import annotations

import math

from clgraph.algorithms.traversal.work import NEAR_BYTES, reached
from clgraph.data.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Chain, Gathers, Work

_AGAIN = 1.0  # relaxations of an edge beyond the first where weights differ; with light edges only there are none
_TURN_BARRIERS = 2.3  # that a turn takes as long as; the deepest searches take as many turns as levels
_BUCKETS, _MORE_BUCKETS = 25.0, 105.0  # turns for passes over the pile, at least, and more where weights differ
_SPLIT = 1.3  # edges are looked at once more where the light ones come first
# Of Dijkstra's search, which is one core's, in loads in turn from its second-level cache: of a vertex that waits, of
# an edge, of an entry that moves to lower levels of the heap, and of a vertex where rows differ in length, since their
# ends are guessed wrong. Of an edge that leads far, in loads in turn from all distances.
_PER_VERTEX, _PER_EDGE, _PER_MOVE, _PER_IRREGULAR, _PER_FAR_EDGE = 7.5, 0.36, 6.5, 8.0, 0.22
# Entries of a vertex beside and by the logarithm of its edges, since its distance falls as often; once one of the light
# edges has reached it, it falls no more.
_ENTRIES, _ENTRIES_BY_EDGES, _LIGHT_EDGES = 0.2, 0.8, 4.0
_MANY_LEAVES = 0.25  # of the vertices: with fewer it takes longer to tell leaves apart than to let them wait
_NEAR_FAR = 2.5  # times as long as in order


def frontier(stats: GraphStats, facts: DeviceFacts, light_share: float, distance_bytes: float) -> Work:
    if facts.is_cpu:
        return dijkstra(stats, light_share, distance_bytes, _NEAR_FAR)
    n, (met, m), heavy_share = float(stats.n_vertices), reached(stats), 1.0 - light_share
    m *= 1.0 + _AGAIN * heavy_share
    turns = 1.3 * stats.estimated_depth + _BUCKETS + _MORE_BUCKETS * heavy_share
    return Work(
        grid_barriers=_TURN_BARRIERS * turns if facts.dialect.has_grid_barrier else 0.0,
        streamed_bytes=(20.0 + distance_bytes) * n + 12.0 * m,
        gathers=(Gathers(2.0 * m, distance_bytes * n), Gathers(4.0 * met, 8.0 * n)),
        atomics=(Atomics(3.0 * met, max(2.0, n)),),
    )


def delta_stepping(stats: GraphStats, facts: DeviceFacts, light_share: float, distance_bytes: float) -> Work:
    if facts.is_cpu:
        return dijkstra(stats, light_share, distance_bytes, _SPLIT * _NEAR_FAR)
    return frontier(stats, facts, light_share, distance_bytes).times(_SPLIT)


def leaves_share(stats: GraphStats) -> float:
    """Return the share of the vertices that have one edge, which need not wait; 0 where they are few."""
    leaves = 0.0 if stats.directed else sum(stats.degree_vertex_counts[1:2]) / max(1, stats.n_vertices)
    return leaves if leaves > _MANY_LEAVES else 0.0


def dijkstra(stats: GraphStats, light_share: float, distance_bytes: float, times: float = 1.0) -> Work:
    """Return the work of Dijkstra's search, or of one that takes so many *times* as long.

    Where all weights are the same, entries wait in the lowest level, and a vertex has one.
    """
    met, m = reached(stats)
    waiting, heavy_share = times * met * (1.0 - leaves_share(stats)), 1.0 - light_share
    moves = 0.0
    if heavy_share:
        edges = min(stats.mean_degree, _LIGHT_EDGES / light_share if light_share else math.inf)
        moves = heavy_share * max(1.0, _ENTRIES + _ENTRIES_BY_EDGES * math.log(max(1.0, edges)))
        moves *= distance_bytes / 4.0  # an entry moves once for each digit of the distances
    of_vertex = _PER_VERTEX + _PER_MOVE * moves + _PER_IRREGULAR * stats.irregularity
    near = Chain(waiting * of_vertex + times * _PER_EDGE * m, NEAR_BYTES)
    return Work(
        streamed_bytes=times * (4.0 + distance_bytes) * stats.n_vertices,
        chains=(near, Chain(times * _PER_FAR_EDGE * stats.far_neighbor_share * m, distance_bytes * stats.n_vertices)),
    )
