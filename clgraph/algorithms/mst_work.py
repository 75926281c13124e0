"""What the strategies of minimum spanning forests ask of a device, from the statistics of the graph."""
from __future__ import annotations

from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Work
from clgraph.stats import GraphStats


def default_light_edges(stats: GraphStats) -> float:
    """Edges a vertex to join first; 0 where most edges would be among them."""
    return 1.25 if stats.mean_degree >= 8 else 0.0


def edge_list_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    return Work(streamed_bytes=20.0 * stats.n_edges)


def two_pass_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    return edge_list_work(stats, facts).times(1.5)


def segmented_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    return edge_list_work(stats, facts).times(3)
