"""CSR arrays: checks at the public edge, building from pairs, merging, symmetry."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from clgraph.errors import GraphError, InputError

Duplicates: TypeAlias = Literal["keep", "min", "max", "sum", "first", "error"]
MAX_VERTICES = 2**31 - 1
REDUCTIONS: dict[str, Callable[..., NDArray[Any]]] = {
    "min": np.minimum.reduceat,
    "max": np.maximum.reduceat,
    "sum": np.add.reduceat,
    "first": lambda weights, starts: weights[starts],
}


def pack(rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return keys that sort as (row, column)."""
    keys = rows.astype(np.int64)
    keys <<= 32
    keys |= columns
    return keys


def offsets_of(keys: NDArray[np.int64], n: int) -> NDArray[Any]:
    """Return the row offsets of sorted *keys*."""
    return np.searchsorted(keys, np.arange(n + 1, dtype=np.int64) << 32).astype(offset_dtype(keys.size))


def sorted_csr(
    n: int, rows: NDArray[Any], columns: NDArray[Any], weights: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[Any] | None]:
    """Return CSR arrays with sorted rows; parallel entries stay in their order."""
    if weights is None:
        keys = pack(rows, columns)
        keys.sort()
        return offsets_of(keys, n), keys.astype(np.int32), None
    if n == 0:
        return np.zeros(1, np.int32), np.zeros(0, np.int32), weights
    # Two counting passes (to CSC, then to CSR) are a stable radix sort by (row, column).
    matrix = coo_array((weights, (rows, columns)), shape=(n, n))
    matrix.has_canonical_format = True  # keep parallel entries apart
    csr = matrix.tocsc().tocsr()
    return csr.indptr, csr.indices.astype(np.int32, copy=False), csr.data


def merge_duplicates(
    offsets: NDArray[Any], columns: NDArray[np.int32], weights: NDArray[Any] | None, how: Duplicates
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[Any] | None]:
    """Merge equal neighbours in sorted rows."""
    first = np.ones(columns.size, bool)
    np.not_equal(columns[1:], columns[:-1], out=first[1:])
    first[offsets[:-1][offsets[:-1] < columns.size]] = True
    if first.all():
        return offsets, columns, weights
    if how == "error":
        at = int(first.argmin())
        row = int(np.searchsorted(offsets, at, "right")) - 1
        raise GraphError(f"edge ({row}, {columns[at]}) is listed more than once; duplicates='error'")
    if weights is not None:
        if how == "sum" and weights.dtype.kind == "i":
            weights = weights.astype(np.int64)
        weights = REDUCTIONS[how](weights, np.flatnonzero(first))
    merged = np.zeros(columns.size + 1, offsets.dtype)
    np.cumsum(first, out=merged[1:])
    return merged[offsets], columns[first], weights


def as_csr_array(offsets: NDArray[Any], columns: NDArray[np.int32], data: NDArray[Any]) -> csr_array:
    n = offsets.size - 1
    return csr_array((data, columns, offsets), shape=(n, n))


def asymmetric_entry(
    offsets: NDArray[Any], columns: NDArray[np.int32], weights: NDArray[Any] | None
) -> tuple[int, int] | None:
    """Return an entry without a reverse of the same weight and multiplicity, or ``None``."""
    if columns.size == 0:
        return None
    data = np.ones(columns.size, np.int8) if weights is None else weights
    reverse = as_csr_array(offsets, columns, data).tocsc()  # as CSR arrays: the transpose, rows sorted
    forward = reverse.tocsr()
    row = offsets.size
    if (uneven := forward.indptr != reverse.indptr).any():
        row = int(uneven.argmax()) - 1
    if (other := forward.indices != reverse.indices).any():
        row = min(row, int(np.searchsorted(forward.indptr, other.argmax(), "right")) - 1)
    if row < offsets.size:
        span, reverse_span = (slice(*m.indptr[row : row + 2]) for m in (forward, reverse))
        ours, theirs = forward.indices[span], reverse.indices[reverse_span]
        if (lone := np.setdiff1d(ours, theirs)).size:
            return row, int(lone[0])
        if (lone := np.setdiff1d(theirs, ours)).size:
            return int(lone[0]), row
        column, count = np.unique(ours, return_counts=True)
        return row, int(column[count != np.unique(theirs, return_counts=True)[1]][0])
    if weights is None or np.array_equal(forward.data, reverse.data):
        return None
    rows = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))  # parallel edges: in order of weight
    order, reverse_order = (np.lexsort((m.data, m.indices, rows)) for m in (forward, reverse))
    if (other := forward.data[order] != reverse.data[reverse_order]).any():
        at = order[other.argmax()]
        return int(rows[at]), int(forward.indices[at])
    return None


def offset_dtype(n_edges: int) -> type[np.signedinteger[Any]]:
    return np.int32 if n_edges < 2**31 else np.int64


def as_integers(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return *values* as a one-dimensional integer array in native byte order."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise GraphError(f"{name} has shape {array.shape}; needed: one dimension")
    if array.size == 0:
        return np.zeros(0, np.int32)
    if array.dtype.kind not in "iu":
        raise GraphError(f"{name} holds {array.dtype} values such as {array[0]!r}; needed: integers")
    return np.ascontiguousarray(array, array.dtype.newbyteorder("="))


def check_range(name: str, vertices: NDArray[Any], n: int) -> None:
    if vertices.size and (vertices.min() < 0 or vertices.max() >= n):
        at = int(((vertices < 0) | (vertices >= n)).argmax())
        allowed = f"0 to {n - 1}" if n else "none, the graph has no vertices"
        raise GraphError(f"{name}[{at}] = {vertices[at]} is not a vertex; allowed: {allowed}")


def as_weights(values: ArrayLike, m: int) -> NDArray[Any]:
    """Return *values* as one of the four weight types, checked for shape and NaN."""
    array = np.asarray(values)
    if array.shape != (m,):
        raise GraphError(f"the weights have shape {array.shape}; needed: one per edge, ({m},)")
    kind, size = array.dtype.kind, array.dtype.itemsize
    if m == 0 and kind not in "biuf":
        kind = "f"
    if kind not in "biuf":
        raise GraphError(f"weights of type {array.dtype}; allowed: integers and floating-point numbers")
    if kind == "u" and size == 8 and m and array.max() > np.iinfo(np.int64).max:
        raise GraphError(f"weight {array.max()} at {array.argmax()} is above {np.iinfo(np.int64).max}")
    wide = size > 4 or (kind == "u" and size == 4)
    dtype = (np.float64 if size > 4 else np.float32) if kind == "f" else (np.int64 if wide else np.int32)
    array = np.ascontiguousarray(array, dtype)
    if kind == "f" and np.isnan(array).any():
        raise GraphError(f"weight {int(np.isnan(array).argmax())} is NaN; weights must be numbers")
    return array


def check_choice(name: str, value: str, allowed: Iterable[str]) -> None:
    if value not in (known := tuple(allowed)):
        raise InputError(f"{name} = {value!r}; allowed: {', '.join(map(repr, known))}")
