"""What the searches of shortest paths ask of a device, their launches not counted."""
from __future__ import annotations

from clgraph.algorithms.traversal.work import reached, serial_work
from clgraph.data.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Gathers, Work

_AGAIN = 1.0  # relaxations of an edge beyond the first where weights differ; with light edges only there are none
_TURN_BARRIERS = 3.0  # that a turn takes as long as; the deepest searches take as many turns as levels
_BUCKETS, _MORE_BUCKETS = 25.0, 105.0  # turns for passes over the pile, at least, and more where weights differ
_SPLIT = 1.3  # edges are looked at once more where the light ones come first
# Of a CPU, where one work-item does all.
_PER_VERTEX, _PER_EDGE, _FAR_LOADS = 13.0, 0.5, 0.3
_MANY_LEAVES = 0.25  # of the vertices: with fewer it takes longer to tell leaves apart than to let them wait
_LEAF_SAVES = 0.88  # of what a vertex takes that waits
_NEAR_FAR = 2.5  # times as long as in order


def frontier(stats: GraphStats, facts: DeviceFacts, light_share: float) -> Work:
    if facts.is_cpu:
        return dijkstra(stats, facts, _NEAR_FAR)
    n, (met, m), heavy_share = float(stats.n_vertices), reached(stats), 1.0 - light_share
    m *= 1.0 + _AGAIN * heavy_share
    turns = 1.3 * stats.estimated_depth + _BUCKETS + _MORE_BUCKETS * heavy_share
    return Work(
        grid_barriers=_TURN_BARRIERS * turns if facts.dialect.has_grid_barrier else 0.0,
        streamed_bytes=24.0 * n + 12.0 * m, gathers=(Gathers(2.0 * m, 4.0 * n), Gathers(4.0 * met, 8.0 * n)),
        atomics=(Atomics(3.0 * met, max(2.0, n)),),
    )


def delta_stepping(stats: GraphStats, facts: DeviceFacts, light_share: float) -> Work:
    if facts.is_cpu:
        return dijkstra(stats, facts, _SPLIT * _NEAR_FAR)
    return frontier(stats, facts, light_share).times(_SPLIT)


def leaves_share(stats: GraphStats) -> float:
    """Return the share of the vertices that have one edge, which need not wait; 0 where they are few."""
    leaves = 0.0 if stats.directed else sum(stats.degree_vertex_counts[1:2]) / max(1, stats.n_vertices)
    return leaves if leaves > _MANY_LEAVES else 0.0


def dijkstra(stats: GraphStats, facts: DeviceFacts, times: float = 1.0) -> Work:
    """Return the work of Dijkstra's search, or of one that takes so many *times* as long."""
    per_vertex = _PER_VERTEX * (1.0 - _LEAF_SAVES * leaves_share(stats))
    return serial_work(stats, facts, per_vertex, _PER_EDGE, _FAR_LOADS, times)
