"""Angles and areas of triangles, and a summary of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.data.meshes.mesh_arrays import cross

_NEXT, _LAST = [1, 2, 0], [2, 0, 1]
_BINS = 18  # bins of ten degrees


class MeshQuality(NamedTuple):
    """The result of :meth:`TriangleMesh.quality`; angles are in degrees.

    Attributes
    ----------
    n_points, n_triangles : int
    min_angle, max_angle : float
        The least and the greatest angle; NaN without triangles.
    mean_min_angle : float
        The mean of the triangles' least angles.
    min_area, max_area, total_area : float
    angle_histogram : int64 array, shape (18,)
        The number of angles from 0 to 10 degrees, from 10 to 20, and so on.
    """

    n_points: int
    n_triangles: int
    min_angle: float
    max_angle: float
    mean_min_angle: float
    min_area: float
    max_area: float
    total_area: float
    angle_histogram: NDArray[np.int64]


def triangle_areas(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the area of each triangle; *corners* has their coordinates, shape (t, 3, 2)."""
    return cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2


def triangle_angles(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the angle at each corner in degrees, shape (t, 3); *corners* has shape (t, 3, 2)."""
    out, back = corners[:, _NEXT] - corners, corners[:, _LAST] - corners
    _, exponents = np.frexp(np.abs(out).max(axis=(1, 2), keepdims=True))  # Products of lengths must be in range.
    out, back = np.ldexp(out, -exponents), np.ldexp(back, -exponents)
    angles: NDArray[np.float64] = np.degrees(np.arctan2(cross(out, back), (out * back).sum(axis=2)))
    return angles


def mesh_quality(n_points: int, angles: NDArray[np.float64], areas: NDArray[np.float64]) -> MeshQuality:
    """Return the summary of a mesh with these *angles*, shape (t, 3), and *areas*, shape (t,)."""
    least, empty = angles.min(axis=1), len(areas) == 0
    return MeshQuality(
        n_points,
        len(areas),
        np.nan if empty else float(least.min()),
        np.nan if empty else float(angles.max()),
        np.nan if empty else float(least.mean()),
        np.nan if empty else float(areas.min()),
        float(areas.max(initial=0.0)),
        float(areas.sum()),
        np.histogram(angles, bins=_BINS, range=(0, 180))[0],
    )
