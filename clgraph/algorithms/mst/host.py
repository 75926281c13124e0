"""Minimum spanning forests on the host, by scipy's compiled Kruskal."""
from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.algorithms.mst.answer import Told
from clgraph.algorithms.mst.problem import ForestProblem
from clgraph.algorithms.mst.total_weight import total_weight
from clgraph.data.graph import Graph
from clgraph.data.wrapped import WrappedGraph
from clgraph.model.cost import HostItems, Part, Work

_LEAST_DOUBLE = 1 << 52  # the bits of the least double with all its digits
_KEY_BITS = 62
_EXACT = 2.0**53  # integers below it are doubles
_THIN_SHARE = 0.65  # of the time, where sets that are joined have short ways to their roots
_IN_ORDER_SHARE = 0.18  # of edges that weigh the same: nothing is out of order, and one row comes after the other
_FEW_SHARE = 0.1  # of the edges, for which nobody looks at rows
_CALL_SECONDS = 6e-5
_VERTEX_SECONDS, _GUESS_SECONDS = 6e-9, 4.2e-8  # of a vertex, and where a core guesses wrong


def solve(problem: ForestProblem) -> Told:
    """Return the forest's edges in rising order, with what is known of them by then.

    scipy sorts doubles, drops weights of zero, and does not say which of parallel edges it has taken. So it gets each
    edge once, and as its weight a double whose bits are the rank of the weight and then the edge's number. Such doubles
    are distinct, not zero, and in the order in which edges join the forest; those that it returns name its edges.
    """
    from scipy.sparse.csgraph import minimum_spanning_tree  # to load it takes 0.07 s, which others need not pay

    graph = problem.graph
    n, rows, columns = graph.n_vertices, graph.sources(), graph.column_indices
    entries = np.flatnonzero(rows < columns)
    if not entries.size:
        return Told(entries, None, {})
    weights = None if graph.edge_weights is None else graph.edge_weights[entries]
    rows, number_bits = rows[entries], entries.size.bit_length()
    ranks = _ranks(weights, problem.maximum, number_bits)
    keys = np.arange(_LEAST_DOUBLE, _LEAST_DOUBLE + entries.size)
    if ranks is not None:
        keys += ranks << number_bits
    offsets = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=n), out=offsets[1:])
    matrix = _matrix(graph, keys.view(np.float64), columns[entries], offsets)
    tree: NDArray[np.float64] = minimum_spanning_tree(matrix, overwrite=True).data
    found = (tree.view(np.int64) - _LEAST_DOUBLE) & ((1 << number_bits) - 1)
    is_taken = np.zeros(entries.size, bool)
    is_taken[found] = True
    edges, weights = entries[is_taken], None if weights is None else weights[is_taken]
    weight = edges.size if weights is None else total_weight(weights)
    ends = {"sources": rows[is_taken], "targets": graph.column_indices[edges]}  # scipy has moved those of the matrix
    return Told(edges, weight, {**ends, "weights": weights})


def _matrix(graph: Graph, *arrays: NDArray[Any]) -> Any:
    """Return the matrix of these values, columns and offsets; who copies the user's spares 7 us of checks."""
    if not isinstance(graph, WrappedGraph):
        return csr_array(arrays, shape=2 * (graph.n_vertices,))
    made = copy(graph.matrix)
    made.data, made.indices, made.indptr = arrays
    made.has_canonical_format = True
    return made


def _ranks(weights: NDArray[Any] | None, maximum: bool, number_bits: int) -> NDArray[np.int64] | None:
    """Return integers of few bits that order edges as their *weights* do, from 0 on; ``None`` if all are the same."""
    if weights is None:
        return None
    least, greatest = weights.min(), weights.max()
    if weights.dtype.kind == "f" and least > -_EXACT and greatest < _EXACT:
        whole = weights.astype(np.int64)
        weights = whole if (whole == weights).all() else weights
    if weights.dtype.kind == "f":  # as integers, the doubles from 0 on rise and those below fall
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


def work(problem: ForestProblem) -> list[Part]:
    """A sort of the edges, and what comes before and after it.

    Edges of the least weight are in order, and stay in the order of the rows, where roots are far if neither rows nor
    numbers follow a rule.
    """
    graph, keys = problem.graph, 0.5 * problem.graph.n_edges
    sort = Work(host_items=(HostItems(keys, 16.0 * keys, "sort"),))
    in_order = graph.least_share
    share = _IN_ORDER_SHARE * in_order + (_THIN_SHARE if graph.is_thin else 1.0) * (1.0 - in_order)
    seconds = _CALL_SECONDS + _VERTEX_SECONDS * graph.n_vertices
    if graph.is_measured and in_order > _FEW_SHARE:
        stats = graph.stats
        unruly = max(stats.irregularity, stats.randomness, graph.mixed_share * stats.cyclic_share)
        seconds += _GUESS_SECONDS * in_order * unruly * (stats.n_vertices - stats.n_isolated)
    return [(sort, share, 1.0), (Work(host_seconds=seconds), 1.0, 1.0)]
