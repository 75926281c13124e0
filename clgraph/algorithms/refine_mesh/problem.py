"""The problem of a Delaunay refinement: a mesh, and the bounds for the angles and areas of its triangles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import check_choice, checked_count, checked_flag, checked_number, shown
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.errors import InputError, MeshError

WHOLE = ("none", "boundary", "segments")
# Greatest *min_angle* in degrees without *max_points*. With a larger angle, refinement hardly ever terminates.
MAX_UNLIMITED_ANGLE = 34.0
MAX_ANGLE = 60.0  # Greatest *min_angle* in degrees. No triangle has three larger angles.
# Greatest coordinate and least extent of a mesh, so that fourth powers of lengths in kernels are in range of doubles.
MOST_COORDINATE, LEAST_EXTENT = 1e75, 1e-70
MOST_TRIANGLES = 2**28  # A neighbour link holds the number of an edge, 4 · triangle + corner, in 30 bits.
_SHARP = math.radians(60.0)  # Segments that meet at a smaller angle encroach on each other.
_MIN_LENS = 20.0  # For a smaller angle bound in degrees, diametral lenses would let points come very close to segments.
_MAX_LENS = 45.0  # The lens for this angle bound in degrees is the diametral circle, beyond which no point encroaches.


@dataclass(frozen=True)
class RefineProblem:
    """The checked arguments of :func:`refine_mesh`: a mesh, and bounds for the angles and areas of its triangles."""

    mesh: TriangleMesh
    min_angle: float
    max_area: float | None
    max_points: int | None
    partial: bool = False
    whole: str = "none"
    conforming: bool = False
    deterministic: bool = False

    @property
    def has_caps(self) -> bool:
        """True if the areas of the mesh's triangles are bounded."""
        return self.max_area is not None or self.mesh.max_areas is not None

    def caps(self) -> NDArray[np.float64]:
        """Return the greatest allowed area of each triangle, or an array of one infinity if areas are not bounded."""
        if not self.has_caps:
            return np.array([np.inf])
        own = self.mesh.max_areas
        bounds = np.full(self.mesh.n_triangles, np.inf) if own is None else np.where(own > 0, own, np.inf)
        return bounds if self.max_area is None else np.minimum(bounds, self.max_area)

    @cached_property
    def bounds(self) -> tuple[float, float, float, float]:
        """The bounding box of the mesh's points: least x, least y, greatest x, greatest y."""
        x, y = self.mesh.points.T  # numpy finds the least value of each column ten times faster than the least row.
        return float(x.min()), float(y.min()), float(x.max()), float(y.max())

    def demands(self) -> dict[str, float]:
        """Return the bounds for triangles in the form that kernels need:
        the struct ``demands_t`` in refine_mesh/mesh.h.
        """
        cosine = math.cos(math.radians(self.min_angle))
        left, bottom, right, top = self.bounds
        diagonal = math.hypot(right - left, top - bottom)
        return {
            "cos_squared": cosine**2 if self.min_angle > 0 else 2.0,
            "off_center": 0.475 * math.sqrt((1 + cosine) / (1 - cosine)) if self.min_angle > 0 else math.inf,
            "lens": self._lens(),
            "longest": int(np.float64(diagonal**2).view(np.uint64) >> np.uint64(50)) + 1,
            "has_caps": int(self.has_caps),
            "whole": WHOLE.index(self.whole),
        }

    def _lens(self) -> float:
        """Return the squared cosine of the least angle under which a point
        that encroaches on a segment sees the segment.

        If a triangle's corner sees a segment under more than 180 degrees minus twice the bound, the triangle has an
        angle below the bound. So it is enough to test a lens around the segment instead of the diametral circle. The
        lens is narrower, so points close to segments cause fewer new points. J. R. Shewchuk, "Delaunay Refinement
        Algorithms for Triangular Mesh Generation", Computational Geometry 22, 2002.
        """
        if self.conforming:
            return 0.0
        if self.min_angle == 0 and not self.has_caps:
            return math.inf
        return math.cos(math.radians(2.0 * min(max(self.min_angle, _MIN_LENS), _MAX_LENS))) ** 2

    def segments_by_row(self) -> tuple[NDArray[np.intp], NDArray[np.int32], NDArray[np.int32]]:
        """Return the mesh's segments sorted by their end points, so that the segments of each point form a row.

        A segment is in the row of its lower end. The three arrays are the order in which the mesh's segments were
        sorted, the offset of each point's row, and both ends of each sorted segment.
        """
        ends = np.sort(self.mesh.segments, axis=1)
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        ends = np.ascontiguousarray(ends[order], np.int32)
        rows = np.zeros(self.mesh.n_points + 1, np.int32)
        np.cumsum(np.bincount(ends[:, 0], minlength=self.mesh.n_points), out=rows[1:])
        return order, rows, ends

    def sharp_points(self) -> NDArray[np.intp]:
        """Return the points of the mesh at which two segments meet at less than 60 degrees."""
        segments, points = self.mesh.segments, self.mesh.points
        if len(segments) < 2:
            return np.zeros(0, np.intp)
        at, towards = np.concatenate([segments, segments[:, ::-1]]).T
        dx, dy = (points[towards] - points[at]).T
        angle = np.arctan2(dy, dx)
        order = np.lexsort((angle, at))
        at, angle = at[order], angle[order]
        first = np.flatnonzero(np.r_[True, at[1:] != at[:-1]])
        last = np.r_[first[1:], at.size] - 1
        between = np.diff(angle, append=0.0)
        # The last segment of a point is followed by its first. At a point with one segment, this angle is 360 degrees.
        between[last] = angle[first] + 2 * np.pi - angle[last]
        sharp: NDArray[np.intp] = np.unique(at[between < _SHARP]).astype(np.intp)
        return sharp


def as_problem(
    mesh: Any,
    *,
    min_angle: float = 30.0,
    max_area: float | None = None,
    max_points: int | None = None,
    partial: bool = False,
    whole: str = "none",
    conforming: bool = False,
    deterministic: bool = False,
) -> RefineProblem:
    """Check the arguments of :func:`refine_mesh` and return the refinement problem."""
    if not isinstance(mesh, TriangleMesh):
        raise InputError(f"mesh = {shown(mesh)}; allowed: a TriangleMesh, as TriangleMesh.from_arrays makes it")
    angle = checked_number("min_angle", min_angle, 0.0, MAX_ANGLE)
    if angle > MAX_UNLIMITED_ANGLE and max_points is None:
        raise InputError(
            f"min_angle = {angle:g}; allowed: at most {MAX_UNLIMITED_ANGLE:g}, or {MAX_ANGLE:g} with max_points=, "
            "because refinement to larger angles hardly ever ends"
        )
    area = None if max_area is None else checked_number("max_area", max_area, above=True)
    most = None if max_points is None else checked_count("max_points", max_points, 2**31 - 1)
    if not 0 < mesh.n_triangles <= MOST_TRIANGLES:
        raise MeshError(f"the mesh has {mesh.n_triangles} triangles; allowed: 1 to {MOST_TRIANGLES}")
    check_choice("whole", whole, WHOLE)
    problem = RefineProblem(
        mesh, angle, area, most, checked_flag("partial", partial), whole, checked_flag("conforming", conforming),
        checked_flag("deterministic", deterministic),
    )  # fmt: skip
    left, bottom, right, top = problem.bounds
    if not (max(map(abs, problem.bounds)) <= MOST_COORDINATE and max(right - left, top - bottom) >= LEAST_EXTENT):
        raise MeshError(
            f"coordinates are from {left, bottom} to {right, top}; allowed: up to {MOST_COORDINATE}, and "
            f"at least {LEAST_EXTENT} across; scale them"
        )
    return problem
