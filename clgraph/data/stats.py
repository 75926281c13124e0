"""What the cost model may know of a graph: degrees, locality, a bound on the diameter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.csr import as_csr_array

if TYPE_CHECKING:
    from clgraph.data.graph import Graph

N_SAMPLES = 1 << 14
FAR_DISTANCE = 1 << 15
_COUNTED_DEGREE = 1 << 16
MAX_CLIMB = 512
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
        Mean of ``log2(1 + |u - v|)`` over 2**14 sampled entries (u, v): near 2 for well ordered
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
    high = degrees[degrees >= _COUNTED_DEGREE]
    counts = np.bincount(degrees[degrees < _COUNTED_DEGREE] if high.size else degrees)
    values, high_counts = np.unique(high, return_counts=True)
    present = np.flatnonzero(counts)
    degree = np.concatenate([present, values]).astype(np.int64)
    count = np.concatenate([counts[present], high_counts]).astype(np.int64)
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
        mean_log2_neighbor_distance=float(np.log2(1.0 + distances).mean()) if m else 0.0,
        far_neighbor_share=float((distances > FAR_DISTANCE).mean()) if m else 0.0,
        **_first_hook(graph),
        estimated_depth=_estimated_depth(graph),
    )


def _estimated_depth(graph: Graph) -> float:
    """Extrapolate the levels of a search that stops once it has seen enough vertices."""
    offsets, columns = graph.row_offsets, graph.column_indices
    connected = np.flatnonzero(graph.degrees)
    if not connected.size:
        return 0.0
    frontier, levels, n_seen = connected[connected.size // 2][None], 0, 1
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

    tree_share = float((parents(sample) == sample).mean())
    roots = sample[:: max(1, sample.size // 256)].copy()
    depths = np.zeros(roots.size)
    climbing = np.arange(roots.size)
    for _ in range(MAX_CLIMB):
        above = parents(roots[climbing])
        climbing = climbing[above != roots[climbing]]
        if not climbing.size:
            break
        roots[climbing] = parents(roots[climbing])
        depths[climbing] += 1
    largest = int(np.unique(roots, return_counts=True)[1].max())
    return {
        "first_hook_tree_share": tree_share,
        "first_hook_giant_share": largest / roots.size if tree_share else 1.0,
        "first_hook_depth": float(depths.mean()),
    }


def _sampled_distances(graph: Graph) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    m = graph.n_edges
    entries = np.random.default_rng(0).integers(m, size=N_SAMPLES) if m > N_SAMPLES else np.arange(m)
    rows = np.searchsorted(graph.row_offsets, entries, "right") - 1
    return np.abs(rows - graph.column_indices[entries].astype(np.int64))


def diameter_bound(graph: Graph) -> int:
    """Return a lower bound on the diameter of the component of a vertex of the largest degree.

    Two breadth-first searches, the second from a vertex farthest in the first (a pseudo-peripheral
    vertex); exact on trees, and close in practice [1]_. Directions are ignored.

    References
    ----------
    .. [1] C. Magnien, M. Latapy, M. Habib. "Fast computation of empirically tight bounds for the
       diameter of massive graphs." ACM J. Experimental Algorithmics 13, 2009.
    """
    from scipy.sparse.csgraph import breadth_first_order  # loads most of scipy, which statistics on a device do without

    if graph.n_edges == 0:
        return 0
    matrix = as_csr_array(graph.row_offsets, graph.column_indices, np.ones(graph.n_edges, bool))
    if graph.directed:
        matrix = matrix + matrix.T
    start, depth = int(graph.degrees.argmax()), 0
    for _ in range(2):
        order, predecessors = breadth_first_order(matrix, start, directed=True)
        position = np.empty(graph.n_vertices, np.int32)
        position[order] = np.arange(order.size, dtype=np.int32)
        # In breadth-first order predecessors do not move back, so each level is one slice.
        parent = position[predecessors[order[1:]]]
        start, depth, level = int(order[-1]), 0, 0
        while (following := 1 + int(np.searchsorted(parent, level))) < order.size:
            level, depth = following, depth + 1
    return depth
