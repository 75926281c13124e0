"""Functions on CSR arrays: checks of the user's arrays, merging of duplicates, symmetry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from clgraph.arguments import checked_array, checked_count
from clgraph.errors import GraphError

Duplicates: TypeAlias = Literal["keep", "min", "max", "sum", "first", "error"]
MAX_VERTICES = 2**31 - 1
_INT64 = np.iinfo(np.int64)
_NAMES = dict.fromkeys(("src", "dst"), ", or any ids with ids='auto'")  # hints for arguments of Graph.from_edges
REDUCTIONS: dict[str, Callable[..., NDArray[Any]]] = {
    "min": np.minimum.reduceat,
    "max": np.maximum.reduceat,
    "sum": np.add.reduceat,
    "first": lambda weights, starts: weights[starts],
}


def check_arrays(offsets: NDArray[Any], columns: NDArray[Any], n_columns: int | None = None) -> None:
    """Raise an error unless *offsets* and *columns* are valid CSR arrays of a graph.

    The offsets must not decrease, and must lead from 0 to n_edges. The columns must be from 0 to *n_columns* - 1, or to
    n_vertices - 1 by default.
    """
    n, m = offsets.size - 1, columns.size
    if not 0 <= n <= MAX_VERTICES:
        raise GraphError(f"row_offsets has {n + 1} elements; needed: n_vertices + 1, with 0 to {MAX_VERTICES} vertices")
    if offsets[0] != 0 or offsets[-1] != m:
        raise GraphError(
            f"row_offsets runs from {offsets[0]} to {offsets[-1]}; it must start at 0 and end at n_edges = {m}"
        )
    check_rising(offsets)
    check_range("column_indices", columns, n if n_columns is None else n_columns)


def check_rising(offsets: NDArray[Any], first: int = 0, name: str = "row_offsets") -> None:
    """Raise an error if an item of the row *offsets* is below the item before.

    *first* is the position of the first item.
    """
    falls = offsets[1:] < offsets[:-1]
    if falls.any():
        at = int(falls.argmax())
        raise GraphError(
            f"{name}[{first + at + 1}] = {offsets[at + 1]} is below {name}[{first + at}] = {offsets[at]}; "
            "offsets must not decrease"
        )


def merge_duplicates(
    offsets: NDArray[Any], columns: NDArray[np.int32], weights: NDArray[Any] | None, how: Duplicates
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[Any] | None]:
    """Merge repeated columns in sorted CSR rows by the reduction *how*.

    If *how* is "error", repeats raise an error.
    """
    first = np.ones(columns.size, bool)
    np.not_equal(columns[1:], columns[:-1], out=first[1:])
    first[offsets[:-1][offsets[:-1] < columns.size]] = True
    if first.all():
        return offsets, columns, weights

    def edge(at: int) -> str:
        return f"edge ({int(np.searchsorted(offsets, at, 'right')) - 1}, {columns[at]})"

    if how == "error":
        raise GraphError(f"{edge(int(first.argmin()))} is listed more than once; duplicates='error'")
    if weights is not None:
        starts = np.flatnonzero(first)
        weights, wrong = _sums(weights, starts) if how == "sum" else (REDUCTIONS[how](weights, starts), None)
        if wrong is not None and wrong.any():
            raise GraphError(
                f"the weights of {edge(int(starts[wrong.argmax()]))}, which is listed more than once, have no sum in "
                f"{weights.dtype}"
            )
    merged = np.zeros(columns.size + 1, offsets.dtype)
    np.cumsum(first, out=merged[1:])
    return merged[offsets], columns[first], weights


def _sums(weights: NDArray[Any], starts: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return the sums of the runs of *weights* that begin at *starts*, and a mask of sums that overflowed or are NaN.

    The mask is ``None`` if no sum can be wrong.

    Integers are added as int64. Floats are added as float64, and each sum is rounded once to the type of the weights.
    A sum is wrong if it overflows or is NaN.
    """
    if weights.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.add.reduceat(weights, starts, dtype=np.float64).astype(weights.dtype, copy=False)
        finite = np.logical_and.reduceat(np.isfinite(weights), starts)
        return sums, np.isnan(sums) | np.isinf(sums) & finite
    sums = np.add.reduceat(weights, starts, dtype=np.int64)
    if weights.itemsize < 8:
        return sums, None
    high, low = (np.add.reduceat(part, starts) for part in (weights >> 32, weights & 0xFFFFFFFF))
    return sums, sums >> 32 != high + (low >> 32)


def as_csr_array(offsets: NDArray[Any], columns: NDArray[np.int32], data: NDArray[Any]) -> csr_array:
    n = offsets.size - 1
    return csr_array((data, columns, offsets), shape=(n, n))


def asymmetric_entry(
    offsets: NDArray[Any], columns: NDArray[np.int32], weights: NDArray[Any] | None, *, is_canonical: bool = False
) -> tuple[int, int] | None:
    """Return a CSR entry without a reverse of the same weight and multiplicity, or ``None`` if every entry has one.

    The arrays are compared with their transpose, whose rows are sorted. Their own rows are first sorted by transposing
    twice, unless they are known to be sorted and without repeats (*is_canonical*).
    """
    if columns.size == 0:
        return None
    data = np.ones(columns.size, np.int8) if weights is None else weights
    given = as_csr_array(offsets, columns, data)
    reverse = given.tocsc()  # The CSC arrays of a matrix, read as CSR arrays, are its transpose with sorted rows.
    forward = given if is_canonical else reverse.tocsr()
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
    # Entries of the same row and column are sorted by weight in both matrices, so that their weights can be compared.
    rows = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    order, reverse_order = (np.lexsort((m.data, m.indices, rows)) for m in (forward, reverse))
    if (other := forward.data[order] != reverse.data[reverse_order]).any():
        at = order[other.argmax()]
        return int(rows[at]), int(forward.indices[at])
    return None


def offset_dtype(n_edges: int) -> type[np.signedinteger[Any]]:
    """Return the integer type of the row offsets of *n_edges* entries: int32 if possible, else int64.

    Kernels compute indices slightly above the number of entries, which must fit int32, too.
    """
    return np.int32 if n_edges < 2**31 - 2**16 else np.int64


def as_integers(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return *values* as a one-dimensional array of signed integers in native byte order."""
    array = checked_array(name, values, GraphError)
    if array.ndim != 1:
        raise GraphError(f"{name} has shape {array.shape}; needed: one dimension")
    if array.size == 0:
        return np.zeros(0, np.int32)
    if array.dtype.kind == "O":
        least, most = int(_INT64.min), int(_INT64.max)
        numbers = [checked_count(f"{name}[{i}]", value, most, least) for i, value in enumerate(array.tolist())]
        return np.array(numbers, np.int64)
    if array.dtype.kind not in "iu":
        raise GraphError(
            f"{name} holds {array.dtype} values such as {array[0]!r}; needed: integers{_NAMES.get(name, '')}"
        )
    if array.dtype.kind == "u":
        if array.max() > _INT64.max:
            raise GraphError(f"{name}[{int(array.argmax())}] = {array.max()}; allowed: at most {_INT64.max}")
        return array.astype(np.int32 if array.itemsize < 4 else np.int64)
    return np.ascontiguousarray(array, array.dtype.newbyteorder("="))


def check_range(name: str, vertices: NDArray[Any], n: int, first: int = 0) -> None:
    """Raise an error unless all vertex numbers are in ``[0, n)``. The message counts positions from *first* on."""
    # Negative numbers, read as unsigned integers, are very large, so one comparison finds all numbers outside 0 … n-1.
    if vertices.size and vertices.view(f"u{vertices.itemsize}").max() >= n:
        at = int(((vertices < 0) | (vertices >= n)).argmax())
        allowed = f"0 to {n - 1}" if n else "none, the graph has no vertices"
        raise GraphError(f"{name}[{first + at}] = {vertices[at]} is not a vertex; allowed: {allowed}")


def as_weights(values: ArrayLike, m: int) -> NDArray[Any]:
    """Return edge weights as int32, int64, float32 or float64.

    A wrong shape or a NaN raises an error.
    """
    array = checked_array("the weights", values, GraphError)
    if array.shape != (m,):
        raise GraphError(f"the weights have shape {array.shape}; needed: one per edge, ({m},)")
    kind, size = array.dtype.kind, array.dtype.itemsize
    if m == 0 and kind not in "biuf":
        kind = "f"
    if kind not in "biuf":
        raise GraphError(f"weights of type {array.dtype}; allowed: integers and floating-point numbers")
    if kind == "u" and size == 8 and m and array.max() > _INT64.max:
        raise GraphError(f"weight {array.max()} at {array.argmax()} is above {_INT64.max}")
    wide = size > 4 or (kind == "u" and size == 4)
    dtype = (np.float64 if size > 4 else np.float32) if kind == "f" else (np.int64 if wide else np.int32)
    with np.errstate(over="ignore"):
        given, array = array, np.ascontiguousarray(array, dtype)
    if kind == "f" and m and np.isnan(array.min()):
        raise GraphError(f"weight {int(np.isnan(array).argmax())} is NaN; weights must be numbers")
    if kind == "f" and size > 8 and (lost := np.isinf(array) & np.isfinite(given)).any():
        at = int(lost.argmax())
        raise GraphError(f"weight {given[at]!s} at {at} is beyond float64, the widest type of weights")
    return array


def owned(array: NDArray[Any], given: object) -> NDArray[Any]:
    """Return *array*, which was made from the user's *given*, or a copy if the two may share memory."""
    apart = isinstance(given, np.ndarray) and not np.may_share_memory(array, given)
    return array if apart or isinstance(given, list | tuple) else array.copy()
