"""Statistics of a graph for the cost model: degrees, locality, and a bound on the diameter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.csr_graph import CSRGraph
from clgraph.data.graphs.searches import NEIGHBORHOOD, searched

# Number of sampled vertices, and of sampled CSR entries. Smaller graphs are read as a whole.
N_SAMPLES = 1 << 14
# Number of CSR entries that are read to estimate the locality: without in_order, and with in_order.
# Few CSR entries are read for the locality, because most of the reads miss the cache.
_N_LOOKS, _FEW_LOOKS = 256, 64
_ROWS_AT_ONCE = 1 << 14  # Number of rows whose lengths are computed together, so that the lengths fit a small cache.
# A CSR entry is compared with the four entries in front of it. A cache line holds the values of 16 vertices.
_BEFORE, _BESIDE = np.arange(1, 5)[:, None], 16
# A neighbour is far if its vertex number differs from the vertex's own number by more than 2^15.
FAR_DISTANCE = 1 << 15
_COUNTED_DEGREE = 1 << 16  # Lower vertex degrees are counted in an array, and higher degrees are counted by np.unique.
MAX_CLIMB = 128  # At most this number of steps are followed from a vertex towards the root of its tree.
# If the followed vertices climb more than 96 steps on average, most of them were not followed to their roots.
# If most vertices were not followed to their roots, it is unknown which vertices are in the same tree.
DEEP_HOOKS = 0.75 * MAX_CLIMB
FAR_IN_MESHES = 0.05  # A graph counts as a mesh if its share of far neighbours is below this.
# The irregularity of a graph is the product of two factors, each of which is at most 1.
# The first factor of the irregularity is 2.5 times the share of vertices outside the commonest degree bin.
# The second factor of the irregularity is 5 times the number of edges per vertex that close cycles.
_MIXED, _CLOSED = 2.5, 5.0


@dataclass(frozen=True)
class GraphStats:
    """Statistics of one graph. The cost model chooses a strategy from them.

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
        Numbers of vertices and of stored entries in each bin of degrees: bin 0 is degree 0, bin ``k`` has the
        degrees ``2**(k-1) <= d < 2**k``.
    has_sorted_rows : bool
        Whether the column indices of every row do not decrease.
    mean_log2_neighbor_distance : float
        Mean of ``log2(1 + |u - v|)`` over sampled entries (u, v): near 2 for well-ordered
        meshes, near ``log2(n)`` for random numberings.
    far_neighbor_share : float
        Share of the sampled entries with ``|u - v| > 2**15``. The 4-byte values of u and v are then more than 128 KiB
        apart, too far to share a first-level cache.
    first_hook_tree_share : float
        In the forest in which every vertex hangs from its first neighbour if that has a lower number: the share of
        roots among sampled vertices with an edge.
    first_hook_giant_share : float
        Share of 256 sampled vertices that are in the commonest tree of that forest. It is 1 if the trees are too deep
        to be told apart and no root was sampled.
    first_hook_depth : float
        Mean depth of the sampled vertices in that forest, followed up to 128 steps.
    estimated_depth : float
        Estimated levels of a breadth-first search. A search is stopped at about 2**12 vertices and its growth
        extrapolated: as a power of the levels (meshes, roads), or exponentially (small worlds). Eight other searches,
        of up to 64 vertices, may find longer paths.
    reached_share : float
        Estimated share of the vertices with an edge that a search reaches. It is the mean over the same searches and,
        with a small weight, an assumed search that reaches all vertices. A search that was stopped counts as reaching
        all vertices, or all vertices of the first search if the first search was completed.
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
        """A measure of how random the vertex numbers of the graph are, from 0 to 1.

        It is high if many vertices have lower numbers than all their neighbours, and if neighbours have far numbers.
        """
        roots = min(1.0, self.first_hook_tree_share * (self.mean_degree + 1.0))
        return roots * self.mean_log2_neighbor_distance / math.log2(2.0 + self.n_vertices)

    @cached_property
    def degrees_and_shares(self) -> tuple[tuple[float, float], ...]:
        """For each non-empty bin of vertex degrees, from low to high: its mean degree and its share of the vertices."""
        counts = zip(self.degree_vertex_counts, self.degree_edge_counts, strict=True)
        return tuple([(edges / count, count / self.n_vertices) for count, edges in counts if count])

    @cached_property
    def irregularity(self) -> float:
        """A measure of how irregularly the lengths of successive rows change, 0 … 1.

        High values mean branch mispredictions.

        It is 0 for trees, and if all degrees are in one bin. It rises with the share of vertices in other bins and with
        the number of edges that close cycles.
        """
        connected = self.n_vertices - self.n_isolated
        if not connected:
            return 0.0
        others = 1.0 - max(self.degree_vertex_counts[1:], default=0) / connected
        closing = 0.5 * self.n_edges / connected - 1.0
        return min(1.0, _MIXED * others) * min(1.0, max(0.0, _CLOSED * closing))


def graph_stats(graph: CSRGraph) -> GraphStats:
    """Return the statistics of *graph*. Vertices and entries are sampled with fixed random seeds."""
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
    """Estimate the statistics of a graph from its sizes and from the distances of sampled neighbours.

    The estimate assumes that a search reaches all vertices and that all have the mean degree. A graph with few far
    neighbours is assumed to be a mesh or a band. Its searches are deep: each level advances by *usual_distance*, which
    few edges exceed.
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
    """Sample the forest in which every vertex is the child of its first neighbour, if that has a lower number."""
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
    """Follow parents (*above*) from every vertex for up to ``MAX_CLIMB`` steps. Return the end and length of each path.

    All paths are followed together, by pointer doubling.
    """
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
        # The sampled entries are sorted, so that successive searches for their rows hit the cache.
        entries = np.sort(np.random.default_rng(0).integers(m, size=N_SAMPLES))
        # If the sampled positions had another type, numpy would convert all offsets to int64.
        entries = entries.astype(graph.row_offsets.dtype)
        rows, columns = np.searchsorted(graph.row_offsets, entries, "right") - 1, graph.column_indices[entries]
    distances: NDArray[Any] = np.abs(rows - columns)
    return distances


def sampled_locality(
    offsets: NDArray[Any], columns: NDArray[np.int32], *, in_order: bool = False
) -> tuple[float, float, float]:
    """Estimate the share of far neighbours, and two statistics of the distances of neighbours, from a few entries.

    They are the mean of ``log2(1 + distance)`` and the 95th percentile of the distances. With *in_order*, a neighbour
    within a cache line of one of the four previous entries counts as distance 0 in the share and the mean, because a
    walk along the entries has just read that line. There are such neighbours in the row of a star's hub, in rows that
    hold only the hub, and in trees numbered by level.

    The arrays may be unchecked. Errors in the arrays give wrong numbers here, and are found later.
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
    # numpy scalars would make the cost model slow, so the count becomes a Python integer.
    far = int(np.count_nonzero(distances > FAR_DISTANCE))
    return far / n_looks, float(np.log2(1.0 + distances).sum()) / n_looks, usual


def has_thin_rows(offsets: NDArray[Any]) -> bool:
    """Return whether no CSR row has more than two entries.

    For invalid *offsets* the result is meaningless.
    """
    parts = (offsets[first : first + _ROWS_AT_ONCE + 1] for first in range(0, offsets.size - 1, _ROWS_AT_ONCE))
    return all(int((part[1:] - part[:-1]).max()) <= 2 for part in parts)
