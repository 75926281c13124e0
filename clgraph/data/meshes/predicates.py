"""Geometric predicates (orientation and in-circle test), exact for all finite float64 coordinates.

Each predicate is the sign of a determinant, which is computed in float64 with a bound on its error. If the error could
change the sign, the determinant is computed again in integers: finite floats are integers times powers of two, and a
common factor of all coordinates does not change the sign.

The bounds are from J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric
Predicates", Discrete & Computational Geometry 18, 1997.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Signs = NDArray[np.int8]

_UNIT = 2.0**-53  # The unit roundoff of float64.
# Shewchuk's bounds on the rounding error of both determinants, relative to the sum of their terms' absolute values.
_ORIENT_BOUND = (3 + 16 * _UNIT) * _UNIT
_INCIRCLE_BOUND = (10 + 96 * _UNIT) * _UNIT
_SMALL = 2.0**-50  # Coordinate differences are scaled if the largest difference is below 2^-50 or above 2^50.
# Upper bound on the error that underflow causes in a determinant, for differences between 2^-50 and 2^50.
_UNDERFLOW = 2.0**-800
_CHUNK = 1 << 15  # Number of queries that are handled together, so that their arrays fit the cache.


def orient2d(a: Points, b: Points, c: Points) -> Signs:
    """Return the orientation of each triple of points *a*, *b*, *c*: 1 counter-clockwise, -1 clockwise, 0 collinear.

    Each argument is a float64 array of finite coordinates, shape (n, 2); the shapes may be broadcast.
    """
    return _signs((a, b, c), _orient_float, _orient_exact)


def turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> int:
    """Return the orientation of one triple of points, as :func:`orient2d` does for many triples.

    It is fast enough to be called in a Python loop.
    """
    (ax, ay), (bx, by), (cx, cy) = a, b, c
    left, right = (ax - cx) * (by - cy), (ay - cy) * (bx - cx)
    error = 4 * _UNIT * (abs(left) + abs(right)) + _UNDERFLOW
    if left - right > error:
        return 1
    if right - left > error:
        return -1
    x, y = Fraction(cx), Fraction(cy)
    exact = (Fraction(ax) - x) * (Fraction(by) - y) - (Fraction(ay) - y) * (Fraction(bx) - x)
    return (exact > 0) - (exact < 0)


def incircle(a: Points, b: Points, c: Points, d: Points) -> Signs:
    """Return, for each four points, 1 if *d* is inside the circle through *a*, *b* and *c*, -1 if outside, 0 if on it.

    If *a*, *b*, *c* turn clockwise, the sign is reversed. The arrays are as in :func:`orient2d`.
    """
    return _signs((a, b, c, d), _incircle_float, _incircle_exact)


def _signs(points: tuple[Points, ...], fast: Callable[..., Any], exact: Callable[..., Any]) -> Signs:
    together = np.broadcast_arrays(*(np.asarray(p, np.float64).reshape(-1, 2) for p in points))
    n = len(together[0])
    signs = np.empty(n, np.int8)
    for start in range(0, n, _CHUNK):
        chunk = [p[start : start + _CHUNK] for p in together]
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            difference = np.array([(p - chunk[-1]).T for p in chunk[:-1]])  # (points, 2, queries)
            scale = max(difference.max(initial=0.0), -difference.min(initial=0.0))
            # A factor that is a power of two does not change the sign of the determinant.
            if not _SMALL < scale < 1 / _SMALL and 0 < scale < np.inf:
                difference = np.ldexp(difference, -np.frexp(scale)[1])
            determinant, error = fast(difference)
        found = np.sign(determinant)
        if (open_ := np.flatnonzero(~(np.abs(determinant) > error + _UNDERFLOW))).size:
            found[open_] = exact(*(p[open_] for p in chunk))
        signs[start : start + _CHUNK] = found
    return signs


def _orient_float(difference: NDArray[np.float64]) -> tuple[Points, Points]:
    (ax, ay), (bx, by) = difference
    left, right = ax * by, ay * bx
    return left - right, _ORIENT_BOUND * (np.abs(left) + np.abs(right))


def _incircle_float(difference: NDArray[np.float64]) -> tuple[Points, Points]:
    total, permanent = 0.0, 0.0
    lifts = (difference * difference).sum(axis=1)
    for k in range(3):
        (bx, by), (cx, cy) = difference[(k + 1) % 3], difference[(k + 2) % 3]
        left, right = bx * cy, by * cx
        total = total + lifts[k] * (left - right)
        permanent = permanent + lifts[k] * (np.abs(left) + np.abs(right))
    return total, _INCIRCLE_BOUND * permanent  # type: ignore[return-value]


def _orient_exact(*points: Points) -> Signs:
    signs = np.zeros(len(points[0]), np.int8)
    # Collinear points of a grid are mostly on a vertical or horizontal line. Their sign is 0 without any arithmetic.
    rest = np.flatnonzero(((points[0] != points[2]) | (points[1] != points[2])).all(axis=1))
    if rest.size:
        (ax, ay), (bx, by) = _integer_differences([p[rest] for p in points])
        signs[rest] = np.sign(ax * by - ay * bx).astype(np.int8)
    return signs


def _incircle_exact(*points: Points) -> Signs:
    signs = np.zeros(len(points[0]), np.int8)
    # The determinant is zero if four points are a rectangle's corners, if two are equal, or if all are collinear.
    # One of these cases holds if each coordinate has two values, and each value occurs twice.
    # Grids have many such groups of points, for which arithmetic with Python integers would be slow.
    ordered = np.sort(np.array(points), axis=0)
    rest = np.flatnonzero(((ordered[0] != ordered[1]) | (ordered[2] != ordered[3])).any(axis=1))
    if rest.size:
        a, b, c = _integer_differences([p[rest] for p in points])
        total = sum(
            (p[0] * p[0] + p[1] * p[1]) * (q[0] * r[1] - q[1] * r[0]) for p, q, r in ((a, b, c), (b, c, a), (c, a, b))
        )
        signs[rest] = np.sign(total).astype(np.int8)
    return signs


def _integer_differences(points: Sequence[Points]) -> NDArray[Any]:
    """Return the exact differences of all points from the last point, as Python integers.

    All differences of a query are multiplied by the same power of two, so that they become integers.
    """
    mantissas, exponents = np.frexp(np.array(points))  # (points, queries, 2)
    exponents = np.where(mantissas == 0, 2000, exponents)
    shifts = np.where(mantissas == 0, 0, exponents - exponents.min(axis=(0, 2), keepdims=True))
    integers = np.ldexp(mantissas, 53).astype(np.int64).astype(object) << shifts.astype(object)
    return (integers[:-1] - integers[-1]).transpose(0, 2, 1)  # type: ignore[no-any-return]
