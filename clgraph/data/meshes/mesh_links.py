"""Edges that triangles share: the neighbours of each triangle, the segments of a mesh, and the dual graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from clgraph.data.graphs.graph import Graph
from clgraph.data.meshes.mesh_arrays import among, checked_column, checked_indices, edge_keys, triangle_sides
from clgraph.errors import MeshError
from clgraph.host_memory import check_host_memory

BOUNDARY_MARKER = 1  # Points and segments at the boundary that have marker 0 get this marker, as in Triangle.


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


def checked_segments(
    segments: ArrayLike | None, segment_markers: ArrayLike | None, triangles: NDArray[np.int32], n: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the user's segments, which must be edges of *triangles*, and their markers."""
    if segments is None:
        return np.zeros((0, 2), np.int32), np.zeros(0, np.int32)
    edges = checked_indices("segments", segments, 2, n)
    markers = checked_column("segment_markers", segment_markers, len(edges), np.int32)
    sides, keys = edge_keys(triangle_sides(triangles), n).ravel(), edge_keys(edges, n)
    if not (known := among(keys, sides[among(sides, keys)])).all():
        at = int(known.argmin())
        raise MeshError(
            f"segments[{at}] = {edges[at].tolist()} is no edge of a triangle; PlanarGraph makes "
            "triangles that have all segments"
        )
    return edges, markers


def with_borders(
    triangles: NDArray[np.int32],
    neighbors: NDArray[np.int32],
    segments: NDArray[np.int32],
    markers: NDArray[np.int32],
    regions: NDArray[np.float64] | None,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the distinct *segments* and their *markers*, with the edges at the boundary and those between *regions*.

    Without these, a refinement would flip edges between regions, and change the regions' areas.
    """
    sides = triangle_sides(triangles)
    hull, between = sides[neighbors < 0], np.zeros((0, 2), np.int32)
    if regions is not None:
        is_border = (neighbors >= 0) & (regions[neighbors] != regions[:, None])
        between = sides[is_border & (neighbors < np.arange(len(triangles))[:, None])]
    together = np.concatenate([segments, hull, between])
    _, first = np.unique(edge_keys(together, int(triangles.max(initial=0)) + 1), return_index=True)
    first.sort()
    added = np.repeat(np.array([BOUNDARY_MARKER, 0], np.int32), [len(hull), len(between)])
    return np.ascontiguousarray(together[first]), np.concatenate([markers, added])[first]


def dual_graph(neighbors: NDArray[np.int32]) -> Graph:
    """Return the undirected graph in which each triangle is joined to its *neighbors*, shape (t, 3); -1 is none."""
    rows = np.sort(neighbors, axis=1)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum((rows >= 0).sum(axis=1), out=offsets[1:])
    return Graph._trusted(offsets, rows[rows >= 0], sorted_rows=True)


def point_graph(triangles: NDArray[np.int32]) -> Graph:
    """Return the undirected graph in which *triangles* that share a point are joined."""
    t, n = len(triangles), int(triangles.max(initial=-1)) + 1
    n_products = int((np.bincount(triangles.ravel()) ** 2).sum())  # The product has a number for each, and an index.
    check_host_memory("the graph of triangles that share points", 8 * n_products)
    of_points = csr_array((np.ones(3 * t, np.int32), triangles.ravel(), 3 * np.arange(t + 1)), shape=(t, n))
    shared = of_points @ of_points.T
    shared.setdiag(0)
    shared.eliminate_zeros()
    shared.sort_indices()
    return Graph._trusted(shared.indptr.astype(np.int64), shared.indices.astype(np.int32), sorted_rows=True)
