"""Conversion of the graphs that scipy.sparse.csgraph accepts (dense, masked, lists, sparse arrays) to CSR matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import csgraph_from_dense, csgraph_from_masked

from clgraph.data.graphs.csr import check_arrays, merge_duplicates
from clgraph.data.graphs.entries import row_order
from clgraph.data.graphs.graph_arrays import SMALL_ITEMS
from clgraph.engine.algorithm import Algorithm
from clgraph.errors import GraphError
from clgraph.runtime.session import SessionLike, as_session

_NUMBERS = "biuf"  # Kinds of numpy dtypes that clgraph takes. For other kinds, scipy's own functions warn or raise.
_WEIGHTS = (np.int32, np.int64, np.float32, np.float64)
_EXACT = 2.0**53  # scipy computes with doubles, which hold all integers below 2**53 exactly.
_SIGN = np.uint64(1 << 63)
_SAMPLED_ENTRIES = 16  # Number of entries of a matrix for which looks_symmetric() searches the reverse entry.


def is_left_to_scipy(csgraph: Any, session: SessionLike, strategy: str) -> bool:
    """Return whether the graph is so small that scipy is faster than any device, if the caller has chosen no device."""
    if session is not None or not isinstance(strategy, str) or strategy != "auto":
        return False
    if issparse(csgraph):
        return bool(csgraph.shape[0] + csgraph.nnz < SMALL_ITEMS)
    return not isinstance(csgraph, np.ndarray | list) or np.size(csgraph) < SMALL_ITEMS


def is_faster_on_host(
    algorithm: Algorithm,
    problem: Any,
    session: SessionLike,
    strategy: str,
    *,
    device_factor: float = 1.0,
    added_seconds: float = 0.0,
) -> bool:
    """Return whether scipy's own function on the host is predicted to be faster than a device.

    If a call does more on the device than solve *problem*, its predicted time there is multiplied by *device_factor*,
    and *added_seconds* of the host are added. The predicted time of scipy's function stays the same.
    """
    if not isinstance(strategy, str) or strategy != "auto":
        return False
    choice = algorithm.chosen(as_session(session), problem)
    on_host = choice.predicted.get("host")
    if choice.strategy == "host" or on_host is None:
        return choice.strategy == "host"
    return on_host.seconds < device_factor * choice.predicted[choice.strategy].seconds + added_seconds


def as_csr(csgraph: Any, *, either_way: bool = False) -> Any:
    """Return the graph *csgraph* as a CSR matrix, or ``None`` for input that scipy itself must accept or refuse.

    Zeros, NaN and infinities in a dense array are not edges. Explicit zeros in a sparse array are edges of weight zero.

    Parameters
    ----------
    csgraph : sparse array or matrix of any format, numpy array, masked array or list, shape (n, n)
    either_way : bool
        Whether the transpose may be returned instead. A CSC matrix then needs no conversion.

    Returns
    -------
    csr_array or csr_matrix or None
        It may share its memory with *csgraph*, and its arrays are not checked.
    """
    if not issparse(csgraph):
        return _of_dense(csgraph)
    if csgraph.ndim != 2 or csgraph.shape[0] != csgraph.shape[1] or csgraph.dtype.kind not in _NUMBERS:
        return None
    return (csgraph.T if either_way and csgraph.format == "csc" else csgraph).tocsr()


def checked(matrix: Any) -> Any:
    """Return the CSR *matrix* with sorted rows, without repeated entries,
    and with weights of a type that clgraph takes.

    scipy takes repeated entries as parallel edges, so only the lightest of them is kept.

    Returns
    -------
    csr_array or csr_matrix
        Its entries are int32, int64, float32 or float64. It is *matrix* itself if nothing had to be changed.

    Raises
    ------
    GraphError
        The arrays of the matrix are damaged.
    """
    m = int(matrix.indptr[-1])  # The arrays of a scipy matrix may have unused space after the last entry.
    offsets, columns, data = matrix.indptr, matrix.indices[:m], matrix.data[:m]
    try:
        check_arrays(offsets, columns)
    except GraphError as error:
        raise GraphError(f"this matrix is damaged: {error}") from error
    is_canonical = row_order(offsets, columns) == (True, False)
    if not is_canonical:
        made = csr_array((data, columns, offsets), shape=matrix.shape, copy=True)
        # The flag is reset so that scipy checks the order, because the caller may have set the flag wrongly.
        made.has_sorted_indices = False
        made.sort_indices()
        offsets, columns, data = merge_duplicates(made.indptr, made.indices, made.data, "min")
    must_convert = data.dtype not in _WEIGHTS or _is_wide(data, matrix.shape[0])
    if is_canonical and not must_convert:
        return matrix
    data = data.astype(np.float64) if must_convert else data
    return type(matrix)((data, columns, offsets), shape=matrix.shape)


def _of_dense(csgraph: Any) -> Any:
    if isinstance(csgraph, list):
        csgraph = np.asarray(csgraph)
    if not isinstance(csgraph, np.ndarray) or csgraph.ndim != 2 or csgraph.shape[0] != csgraph.shape[1]:
        return None
    if csgraph.dtype.kind not in _NUMBERS:
        return None
    return csgraph_from_masked(csgraph) if np.ma.isMaskedArray(csgraph) else csgraph_from_dense(csgraph)


def _is_wide(data: NDArray[Any], n: int) -> bool:
    """Return whether a sum of *n* int64 edge weights may exceed 2**53, above
    which scipy's sums in doubles are inexact.
    """
    if data.dtype != np.int64 or not data.size:
        return False
    return max(-float(data.min()), float(data.max())) * n >= _EXACT


def has_finite_weights(matrix: Any, least: float = -np.inf) -> bool:
    """Return whether each edge weight of *matrix* is finite, not NaN, and at least *least*."""
    data = matrix.data
    if not data.size:
        return True
    lowest, highest = data.min(), data.max()
    return bool(lowest >= least and lowest > -np.inf and highest < np.inf)


def undirected(matrix: Any) -> Any:
    """Return the symmetric CSR matrix of an undirected graph, in which each
    edge has the lesser weight of both directions.

    It is computed by scipy's ``maximum``, which counts a missing entry as 0. So weights are first mapped to positive
    integers in reverse order: the lesser weight becomes the greater integer, and any entry is above a missing one.

    Parameters
    ----------
    matrix : csr_array or csr_matrix
        From :func:`checked`, with finite weights.

    Returns
    -------
    csr_array or csr_matrix
        *matrix* itself if it is symmetric.
    """
    turned = matrix.T.tocsr()
    pairs = ((getattr(matrix, name), getattr(turned, name)) for name in ("indptr", "indices", "data"))
    if all(np.array_equal(*pair) for pair in pairs):
        return matrix
    made = type(matrix)((_falling(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
    made = made.maximum(type(matrix)((_falling(turned.data), turned.indices, turned.indptr), shape=matrix.shape))
    made.data = _weights(made.data, matrix.dtype)
    return made


def _falling(weights: NDArray[Any]) -> NDArray[np.uint64]:
    """Map edge *weights* to integers above 0, such that a lesser weight becomes a greater integer.

    The integers are made from the bits of doubles, or from integer weights.
    """
    if weights.dtype.kind == "f":
        bits = (weights.astype(np.float64) + 0.0).view(np.int64)  # -0.0 becomes 0.0
        bits = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)
    else:
        bits = weights.astype(np.int64)
    return ~(bits.view(np.uint64) ^ _SIGN)


def _weights(falling: NDArray[np.uint64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the edge weights of type *dtype* that :func:`_falling` has mapped to the integers *falling*."""
    bits = (~falling ^ _SIGN).view(np.int64)
    if dtype.kind == "f":
        bits = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits).view(np.float64)
    return bits.astype(dtype)


def looks_symmetric(matrix: Any) -> bool:
    """Return whether a few sampled entries (u, v) of a CSR *matrix* all have reverse entries (v, u).

    The arrays of the matrix may be unchecked.
    """
    n, columns = matrix.shape[0], matrix.indices
    entries = np.arange(0, matrix.nnz, 1 + matrix.nnz // _SAMPLED_ENTRIES)
    rows = np.searchsorted(matrix.indptr, entries, "right") - 1
    return all(
        0 <= v < n and (columns[matrix.indptr[v] : matrix.indptr[v + 1]] == u).any()
        for u, v in zip(rows.tolist(), columns[entries].tolist(), strict=True)
    )
