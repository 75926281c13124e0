"""Checks and conversion of the user's scipy sparse matrices, of every format."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array, dia_array

from clgraph.arguments import shown
from clgraph.data.graphs.csr import MAX_VERTICES, as_integers, as_weights, check_arrays, check_range, merge_duplicates
from clgraph.data.graphs.entries import row_order
from clgraph.errors import GraphError
from clgraph.host_memory import check_host_memory

_DTYPES = "?bBhHiIlLqQfdgFDG"
"""Type characters of the entries that scipy's sparse arrays support."""


def checked_matrix(matrix: Any) -> csr_array | csc_array | coo_array:
    """Return a scipy matrix as a CSR, CSC or COO array with checked indices, which may share memory with *matrix*.

    scipy's compiled code trusts the indices, and also flags that the user may have set wrongly. It reads and writes
    wherever the indices point. So all of them are checked before compiled code runs. Repeated entries are kept. Zeros
    in the blocks of a BSR matrix are not entries, because they only fill the block. Explicit zeros in other formats are
    entries.

    Raises
    ------
    GraphError
        The matrix does not have two dimensions, its entries are of a type that scipy does not support, such as text
        or numbers of the other byte order, or its arrays are damaged.
    """
    if matrix.ndim != 2:
        raise GraphError(f"matrix = {shown(matrix)}; allowed: two dimensions")
    if not matrix.dtype.isnative or matrix.dtype.char not in _DTYPES:
        raise GraphError(f"a matrix of {matrix.dtype} entries; allowed: bool and numbers in this machine's byte order")
    try:
        return _checked(matrix)
    except GraphError as error:
        raise GraphError(f"this {matrix.format} matrix is damaged: {error}") from error
    # numpy and scipy raise one of these errors if the arrays of a matrix do not fit together.
    except (AttributeError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise GraphError(f"not a valid {matrix.format} matrix: {error}") from error


def canonical_csr(matrix: Any) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[Any] | None]:
    """Return new CSR arrays of a square scipy matrix, with sorted rows and with repeated entries summed.

    The weights of a bool matrix are ``None``.
    """
    n = matrix.shape[0]
    if n > MAX_VERTICES:
        raise GraphError(f"a matrix of {n} rows; allowed: 0 to {MAX_VERTICES} vertices")
    check_host_memory(f"a graph of {n} vertices", 8 * n)
    checked = checked_matrix(matrix)
    csr = checked.copy() if checked.format == "csr" else checked.tocsr()
    is_sorted, has_repeats = row_order(csr.indptr, csr.indices)
    if not is_sorted:
        csr.has_sorted_indices = False
        csr.sort_indices()
        _, has_repeats = row_order(csr.indptr, csr.indices)
    weights = None if csr.dtype == bool else as_weights(csr.data, csr.nnz)
    arrays = csr.indptr, csr.indices.astype(np.int32, copy=False), weights
    return merge_duplicates(*arrays, "sum") if has_repeats else arrays


def _checked(matrix: Any) -> csr_array | csc_array | coo_array:
    n_rows, n_columns = shape = matrix.shape
    if matrix.format == "csr":
        return csr_array(_compressed(matrix, n_rows, n_columns), shape=shape)
    if matrix.format == "csc":
        return csc_array(_compressed(matrix, n_columns, n_rows), shape=shape)
    if matrix.format == "bsr":
        return coo_array(_entries_of_blocks(matrix), shape=shape)
    if matrix.format == "dia":
        offsets = as_integers("offsets", matrix.offsets)
        inside = (offsets > -n_rows) & (offsets < n_columns)
        matrix = dia_array((matrix.data[inside], offsets[inside]), shape=shape)
    matrix = matrix.tocoo()
    row, col = (as_integers(*pair) for pair in zip(("row", "col"), matrix.coords, strict=True))
    check_range("row", row, n_rows)
    check_range("col", col, n_columns)
    entries = coo_array((matrix.data, (row, col)), shape=shape)
    entries.has_canonical_format = True  # Without this flag, tocsr() would sum repeated entries.
    return entries


def _compressed(matrix: Any, n: int, n_others: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the checked data, indices and indptr of a CSR, CSC or BSR matrix, without unused space at the end.

    The matrix has *n* compressed rows, columns or rows of blocks. Its indices are below *n_others*.
    """
    offsets, indices = as_integers("indptr", matrix.indptr), as_integers("indices", matrix.indices)
    if offsets.size != n + 1:
        raise GraphError(f"indptr has {offsets.size} elements; needed: {n + 1}")
    used = max(0, int(offsets[-1]))  # The arrays of a scipy matrix may have unused space after the last entry.
    check_arrays(offsets, indices[:used], n_others)
    return matrix.data[:used], indices[:used], offsets


def _entries_of_blocks(matrix: Any) -> tuple[NDArray[Any], tuple[NDArray[Any], NDArray[Any]]]:
    """Return the data, rows and columns of the nonzero values in the blocks of a scipy BSR matrix."""
    (n_rows, n_columns), (height, width) = matrix.shape, matrix.data.shape[1:]
    blocks, indices, offsets = _compressed(matrix, n_rows // height, n_columns // width)
    block, row, column = np.nonzero(blocks)
    first = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    return blocks[block, row, column], (first[block] * height + row, indices[block].astype(np.int64) * width + column)
