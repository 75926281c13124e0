"""Checks that colourings are proper: of graphs at distance 1 or 2, of the columns of a matrix, and star colourings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array, issparse

from clgraph.data.graphs.sparse import checked_matrix
from clgraph.errors import VerificationError
from clgraph.reference.entries import check_array, first

_CHUNK = 1 << 22  # entries handled together


def check_coloring(graph: Any, colors: NDArray[Any], distance: int = 1, bipartite: bool = False) -> None:
    """Raise an error unless *colors* is a proper colouring of the graph whose colours are numbered from 0 without gaps.

    This checks the definition. At distance 1, no entry joins two vertices of one colour. At distance 2, no closed row
    (a vertex and its neighbours) has two members of one colour. If *bipartite*, no row has two columns of one colour.
    The members of each colour in each row are counted by a sparse product, for a chunk of rows at a time.

    Parameters
    ----------
    graph : Graph or scipy sparse array
        An undirected graph, or if *bipartite* a matrix of any shape.
    colors : int32 array
        The colour of each vertex, or of each column.
    distance : {1, 2}
    bipartite : bool
        Whether the columns of a matrix are coloured; *distance* must then be 2.

    Raises
    ------
    VerificationError
        The colouring is wrong; the message names the pair of vertices or the colour.
    """
    matrix = _pattern(graph)
    n = matrix.shape[1]
    check_array("colors", colors, n, np.int32)
    if (v := first(colors < 0)) is not None:
        raise VerificationError(f"vertex {v} has colour {colors[v]}; colours are numbered from 0")
    if (v := first(colors >= n)) is not None:
        raise VerificationError(f"vertex {v} has colour {colors[v]}, but there are only {n} vertices")
    for start, rows in _chunks(matrix, distance, bipartite):
        if distance == 1:
            _check_entries(rows, start, colors)
        else:
            _check_members(rows, start, colors)
    used = np.zeros(n, bool)
    used[colors] = True
    used = used[: int(colors.max(initial=-1)) + 1]
    if not used.all():
        raise VerificationError(f"no vertex has colour {used.argmin()}, but one has colour {used.size - 1}")


def check_star_coloring(graph: Any, colors: NDArray[Any]) -> None:
    """Raise an error unless *colors* is a star colouring of *graph*, which is undirected.

    This checks the definition: the colouring is proper, and no path of four vertices has only two colours. Such a path
    exists exactly if the ends u and v of an entry both have several neighbours of the other end's colour.

    Parameters
    ----------
    graph : Graph or scipy sparse array
        A symmetric pattern; self-loops are ignored.
    colors : int32 array
        The colour of each vertex.

    Raises
    ------
    VerificationError
        The colouring is wrong; the message names the entry.
    """
    check_coloring(graph, colors)
    matrix = _pattern(graph)
    counts = csr_array(matrix @ _indicator(colors))
    for start, rows in _chunks(matrix, 1, False):
        u, v = _row_numbers(rows, start), rows.indices
        u, v = u[u != v], v[u != v]
        if u.size and (at := first(_repeats(counts, u, colors[v]) & _repeats(counts, v, colors[u]))) is not None:
            raise VerificationError(f"entry ({u[at]}, {v[at]}) is the middle of a path of four vertices in two colours")


def _repeats(counts: csr_array, vertices: NDArray[Any], colors: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each vertex has several neighbours of the colour beside it."""
    return np.asarray(counts[vertices, colors]).ravel() > 1


def _check_entries(rows: csr_array, start: int, colors: NDArray[Any]) -> None:
    row_of, columns = _row_numbers(rows, start), rows.indices
    if (at := first((colors[row_of] == colors[columns]) & (row_of != columns))) is not None:
        u, v = row_of[at], columns[at]
        raise VerificationError(f"entry ({u}, {v}) joins two vertices of colour {colors[u]}")


def _check_members(rows: csr_array, start: int, colors: NDArray[Any]) -> None:
    counts = rows @ _indicator(colors)
    if counts.data.max(initial=0) <= 1:
        return
    at = int(counts.data.argmax())
    row, color = int(np.searchsorted(counts.indptr, at, "right")) - 1, counts.indices[at]
    members = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
    u, v = members[colors[members] == color][:2]
    raise VerificationError(f"row {row + start} has {u} and {v}, both of colour {color}")


def _pattern(graph: Any) -> csr_array:
    """Return the adjacency matrix of *graph* with the value 1 in every entry, and without duplicate entries."""
    matrix = checked_matrix(graph).tocsr() if issparse(graph) else graph.to_scipy()
    ones = csr_array((np.ones(matrix.nnz, np.int32), matrix.indices.copy(), matrix.indptr.copy()), shape=matrix.shape)
    ones.sum_duplicates()
    ones.data[:] = 1
    return ones


def _closed(rows: csr_array, start: int) -> csr_array:
    """Return CSR *rows* with each row's own vertex added to the row's entries.

    The first row has the number *start*.
    """
    closed = (rows + eye_array(*rows.shape, k=start, dtype=np.int32, format="csr")).tocsr()
    closed.data[:] = 1
    return closed


def _row_numbers(rows: csr_array, start: int) -> NDArray[np.int64]:
    """Return the row number of each entry of CSR *rows*, the first of which has the number *start*."""
    return np.repeat(np.arange(start, start + rows.shape[0]), np.diff(rows.indptr))


def _chunks(matrix: csr_array, distance: int, bipartite: bool) -> Iterable[tuple[int, csr_array]]:
    """Yield a CSR *matrix* in chunks of whole rows, each with the number of its first row.

    At distance 2 in a graph, each row also has its own vertex.
    """
    row, n = 0, matrix.shape[0]
    while row < n:
        last = int(np.searchsorted(matrix.indptr, int(matrix.indptr[row]) + _CHUNK, "right")) - 1
        stop = min(n, max(row + 1, last), row + _CHUNK)
        rows = matrix[row:stop]
        yield row, _closed(rows, row) if distance == 2 and not bipartite else rows
        row = stop


def _indicator(colors: NDArray[Any]) -> csr_array:
    """Return a sparse matrix that has a row for each vertex, with a 1 in the column of the vertex's colour."""
    n = colors.size
    return coo_array((np.ones(n, np.int32), (np.arange(n), colors)), shape=(n, int(colors.max(initial=0)) + 1)).tocsr()
