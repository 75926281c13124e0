"""Interpolation of the attributes of a mesh's points, in the triangles that contain given places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.meshes.mesh_arrays import triangle_sides
from clgraph.data.meshes.predicates import orient2d
from clgraph.data.meshes.triangle_mesh import TriangleMesh

_CHUNK = 1 << 16  # Number of places that are looked for at a time, few enough that their triangles fit the cache.
_MAX_STEPS = 10_000  # Steps for a chunk of places. Beside holes a walk may run in circles for ever.
_OUTSIDE = -1e-9  # A place with a lower weight of a corner is outside of the triangle, and not only by rounding.


def along_segments(
    mesh: TriangleMesh, places: NDArray[np.float64], segments: NDArray[np.integer[Any]]
) -> NDArray[np.float64]:
    """Return the attributes at *places* on *segments* of the mesh, interpolated linearly between the segments' ends."""
    start, end = mesh.points[mesh.segments[segments].T]
    length = np.abs(end - start).max(axis=1, keepdims=True)  # Squares of small numbers would be 0.
    way, run = (places - start) / length, (end - start) / length
    along = np.clip((way * run).sum(axis=1) / (run**2).sum(axis=1), 0.0, 1.0)
    one, other = mesh.point_attributes[mesh.segments[segments].T]
    values: NDArray[np.float64] = one + along[:, None] * (other - one)
    return values


def in_triangles(
    mesh: TriangleMesh,
    places: NDArray[np.float64],
    of_starts: NDArray[np.integer[Any]],
    starts: NDArray[np.integer[Any]],
) -> NDArray[np.float64]:
    """Return the attributes at *places* inside the mesh, interpolated linearly in its triangles.

    The search for place ``of_starts[i]`` begins at triangle ``starts[i]``. Each place needs at least one start. A place
    that rounding has put outside of the mesh gets the attributes of a near place in a triangle.
    """
    found = _located(mesh, places, of_starts, starts)
    weights = np.maximum(_weights(mesh, places, found), 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    values: NDArray[np.float64] = np.einsum("ij,ijk->ik", weights, mesh.point_attributes[mesh.triangles[found]])
    return values


def _located(
    mesh: TriangleMesh,
    places: NDArray[np.float64],
    of_starts: NDArray[np.integer[Any]],
    starts: NDArray[np.integer[Any]],
) -> NDArray[np.int64]:
    """Return the triangle that contains each of *places*.

    A search may end at the boundary before a hole. Then others begin at each start of the place, and at last the
    triangles are compared whose bounding boxes contain the place.
    """
    first = np.zeros(len(places), np.int64)
    first[of_starts] = starts
    found, is_in = _walked(mesh, places, first)
    again = np.flatnonzero(~is_in[of_starts])
    if again.size:
        others, reached = _walked(mesh, places[of_starts[again]], starts[again])
        found[of_starts[again[reached]]] = others[reached]
        is_in[of_starts[again[reached]]] = True
    left = np.flatnonzero(~is_in)
    if left.size:
        corners = mesh.points[mesh.triangles]
        low, high = corners.min(axis=1), corners.max(axis=1)
        margin = -_OUTSIDE * (high - low).max()
    for k in left:
        near = np.flatnonzero(((low - margin <= places[k]) & (places[k] <= high + margin)).all(axis=1))
        near = near if near.size else np.arange(mesh.n_triangles)
        found[k] = near[_weights(mesh, places[k], near).min(axis=1).argmax()]
    return found


def _walked(
    mesh: TriangleMesh, places: NDArray[np.float64], starts: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the triangles in which walks from *starts* to *places* end, and whether they contain the places."""
    found = starts.astype(np.int64)
    random = np.random.default_rng(0)
    for begin in range(0, len(places), _CHUNK):
        walking = np.arange(begin, min(begin + _CHUNK, len(places)))
        for _ in range(_MAX_STEPS):
            if not walking.size:
                break
            t = found[walking]
            ends = mesh.points[triangle_sides(mesh.triangles[t])].reshape(-1, 2, 2)
            beyond = orient2d(ends[:, 0], ends[:, 1], np.repeat(places[walking], 3, axis=0)).reshape(-1, 3) < 0
            # A walk that could cross several edges crosses a random one, since a fixed choice may lead it in circles.
            chance = np.where(beyond & (mesh.neighbors[t] >= 0), random.random(beyond.shape), -1.0)
            moves = chance.max(axis=1) >= 0
            walking = walking[moves]
            found[walking] = mesh.neighbors[t[moves], chance[moves].argmax(axis=1)]
    return found, _weights(mesh, places, found).min(axis=1) >= _OUTSIDE


def _weights(
    mesh: TriangleMesh, places: NDArray[np.float64], triangles: NDArray[np.integer[Any]]
) -> NDArray[np.float64]:
    """Return the barycentric coordinates of *places* in *triangles*."""
    ends = mesh.points[triangle_sides(mesh.triangles[triangles])] - places.reshape(-1, 1, 1, 2)
    ends /= np.abs(ends).max(axis=(1, 2, 3), keepdims=True)  # Products of small numbers would be 0.
    areas = ends[..., 0, 0] * ends[..., 1, 1] - ends[..., 0, 1] * ends[..., 1, 0]
    weights: NDArray[np.float64] = areas / areas.sum(axis=1, keepdims=True)
    return weights
