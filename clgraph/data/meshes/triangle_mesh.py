"""The TriangleMesh class: a triangulation of a part of the plane, with edges that must be kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clgraph.arguments import refusing
from clgraph.data.meshes import mesh_arrays
from clgraph.data.meshes.mesh_arrays import among, cross, edge_keys, triangle_sides
from clgraph.data.meshes.predicates import orient2d
from clgraph.data.meshes.triangulation import Triangulation
from clgraph.errors import MeshError

MAX_TRIANGLES = (2**31 - 1) // 3  # Edge i of triangle t has number 3 t + i, which must fit int32.
BOUNDARY_MARKER = 1  # Points and segments at the boundary that have marker 0 get this marker, as in Triangle.
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


@dataclass(frozen=True, eq=False, repr=False)
class TriangleMesh:
    """A triangulation of a part of the plane, with segments: edges that must be kept.

    :meth:`from_arrays` and :meth:`from_scipy` build and check one. The constructor does not check its arguments.

    Attributes
    ----------
    points : float64 array, shape (n, 2)
    triangles : int32 array, shape (t, 3)
        The corners of each triangle, counter-clockwise.
    neighbors : int32 array, shape (t, 3)
        ``neighbors[t, i]`` is the triangle on the other side of the edge opposite corner ``i`` of ``t``, or -1.
    segments : int32 array, shape (s, 2)
        The edges that must not be flipped, including all edges at the boundary.
    segment_markers : int32 array, shape (s,)
    point_markers : int32 array, shape (n,)
    point_attributes : float64 array, shape (n, a)
    region_attributes : float64 array, shape (t,), or None
        The attribute of each triangle's region.
    max_areas : float64 array, shape (t,), or None
        The largest area allowed for each triangle and for triangles that replace it; infinity means no bound.
    """

    points: NDArray[np.float64]
    triangles: NDArray[np.int32]
    neighbors: NDArray[np.int32]
    segments: NDArray[np.int32]
    segment_markers: NDArray[np.int32]
    point_markers: NDArray[np.int32]
    point_attributes: NDArray[np.float64]
    region_attributes: NDArray[np.float64] | None = None
    max_areas: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_points={self.n_points}, n_triangles={self.n_triangles})"

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.points)

    @property
    def n_triangles(self) -> int:
        """Number of triangles."""
        return len(self.triangles)

    @classmethod
    def from_arrays(
        cls,
        points: ArrayLike,
        triangles: ArrayLike,
        segments: ArrayLike | None = None,
        *,
        segment_markers: ArrayLike | None = None,
        point_markers: ArrayLike | None = None,
        point_attributes: ArrayLike | None = None,
        region_attributes: ArrayLike | None = None,
        max_areas: ArrayLike | None = None,
    ) -> TriangleMesh:
        """Build a mesh from arrays, and check all of them.

        Parameters
        ----------
        points : float array, shape (n, 2)
            Finite coordinates.
        triangles : int array, shape (t, 3)
            Corners of the triangles, numbered from 0. The corners of clockwise triangles are reordered.
        segments : int array, shape (s, 2), optional
            Edges of triangles that must be kept. Edges at the boundary are added, with marker 1; repeats are dropped.
        segment_markers, point_markers : int array, shape (s,) and (n,), optional
        point_attributes : float array, shape (n, a) or (n,), optional
        region_attributes, max_areas : float array, shape (t,), optional
            As the attributes of this class; an area of zero or less means no bound.

        Returns
        -------
        TriangleMesh

        Raises
        ------
        MeshError
            A coordinate is not finite, an index is out of range, a triangle has no area, an edge has several
            triangles on one side, or a segment is not an edge of a triangle; the message names the position.

        Examples
        --------
        >>> mesh = TriangleMesh.from_arrays([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])
        >>> mesh.neighbors.tolist(), len(mesh.segments)
        ([[-1, 1, -1], [-1, -1, 0]], 4)
        """
        xy = mesh_arrays.checked_points(points)
        n = len(xy)
        corners = mesh_arrays.checked_indices("triangles", triangles, 3, n)
        if len(corners) > MAX_TRIANGLES:
            raise MeshError(f"{len(corners)} triangles; allowed: at most {MAX_TRIANGLES}")
        turns = orient2d(*xy[corners.T])
        if not turns.all():
            at = int((turns == 0).argmax())
            raise MeshError(f"triangles[{at}] = {corners[at].tolist()} has no area; drop triangles that are flat")
        corners[turns < 0] = corners[turns < 0][:, [0, 2, 1]]
        neighbors = triangle_neighbors(corners)
        edges, markers = np.zeros((0, 2), np.int32), np.zeros(0, np.int32)
        if segments is not None:
            edges = mesh_arrays.checked_indices("segments", segments, 2, n)
            markers = mesh_arrays.checked_column("segment_markers", segment_markers, len(edges), np.int32)
            sides = edge_keys(triangle_sides(corners), n).ravel()
            keys = edge_keys(edges, n)
            if not (known := among(keys, sides[among(sides, keys)])).all():
                at = int(known.argmin())
                raise MeshError(
                    f"segments[{at}] = {edges[at].tolist()} is no edge of a triangle; PlanarGraph makes "
                    "triangles that have all segments"
                )
        hull = triangle_sides(corners)[neighbors < 0]
        together = np.concatenate([edges, hull])
        _, first = np.unique(edge_keys(together, n), return_index=True)
        first.sort()
        regions, areas = (
            None if column is None else mesh_arrays.checked_column(name, column, len(corners), np.float64)
            for name, column in (("region_attributes", region_attributes), ("max_areas", max_areas))
        )
        return cls(
            xy,
            corners,
            neighbors,
            np.ascontiguousarray(together[first]),
            np.concatenate([markers, np.full(len(hull), BOUNDARY_MARKER, np.int32)])[first],
            mesh_arrays.checked_column("point_markers", point_markers, n, np.int32),
            mesh_arrays.checked_attributes(point_attributes, n),
            regions,
            None if areas is None else np.where(areas > 0, areas, np.inf),
        )

    @classmethod
    def from_scipy(cls, triangulation: Any) -> TriangleMesh:
        """Return the mesh of a two-dimensional ``scipy.spatial.Delaunay``.

        Qhull, which scipy uses, leaves out points that are too close to others, and its triangles may not be Delaunay
        in exact arithmetic. :meth:`PlanarGraph.triangulate` has neither problem.

        Raises
        ------
        MeshError
            As in :meth:`from_arrays`.
        """
        with refusing("triangulation", triangulation, "a scipy.spatial.Delaunay", MeshError):
            points, triangles = triangulation.points, triangulation.simplices
        return cls.from_arrays(points, triangles)

    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return each edge once, shape (e, 2), and its marker, shape (e,). Edges that are no segments have marker 0."""
        once = self.neighbors < np.arange(self.n_triangles)[:, None]
        found = triangle_sides(self.triangles)[once]
        keys, sides = edge_keys(self.segments, self.n_points), edge_keys(found, self.n_points)
        _, segment, place = np.intersect1d(keys, sides, return_indices=True)
        markers = np.zeros(len(found), np.int32)
        markers[place] = self.segment_markers[segment]
        return found, markers

    def without_unused_points(self) -> Self:
        """Return the mesh without the points that belong to no triangle; the other points keep their order."""
        used = np.zeros(self.n_points, bool)
        used[self.triangles] = True
        number = np.cumsum(used, dtype=np.int32) - np.int32(1)
        return replace(
            self,
            points=self.points[used],
            triangles=number[self.triangles],
            segments=number[self.segments],
            point_markers=self.point_markers[used],
            point_attributes=self.point_attributes[used],
        )

    def with_boundary_markers(self) -> Self:
        """Return the mesh with marker 1 for all points and segments at the boundary that have marker 0."""
        hull = triangle_sides(self.triangles)[self.neighbors < 0]
        points, segments = self.point_markers.copy(), self.segment_markers.copy()
        points[hull[points[hull] == 0]] = BOUNDARY_MARKER
        is_hull = among(edge_keys(self.segments, self.n_points), edge_keys(hull, self.n_points))
        segments[is_hull & (segments == 0)] = BOUNDARY_MARKER
        return replace(self, point_markers=points, segment_markers=segments)

    def to_delaunay(self) -> Self:
        """Return the mesh made constrained Delaunay by flips of edges that are not segments.

        Attributes and largest areas stay with the triangles' numbers. They remain right if both are constant within
        each region that segments enclose.
        """
        back = self.neighbors[self.neighbors] == np.arange(self.n_triangles)[:, None, None]
        twins = np.where(self.neighbors < 0, -1, 3 * self.neighbors.astype(np.int64) + back.argmax(axis=2))
        flips = Triangulation(self.points, self.triangles.astype(np.int64).ravel(), twins.ravel())
        sides, segments = triangle_sides(self.triangles), edge_keys(self.segments, self.n_points)
        flips.fixed = among(edge_keys(sides, self.n_points).ravel(), segments)
        flips.legalize(np.arange(3 * self.n_triangles))
        return replace(
            self,
            triangles=flips.corners.reshape(-1, 3).astype(np.int32),
            neighbors=(flips.twins // 3).reshape(-1, 3).astype(np.int32),
        )

    def areas(self) -> NDArray[np.float64]:
        """Return the area of each triangle, shape (t,)."""
        a, b, c = self.points[self.triangles.T]
        return cross(b - a, c - a) / 2

    def angles(self) -> NDArray[np.float64]:
        """Return the angle at each corner in degrees, shape (t, 3)."""
        corners = self.points[self.triangles]
        out, back = corners[:, _NEXT] - corners, corners[:, _LAST] - corners
        angles: NDArray[np.float64] = np.degrees(np.arctan2(cross(out, back), (out * back).sum(axis=2)))
        return angles

    def quality(self) -> MeshQuality:
        """Return a summary of the mesh's angles and areas."""
        angles, areas, empty = self.angles(), self.areas(), self.n_triangles == 0
        least = angles.min(axis=1)
        return MeshQuality(
            self.n_points,
            self.n_triangles,
            np.nan if empty else float(least.min()),
            np.nan if empty else float(angles.max()),
            np.nan if empty else float(least.mean()),
            np.nan if empty else float(areas.min()),
            float(areas.max(initial=0.0)),
            float(areas.sum()),
            np.histogram(angles, bins=_BINS, range=(0, 180))[0],
        )


def triangle_neighbors(triangles: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the neighbours of each of *triangles*, which must be counter-clockwise.

    Raise a :class:`MeshError` if two triangles are on the same side of an edge.
    """
    t, n = len(triangles), int(triangles.max(initial=0)) + 1
    sides = triangle_sides(triangles).reshape(-1, 2)
    keys = 2 * edge_keys(sides, n) + (sides[:, 0] < sides[:, 1])
    order = np.argsort(keys)
    keys = keys[order]
    if (wrong := keys[1:] == keys[:-1]).any():
        at = int(wrong.argmax())
        one, other = np.sort(order[at : at + 2])
        raise MeshError(
            f"triangles {one // 3} and {other // 3} are on the same side of edge {sides[one].tolist()}; "
            "needed: triangles that do not overlap"
        )
    same = keys[1:] >> 1 == keys[:-1] >> 1
    links = np.full(3 * t, -1, np.int32)
    links[order[:-1][same]], links[order[1:][same]] = order[1:][same] // 3, order[:-1][same] // 3
    return links.reshape(t, 3)
