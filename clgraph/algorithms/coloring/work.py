"""What the strategies of colouring ask of a device, from the statistics of the graph."""
from __future__ import annotations

from clgraph.algorithms.coloring.distance_two_work import first_fit_work, hash_start_work
from clgraph.algorithms.coloring.problem import ColoringStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Gathers, Work
from clgraph.stats import GraphStats

_NEAR_BYTES = 2.0**18
_FEW_NEIGHBORS = 4.0


def first_fit_suffices(stats: GraphStats) -> bool:
    """Return whether colours taken in any order are about as few as with the largest degrees first: grids, roads."""
    return stats.mean_degree < _FEW_NEIGHBORS


def jones_plassmann_work(stats: ColoringStats, facts: DeviceFacts) -> Work:
    """One pass over the rows, and some more visits to entries that are open."""
    return speculative_work(stats, facts).times(1.1)


def speculative_work(stats: ColoringStats, facts: DeviceFacts) -> Work:
    """At distance 1 two passes over the rows."""
    if stats.distance == 2:
        return first_fit_work(stats.graph)
    passes, entries = 2.3, float(stats.graph.n_edges)
    return Work(launches=6.0, read_backs=2.0, gathers=_values(stats, passes * entries)) + Work(
        streamed_bytes=passes * (4.0 * entries + 8.0 * stats.graph.n_vertices)
    )


def hash_repair_work(stats: ColoringStats, facts: DeviceFacts) -> Work:
    """A pass to find the collisions, then as speculative for the share that collides."""
    if stats.distance == 2:
        return hash_start_work(stats.graph)
    return speculative_work(stats, facts).times(1.3)


def _values(stats: ColoringStats, count: float) -> tuple[Gathers, ...]:
    """Read what *count* neighbours hold."""
    far = stats.graph.far_neighbor_share
    return Gathers(far * count, 4.0 * stats.graph.n_vertices), Gathers((1 - far) * count, _NEAR_BYTES)
