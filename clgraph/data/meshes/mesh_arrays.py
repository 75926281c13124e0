"""Checks of the user's mesh arrays, and small functions on points, edges and triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clgraph.arguments import checked_array
from clgraph.errors import MeshError


def edge_keys(edges: NDArray[np.integer[Any]], n: int) -> NDArray[np.int64]:
    """Return a number for each edge between two of *n* points, which does not depend on the edge's direction.

    The last axis of *edges* has the two ends.
    """
    one, other = edges[..., 0], edges[..., 1]  # edges.min(axis=-1) would take four times longer
    keys: NDArray[np.int64] = np.minimum(one, other).astype(np.int64) * n + np.maximum(one, other)
    return keys


def triangle_sides(triangles: NDArray[Any]) -> NDArray[Any]:
    """Return the ends of the edge opposite each corner of each triangle, shape (t, 3, 2)."""
    return np.stack([triangles[:, [1, 2, 0]], triangles[:, [2, 0, 1]]], axis=-1)


def among(keys: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a mask of the *keys* that are in *known*.

    This is a binary search, which is faster than numpy.isin if *known* is the shorter array.
    """
    if known.size == 0:
        return np.zeros(keys.shape, bool)
    known = np.sort(known)
    found: NDArray[np.bool_] = known[np.minimum(np.searchsorted(known, keys), known.size - 1)] == keys
    return found


def cross(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the absolute cross products of vectors in the plane.

    The last axis has the two coordinates.
    """
    areas: NDArray[np.float64] = np.abs(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])
    return areas


def _checked_rows(name: str, values: ArrayLike, widths: range, kinds: str = "iuf") -> NDArray[Any]:
    """Return *values* as a two-dimensional array whose width is in *widths*.

    An empty array gets the last width.
    """
    rows = checked_array(name, values, MeshError)
    if rows.size == 0:
        rows = rows.reshape(0, widths[-1]).astype(rows.dtype if "f" in kinds else np.int32)
    if rows.ndim != 2 or rows.shape[1] not in widths or rows.dtype.kind not in kinds:
        needed = f"{'numbers' if 'f' in kinds else 'integers'}, shape (n, {widths[-1]})"
        raise MeshError(f"{name} has shape {rows.shape} and type {rows.dtype}; needed: {needed}")
    return rows


def checked_places(name: str, values: ArrayLike, width: int = 2) -> NDArray[np.float64]:
    """Return a new array whose rows begin with two finite coordinates.

    Missing columns up to *width* are zero.
    """
    given = _checked_rows(name, values, range(2, width + 1))
    rows = np.zeros((len(given), width))
    rows[:, : given.shape[1]] = given
    if not (finite := np.isfinite(rows[:, :2])).all() or np.isnan(rows).any():
        at = int((~finite.all(axis=1) | np.isnan(rows).any(axis=1)).argmax())
        raise MeshError(f"{name}[{at}] = {rows[at, : given.shape[1]].tolist()}; allowed: finite coordinates")
    return rows


def checked_points(values: ArrayLike) -> NDArray[np.float64]:
    """Return the coordinates of points, which must be finite, as a new array."""
    points = checked_places("points", values)
    if len(points) >= 2**31:
        raise MeshError(f"{len(points)} points; allowed: fewer than 2**31")
    return points


def checked_indices(name: str, values: ArrayLike, width: int, n: int) -> NDArray[np.int32]:
    """Return a new array of rows of *width* point numbers below *n*.

    In rows of more than two, all must be distinct.
    """
    rows = _checked_rows(name, values, range(width, width + 1), "iu")
    if (bad := ((rows < 0) | (rows >= n)).any(axis=1)).any():
        at = int(bad.argmax())
        raise MeshError(f"{name}[{at}] = {rows[at].tolist()}; allowed: the numbers of points, 0 to {n - 1}")
    if width > 2 and (same := (rows == np.roll(rows, 1, axis=1)).any(axis=1)).any():
        at = int(same.argmax())
        raise MeshError(f"{name}[{at}] = {rows[at].tolist()}; allowed: {width} different points")
    return np.array(rows, np.int32, order="C")


def checked_column(name: str, values: ArrayLike | None, n: int, dtype: Any) -> NDArray[Any]:
    """Return *values* as a new array of *n* numbers.

    If *values* is ``None``, return zeros.
    """
    if values is None:
        return np.zeros(n, dtype)
    column = checked_array(name, values, MeshError)
    column = column.reshape(n) if column.shape == (n, 1) or column.size == n == 0 else column
    whole = np.issubdtype(dtype, np.integer)
    if column.shape != (n,) or (column.dtype.kind not in ("iu" if whole else "iuf") and n):
        raise MeshError(f"{name} has shape {column.shape} and type {column.dtype}; needed: {dtype.__name__}, ({n},)")
    limits = np.iinfo(np.int32)
    bad = (column < limits.min) | (column > limits.max) if whole else np.isnan(column)
    if bad.any():
        at = int(bad.argmax())
        raise MeshError(f"{name}[{at}] = {column[at]}; allowed: {'int32' if whole else 'numbers'}")
    return np.array(column, dtype)


def checked_attributes(values: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """Return the attributes of *n* points, shape (n, a)."""
    if values is None:
        return np.zeros((n, 0))
    rows = checked_array("point_attributes", values, MeshError)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or len(rows) != n or rows.dtype.kind not in "iuf":
        raise MeshError(f"point_attributes has shape {rows.shape} and type {rows.dtype}; needed: numbers, ({n}, a)")
    return np.array(rows, np.float64, order="C")
