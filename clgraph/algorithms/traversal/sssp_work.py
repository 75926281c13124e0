"""What the strategies of shortest paths ask of a device, from the statistics of the graph."""
from __future__ import annotations

from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Work
from clgraph.stats import GraphStats


def frontier_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    return Work(streamed_bytes=32.0 * stats.n_edges)


def delta_stepping_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    return Work(streamed_bytes=40.0 * stats.n_edges)
