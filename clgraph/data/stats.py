"""What the cost model may know of a graph: degrees, locality, a bound on the diameter."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.data.csr import as_csr_array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from clgraph.data.graph_arrays import GraphArrays

N_SAMPLES = 1 << 14
_N_LOOKS, _FEW_LOOKS = 256, 64  # at entries, to guess a graph's locality; they miss the cache in most calls
_ROWS_AT_ONCE = 1 << 14  # whose lengths fit a near cache
_BEFORE, _BESIDE = np.arange(1, 5)[:, None], 16  # entries that one goes along, and vertices of one cache line
FAR_DISTANCE = 1 << 15
_COUNTED_DEGREE = 1 << 16
MAX_CLIMB = 128
DEEP_HOOKS = 0.75 * MAX_CLIMB  # climbs of such a mean have not come to their tops, so these do not tell trees apart
ROW_PARTS = 8  # most parts of long rows that the search from the middle vertex reads to find a new one
NEIGHBORHOOD = 1 << 12
N_STARTS, SHORT_SEEN, SHORT_LOOKS = 8, 64, 512  # short searches, and the most vertices and entries of each
_UNSEEN = 0.25  # searches beside those made that reach all: sources are often chosen in large components
FAR_IN_MESHES = 0.05  # the most neighbours
_MIXED, _CLOSED = 2.5, 5.0  # times the shares of other degrees, and of edges that close cycles, is wholly irregular
_SMALL_WORLD_LEVELS = 12  # in which a small world's neighbourhood gets there
_LEAST_LEVELS, _OF_SPACE = 4, 3.2  # that tell as which power of the levels a search grows; one of three dimensions


@dataclass(frozen=True)
class GraphStats:
    """Statistics of one graph, cheap enough to compute before every choice of a strategy.

    Attributes
    ----------
    n_vertices, n_edges : int
        ``n_edges`` counts stored entries, so an undirected edge counts twice.
    directed, weighted : bool
        Flags of the graph.
    min_degree, max_degree : int
        Extreme degrees (out-degrees when directed).
    mean_degree, degree_std : float
        Mean and standard deviation of the degrees.
    degree_second_moment : float
        Mean of the squared degrees.
    n_isolated : int
        Vertices without a stored entry.
    degree_vertex_counts, degree_edge_counts : tuple of int
        Vertices and stored entries by degree: bin 0 is degree 0, bin ``k`` the degrees
        ``2**(k-1) <= d < 2**k``.
    has_sorted_rows : bool
        Whether the column indices of every row do not decrease.
    mean_log2_neighbor_distance : float
        Mean of ``log2(1 + |u - v|)`` over sampled entries (u, v): near 2 for well ordered
        meshes, near ``log2(n)`` for random numberings.
    far_neighbor_share : float
        Share of the same sample with ``|u - v| > 2**15``: 4-byte values of such neighbours lie more
        than 128 KiB apart, outside any first-level cache.
    first_hook_tree_share : float
        Share of sampled vertices with an edge that have no smaller first neighbour: the roots, if
        every vertex is hooked to its first neighbour.
    first_hook_giant_share : float
        Share of 256 sampled vertices in the commonest tree of that forest (1 where trees are too deep to be told apart
        and no root was met).
    first_hook_depth : float
        The mean depth of the sampled vertices in that forest, followed up to 512 steps.
    estimated_depth : float
        Levels that a breadth-first search may have: from how fast the neighbourhood of a vertex grows up to 2**12
        vertices, as a power of the levels (meshes, roads) or exponentially (small worlds). Eight other searches, of up
        to 64 vertices, may find long paths.
    reached_share : float
        Share of the vertices with an edge that a search may reach, as a mean over those searches and a bit of one that
        reaches all. A component that no search has seen all of counts as all vertices.
    """

    n_vertices: int
    n_edges: int
    directed: bool
    weighted: bool
    min_degree: int
    max_degree: int
    mean_degree: float
    degree_std: float
    degree_second_moment: float
    n_isolated: int
    degree_vertex_counts: tuple[int, ...]
    degree_edge_counts: tuple[int, ...]
    has_sorted_rows: bool
    mean_log2_neighbor_distance: float
    far_neighbor_share: float
    first_hook_tree_share: float
    first_hook_giant_share: float
    first_hook_depth: float
    estimated_depth: float
    reached_share: float

    @cached_property
    def randomness(self) -> float:
        """How random the numbering is: as many vertices come before all of their neighbours, and these are as far."""
        roots = min(1.0, self.first_hook_tree_share * (self.mean_degree + 1.0))
        return roots * self.mean_log2_neighbor_distance / math.log2(2.0 + self.n_vertices)

    @cached_property
    def degrees_and_shares(self) -> tuple[tuple[float, float], ...]:
        """The mean degree of the vertices in each bin of the histogram that has some, rising, and their share."""
        counts = zip(self.degree_vertex_counts, self.degree_edge_counts, strict=True)
        return tuple([(edges / count, count / self.n_vertices) for count, edges in counts if count])

    @cached_property
    def irregularity(self) -> float:
        """How irregular rows are to who goes along them: 0 on trees, and where most degrees have the same bits."""
        connected = self.n_vertices - self.n_isolated
        others = 1.0 - max(self.degree_vertex_counts[1:], default=0) / max(1, connected)
        return min(1.0, _MIXED * others) * self.cyclic_share

    @cached_property
    def cyclic_share(self) -> float:
        """How much of what irregular rows cost is to be paid: nothing on trees, all where edges close many cycles."""
        connected = self.n_vertices - self.n_isolated
        return min(1.0, max(0.0, _CLOSED * (0.5 * self.n_edges / connected - 1.0))) if connected else 0.0


class Search(NamedTuple):
    """How a search had grown when it was stopped, after the last level that it had all of.

    Attributes
    ----------
    levels, n_seen, n_last : int
        Levels, vertices in them, and vertices in the last one, which is empty if the search was over.
    n_earlier : int
        Vertices in the first ``2**(k - 1)`` levels, ``2**k`` being the largest power of two up to *levels*.
    """

    levels: int
    n_seen: int
    n_last: int
    n_earlier: int


def graph_stats(graph: GraphArrays) -> GraphStats:
    """Compute the statistics of *graph*; entries are sampled with a fixed seed."""
    n, m = graph.n_vertices, graph.n_edges
    degrees = graph.degrees
    is_high = degrees >= _COUNTED_DEGREE if m >= _COUNTED_DEGREE else np.zeros(1, bool)
    counts = np.bincount(degrees[~is_high] if is_high.any() else degrees)
    degree = np.flatnonzero(counts)
    count = counts[degree]
    if is_high.any():
        values, high_counts = np.unique(degrees[is_high], return_counts=True)
        degree, count = np.concatenate([degree, values]), np.concatenate([count, high_counts])
    bins = np.frexp(degree.astype(float))[1]
    n_bins = int(bins[-1]) + 1 if bins.size else 0
    mean = m / n if n else 0.0
    second_moment = float(degree.astype(float) ** 2 @ count) / n if n else 0.0
    distances = _sampled_distances(graph)
    return GraphStats(
        n_vertices=n,
        n_edges=m,
        directed=graph.directed,
        weighted=graph.edge_weights is not None,
        min_degree=int(degree[0]) if n else 0,
        max_degree=int(degree[-1]) if n else 0,
        mean_degree=mean,
        degree_std=max(0.0, second_moment - mean**2) ** 0.5,
        degree_second_moment=second_moment,
        n_isolated=int(count[0]) if n and degree[0] == 0 else 0,
        degree_vertex_counts=tuple(np.bincount(bins, count, n_bins).astype(int).tolist()),
        degree_edge_counts=tuple(np.bincount(bins, count * degree, n_bins).astype(int).tolist()),
        has_sorted_rows=graph.has_sorted_rows,
        mean_log2_neighbor_distance=float(np.log2(1.0 + distances).sum()) / distances.size if m else 0.0,
        far_neighbor_share=int(np.count_nonzero(distances > FAR_DISTANCE)) / distances.size if m else 0.0,
        **_first_hook(graph),
        **_reach(graph),
    )


def guessed_stats(n: int, m: int, far_share: float, mean_log2_distance: float) -> GraphStats:
    """Return statistics of a graph of which no more is known than its sizes and where neighbours are.

    All vertices count as reached, and as having as many entries. Where few neighbours are far, the graph counts as a
    mesh, whose searches are deep.
    """
    mean, is_mesh = m / max(1, n), far_share < FAR_IN_MESHES
    size, below = math.log2(2.0 + n), (0,) * int(mean).bit_length()
    return GraphStats(
        n_vertices=n, n_edges=m, directed=False, weighted=False, min_degree=0, max_degree=m, mean_degree=mean,
        degree_std=0.0, degree_second_moment=mean**2, n_isolated=0, degree_vertex_counts=(*below, n),
        degree_edge_counts=(*below, m), has_sorted_rows=False, mean_log2_neighbor_distance=mean_log2_distance,
        far_neighbor_share=far_share,
        first_hook_tree_share=mean_log2_distance / size / (mean + 1.0), first_hook_giant_share=0.0,
        first_hook_depth=1.0, estimated_depth=2.0 * math.sqrt(n) if is_mesh else size, reached_share=1.0,
    )  # fmt: skip


def _reach(graph: GraphArrays) -> dict[str, float]:
    """Search from the middle one of the vertices that have an edge, and shortly from a few others."""
    connected = np.flatnonzero(graph.degrees)
    if not connected.size:
        return reach([], 0)
    n, start = graph.n_vertices, connected[connected.size // 2]
    shortly = [_short_search(graph, (2 * i + 1) * n // (2 * N_STARTS)) for i in range(N_STARTS)]
    if n < NEIGHBORHOOD:  # the whole search takes less than its levels one by one
        matrix = as_csr_array(graph.row_offsets, graph.column_indices, _ones(graph.n_edges))
        depth, _, n_seen = _levels(matrix, start)
        return reach([Search(1 + depth, n_seen, 0, 1), *shortly], connected.size)
    offsets, columns, frontier = graph.row_offsets, graph.column_indices, start[None]
    seen, sizes = np.zeros(n, bool), [1]
    seen[frontier] = True
    while frontier.size and sizes[-1] < NEIGHBORHOOD:
        rows, most = frontier[:NEIGHBORHOOD], NEIGHBORHOOD // max(1, frontier.size // 16)
        starts, ends = offsets[rows], offsets[rows + 1]
        for _ in range(ROW_PARTS):  # of long rows, until one leads on
            stops = np.minimum(ends, starts + most)
            reached = np.unique(np.concatenate([columns[a:b] for a, b in zip(starts, stops, strict=True)]))
            frontier, starts = reached[~seen[reached]], stops
            if frontier.size or (stops == ends).all():
                break
        seen[frontier] = True
        sizes.append(sizes[-1] + frontier.size)
    return reach([_search(sizes), *shortly], connected.size)


def _short_search(graph: GraphArrays, start: int) -> Search:
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


def _first_hook(graph: GraphArrays) -> dict[str, float]:
    """Sample the forest in which every vertex hangs from its first neighbour, if that is smaller."""
    n, offsets, columns = graph.n_vertices, graph.row_offsets, graph.column_indices
    sample = np.random.default_rng(1).integers(n, size=N_SAMPLES) if n > N_SAMPLES else np.arange(n)
    sample = sample[offsets[sample] < offsets[sample + 1]]
    if not sample.size:
        return dict.fromkeys(("first_hook_tree_share", "first_hook_giant_share", "first_hook_depth"), 0.0)

    def parents(v: NDArray[Any]) -> NDArray[Any]:
        above: NDArray[Any] = np.minimum(v, columns[offsets[v]])
        return above

    firsts = parents(sample)
    tree_share = int(np.count_nonzero(firsts == sample)) / sample.size
    chosen = slice(None, None, max(1, sample.size // 256))
    if n < NEIGHBORHOOD:
        above = np.arange(n)
        above[sample] = firsts
        tops, steps = _tops(above)
        roots, depths = tops[sample[chosen]], steps[sample[chosen]]
    else:
        roots = sample[chosen].copy()
        depths = np.zeros(roots.size)
        climbing = np.arange(roots.size)
        for _ in range(MAX_CLIMB):
            above = parents(roots[climbing])
            climbing = climbing[above != roots[climbing]]
            if not climbing.size:
                break
            roots[climbing] = parents(roots[climbing])
            depths[climbing] += 1
    depth = float(depths.sum()) / roots.size
    largest = int((np.bincount(roots) if n < NEIGHBORHOOD else np.unique(roots, return_counts=True)[1]).max())
    return {
        "first_hook_tree_share": tree_share,
        "first_hook_giant_share": largest / roots.size if tree_share or depth <= DEEP_HOOKS else 1.0,
        "first_hook_depth": depth,
    }


def _tops(above: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return where the climb from each vertex ends, after ``MAX_CLIMB`` steps at most, and its steps, by doubling."""
    steps = (above != np.arange(above.size)).astype(np.int64)
    for _ in range(MAX_CLIMB.bit_length() - 1):
        higher = above[above]
        if np.array_equal(higher, above):
            break
        steps += steps[above]
        above = higher
    return above, steps


def _sampled_distances(graph: GraphArrays) -> NDArray[Any]:
    m = graph.n_edges
    if m <= N_SAMPLES:
        rows, columns = np.repeat(np.arange(graph.n_vertices), graph.degrees), graph.column_indices
    else:
        entries = np.sort(np.random.default_rng(0).integers(m, size=N_SAMPLES))  # in order, rows are found in cache
        entries = entries.astype(graph.row_offsets.dtype)  # numpy would convert all offsets to another type
        rows, columns = np.searchsorted(graph.row_offsets, entries, "right") - 1, graph.column_indices[entries]
    distances: NDArray[Any] = np.abs(rows - columns)
    return distances


def diameter_bound(graph: GraphArrays) -> int:
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


def _ones(m: int) -> NDArray[Any]:
    return np.ones(m, np.float64)  # as scipy's searches hold them


def sampled_locality(
    offsets: NDArray[Any], columns: NDArray[np.int32], *, in_order: bool = False
) -> tuple[float, float]:
    """Return the share of far neighbours and the mean of ``log2(1 + distance)``, of few entries.

    If *in_order*, a neighbour beside one of the four entries before is at distance 0, however far from its row.
    Who goes along the entries has just met it: in the row of a star's hub, where rows have the hub alone, or in trees
    that are numbered by level.

    The arrays may be unchecked: what is wrong in them makes wrong numbers here, and is found later.
    """
    m = columns.size
    if not m:
        return 0.0, 0.0
    n_looks = min(m, _FEW_LOOKS if in_order else _N_LOOKS)
    looks = np.arange(n_looks) * m // n_looks
    rows = np.searchsorted(offsets, looks.astype(offsets.dtype), "right") - 1
    neighbors = columns[looks]
    distances = np.abs(neighbors - rows)
    if in_order:
        before = columns[np.maximum(looks - _BEFORE, 0)]
        distances[(np.abs(before - neighbors) <= _BESIDE).any(0)] = 0
    far = int(np.count_nonzero(distances > FAR_DISTANCE))  # numbers of numpy would make all prices slow
    return far / n_looks, float(np.log2(1.0 + distances).sum()) / n_looks


def has_thin_rows(offsets: NDArray[Any]) -> bool:
    """Return whether no row has more than two entries; of unchecked arrays, anything."""
    parts = (offsets[first : first + _ROWS_AT_ONCE + 1] for first in range(0, offsets.size - 1, _ROWS_AT_ONCE))
    return all(int((part[1:] - part[:-1]).max()) <= 2 for part in parts)
