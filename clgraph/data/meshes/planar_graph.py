"""The PlanarGraph class: points and segments with holes and regions, from which a triangle mesh can be made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from clgraph.arguments import checked_flag
from clgraph.data.meshes import mesh_arrays
from clgraph.data.meshes.mesh_arrays import among, edge_keys, triangle_sides
from clgraph.data.meshes.mesh_links import BOUNDARY_MARKER
from clgraph.data.meshes.segment_recovery import RecoveredSegments, recover_segments
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.data.meshes.triangulation import Triangulation
from clgraph.errors import MeshError


@dataclass(frozen=True, eq=False, repr=False)
class PlanarGraph:
    """A planar straight-line graph: points and segments between them, with holes and regions.

    :meth:`from_arrays` builds and checks a planar graph. The constructor does not check its arguments.

    Attributes
    ----------
    points : float64 array, shape (n, 2)
        Coordinates.
    segments : int32 array, shape (s, 2)
        The numbers of the two ends of each segment.
    segment_markers : int32 array, shape (s,)
    point_markers : int32 array, shape (n,)
        The user's own numbers of segments and points.
    point_attributes : float64 array, shape (n, a)
    holes : float64 array, shape (h, 2)
        The coordinates of a point inside each hole.
    regions : float64 array, shape (r, 4)
        For each region: the coordinates x and y of a point inside it, its attribute, and the largest area of its
        triangles. An area of zero or less means no bound.
    """

    points: NDArray[np.float64]
    segments: NDArray[np.int32]
    segment_markers: NDArray[np.int32]
    point_markers: NDArray[np.int32]
    point_attributes: NDArray[np.float64]
    holes: NDArray[np.float64]
    regions: NDArray[np.float64]

    def __repr__(self) -> str:
        return (
            f"PlanarGraph(n_points={len(self.points)}, n_segments={len(self.segments)}, n_holes={len(self.holes)}, "
            f"n_regions={len(self.regions)})"
        )

    @classmethod
    def from_arrays(
        cls,
        points: ArrayLike,
        segments: ArrayLike = (),
        *,
        segment_markers: ArrayLike | None = None,
        point_markers: ArrayLike | None = None,
        point_attributes: ArrayLike | None = None,
        holes: ArrayLike = (),
        regions: ArrayLike = (),
    ) -> PlanarGraph:
        """Build a planar graph from arrays, and check all of the arrays.

        The class describes them as attributes.

        Points may coincide or lie on segments, and segments may cross, overlap or be repeated. :meth:`triangulate`
        resolves such cases.

        Raises
        ------
        MeshError
            A coordinate is not finite, an index is out of range, or an array has a wrong shape or type.

        Examples
        --------
        >>> square = PlanarGraph.from_arrays([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 2], [1, 3]])
        >>> square.triangulate(convex_hull=True).points.tolist()[4:]
        [[0.5, 0.5]]
        """
        xy = mesh_arrays.checked_points(points)
        n = len(xy)
        edges = mesh_arrays.checked_indices("segments", segments, 2, n)
        return cls(
            xy,
            edges,
            mesh_arrays.checked_column("segment_markers", segment_markers, len(edges), np.int32),
            mesh_arrays.checked_column("point_markers", point_markers, n, np.int32),
            mesh_arrays.checked_attributes(point_attributes, n),
            mesh_arrays.checked_places("holes", holes),
            mesh_arrays.checked_places("regions", regions, 4),
        )

    def triangulate(self, *, convex_hull: bool = False, keep_points: bool = False) -> TriangleMesh:
        """Return the constrained Delaunay triangulation of the points, in which the segments are edges.

        Equal points are merged, and a point on a segment divides it. At a crossing of segments, a point is added,
        rounded to float64. All other decisions are exact. Triangles are dropped if they are in a hole or not enclosed
        by segments.

        Parameters
        ----------
        convex_hull : bool
            Whether to keep all triangles of the convex hull, except those in holes. Always done without segments.
        keep_points : bool
            Whether to keep the points that belong to no triangle, so that all points keep their numbers. New points
            follow the others in any case.

        Returns
        -------
        TriangleMesh
            Its segments are the pieces of this graph's segments, and the edges at the boundary. As in Triangle, edges
            at the boundary get marker 1 if they have marker 0, and points with marker 0 get the marker of a segment.

        Raises
        ------
        MeshError
            All points are on a line, no triangle is left, or segments cross too close to each other.
        """
        convex_hull, keep_points = checked_flag("convex_hull", convex_hull), checked_flag("keep_points", keep_points)
        unique, number = unique_points(self.points)
        triangulation = Triangulation.of_points(self.points[unique])
        segments, markers = self._distinct_segments(number)
        pieces = recover_segments(triangulation, segments)
        numbers = np.concatenate([unique, len(self.points) + np.arange(len(pieces.crossings))])
        keep, attributes, areas = self._regions(triangulation, convex_hull or not pieces.segments.size)
        if not keep.any():
            raise MeshError(
                "no triangle is left: all are in holes, or outside of closed lines of segments; close the lines, move "
                "the holes, or pass convex_hull=True"
            )
        mesh = self._mesh(triangulation, pieces, markers, numbers, keep, attributes, areas)
        return mesh if keep_points else mesh.without_unused_points()

    def _distinct_segments(self, number: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the distinct segments of positive length of the planar graph, and their markers."""
        ends = number[self.segments.astype(np.int64)]
        some = np.flatnonzero(ends[:, 0] != ends[:, 1])
        _, first = np.unique(edge_keys(ends[some], len(self.points)), return_index=True)
        some = some[np.sort(first)]
        return ends[some], self.segment_markers[some]

    def _regions(
        self, triangulation: Triangulation, convex_hull: bool
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64] | None, NDArray[np.float64] | None]:
        """Return a mask of the triangles inside the planar graph, and the
        attributes and area bounds of these triangles.

        The attributes and area bounds are ``None`` if no region gives any.
        """
        t = triangulation.corners.size // 3
        free = np.flatnonzero((triangulation.twins >= 0) & ~triangulation.fixed)
        links = coo_array((np.ones(free.size, np.int8), (free // 3, triangulation.twins[free] // 3)), shape=(t, t))
        n_parts, part = connected_components(links, directed=False)
        gone = np.zeros(n_parts, bool)
        if not convex_hull:
            gone[part[np.flatnonzero((triangulation.twins < 0) & ~triangulation.fixed) // 3]] = True
        place = _triangles_at(triangulation, np.concatenate([self.holes, self.regions[:, :2]]))
        at_hole, at_region = place[: len(self.holes)], place[len(self.holes) :]
        gone[part[at_hole[at_hole >= 0]]] = True
        keep = ~gone[part]
        if not len(self.regions):
            return keep, None, None
        attributes, areas = np.zeros(n_parts), np.full(n_parts, np.inf)
        for triangle, region in zip(at_region, self.regions, strict=True):
            if triangle >= 0:  # If several regions have their points in the same part, the last region counts.
                attributes[part[triangle]] = region[2]
                areas[part[triangle]] = region[3] if region[3] > 0 else np.inf
        return keep, attributes[part][keep], areas[part][keep] if (self.regions[:, 3] > 0).any() else None

    def _mesh(
        self,
        triangulation: Triangulation,
        pieces: RecoveredSegments,
        whole_markers: NDArray[np.int32],
        numbers: NDArray[np.int64],
        keep: NDArray[np.bool_],
        attributes: NDArray[np.float64] | None,
        areas: NDArray[np.float64] | None,
    ) -> TriangleMesh:
        """Return the triangle mesh of those triangles of a triangulation that are marked in *keep*.

        *numbers* has, for each point of *triangulation*, the number of this point in the mesh.
        """
        n = len(self.points) + len(pieces.crossings)
        corners = numbers[triangulation.corners].reshape(-1, 3)[keep]
        # The new number of each triangle. The last item is -1, so that the outside (neighbour -1) stays -1.
        place = np.full(keep.size + 1, -1)
        place[:-1][keep] = np.arange(np.count_nonzero(keep))
        neighbors = place[(triangulation.twins // 3).reshape(-1, 3)[keep]]
        sides = triangle_sides(corners)
        hull, keys = sides[neighbors < 0], edge_keys(sides, n)
        segments, markers = numbers[pieces.segments], whole_markers[pieces.wholes]
        # The order is reversed, so that the first segment at a point is written last and gives the point its marker.
        marked = np.flatnonzero(markers)[::-1]
        of_segments = np.zeros(n, np.int32)
        of_segments[hull] = BOUNDARY_MARKER
        of_segments[segments[marked].ravel()] = np.repeat(markers[marked], 2)
        inside = among(edge_keys(segments, n), keys.ravel())  # Segments in holes only mark their points.
        segments, markers = segments[inside], markers[inside]
        free = hull[~among(edge_keys(hull, n), edge_keys(segments, n))]
        segments = np.concatenate([segments, free])
        markers = np.concatenate([markers, np.zeros(len(free), np.int32)])
        points = np.concatenate([self.points, triangulation.points[numbers >= len(self.points)]])
        crossed = np.array([c.whole for c in pieces.crossings], np.int64)
        point_markers = np.concatenate([self.point_markers, whole_markers[crossed]])
        point_markers = np.where(point_markers == 0, of_segments, point_markers)
        markers[among(edge_keys(segments, n), edge_keys(hull, n)) & (markers == 0)] = BOUNDARY_MARKER
        values = np.pad(self.point_attributes, ((0, len(pieces.crossings)), (0, 0)))
        for p, c in enumerate(pieces.crossings, len(self.points)):
            start, end = values[numbers[c.start]], values[numbers[c.end]]
            values[p] = start + c.along * (end - start)
        return TriangleMesh(
            points,
            corners.astype(np.int32),
            neighbors.astype(np.int32),
            segments.astype(np.int32),
            markers,
            point_markers,
            values,
            attributes,
            areas,
        )


def unique_points(points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the distinct points, and for each point its position among the distinct points.

    Of several equal points, the first is returned.
    """
    _, first, place = np.unique(points.view(np.complex128), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(first.size, np.int64)
    rank[order] = np.arange(first.size)
    return first[order], rank[place.ravel()]


def _triangles_at(triangulation: Triangulation, places: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of the triangle that contains each of the points *places*, or -1 outside of the convex hull."""
    points = triangulation.points
    triangulation.points = np.concatenate([points, places])
    found, _ = triangulation.locate(np.arange(len(points), len(triangulation.points)), np.zeros(len(places), np.int64))
    triangulation.points = points
    return found
