"""What the strategies of breadth-first search ask of a device, from the statistics of the graph."""
from __future__ import annotations

from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Work
from clgraph.stats import GraphStats


def frontier_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    return Work(streamed_bytes=16.0 * stats.n_edges)


def direction_optimizing_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    return Work(streamed_bytes=(8.0 if stats.degree_second_moment > 4 * stats.mean_degree**2 + 40 else 32.0) * stats.n_edges)
