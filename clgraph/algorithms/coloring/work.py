"""What the strategies of colouring ask of a device, from the statistics of the graph."""
from __future__ import annotations

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
    """Two passes over the rows, or at distance 2 over the neighbours' rows."""
    passes, entries = 2.3, _reached(stats)
    return Work(launches=6.0, read_backs=2.0, gathers=_values(stats, passes * entries)) + Work(
        streamed_bytes=passes * (4.0 * entries + 8.0 * stats.graph.n_vertices)
    )


def hash_repair_work(stats: ColoringStats, facts: DeviceFacts) -> Work:
    """A pass to find the collisions, then as speculative for the share that collides."""
    return speculative_work(stats, facts).times(1.3)


def _reached(stats: ColoringStats) -> float:
    """Entries that one pass looks at."""
    if stats.distance == 1:
        return float(stats.graph.n_edges)
    return stats.graph.degree_second_moment * stats.graph.n_vertices


def _values(stats: ColoringStats, count: float) -> tuple[Gathers, ...]:
    """Read what *count* neighbours hold."""
    far = stats.graph.far_neighbor_share
    return Gathers(far * count, 4.0 * stats.graph.n_vertices), Gathers((1 - far) * count, _NEAR_BYTES)
