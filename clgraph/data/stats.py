"""What the cost model may know of a graph: degrees, locality, a bound on the diameter."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.csr import as_csr_array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from clgraph.data.graph import Graph

N_SAMPLES = 1 << 14
_N_LOOKS = 256  # at the entries of a graph that is not measured
FAR_DISTANCE = 1 << 15
_COUNTED_DEGREE = 1 << 16
MAX_CLIMB = 128
NEIGHBORHOOD = 1 << 12
_SMALL_WORLD_LEVELS = 12  # in which a small world's neighbourhood gets there


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
        Share of 256 sampled vertices in the commonest tree of that forest (1 where it is a single one).
    first_hook_depth : float
        The mean depth of the sampled vertices in that forest, followed up to 512 steps.
    estimated_depth : float
        Levels that a breadth-first search may have: from how fast the neighbourhood of a vertex grows up to 2**12
        vertices, as a power of the levels (meshes, roads) or exponentially (small worlds).
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


def graph_stats(graph: Graph) -> GraphStats:
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
        far_neighbor_share=np.count_nonzero(distances > FAR_DISTANCE) / distances.size if m else 0.0,
        **_first_hook(graph),
        estimated_depth=_estimated_depth(graph),
    )


def _estimated_depth(graph: Graph) -> float:
    """Extrapolate the levels of a search that stops once it has seen enough vertices."""
    connected = np.flatnonzero(graph.degrees)
    if not connected.size:
        return 0.0
    start = connected[connected.size // 2]
    if graph.n_vertices < NEIGHBORHOOD:  # the whole search takes less than its levels one by one
        return float(1 + _depth(as_csr_array(graph.row_offsets, graph.column_indices, _ones(graph.n_edges)), start)[0])
    offsets, columns, frontier, levels, n_seen = graph.row_offsets, graph.column_indices, start[None], 0, 1
    seen = np.zeros(graph.n_vertices, bool)
    seen[frontier] = True
    while frontier.size and n_seen < NEIGHBORHOOD:
        rows = frontier[:NEIGHBORHOOD]
        ends = np.minimum(offsets[rows + 1], offsets[rows] + NEIGHBORHOOD // max(1, rows.size // 16))
        reached = np.unique(np.concatenate([columns[a:b] for a, b in zip(offsets[rows], ends, strict=True)]))
        frontier = reached[~seen[reached]]
        seen[frontier] = True
        n_seen, levels = n_seen + frontier.size, levels + 1
    return extrapolated_depth(levels, n_seen, frontier.size, connected.size)


def extrapolated_depth(levels: int, n_seen: int, n_last: int, n_connected: int) -> float:
    """Return the levels of a search that has seen *n_seen* vertices, the last level *n_last*, when it was stopped."""
    if not n_last:
        return float(levels)
    left = max(1.0, n_connected / n_seen)
    if levels <= _SMALL_WORLD_LEVELS:
        return levels * (1.0 + math.log2(left) / math.log2(n_seen))
    return 2.0 * levels * math.sqrt(left)


def _first_hook(graph: Graph) -> dict[str, float]:
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
    tree_share = np.count_nonzero(firsts == sample) / sample.size
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
    largest = int((np.bincount(roots) if n < NEIGHBORHOOD else np.unique(roots, return_counts=True)[1]).max())
    return {
        "first_hook_tree_share": tree_share,
        "first_hook_giant_share": largest / roots.size if tree_share else 1.0,
        "first_hook_depth": float(depths.sum()) / roots.size,
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


def _sampled_distances(graph: Graph) -> NDArray[Any]:
    m = graph.n_edges
    if m <= N_SAMPLES:
        rows, columns = np.repeat(np.arange(graph.n_vertices), graph.degrees), graph.column_indices
    else:
        entries = np.random.default_rng(0).integers(m, size=N_SAMPLES)
        entries = entries.astype(graph.row_offsets.dtype)  # numpy would convert all offsets to another type
        rows, columns = np.searchsorted(graph.row_offsets, entries, "right") - 1, graph.column_indices[entries]
    distances: NDArray[Any] = np.abs(rows - columns)
    return distances


def diameter_bound(graph: Graph) -> int:
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
        depth, start = _depth(matrix, start)
    return depth


def _depth(matrix: csr_array, start: int) -> tuple[int, int]:
    """Return how many levels a breadth-first search from *start* has after the first, and a vertex of the last."""
    from scipy.sparse.csgraph import breadth_first_order  # loads most of scipy, which statistics on a device do without

    order, predecessors = breadth_first_order(matrix, start, directed=True)
    position = np.empty(matrix.shape[0], np.int32)
    position[order] = np.arange(order.size, dtype=np.int32)
    # In breadth-first order predecessors do not move back, so each level is one slice.
    parent, depth, level = memoryview(position[predecessors[order[1:]]]), 0, 0
    while (following := 1 + bisect_left(parent, level)) < order.size:
        level, depth = following, depth + 1
    return depth, int(order[-1])


def _ones(m: int) -> NDArray[Any]:
    return np.ones(m, np.float64)  # as scipy's searches hold them


def sampled_locality(offsets: NDArray[Any], columns: NDArray[np.int32]) -> tuple[float, float]:
    """Return the share of far neighbours and the mean of ``log2(1 + distance)``, of few entries.

    The arrays may be unchecked: what is wrong in them makes wrong numbers here, and is found later.
    """
    m = columns.size
    if not m:
        return 0.0, 0.0
    looks = np.arange(min(m, _N_LOOKS)) * m // min(m, _N_LOOKS)
    rows = np.searchsorted(offsets, looks.astype(offsets.dtype), "right") - 1
    distances = np.abs(columns[looks] - rows)
    return float((distances > FAR_DISTANCE).mean()), float(np.log2(1.0 + distances).mean())
