"""Short searches of a graph, which tell how deep whole ones are and how far they reach."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clgraph.data.graphs.csr import as_csr_array
from clgraph.data.graphs.csr_graph import CSRGraph

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NEIGHBORHOOD = 1 << 12
ROW_PARTS = 8  # most parts of long rows that the search from the middle vertex reads to find a new one
N_STARTS, SHORT_SEEN, SHORT_LOOKS = 8, 64, 512  # short searches, and the most vertices and entries of each
_UNSEEN = 0.25  # counts as searches that reach everything, since users mostly choose sources in large components
_SMALL_WORLD_LEVELS = 12  # a search of a small world has seen its share of vertices after so few levels
_LEAST_LEVELS, _OF_SPACE = 4, 3.2  # levels that show the power by which a search grows; the power in three dimensions


class Search(NamedTuple):
    """How a search had grown when it was stopped, after the last level that it had all of."""

    levels: int
    n_seen: int  # vertices in the levels
    n_last: int  # vertices in the last level; 0 if the search was over
    n_earlier: int  # vertices in the first 2**(k - 1) levels, 2**k being the largest power of two up to *levels*


def searched(graph: CSRGraph) -> dict[str, float]:
    """Search from the middle one of the vertices that have an edge, and shortly from a few others."""
    connected = np.flatnonzero(graph.degrees)
    if not connected.size:
        return reach([], 0)
    n, start = graph.n_vertices, connected[connected.size // 2]
    shortly = [_short_search(graph, (2 * i + 1) * n // (2 * N_STARTS)) for i in range(N_STARTS)]
    if n < NEIGHBORHOOD:  # the whole search takes less than its levels one by one; scipy holds float64
        matrix = as_csr_array(graph.row_offsets, graph.column_indices, np.ones(graph.n_edges))
        depth, _, n_seen = _levels(matrix, start)
        return reach([Search(1 + depth, n_seen, 0, 1), *shortly], connected.size)
    offsets, columns, frontier = graph.row_offsets, graph.column_indices, start[None]
    seen, sizes = np.zeros(n, bool), [1]
    seen[frontier] = True
    while frontier.size and sizes[-1] < NEIGHBORHOOD:
        rows, most = frontier[:NEIGHBORHOOD], NEIGHBORHOOD // max(1, frontier.size // 16)
        starts, ends = offsets[rows], offsets[rows + 1]
        for _ in range(ROW_PARTS):  # parts of long rows, until one has a new vertex
            stops = np.minimum(ends, starts + most)
            reached = np.unique(np.concatenate([columns[a:b] for a, b in zip(starts, stops, strict=True)]))
            frontier, starts = reached[~seen[reached]], stops
            if frontier.size or (stops == ends).all():
                break
        seen[frontier] = True
        sizes.append(sizes[-1] + frontier.size)
    return reach([_search(sizes), *shortly], connected.size)


def _short_search(graph: CSRGraph, start: int) -> Search:
    """Search from *start* and leave out the level in which there would be too much, as ``search_shortly`` does."""
    offsets, columns, looks = graph.row_offsets, graph.column_indices, 0
    seen, frontier, sizes = {start}, [start], [1]
    while frontier:
        following: list[int] = []
        for v in frontier:
            for u in columns[offsets[v] : min(offsets[v + 1], offsets[v] + SHORT_LOOKS + 1)].tolist():
                looks += 1
                if looks > SHORT_LOOKS or (u not in seen and len(seen) == SHORT_SEEN):
                    return _search(sizes)
                if u not in seen:
                    seen.add(u)
                    following.append(u)
        frontier = following
        sizes.append(len(seen))
    return _search(sizes)


def _search(sizes: Sequence[int]) -> Search:
    """Return the search that has seen ``sizes[i]`` vertices after *i* levels."""
    levels = len(sizes) - 1
    early = 1 << (levels.bit_length() - 2) if levels > 1 else 0
    return Search(levels, sizes[-1], sizes[-1] - sizes[-2] if levels else 1, sizes[early])


def reach(searches: Sequence[Search], n_connected: int) -> dict[str, float]:
    """Return how deep searches may be, and what share of *n_connected* vertices they reach, from a few that stopped.

    The first of the *searches* is the longest. Those from a vertex without an edge do not count.
    """
    if not n_connected:
        return {"estimated_depth": 0.0, "reached_share": 1.0}
    longest = searches[0]
    informed = [longest, *(search for search in searches[1:] if search.n_last or search.n_seen > 1)]
    whole = longest.n_seen / n_connected if not longest.n_last else 1.0
    shares = [search.n_seen / n_connected if not search.n_last else whole for search in informed]
    told = informed[:1] if longest.levels > _SMALL_WORLD_LEVELS else informed  # near a hub one sees no long path
    return {
        "estimated_depth": max(_extrapolated_depth(search, n_connected, search is longest) for search in told),
        "reached_share": min(1.0, (sum(shares) + _UNSEEN) / (len(shares) + _UNSEEN)),
    }


def _extrapolated_depth(search: Search, n_connected: int, is_long: bool) -> float:
    """Return the levels of a search that goes on as it has grown; one that *is_long* may tell a space from hubs."""
    levels, n_seen, n_last, n_earlier = search
    if not n_last or not levels:
        return float(levels)
    left = max(1.0, n_connected / n_seen)
    few = levels <= _SMALL_WORLD_LEVELS
    if few and (not is_long or levels < _LEAST_LEVELS or levels * n_last > _OF_SPACE * n_seen):
        power = math.inf
    else:
        power = math.log(n_seen / n_earlier) / math.log(levels / (1 << (levels.bit_length() - 2)))
    if few and power > _OF_SPACE:
        return levels * (1.0 + math.log2(left) / math.log2(n_seen))
    return min(float(n_connected), 2.0 * levels * math.pow(left, 1.0 / max(1.0, power)))


def diameter_bound(graph: CSRGraph) -> int:
    """Return a lower bound on the diameter of the component of a vertex of the largest degree.

    Two breadth-first searches, the second from a vertex farthest in the first (a pseudo-peripheral
    vertex); exact on trees, and close in practice [1]_. Directions are ignored.

    References
    ----------
    .. [1] C. Magnien, M. Latapy, M. Habib. "Fast computation of empirically tight bounds for the
       diameter of massive graphs." ACM J. Experimental Algorithmics 13, 2009.
    """
    if graph.n_edges == 0:
        return 0
    matrix = as_csr_array(graph.row_offsets, graph.column_indices, np.ones(graph.n_edges, bool))
    if graph.directed:
        matrix = matrix + matrix.T
    start, depth = int(graph.degrees.argmax()), 0
    for _ in range(2):
        depth, start, _ = _levels(matrix, start)
    return depth


def _levels(matrix: csr_array, start: int) -> tuple[int, int, int]:
    """Return how many levels a search from *start* has after the first, a vertex of the last, and how many in all."""
    from scipy.sparse.csgraph import breadth_first_order  # loads most of scipy, which statistics on a device do without

    order, predecessors = breadth_first_order(matrix, start, directed=True)
    position = np.empty(matrix.shape[0], np.int32)
    position[order] = np.arange(order.size, dtype=np.int32)
    # In breadth-first order predecessors do not move back, so each level is one slice.
    parent, depth, level = memoryview(position[predecessors[order[1:]]]), 0, 0
    while (following := 1 + bisect_left(parent, level)) < order.size:
        level, depth = following, depth + 1
    return depth, int(order[-1]), int(order.size)
