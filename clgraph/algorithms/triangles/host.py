"""Triangles on the host, by scipy's products of sparse matrices."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from clgraph.algorithms.triangles.plan import Counted
from clgraph.algorithms.triangles.problem import TrianglesProblem
from clgraph.data.graphs.graph import Graph
from clgraph.host_memory import check_host_memory
from clgraph.model.cost import Part, Work

# Seconds of one core of an EPYC (family 26), for each path of two forward edges and each entry. Measured on R-MAT 10,
# 14 and 16.
_SECONDS_PER_PATH, _SECONDS_PER_ENTRY, _SECONDS_PER_CALL = 2.4e-8, 5e-9, 4e-4
_BYTES_PER_PRODUCT = 16  # An entry of a product of matrices has a column of at most 8 bytes and a value of 8.


def forward_matrix(graph: Graph) -> tuple[csr_array, np.ndarray]:
    """Return the matrix of the edges from lower to higher (degree, number), and the number of neighbours of vertices.

    Self-loops and repeated entries are left out.
    """
    n = graph.n_vertices
    rows, columns = graph.sources(), graph.column_indices
    is_new = rows != columns
    is_new[1:] &= (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    rows, columns = rows[is_new], columns[is_new]
    degrees = np.bincount(rows, minlength=n).astype(np.int32)
    own, other = degrees[rows], degrees[columns]
    is_forward = (own < other) | ((own == other) & (rows < columns))
    ends = rows[is_forward], columns[is_forward]
    return csr_array((np.ones(ends[0].size, np.int64), ends), shape=(n, n)), degrees


def solve(problem: TrianglesProblem) -> Counted:
    """Return the counts of *problem*."""
    n = problem.graph.n_vertices
    if not n:
        return Counted(0, np.zeros(0, np.int64), np.zeros(0, np.int32))
    forward, degrees = forward_matrix(problem.graph)
    out, into = np.diff(forward.indptr).astype(np.int64), np.bincount(forward.indices, minlength=n)
    n_products = max(int(into @ out), int(out @ out))
    check_host_memory(f"{n_products:,} paths of two edges", _BYTES_PER_PRODUCT * n_products)
    # The entry (u, w) of the first matrix counts the vertices v between u and w; (v, w) of the second counts the u. In
    # both products no row is long. The product forward @ forward.T has an entry for each two neighbours of a hub.
    between = csr_array((forward @ forward).multiply(forward))
    before = csr_array((forward.T @ forward).multiply(forward))
    counts = between.sum(axis=1) + between.sum(axis=0) + before.sum(axis=1)
    return Counted(int(between.sum()), counts.astype(np.int64), degrees)


def work(problem: TrianglesProblem) -> list[Part]:
    """Return the host's work for :func:`solve`."""
    from clgraph.algorithms.triangles.prices import forward_paths

    paths, entries = forward_paths(problem), problem.graph.n_edges + problem.graph.n_vertices
    seconds = _SECONDS_PER_CALL + _SECONDS_PER_PATH * paths + _SECONDS_PER_ENTRY * entries
    return [(Work(host_seconds=seconds), 1.0, 1.0)]
