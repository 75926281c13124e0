"""What colourings at distance 2 ask of a device, from the statistics of the graph."""
from __future__ import annotations

from clgraph.data.stats import GraphStats
from clgraph.model.cost import Atomics, Gathers, Work

_NEAR_BYTES = 2.0**18
_REPAIRED = 0.6  # share of vertices, if there are as many hash colours as the longest row has members
_HASH_COLORS = 1 << 10
_SAMPLE_SECONDS = 5e-3  # on the host, to choose a hash


def first_fit_work(stats: GraphStats) -> Work:
    """Each vertex reads a word of its nets for every 32 colours below its own, and sets a bit in each."""
    n, entries = float(stats.n_vertices), float(stats.n_edges + stats.n_vertices)
    # The net that a vertex of an entry meets has about as many members as degrees have on the average over entries.
    members = stats.degree_second_moment / max(1.0, stats.mean_degree) + 1.0
    words = 1.0 + members / 64.0
    most_words = (stats.max_degree + 1.0) / 32.0 + 1.0
    windows = 1.0 + most_words / 32.0
    used = n * min(32.0, most_words)
    gathers = words * entries
    far = stats.far_neighbor_share
    return Work(
        launches=2.0 * windows, read_backs=1.0 + windows**0.5,
        streamed_bytes=4.0 * gathers + 12.0 * n + 4.0 * used * windows,
        gathers=(Gathers(far * gathers, 4.0 * used), Gathers((1 - far) * gathers, _NEAR_BYTES)),
        atomics=(Atomics(far * entries, used), Atomics((1 - far) * entries, _NEAR_BYTES / 4)),
    )


def hash_start_work(stats: GraphStats) -> Work:
    """Set a bit in each net for the hash's colours, then repair the share that collides."""
    entries = float(stats.n_edges + stats.n_vertices)
    repaired = max(_REPAIRED, 1.0 - _HASH_COLORS / (stats.max_degree + 1.0))
    claims = Work(
        launches=3.0, host_seconds=_SAMPLE_SECONDS,
        streamed_bytes=4.0 * entries + 12.0 * stats.n_vertices,
        atomics=(Atomics(entries, _NEAR_BYTES / 4),),
    )
    return claims + first_fit_work(stats).times(repaired)
