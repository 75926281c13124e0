"""Which triangles share edges: the neighbours of each triangle, and the dual graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph
from clgraph.data.meshes.mesh_arrays import edge_keys, triangle_sides
from clgraph.errors import MeshError


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


def dual_graph(neighbors: NDArray[np.int32]) -> Graph:
    """Return the undirected graph in which each triangle is joined to its *neighbors*, shape (t, 3); -1 is none."""
    rows = np.sort(neighbors, axis=1)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum((rows >= 0).sum(axis=1), out=offsets[1:])
    return Graph._trusted(offsets, rows[rows >= 0], sorted_rows=True)
