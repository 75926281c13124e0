"""Triangles by definition: a triangle at a vertex is an edge between two of its neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.reference.entries import check_array, first

# Paths of two edges that a check follows at most, and at once. If a graph has more, it takes a sample of vertices.
_MAX_PATHS, _PATHS_AT_ONCE, _MAX_DRAWN = 1 << 28, 1 << 24, 1 << 14


def simple_matrix(graph: Graph) -> csr_array:
    """Return the adjacency matrix of *graph* without self-loops and repeats; its entries are 1."""
    n = graph.n_vertices
    rows, columns = graph.sources(), graph.column_indices
    is_proper = rows != columns
    is_simple = graph.has_sorted_rows and is_proper.all()
    if is_simple and not ((rows[1:] == rows[:-1]) & (columns[1:] == columns[:-1])).any():
        return csr_array((np.ones(columns.size, np.int32), columns, graph.row_offsets), shape=(n, n))
    ends = rows[is_proper], columns[is_proper]
    matrix = csr_array((np.ones(ends[0].size, np.int32), ends), shape=(n, n))  # adds up repeats, and sorts the rows
    matrix.data[:] = 1
    return matrix


def triangles_at(matrix: csr_array, vertices: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of triangles at each of *vertices*; *matrix* is :func:`simple_matrix`."""
    found = np.zeros(vertices.size, np.int64)
    if not vertices.size:
        return found
    paths = _n_paths(matrix)[vertices].cumsum()
    cuts = np.unique(np.searchsorted(paths, np.arange(_PATHS_AT_ONCE, paths[-1], _PATHS_AT_ONCE)))
    for part in np.split(np.arange(vertices.size), cuts):
        rows = matrix[vertices[part]]
        found[part] = csr_array((rows @ matrix).multiply(rows)).sum(axis=1, dtype=np.int64) // 2
    return found


def check_triangles(graph: Graph, n_triangles: int, counts: NDArray[Any], degrees: NDArray[Any]) -> None:
    """Raise a :class:`VerificationError` unless *counts* are the triangles at each vertex, and *n_triangles* all.

    Parameters
    ----------
    graph : Graph
        An undirected graph.
    n_triangles : int
    counts : int64 array, shape (n_vertices,)
    degrees : int32 array, shape (n_vertices,)
        The number of different neighbours of each vertex, without itself.

    Notes
    -----
    In a graph with more than 2**28 paths of two edges, the counts of a sample of the vertices are compared, of which
    half are drawn as ends of random edges.
    """
    n = graph.n_vertices
    check_array("counts", counts, n, np.int64)
    check_array("degrees", degrees, n, np.int32)
    matrix = simple_matrix(graph)
    if (v := first(degrees != np.diff(matrix.indptr))) is not None:
        exact = matrix.indptr[v + 1] - matrix.indptr[v]
        raise VerificationError(f"vertex {v} has degree {degrees[v]}; by definition {exact}")
    if (total := int(counts.sum())) != 3 * n_triangles:
        raise VerificationError(f"the counts sum to {total}, which is not three times {n_triangles} triangles")
    vertices = _checked_vertices(matrix)
    expected = triangles_at(matrix, vertices)
    if (at := first(expected != counts[vertices])) is not None:
        v = int(vertices[at])
        raise VerificationError(f"vertex {v} is in {counts[v]} triangles; by definition in {expected[at]}")


def _checked_vertices(matrix: csr_array) -> NDArray[Any]:
    """Return all vertices, or a sample with at most ``_MAX_PATHS`` paths."""
    n, n_paths = matrix.shape[0], _n_paths(matrix)
    if int(n_paths.sum()) <= _MAX_PATHS:
        return np.arange(n)
    rng = np.random.default_rng(0)
    drawn = np.stack((matrix.indices[rng.integers(matrix.nnz, size=n)], rng.integers(n, size=n)), axis=1).ravel()
    drawn = drawn[:_MAX_DRAWN]
    paths = np.cumsum(n_paths[drawn])
    return np.unique(drawn[: max(1, int(np.searchsorted(paths, _MAX_PATHS)))])


def _n_paths(matrix: csr_array) -> NDArray[np.int64]:
    """Return the number of paths of two edges that begin at each vertex."""
    degrees = np.diff(matrix.indptr).astype(np.int64)
    found: NDArray[np.int64] = matrix @ degrees
    return found
