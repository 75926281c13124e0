"""Star colourings of symmetric matrices: columns of one colour give each entry of a Hessian from one product.

A star colouring is a proper colouring of the vertices without a path of four vertices in two colours [1]_. Let each
edge be directed towards its end of higher degree. A proper colouring is a star colouring if, for each edge v → w, no
other neighbour of v has the colour of w [2]_: then each path of three vertices in two colours points towards its
centre, and a path of four vertices cannot point towards both of its centres. So a colouring at distance 1 of the
*conflict graph*, which has these pairs as additional edges, is a star colouring of the matrix. A vertex joined to all
others has no outgoing edge. It does not make its neighbours conflict, as it does at distance 2.

References
----------
.. [1] A. H. Gebremedhin, A. Tarafdar, F. Manne, A. Pothen. "New acyclic and star coloring algorithms with application
   to computing Hessians." SIAM J. Scientific Computing 29, 2007.
.. [2] M. O. Albertson, G. G. Chappell, H. A. Kierstead, A. Kündgen, R. Ramamurthi. "Coloring with no 2-colored P4's."
   Electronic J. Combinatorics 11, 2004.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.data.graphs.csr import as_csr_array
from clgraph.data.graphs.graph import Graph
from clgraph.host_memory import check_host_memory

BYTES_PER_PAIR = 20  # Greatest number of host bytes for each pair of an outgoing edge and an edge of one vertex.


def conflict_graph(graph: Graph) -> Graph:
    """Return the graph whose colourings at distance 1 are the star colourings of the symmetric graph *graph*.

    Raises
    ------
    HostMemoryError
        The conflict graph might not fit into this machine's memory.
    """
    pattern = _without_loops(graph)
    degrees = np.diff(pattern.indptr)
    rows = np.repeat(np.arange(graph.n_vertices), degrees)
    # Vertices of equal degree are ordered by their numbers.
    key = (degrees.astype(np.int64) << 32) + np.arange(graph.n_vertices)
    is_out = key[rows] < key[pattern.indices]
    n_pairs = int(degrees[rows[is_out]].sum(dtype=np.int64))
    check_host_memory(f"the conflict graph of a star colouring ({n_pairs} pairs)", BYTES_PER_PAIR * n_pairs)
    offsets = np.append(0, np.cumsum(is_out))[pattern.indptr]
    out = as_csr_array(offsets, pattern.indices[is_out], np.ones(np.count_nonzero(is_out), bool))
    half = csr_array(out.T.tocsr() @ pattern)
    conflicts = csr_array(half + half.T.tocsr() + pattern)
    conflicts = _without_loops(_as_graph(conflicts))
    conflicts.sort_indices()
    return _as_graph(conflicts, sorted_rows=True)


def entry_places(graph: Graph, colors: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return, for each entry of *graph*, the row and the column of the product that holds the entry's value.

    The matrix is symmetric, *colors* is a star colouring of it, and no entry is repeated. Entry (i, j) is in row i and
    column ``colors[j]``, unless another neighbour of i has the colour of j. It is then in row j and column
    ``colors[i]``.
    """
    rows, columns = graph.sources(), graph.column_indices
    n_colors = int(colors.max(initial=-1)) + 1
    pattern = as_csr_array(graph.row_offsets, columns, np.ones(graph.n_edges, np.int32))
    n = colors.size
    members = csr_array((np.ones(n, np.int32), colors, np.arange(n + 1)), shape=(n, n_colors))
    counts = csr_array(pattern @ members)
    shared = np.asarray(counts[rows, colors[columns]]).ravel() > 1 if rows.size else np.zeros(0, bool)
    return np.where(shared, columns, rows), colors[np.where(shared, rows, columns)]


def _without_loops(graph: Graph) -> csr_array:
    """Return the adjacency matrix of *graph* with sorted rows, and without self-loops and repeated entries."""
    rows, columns = graph.sources(), graph.column_indices
    keep = rows != columns
    offsets = np.append(0, np.cumsum(keep))[graph.row_offsets]
    pattern = as_csr_array(offsets, columns[keep], np.ones(int(offsets[-1]), bool))
    pattern.sum_duplicates()
    return pattern


def _as_graph(matrix: csr_array, sorted_rows: bool = False) -> Graph:
    return Graph._trusted(matrix.indptr, matrix.indices.astype(np.int32, copy=False), sorted_rows=sorted_rows)
