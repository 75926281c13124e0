"""Statistics of a graph for the cost model: degrees, locality, a bound on the diameter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.csr_graph import CSRGraph
from clgraph.data.graphs.searches import NEIGHBORHOOD, searched

N_SAMPLES = 1 << 14
_N_LOOKS, _FEW_LOOKS = 256, 64  # at entries, to guess a graph's locality; they miss the cache in most calls
_ROWS_AT_ONCE = 1 << 14  # rows whose lengths fit a near cache
_BEFORE, _BESIDE = np.arange(1, 5)[:, None], 16  # entries that one goes along, and vertices of one cache line
FAR_DISTANCE = 1 << 15
_COUNTED_DEGREE = 1 << 16
MAX_CLIMB = 128
DEEP_HOOKS = 0.75 * MAX_CLIMB  # a greater mean says that climbs were cut off before the roots, which tell trees apart
FAR_IN_MESHES = 0.05  # greatest share of far neighbours in a mesh
# A graph is wholly irregular if these factors times its shares of other degrees and of edges that close cycles are 1.
_MIXED, _CLOSED = 2.5, 5.0


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
        Share of the same sample with ``|u - v| > 2**15``: 4-byte values of such neighbours are more than 128 KiB
        apart, outside any first-level cache.
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
        """How random the numbering is, by the vertices before all of their neighbours and by distance."""
        roots = min(1.0, self.first_hook_tree_share * (self.mean_degree + 1.0))
        return roots * self.mean_log2_neighbor_distance / math.log2(2.0 + self.n_vertices)

    @cached_property
    def degrees_and_shares(self) -> tuple[tuple[float, float], ...]:
        """The mean degree of the vertices in each bin of the histogram that has some, rising, and their share."""
        counts = zip(self.degree_vertex_counts, self.degree_edge_counts, strict=True)
        return tuple([(edges / count, count / self.n_vertices) for count, edges in counts if count])

    @cached_property
    def irregularity(self) -> float:
        """How irregular rows are to a walk along them: 0 on trees, and where most degrees have the same bits.

        It counts in full where edges close many cycles.
        """
        connected = self.n_vertices - self.n_isolated
        if not connected:
            return 0.0
        others = 1.0 - max(self.degree_vertex_counts[1:], default=0) / connected
        closing = 0.5 * self.n_edges / connected - 1.0
        return min(1.0, _MIXED * others) * min(1.0, max(0.0, _CLOSED * closing))


def graph_stats(graph: CSRGraph) -> GraphStats:
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
        **searched(graph),
    )


def guessed_stats(n: int, m: int, far_share: float, mean_log2_distance: float, usual_distance: float) -> GraphStats:
    """Return statistics of a graph of which no more is known than its sizes and where neighbours are.

    All vertices count as reached, and as having as many entries. Where few neighbours are far, the graph counts as a
    mesh or a band, whose searches are deep: a level goes on by *usual_distance* vertices, which few edges exceed.
    """
    mean, is_mesh = m / max(1, n), far_share < FAR_IN_MESHES
    size, below = math.log2(2.0 + n), (0,) * int(mean).bit_length()
    return GraphStats(
        n_vertices=n, n_edges=m, directed=False, weighted=False, min_degree=0, max_degree=m, mean_degree=mean,
        degree_std=0.0, degree_second_moment=mean**2, n_isolated=0, degree_vertex_counts=(*below, n),
        degree_edge_counts=(*below, m), has_sorted_rows=False, mean_log2_neighbor_distance=mean_log2_distance,
        far_neighbor_share=far_share,
        first_hook_tree_share=mean_log2_distance / size / (mean + 1.0), first_hook_giant_share=0.0,
        first_hook_depth=1.0, reached_share=1.0,
        estimated_depth=max(2.0 * math.sqrt(n), n / (1.0 + usual_distance)) if is_mesh else size,
    )  # fmt: skip


def _first_hook(graph: CSRGraph) -> dict[str, float]:
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


def _sampled_distances(graph: CSRGraph) -> NDArray[Any]:
    m = graph.n_edges
    if m <= N_SAMPLES:
        rows, columns = np.repeat(np.arange(graph.n_vertices), graph.degrees), graph.column_indices
    else:
        entries = np.sort(np.random.default_rng(0).integers(m, size=N_SAMPLES))  # in order, rows are found in cache
        entries = entries.astype(graph.row_offsets.dtype)  # numpy would convert all offsets to another type
        rows, columns = np.searchsorted(graph.row_offsets, entries, "right") - 1, graph.column_indices[entries]
    distances: NDArray[Any] = np.abs(rows - columns)
    return distances


def sampled_locality(
    offsets: NDArray[Any], columns: NDArray[np.int32], *, in_order: bool = False
) -> tuple[float, float, float]:
    """Return the share of far neighbours, the mean of ``log2(1 + distance)`` and the 95th percentile, of few entries.

    If *in_order*, a neighbour beside one of the four entries before is at distance 0, however far from its row.
    A walk along the entries has just met it: in the row of a star's hub, where rows have the hub alone, or in trees
    that are numbered by level. The percentile is of all distances as they are.

    The arrays may be unchecked: what is wrong in them makes wrong numbers here, and is found later.
    """
    m = columns.size
    if not m:
        return 0.0, 0.0, 0.0
    n_looks = min(m, _FEW_LOOKS if in_order else _N_LOOKS)
    looks = np.arange(n_looks) * m // n_looks
    rows = np.searchsorted(offsets, looks.astype(offsets.dtype), "right") - 1
    neighbors = columns[looks]
    distances = np.abs(neighbors - rows)
    usual = float(np.sort(distances)[int((1.0 - FAR_IN_MESHES) * (n_looks - 1))])
    if in_order:
        before = columns[np.maximum(looks - _BEFORE, 0)]
        distances[(np.abs(before - neighbors) <= _BESIDE).any(0)] = 0
    far = int(np.count_nonzero(distances > FAR_DISTANCE))  # numbers of numpy would make all prices slow
    return far / n_looks, float(np.log2(1.0 + distances).sum()) / n_looks, usual


def has_thin_rows(offsets: NDArray[Any]) -> bool:
    """Return whether no row has more than two entries; of unchecked arrays, anything."""
    parts = (offsets[first : first + _ROWS_AT_ONCE + 1] for first in range(0, offsets.size - 1, _ROWS_AT_ONCE))
    return all(int((part[1:] - part[:-1]).max()) <= 2 for part in parts)
