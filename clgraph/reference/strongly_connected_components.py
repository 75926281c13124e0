"""A sequential reference implementation of strongly connected components, and a check by the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order
from scipy.sparse.csgraph import connected_components as scipy_components

from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.reference.entries import check_array, entry_chunks, first


def strongly_connected_components(graph: Graph) -> NDArray[np.int32]:
    """Return, for each vertex of the graph, the smallest vertex of its strongly connected component, int32.

    scipy computes the result.
    """
    n = graph.n_vertices
    if n == 0:
        return np.zeros(0, np.int32)
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(graph.row_offsets))
    _, labels = scipy_components(_pattern(rows, graph.column_indices, n), directed=True, connection="strong")
    smallest = np.full(n, n, np.int32)
    np.minimum.at(smallest, labels, np.arange(n, dtype=np.int32))
    result: NDArray[np.int32] = smallest[labels]
    return result


def check_strong_components(graph: Graph, n_components: int, labels: NDArray[Any]) -> None:
    """Raise an error unless *labels* number the strongly connected components by their smallest vertices.

    This checks the definition: in each component, the smallest vertex reaches all others along edges of the component,
    and all others reach it. The graph of the components has no cycle, so no two of them are parts of a larger one.

    Raises
    ------
    VerificationError
        A condition fails; the message names a vertex.
    """
    n = graph.n_vertices
    check_array("labels", labels, n, np.int32)
    numbers, smallest = np.unique(labels, return_index=True)
    if not np.array_equal(numbers, np.arange(n_components)) or (np.diff(smallest) < 0).any():
        raise VerificationError("the components are not numbered 0, 1, … by their smallest vertices")
    if not n:
        return
    inner, between = [], []
    for _, rows, columns in entry_chunks(graph):
        is_inner = labels[rows] == labels[columns]
        inner.append((rows[is_inner], columns[is_inner]))
        between.append((labels[rows[~is_inner]], labels[columns[~is_inner]]))
    rows, columns = map(np.concatenate, zip(*inner, strict=True)) if inner else (np.zeros(0, int),) * 2
    for heads, tails, what in ((rows, columns, "is not reached from"), (columns, rows, "does not reach")):
        # Vertex n leads to the smallest vertex of each component.
        sources = np.append(heads, np.full(n_components, n))
        reached = breadth_first_order(
            _pattern(sources, np.append(tails, smallest), n + 1), n, return_predecessors=False
        )
        is_missing = np.ones(n + 1, bool)
        is_missing[reached] = False
        if (v := first(is_missing)) is not None:
            raise VerificationError(f"vertex {v} {what} vertex {smallest[labels[v]]} within its component {labels[v]}")
    rows, columns = map(np.concatenate, zip(*between, strict=True)) if between else (np.zeros(0, int),) * 2
    found, merged = scipy_components(_pattern(rows, columns, n_components), directed=True, connection="strong")
    if found != n_components:
        pair = np.flatnonzero(merged == np.argmax(np.bincount(merged) > 1))[:2]
        raise VerificationError(f"the components {pair[0]} and {pair[1]} reach each other")


def _pattern(rows: NDArray[Any], columns: NDArray[Any], n: int) -> csr_array:
    """Return the matrix of these entries, without repeats, because scipy's search does not end with parallel edges."""
    matrix = coo_array((np.ones(rows.size, np.int8), (rows, columns)), shape=(n, n)).tocsr()
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
