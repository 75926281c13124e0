"""``delaunay``, ``convex_hull`` and ``voronoi`` of the package triangle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.meshes.triangle_mesh import TriangleMesh


def delaunay(pts: Any) -> NDArray[np.int32]:
    """Return the Delaunay triangulation of points, with exact decisions.

    Parameters
    ----------
    pts : float array, shape (n, 2)

    Returns
    -------
    int32 array, shape (t, 3)
        The corners of each triangle, counter-clockwise. Of equal points only the first has triangles.

    Raises
    ------
    MeshError
        A coordinate is not finite, or all points are on a line.

    Examples
    --------
    >>> from clgraph.compat import delaunay
    >>> len(delaunay([[0, 0], [0, 1], [0.5, 0.5], [1, 1], [1, 0]]))
    4
    """
    return _mesh_of(pts).triangles


def convex_hull(pts: Any) -> NDArray[np.int32]:
    """Return the edges of the convex hull of points, with exact decisions.

    Parameters
    ----------
    pts : float array, shape (n, 2)

    Returns
    -------
    int32 array, shape (h, 2)
        The ends of each edge, clockwise as in Triangle. Points on an edge of the hull divide it.

    Raises
    ------
    MeshError
        As in :func:`delaunay`.

    Examples
    --------
    >>> from clgraph.compat import convex_hull
    >>> sorted(convex_hull([[0, 0], [0, 1], [1, 1], [1, 0], [0.5, 0.4]]).tolist())
    [[0, 1], [1, 2], [2, 3], [3, 0]]
    """
    return np.ascontiguousarray(_mesh_of(pts).segments[:, ::-1])


def voronoi(
    pts: Any,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Return the Voronoi diagram of points.

    Parameters
    ----------
    pts : float array, shape (n, 2)

    Returns
    -------
    points : float64 array, shape (t, 2)
        The corners of the diagram: the circumcentre of each triangle of :func:`delaunay`, in the same order. If several
        triangles have one circle, their corners coincide.
    edges : int32 array, shape (e, 2)
        The two corners of each edge.
    ray_origins : int32 array, shape (h,)
        The corner at which each ray begins.
    ray_directions : float64 array, shape (h, 2)
        The direction of each ray, with the length of the edge of the convex hull that the ray crosses.

    Raises
    ------
    MeshError
        As in :func:`delaunay`.

    Examples
    --------
    >>> from clgraph.compat import voronoi
    >>> points, edges, ray_origins, ray_directions = voronoi([[0, 0], [4, 0], [0, 2]])
    >>> points.tolist(), len(edges), sorted(ray_directions.tolist())
    ([[2.0, 1.0]], 0, [[-2.0, 0.0], [0.0, -4.0], [2.0, 4.0]])
    """
    mesh = _mesh_of(pts)
    a, b, c = mesh.points[mesh.triangles.T]
    p, q = b - a, c - a  # relative to a corner, so that coordinates far from the origin lose no digits
    pp, qq = (p**2).sum(axis=1), (q**2).sum(axis=1)
    twice = 2 * (p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0])
    centers = a + np.column_stack([q[:, 1] * pp - p[:, 1] * qq, p[:, 0] * qq - q[:, 0] * pp]) / twice[:, None]
    numbers = np.arange(mesh.n_triangles, dtype=np.int32)[:, None]
    inner, outer = mesh.neighbors > numbers, mesh.neighbors < 0
    edges = np.column_stack([np.broadcast_to(numbers, inner.shape)[inner], mesh.neighbors[inner]])
    # Triangles are counter-clockwise, so the outside is to the right of an edge from corner i + 1 to corner i + 2.
    ends, starts = (mesh.points[np.roll(mesh.triangles, shift, axis=1)[outer]] for shift in (-2, -1))
    along = ends - starts
    directions = np.column_stack([along[:, 1], -along[:, 0]])
    return centers, edges, np.broadcast_to(numbers, outer.shape)[outer], directions + 0.0  # + 0.0: -0.0 becomes 0.0


def _mesh_of(pts: Any) -> TriangleMesh:
    return PlanarGraph.from_arrays(pts).triangulate(keep_points=True)
