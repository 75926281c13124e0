"""What the steps of colourings ask of a device, from the statistics of the graph; the counts follow the kernels."""
from __future__ import annotations

import math

from clgraph.data.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Chain, Gathers, Work

_NEAR_BYTES = 2.0**18
_CPU_VISIT_BYTES, _CPU_GREEDY_VISIT_BYTES = 45.0, 110.0  # which the arithmetic of a visit is worth there
_CPU_VERTEX_VISITS = 3.0  # of entries, which take as long as to begin and end a row
_CPU_SORT_BYTES, _CPU_KEY_BYTES = 280.0, 40.0  # which a key is worth there to be sorted, and to be made of a degree
_HASH_MISSES = 16.0  # visits that take as long as one whose colours collide: a guess was wrong, and rounds repair it
_LARGE_BIN = 6  # of the counts by degree: 32 and more
_HUB_LOADS = 5.0  # by entry of the longest row and lane, one after the other, in the rounds of speculation
_DEPTH = 20.0  # dependent loads, by the logarithm of the vertices
_FEW_NEIGHBORS = 4.0
_SIZED_WORDS = 2.0  # at which a vertex looks, with bitmaps of nets that have room for all members
_REPAIRED = 0.6  # share of vertices, if there are as many hash colours as the longest row has members
_HASH_COLORS = 1 << 10
_HUB_BIN = _HASH_COLORS.bit_length()  # of the counts by degree: as many as there are such colours
_SAMPLE_SECONDS = 5e-3  # on the host, to choose a hash


def first_fit_suffices(stats: GraphStats, facts: DeviceFacts) -> bool:
    """Return whether colours taken by number are about as few as with the largest degrees first: grids, roads.

    Not on GPUs, where so many vertices are coloured at once that roads take a colour more.
    """
    return facts.is_cpu and stats.mean_degree < _FEW_NEIGHBORS


def sort_pairs(n: int, facts: DeviceFacts) -> Work:
    """Sort *n* keys of 4 bytes with a value each, by digits of 8 bits."""
    launches, key_bytes = (8.0, _CPU_SORT_BYTES) if facts.is_cpu else (6.0, 64.0)
    return Work(launches=launches, streamed_bytes=key_bytes * n)


def choose_rows(n: int, facts: DeviceFacts) -> Work:
    """List the vertices whose rows are chosen."""
    return Work(launches=1.0 if _looks_back(facts) else 2.0, streamed_bytes=8.0 * n)


def list_uncolored(facts: DeviceFacts) -> Work:
    """List the vertices without a colour, by a compaction of its own, whose words are cleared first."""
    return choose_rows(0, facts) + Work(launches=3.0 if _looks_back(facts) else 1.0, read_backs=1.0)


def _looks_back(facts: DeviceFacts) -> bool:
    return facts.dialect.has_grid_barrier and facts.has_int64_atomics


def rows_of(stats: GraphStats) -> Work:
    """Read where the rows begin and write a word a vertex."""
    return Work(streamed_bytes=8.0 * stats.n_vertices)


def order_keys(stats: GraphStats, facts: DeviceFacts) -> Work:
    """Make a key of each degree."""
    return Work(streamed_bytes=_CPU_KEY_BYTES * stats.n_vertices) if facts.is_cpu else rows_of(stats)


def removals(stats: GraphStats) -> Work:
    """Take all vertices from the degrees of their neighbours, wave by wave."""
    m = float(stats.n_edges)
    return Work(streamed_bytes=4.0 * m, atomics=(Atomics(m, max(2.0, float(stats.n_vertices))),))


def all_rows(stats: GraphStats, facts: DeviceFacts, times: float = 1.0) -> Work:
    """Visit the entries of all vertices, row by row, so many *times*."""
    streamed, gathers = _visits(stats, facts, times * stats.n_edges)
    rows = times * _CPU_VISIT_BYTES * _CPU_VERTEX_VISITS * stats.n_vertices if facts.is_cpu else 0.0
    return Work(streamed_bytes=streamed + rows, gathers=gathers)


def hash_check(collisions: float, facts: DeviceFacts) -> float:
    """Return how many times as long as for colours that seldom collide a check takes: a CPU does not foresee which."""
    return 1.0 + _HASH_MISSES * collisions if facts.is_cpu else 1.0


def visits(stats: GraphStats, facts: DeviceFacts, entries: float) -> Work:
    """Read *entries* and what their neighbours hold."""
    streamed, gathers = _visits(stats, facts, entries)
    return Work(streamed_bytes=streamed, gathers=gathers)


def _visits(
    stats: GraphStats, facts: DeviceFacts, entries: float, cpu_bytes: float = _CPU_VISIT_BYTES
) -> tuple[float, tuple[Gathers, ...]]:
    """Return streamed bytes and gathers of *entries* and what neighbours hold; on CPUs arithmetic takes longer."""
    far = stats.far_neighbor_share
    gathers = Gathers(far * entries, 4.0 * stats.n_vertices), Gathers((1 - far) * entries, _NEAR_BYTES)
    return (cpu_bytes if facts.is_cpu else 4.0) * entries, gathers


def rounds_in_one_launch(stats: GraphStats, facts: DeviceFacts) -> Work:
    """Wait for the grid, and for the longest row, of which a sub-group looks at all entries."""
    loads = _HUB_LOADS * stats.max_degree / facts.sub_group_size
    return Work(grid_barriers=4.5, chains=(Chain(loads, 4.0 * stats.n_vertices),))


def small_rows(stats: GraphStats, facts: DeviceFacts, times: float = 1.0) -> Work:
    """Visit the entries of short rows for their priority, those before for their colours, the open ones some more.

    Vertices of long rows have colours by then. It is the work of so many *times*, such as of one of several launches.
    """
    n, large = float(stats.n_vertices), float(sum(stats.degree_edge_counts[_LARGE_BIN:]))
    m = float(stats.n_edges) - large
    visited = times * (3.0 - large / max(1.0, stats.n_edges)) * m
    streamed, gathers = _visits(stats, facts, visited, _CPU_GREEDY_VISIT_BYTES)
    chain = Chain(times * _DEPTH * math.log2(2.0 + n), 4.0 * n)
    return Work(streamed_bytes=times * 28.0 * n + streamed, gathers=gathers, chains=(chain,))


def large_rows(stats: GraphStats, facts: DeviceFacts) -> Work:
    """Visit the entries of long rows; where groups may not wait for each other, one sub-group does them all.

    Hubs come first, so that few neighbours are before them.
    """
    n = float(sum(stats.degree_vertex_counts[_LARGE_BIN:]))
    m = float(sum(stats.degree_edge_counts[_LARGE_BIN:_HUB_BIN]))
    alone = 1.0 if facts.dialect.has_grid_barrier else float(facts.compute_units)
    streamed, gathers = _visits(stats, facts, alone * 1.7 * m, _CPU_GREEDY_VISIT_BYTES)
    return Work(streamed_bytes=alone * 40.0 * n + streamed, gathers=gathers)


def hub_rows(stats: GraphStats, facts: DeviceFacts) -> Work:
    """Visit the entries of hubs once, to list the neighbours before them."""
    return visits(stats, facts, float(sum(stats.degree_edge_counts[_HUB_BIN:])))


def windows(stats: GraphStats) -> float:
    """How many windows of colours a colouring at distance 2 has."""
    return 1.0 + ((stats.max_degree + 1.0) / 32.0 + 1.0) / 32.0


def first_fit(stats: GraphStats, only_words: int | None = None) -> Work:
    """Each vertex reads a word of its nets for every 32 colours below its own, and sets a bit in each.

    With *only_words* it looks at so many words, those of the first window, and no further.
    """
    n, entries = float(stats.n_vertices), float(stats.n_edges + stats.n_vertices)
    # The net that a vertex of an entry meets has about as many members as degrees have on the average over entries.
    members = stats.degree_second_moment / max(1.0, stats.mean_degree) + 1.0
    words = min(1.0 + members / 64.0, only_words or math.inf)
    most_words = (stats.max_degree + 1.0) / 32.0 + 1.0
    used = n * min(32.0, most_words)
    gathers = words * entries
    far = stats.far_neighbor_share
    return Work(
        streamed_bytes=4.0 * gathers + 12.0 * n + 4.0 * used * (1.0 if only_words else windows(stats)),
        gathers=(Gathers(far * gathers, 4.0 * used), Gathers((1 - far) * gathers, _NEAR_BYTES)),
        atomics=(Atomics(far * entries, used), Atomics((1 - far) * entries, _NEAR_BYTES / 4)),
    )


def sized_round(stats: GraphStats, words: int) -> Work:
    """Members of nets larger than a window count themselves, find a word to begin at, and look at a few."""
    n, first_bin = float(stats.n_vertices), (32 * words).bit_length()
    share = min(1.0, sum(stats.degree_edge_counts[first_bin:]) / max(1.0, n))  # of the vertices, in some such net
    entries = share * float(stats.n_edges + stats.n_vertices)
    return Work(
        streamed_bytes=12.0 * entries + 40.0 * n, gathers=(Gathers((2.0 + _SIZED_WORDS) * entries, 12.0 * n),),
        atomics=(Atomics(2.0 * entries, 2.0 * n),),
    )


def repaired_share(stats: GraphStats) -> float:
    """Which share of the vertices has no colour yet after hash colours were claimed at distance 2."""
    return max(_REPAIRED, 1.0 - _HASH_COLORS / (stats.max_degree + 1.0))


def claim_hash_colors(stats: GraphStats) -> Work:
    """Set a bit in each net for the hash's colours, which a sample has chosen; members of hubs meet on few words."""
    entries = float(stats.n_edges + stats.n_vertices)
    at_hubs = float(sum(stats.degree_edge_counts[_HUB_BIN:]))
    return Work(
        host_seconds=_SAMPLE_SECONDS, streamed_bytes=4.0 * entries + 12.0 * stats.n_vertices,
        atomics=(Atomics(entries - at_hubs, _NEAR_BYTES / 4), Atomics(at_hubs, _HASH_COLORS / 32)),
    )
