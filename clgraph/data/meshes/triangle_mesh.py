"""The TriangleMesh class: a triangulation of a part of the plane, with edges that must be kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clgraph.arguments import check_choice, checked_flag, refusing
from clgraph.data.graphs.graph import Graph
from clgraph.data.meshes import mesh_arrays, mesh_links
from clgraph.data.meshes.mesh_arrays import among, edge_keys, triangle_sides
from clgraph.data.meshes.mesh_plot import plot_mesh
from clgraph.data.meshes.mesh_quality import MeshQuality, mesh_quality, triangle_angles, triangle_areas
from clgraph.data.meshes.predicates import orient2d
from clgraph.data.meshes.triangulation import Triangulation
from clgraph.errors import InputError, MeshError

MAX_TRIANGLES = (2**31 - 1) // 3  # Edge i of triangle t has number 3 t + i, which must fit int32.


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
            Edges of triangles that must be kept. Edges at the boundary are added, with marker 1, and edges between
            triangles of different *region_attributes*, with marker 0; repeats are dropped.
        segment_markers, point_markers : int array, shape (s,) and (n,), optional
        point_attributes : float array, shape (n, a) or (n,), optional
        region_attributes, max_areas : float array, shape (t,), optional
            As the attributes of this class; an area of zero or less means no bound. Regions are few: values that differ
            from triangle to triangle would make each edge a segment.

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
        neighbors = mesh_links.triangle_neighbors(corners)
        regions, areas = (
            None if column is None else mesh_arrays.checked_column(name, column, len(corners), np.float64)
            for name, column in (("region_attributes", region_attributes), ("max_areas", max_areas))
        )
        edges, markers = mesh_links.checked_segments(segments, segment_markers, corners, n)
        edges, markers = mesh_links.with_borders(corners, neighbors, edges, markers, regions)
        return TriangleMesh(
            xy,
            corners,
            neighbors,
            edges,
            markers,
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
        """Return each edge once, shape (e, 2), and its marker, shape (e,).

        Edges that are no segments have marker 0.
        """
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
        points[hull[points[hull] == 0]] = mesh_links.BOUNDARY_MARKER
        is_hull = among(edge_keys(self.segments, self.n_points), edge_keys(hull, self.n_points))
        segments[is_hull & (segments == 0)] = mesh_links.BOUNDARY_MARKER
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

    def dual_graph(self, *, across_segments: bool = True, sharing: str = "edges") -> Graph:
        """Return the graph whose vertices are the triangles; two triangles that share an edge are neighbours.

        Functions that take a graph also take a mesh, and use this graph: ``cg.partition(mesh, 8).parts`` has a part
        for each triangle.

        Parameters
        ----------
        across_segments : bool
            Whether triangles on both sides of a segment are neighbours. If not, the graph has a connected component
            for each region that segments enclose.
        sharing : {"edges", "points"}
            With "points", triangles that share a point are neighbours, too, also on both sides of a segment. Triangles
            of one colour of this graph share no point, so threads may add their values to points at the same time.

        Returns
        -------
        Graph
            Undirected and unweighted, with ``n_triangles`` vertices.

        Examples
        --------
        >>> mesh = TriangleMesh.from_arrays([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])
        >>> mesh.dual_graph().column_indices.tolist(), mesh.dual_graph().n_vertices
        ([1, 0], 2)
        """
        check_choice("sharing", sharing, ("edges", "points"))
        whole = checked_flag("across_segments", across_segments)
        if sharing == "points":
            if not whole:
                raise InputError('across_segments = False needs sharing="edges"')
            return mesh_links.point_graph(self.triangles)
        neighbors = self.neighbors
        if not whole:
            sides = edge_keys(triangle_sides(self.triangles), self.n_points)
            neighbors = np.where(among(sides, edge_keys(self.segments, self.n_points)), np.int32(-1), neighbors)
        return mesh_links.dual_graph(neighbors)

    def plot(self, values: ArrayLike | None = None, *, ax: Any = None, edges: bool | None = None, **style: Any) -> Any:
        """Draw the mesh with matplotlib.

        Parameters
        ----------
        values : array, shape (t,) or (n,), optional
            A number for each triangle or for each point, such as ``cg.partition(mesh, 8).parts``. Integers of at most
            20 different values get a colour each. Without *values*, edges and segments are drawn.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure of pyplot.
        edges : bool, optional
            Whether to draw the edges of the triangles; by default in meshes of at most 15,000 triangles. Segments are
            drawn as thicker lines in any case.
        **style
            Arguments of matplotlib's ``tripcolor``, such as ``cmap``, ``vmin`` and ``vmax``.

        Returns
        -------
        matplotlib Axes
            ``axes.figure.savefig("mesh.png")`` saves the figure.

        Raises
        ------
        InputError
            *values* have another shape or are not numbers, *style* is given without *values*, or there is no triangle.
        MissingExtraError
            Matplotlib is not installed.
        """
        return plot_mesh(self.points, self.triangles, self.segments, values, ax, edges, style)

    def areas(self) -> NDArray[np.float64]:
        """Return the area of each triangle, shape (t,)."""
        return triangle_areas(self.points[self.triangles])

    def angles(self) -> NDArray[np.float64]:
        """Return the angle at each corner in degrees, shape (t, 3)."""
        return triangle_angles(self.points[self.triangles])

    def quality(self) -> MeshQuality:
        """Return a summary of the mesh's angles and areas."""
        return mesh_quality(self.n_points, self.angles(), self.areas())
