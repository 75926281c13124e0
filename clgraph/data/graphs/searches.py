"""Breadth-first searches that stop early.

The depth and reach of complete searches are estimated from them.
"""

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

NEIGHBORHOOD = 1 << 12  # The long search stops after 4096 vertices. Graphs with fewer vertices are searched completely.
ROW_PARTS = 8  # The long search reads a long row in up to 8 parts, and stops after a part that has a new vertex.
# There are 8 short searches, each of which stops before it sees more than 64 vertices or reads more than 512 entries.
N_STARTS, SHORT_SEEN, SHORT_LOOKS = 8, 64, 512
# Weight of an assumed search of all vertices, in the estimate of the share of vertices that searches reach.
# A search of all vertices is assumed, because users mostly choose sources in large components.
_UNSEEN = 0.25
_SMALL_WORLD_LEVELS = 12  # If a search of more than 12 levels was stopped early, its graph is no small world.
# In a space of up to three dimensions, a search of k levels reaches about k^p vertices, where p is at most 3.2.
# The exponent p of k^p, the vertices that k levels reach, is estimated from a search of at least 4 levels.
_MIN_LEVELS, _OF_SPACE = 4, 3.2


class Search(NamedTuple):
    """The size of a breadth-first search that was stopped, at the end of its last complete level."""

    levels: int
    n_seen: int  # Number of vertices in all levels of the search together.
    n_last: int  # Number of vertices in the last level; 0 if the search reached all vertices that it can reach.
    n_earlier: int  # Number of vertices in the first p / 2 levels, where p is the largest power of two up to *levels*.


def searched(graph: CSRGraph) -> dict[str, float]:
    """Return the estimated depth and reach of searches in *graph*, from one long search and a few short ones.

    The long search begins at the middle one of the vertices that have an edge.
    """
    connected = np.flatnonzero(graph.degrees)
    if not connected.size:
        return reach([], 0)
    n, start = graph.n_vertices, connected[connected.size // 2]
    shortly = [_short_search(graph, (2 * i + 1) * n // (2 * N_STARTS)) for i in range(N_STARTS)]
    # A complete search by scipy is faster for a small graph than the search level by level below.
    # scipy's search takes only matrices whose values are float64.
    if n < NEIGHBORHOOD:
        matrix = as_csr_array(graph.row_offsets, graph.column_indices, np.ones(graph.n_edges))
        depth, _, n_seen = _levels(matrix, start)
        return reach([Search(1 + depth, n_seen, 0, 1), *shortly], connected.size)
    offsets, columns, frontier = graph.row_offsets, graph.column_indices, start[None]
    seen, sizes = np.zeros(n, bool), [1]
    seen[frontier] = True
    while frontier.size and sizes[-1] < NEIGHBORHOOD:
        rows, most = frontier[:NEIGHBORHOOD], NEIGHBORHOOD // max(1, frontier.size // 16)
        starts, ends = offsets[rows], offsets[rows + 1]
        for _ in range(ROW_PARTS):  # Each turn reads the next part of all long rows, until a part has a new vertex.
            stops = np.minimum(ends, starts + most)
            reached = np.unique(np.concatenate([columns[a:b] for a, b in zip(starts, stops, strict=True)]))
            frontier, starts = reached[~seen[reached]], stops
            if frontier.size or (stops == ends).all():
                break
        seen[frontier] = True
        sizes.append(sizes[-1] + frontier.size)
    return reach([_search(sizes), *shortly], connected.size)


def _short_search(graph: CSRGraph, start: int) -> Search:
    """Return the size of a breadth-first search from *start* that stops at the limits of a short search.

    The level in which the search exceeds a limit is not counted. The kernel ``search_shortly`` does the same.
    """
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
    """Return the :class:`Search` of a breadth-first search that had seen ``sizes[i]`` vertices after i levels."""
    levels = len(sizes) - 1
    early = 1 << (levels.bit_length() - 2) if levels > 1 else 0
    return Search(levels, sizes[-1], sizes[-1] - sizes[-2] if levels else 1, sizes[early])


def reach(searches: Sequence[Search], n_connected: int) -> dict[str, float]:
    """Estimate the depth of complete searches, and the share that they reach of the *n_connected* vertices with edges.

    The first of *searches* is the long search. Searches from a vertex without an edge are ignored.
    """
    if not n_connected:
        return {"estimated_depth": 0.0, "reached_share": 1.0}
    longest = searches[0]
    informed = [longest, *(search for search in searches[1:] if search.n_last or search.n_seen > 1)]
    whole = longest.n_seen / n_connected if not longest.n_last else 1.0
    shares = [search.n_seen / n_connected if not search.n_last else whole for search in informed]
    # A long search of few levels may have started near a hub and missed long paths, so the short searches count, too.
    told = informed[:1] if longest.levels > _SMALL_WORLD_LEVELS else informed
    return {
        "estimated_depth": max(_extrapolated_depth(search, n_connected, search is longest) for search in told),
        "reached_share": min(1.0, (sum(shares) + _UNSEEN) / (len(shares) + _UNSEEN)),
    }


def _extrapolated_depth(search: Search, n_connected: int, is_long: bool) -> float:
    """Return the number of levels of a complete search, if it kept growing in the way in which *search* has grown.

    A search in a space grows as a power of its number of levels. A search around hubs grows exponentially. If there are
    few levels, only the long search shows which of the two it is.
    """
    levels, n_seen, n_last, n_earlier = search
    if not n_last or not levels:
        return float(levels)
    left = max(1.0, n_connected / n_seen)
    few = levels <= _SMALL_WORLD_LEVELS
    if few and (not is_long or levels < _MIN_LEVELS or levels * n_last > _OF_SPACE * n_seen):
        power = math.inf
    else:
        power = math.log(n_seen / n_earlier) / math.log(levels / (1 << (levels.bit_length() - 2)))
    if few and power > _OF_SPACE:
        return levels * (1.0 + math.log2(left) / math.log2(n_seen))
    return min(float(n_connected), 2.0 * levels * math.pow(left, 1.0 / max(1.0, power)))


def diameter_bound(graph: CSRGraph) -> int:
    """Return a lower bound on the diameter of the component that has a vertex of the largest degree.

    The bound is the depth of a breadth-first search from a vertex that is farthest from the vertex of the largest
    degree. The bound is exact for trees, and close in practice [1]_. Directions are ignored.

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
    """Search breadth-first from *start*.

    Return the search's depth, a vertex of the last level, and the vertices reached.
    """
    # This import loads most of scipy, which is not needed for statistics that a device computes.
    from scipy.sparse.csgraph import breadth_first_order

    order, predecessors = breadth_first_order(matrix, start, directed=True)
    position = np.empty(matrix.shape[0], np.int32)
    position[order] = np.arange(order.size, dtype=np.int32)
    # In breadth-first order, predecessors are sorted like their children, so each level of the search tree is a slice.
    parent, depth, level = memoryview(position[predecessors[order[1:]]]), 0, 0
    while (following := 1 + bisect_left(parent, level)) < order.size:
        level, depth = following, depth + 1
    return depth, int(order[-1]), int(order.size)
