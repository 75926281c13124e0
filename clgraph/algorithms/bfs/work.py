"""What the strategies of breadth-first search ask of a device, from the statistics of the graph.

Deep searches wait for a barrier and three dependent accesses a level; shallow ones look at every edge, or, where the
unreached look for the frontier, at a few of each vertex. On a CPU of few cores one work-item does all but that.
"""
from __future__ import annotations

from clgraph.algorithms.traversal.work import serial_work
from clgraph.data.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Gathers, Work

_DEEP = 40.0  # levels, from which on few frontiers are large enough to turn round
_LEVEL_BARRIERS = 2.3  # that the accesses of a level take as long as
_FIRST_LOOKS = 6.0  # entries that an unreached vertex looks at
# Of a CPU, in random loads from its second-level cache.
_NEAR_BYTES = 2.0**18
_PER_PULL, _TOP_DOWN_SHARE = 22.0, 0.2


def frontier_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    if facts.is_cpu:
        return serial_work(stats, facts)
    n, m = float(stats.n_vertices), float(stats.n_edges)
    edges = Work(
        streamed_bytes=16.0 * n + 8.0 * m, gathers=(Gathers(2.0 * m, 4.0 * n), Gathers(n, 8.0 * n)),
        atomics=(Atomics(n, max(2.0, n)),),
    )
    return _levels(stats, facts) + edges


def direction_optimizing_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    """A larger kernel, so where it never turns round it is slower."""
    n = float(stats.n_vertices)
    if stats.estimated_depth > _DEEP:
        return frontier_work(stats, facts).times(1.2)
    if facts.is_cpu:
        pulls = Gathers(_PER_PULL * n, _NEAR_BYTES), Gathers(n, 8.0 * n)
        return serial_work(stats, facts).times(_TOP_DOWN_SHARE) + Work(launches=9.0, read_backs=6.0, gathers=pulls)
    looks = min(float(stats.n_edges), _FIRST_LOOKS * n)
    passes = Work(launches=3.0, grid_barriers=12.0 if facts.dialect.has_grid_barrier else 0.0)
    return passes + Work(
        streamed_bytes=60.0 * n + 16.0 * looks, gathers=(Gathers(2.0 * looks, n / 8), Gathers(n, 8.0 * n)),
    )


def _levels(stats: GraphStats, facts: DeviceFacts) -> Work:
    depth = stats.estimated_depth
    if facts.dialect.has_grid_barrier:
        return Work(launches=3.0, grid_barriers=_LEVEL_BARRIERS * depth)
    return Work(launches=3.0 + depth, read_backs=depth)
