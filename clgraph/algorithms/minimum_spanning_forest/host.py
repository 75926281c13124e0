"""Minimum spanning forests on the host, by scipy's compiled Kruskal."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.algorithms.minimum_spanning_forest.plan import Told, total_weight
from clgraph.algorithms.minimum_spanning_forest.problem import ForestProblem
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.wrapped import WrappedGraph

_MIN_DOUBLE = 1 << 52  # The bits of the smallest normal double, read as an integer.
_KEY_BITS = 62
_EXACT = 2.0**53  # All integers of smaller magnitude are exact as doubles.


def solve(problem: ForestProblem) -> Told:
    """Find a minimum spanning forest by scipy.

    Return its edges in ascending order, their total weight, and their ends.

    scipy sorts weights as doubles, drops weights of zero, and does not tell which of several parallel edges it took. So
    each edge is passed once. Its weight is a double whose bits are the rank of the true weight, followed by the edge's
    number. These doubles are distinct and nonzero, and they sort by weight, then by edge. The weights that scipy
    returns therefore identify the forest's edges.
    """
    # scipy's csgraph is imported inside the function, because the import takes 0.07 s.
    from scipy.sparse.csgraph import minimum_spanning_tree

    graph = problem.graph
    n, rows, columns = graph.n_vertices, graph.sources(), graph.column_indices
    entries = np.flatnonzero(rows < columns)
    if not entries.size:
        return Told(entries, None, {})
    weights = None if graph.edge_weights is None else graph.edge_weights[entries]
    rows, number_bits = rows[entries], entries.size.bit_length()
    ranks = _ranks(weights, graph.weight_range, problem.maximum, number_bits)
    keys = np.arange(_MIN_DOUBLE, _MIN_DOUBLE + entries.size)
    if ranks is not None:
        keys += ranks << number_bits
    offsets = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=n), out=offsets[1:])
    matrix = _matrix(graph, keys.view(np.float64), columns[entries], offsets)
    tree: NDArray[np.float64] = minimum_spanning_tree(matrix, overwrite=True).data
    found = (tree.view(np.int64) - _MIN_DOUBLE) & ((1 << number_bits) - 1)
    is_taken = np.zeros(entries.size, bool)
    is_taken[found] = True
    taken = np.flatnonzero(is_taken)
    edges, weights = entries[taken], None if weights is None else weights[taken]
    weight = edges.size if weights is None else total_weight(weights)
    # The targets of the forest edges come from the graph, because scipy has moved the columns of the matrix.
    ends = {"sources": rows[taken], "targets": graph.column_indices[edges]}
    return Told(edges, weight, {**ends, "weights": weights})


def _matrix(graph: Graph, *arrays: NDArray[Any]) -> Any:
    """Return the scipy CSR matrix of a graph for Kruskal's algorithm, from values, columns and offsets.

    For a wrapped graph it is a shallow copy of the user's matrix, which saves 7 µs of scipy's checks.
    """
    if not isinstance(graph, WrappedGraph):
        return csr_array(arrays, shape=2 * (graph.n_vertices,))
    made = copy(graph.matrix)
    made.data, made.indices, made.indptr = arrays
    made.has_canonical_format = True
    return made


def _ranks(
    weights: NDArray[Any] | None, bounds: tuple[Any, Any], maximum: bool, number_bits: int
) -> NDArray[np.int64] | None:
    """Return nonnegative integers of few bits that sort the edges as *weights* do; ``None`` without weights.

    All weights lie between the *bounds*.
    """
    if weights is None:
        return None
    least, greatest = bounds
    if weights.dtype.kind == "f" and least > -_EXACT and greatest < _EXACT:
        whole = weights.astype(np.int64)
        weights = whole if (whole == weights).all() else weights
    if weights.dtype.kind == "f":
        # The bits of floats, read as integers, rise with the value of nonnegative floats and fall with negative floats.
        bits = (weights + weights.dtype.type(0)).view(f"i{weights.itemsize}")  # -0.0 is 0.0
        weights = np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)
        least, greatest = weights.min(), weights.max()
    ordered, least, greatest = weights.astype(np.int64), int(least), int(greatest)
    ranks: NDArray[np.int64]
    if (greatest - least).bit_length() + number_bits > _KEY_BITS:
        ranks = np.unique(~ordered if maximum else ordered, return_inverse=True)[1]
    else:
        ranks = greatest - ordered if maximum else ordered - least
    return ranks
