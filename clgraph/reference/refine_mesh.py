"""A check of constrained Delaunay triangulations and of refinements against the definition, with exact predicates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from clgraph.data.meshes.mesh_arrays import among, edge_keys, triangle_sides
from clgraph.data.meshes.mesh_links import triangle_neighbors
from clgraph.data.meshes.predicates import incircle, orient2d
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.errors import MeshError, VerificationError

_DISTANCE = 1e-12  # Accepted distance of a new point from its segment, relative to the largest coordinate.
_LENGTH = 1e-9  # Accepted relative error of areas, of sums of areas and of sums of lengths.
_ANGLE = 1e-6  # Degrees by which an angle may be smaller than the required minimum angle.
_PAIRS = 1 << 20  # Number of pairs of edges that are compared at a time.
_SHARP = 60.0  # Degrees. If two segments meet at a smaller angle, triangles between the segments may have small angles.


class Chains(NamedTuple):
    """The original segments of a refined mesh, each of which is now a chain of shorter segments.

    ``ends`` has for each new point on a segment the two ends of the original segment, and -1 for other points.
    ``whole`` has the two ends of each original segment, the smaller number first.
    """

    ends: NDArray[np.int64]
    whole: NDArray[np.int64]


def check_delaunay(
    mesh: TriangleMesh,
    *,
    original: TriangleMesh | None = None,
    min_angle: float = 0.0,
    max_area: float | None = None,
    holes: ArrayLike = (),
    unused_points: bool = False,
) -> None:
    """Raise a :class:`VerificationError` unless *mesh* is constrained Delaunay and refines *original* (if given).

    Parameters
    ----------
    mesh : TriangleMesh
    original : TriangleMesh, optional
        Its points must be the first points of *mesh*, each of its segments a union of segments of *mesh*, and its area
        the same. Rounding errors are accepted of points on segments, and of the area if the outline has such points.
        Points that belong to no triangle of *original* may belong to none of *mesh*.
    min_angle : float
        The least angle in degrees. A smaller angle is accepted if the shortest edge of its triangle lies
        between two segments of *original* that meet at less than 60 degrees.
    max_area : float, optional
        The largest area. If *max_area* or *original* is given, the bounds in ``mesh.max_areas`` are checked, too.
    holes : float array, shape (h, 2)
        Points that must not be inside a triangle.
    unused_points : bool
        Whether points may belong to no triangle; such points may be equal to others.
    """
    needed = np.zeros(mesh.n_points, bool) if unused_points else np.ones(mesh.n_points, bool)
    if original is not None:
        needed[: original.n_points] &= _used(original)[: mesh.n_points]
    _check_circles(mesh, _check_topology(mesh, needed))
    # If triangles of the user's mesh overlap, its refinement may overlap, too.
    if original is None or _overlap(original) is None:
        found = _overlap(mesh)
        if found is not None:
            raise VerificationError(found)
    _check_holes(mesh, np.asarray(holes, np.float64).reshape(-1, 2))
    if max_area is not None or original is not None:
        _check_areas(mesh, max_area)
    chains = None if original is None else _check_refinement(mesh, original)
    _check_angles(mesh, min_angle, original, chains)


def _used(mesh: TriangleMesh) -> NDArray[np.bool_]:
    """Return, for each point of the mesh, whether it belongs to a triangle."""
    return np.bincount(mesh.triangles.ravel(), minlength=mesh.n_points) > 0


def _check_topology(mesh: TriangleMesh, needed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Check the mesh's triangles, neighbours, points and segments. Return whether each side of a triangle is a segment.

    Points that are *needed* must belong to a triangle.
    """
    n, corners = mesh.n_points, mesh.triangles
    if corners.size and not 0 <= corners.min() <= corners.max() < n:
        raise VerificationError(f"corners of triangles are {corners.min()} to {corners.max()}; points are 0 to {n - 1}")
    if (turned := orient2d(*mesh.points[corners.T]) <= 0).any():
        raise VerificationError(f"triangle {turned.argmax()} is not counter-clockwise")
    try:
        links = triangle_neighbors(corners)
    except MeshError as error:
        raise VerificationError(str(error)) from error
    if (wrong := (links != mesh.neighbors).any(axis=1)).any():
        at = int(wrong.argmax())
        raise VerificationError(f"triangle {at} has neighbours {mesh.neighbors[at]}; it should have {links[at]}")
    used = _used(mesh)
    if (lacking := needed & ~used).any():
        raise VerificationError(f"point {lacking.argmax()} is in no triangle")
    points = np.flatnonzero(used)
    order = points[np.lexsort(mesh.points[points].T)]
    if (same := (mesh.points[order[1:]] == mesh.points[order[:-1]]).all(axis=1)).any():
        at = int(same.argmax())
        raise VerificationError(f"points {order[at]} and {order[at + 1]} are equal")
    keys, sides = edge_keys(mesh.segments, n), edge_keys(triangle_sides(corners), n)
    if np.unique(keys).size != keys.size:
        raise VerificationError("a segment is there twice")
    fixed = among(sides, keys)
    if (lost := ~among(keys, sides[fixed])).any():
        raise VerificationError(f"segment {mesh.segments[lost.argmax()]} is no edge of a triangle")
    if (free := (mesh.neighbors < 0) & ~fixed).any():
        raise VerificationError(f"{free.sum()} edges at the boundary are no segments")
    return fixed


def _overlap(mesh: TriangleMesh) -> str | None:
    """Return a message that says where triangles of the mesh overlap, or ``None``.

    Neighbour links must be right.

    Triangles overlap if the triangles around a point cover more than 360 degrees, or if edges at the boundary meet.
    """
    (x, y), corners = mesh.points.T, mesh.triangles
    # For each point, the number of triangles at the point that cover the ray from the point to the right.
    rays = np.zeros(mesh.n_points, np.int64)
    for v, a, b in (np.roll(corners, i, axis=1).T for i in range(3)):
        below = (y[a] < y[v]) | ((y[a] == y[v]) & (x[a] > x[v]))
        rays += np.bincount(v[below & (y[b] > y[v])], minlength=mesh.n_points)
    if (rays > 1).any():
        return f"the triangles around point {rays.argmax()} overlap"
    edges = triangle_sides(corners)[mesh.neighbors < 0]
    for one, other in _close_pairs(mesh.points[edges]):
        apart = (edges[one][:, :, None] != edges[other][:, None, :]).all(axis=(1, 2))
        one, other = one[apart], other[apart]
        a, b, c, d = mesh.points[np.concatenate([edges[one], edges[other]], axis=1).T]
        meets = (orient2d(a, b, c) * orient2d(a, b, d) <= 0) & (orient2d(c, d, a) * orient2d(c, d, b) <= 0)
        if meets.any():
            at = meets.argmax()
            return f"the edges {edges[one[at]]} and {edges[other[at]]} at the boundary meet, so triangles overlap"
    return None


def _close_pairs(ends: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield pairs of edges whose bounding boxes meet, as two arrays of edge numbers.

    *ends* has shape (n, 2, 2).
    """
    low, high = ends.min(axis=1), ends.max(axis=1)
    sweeps = []
    for axis in range(2):
        order = np.argsort(low[:, axis])
        later = np.searchsorted(low[order, axis], high[order, axis], side="right") - np.arange(len(order)) - 1
        sweeps.append((int(later.sum()), axis, order, later))
    _, axis, order, later = min(sweeps, key=lambda sweep: sweep[0])
    begin = 0
    while begin < len(order):
        stop = max(begin + 1, int(np.searchsorted(np.cumsum(later[begin:]), _PAIRS, side="right")) + begin)
        counts = later[begin:stop]
        first = np.repeat(np.arange(begin, stop), counts)
        second = first + 1 + np.arange(first.size) - np.repeat(np.cumsum(counts) - counts, counts)
        one, other = order[first], order[second]
        close = (low[one, 1 - axis] <= high[other, 1 - axis]) & (low[other, 1 - axis] <= high[one, 1 - axis])
        yield one[close], other[close]
        begin = stop


def _check_circles(mesh: TriangleMesh, fixed: NDArray[np.bool_]) -> None:
    """Check that the circumcircle of a triangle excludes the corner across each of its edges, except *fixed* edges."""
    corners, points = mesh.triangles, mesh.points
    triangle, side = np.nonzero((mesh.neighbors > np.arange(len(corners))[:, None]) & ~fixed)
    other = mesh.neighbors[triangle, side]
    apex = corners[other, (mesh.neighbors[other] == triangle[:, None]).argmax(axis=1)]
    a, b, c = points[corners[triangle].T]
    if (bad := incircle(a, b, c, points[apex]) > 0).any():
        at = int(bad.argmax())
        raise VerificationError(
            f"{bad.sum()} edges are not Delaunay: point {apex[at]} is in the circle of triangle {triangle[at]}"
        )


def _check_holes(mesh: TriangleMesh, holes: NDArray[np.float64]) -> None:
    a, b, c = mesh.points[mesh.triangles.T]
    for hole in holes:
        inside = (orient2d(a, b, hole) > 0) & (orient2d(b, c, hole) > 0) & (orient2d(c, a, hole) > 0)
        if inside.any():
            raise VerificationError(f"triangle {inside.argmax()} is in the hole at {hole.tolist()}")


def _check_areas(mesh: TriangleMesh, max_area: float | None) -> None:
    bound = np.full(mesh.n_triangles, np.inf if max_area is None else max_area)
    if mesh.max_areas is not None:
        bound = np.minimum(bound, mesh.max_areas)
    if (large := mesh.areas() > bound * (1 + _LENGTH)).any():
        at = int(large.argmax())
        raise VerificationError(f"{large.sum()} triangles are too large: {at} has {mesh.areas()[at]}, not {bound[at]}")


def _check_refinement(mesh: TriangleMesh, original: TriangleMesh) -> Chains:
    n = original.n_points
    if mesh.n_points < n or not np.array_equal(mesh.points[:n], original.points):
        raise VerificationError(f"the first {n} points are not those of the mesh that was refined")
    total, before = math.fsum(mesh.areas()), math.fsum(original.areas())
    off = _DISTANCE * np.abs(original.points).max(initial=0.0)
    outline = np.diff(original.points[triangle_sides(original.triangles)[original.neighbors < 0]], axis=1)
    if abs(total - before) > _LENGTH * before + off * np.hypot(*outline.T).sum():
        raise VerificationError(f"the area is {total}, that of the mesh that was refined {before}")
    chains = segment_chains(mesh, n)
    if not np.array_equal(edge_keys(chains.whole, n), np.sort(edge_keys(original.segments, n))):
        raise VerificationError("the segments are not unions of those of the mesh that was refined")
    inner = np.flatnonzero(chains.ends[:, 0] >= 0)
    a, b = mesh.points[chains.ends[inner].T]
    along, offset = b - a, mesh.points[inner] - a
    length = np.hypot(*along.T)
    distance = np.abs(along[:, 0] * offset[:, 1] - along[:, 1] * offset[:, 0]) / length
    if (far := distance > off).any():
        raise VerificationError(f"point {inner[far.argmax()]} is off its segment by {distance[far.argmax()]}")
    # Total lengths are compared, because a chain of segments that turns back is longer than its original segment.
    # The length of a segment is measured as the sum of its coordinate differences.
    # Rounding cannot increase a sum of coordinate differences, because rounded points stay between their neighbours.
    lengths, wholes = (math.fsum(np.abs(np.diff(m.points[m.segments], axis=1)).ravel()) for m in (mesh, original))
    if abs(lengths - wholes) > _LENGTH * wholes:
        raise VerificationError(f"the segments have length {lengths}, those of the mesh that was refined {wholes}")
    return chains


def segment_chains(mesh: TriangleMesh, n: int) -> Chains:
    """Return the original segments of a refined *mesh*, which join two of
    the *n* original points (the first points).
    """
    s, points = len(mesh.segments), mesh.segments.astype(np.int64).ravel()
    degree = np.bincount(points, minlength=mesh.n_points)
    if (wrong := (degree[n:] != 2) & (degree[n:] != 0)).any():
        at = n + int(wrong.argmax())
        raise VerificationError(f"the new point {at} is on {degree[at]} segments; needed: 0 or 2")
    is_new, segment = points >= n, np.repeat(np.arange(s), 2)
    # The two segments that meet at each new point.
    one, other = segment[is_new][np.argsort(points[is_new], kind="stable")].reshape(-1, 2).T
    links = coo_array((np.ones(one.size, np.int8), (one, other)), shape=(s, s))
    n_chains, chain = connected_components(links, directed=False)
    of_old = chain[segment[~is_new]]
    if (is_circle := np.bincount(of_old, minlength=n_chains) == 0).any():
        at = points[2 * int(is_circle[chain].argmax())]
        raise VerificationError(f"the segment at the new point {at} is a circle")
    whole = np.sort(points[~is_new][np.argsort(of_old, kind="stable")].reshape(-1, 2), axis=1)
    ends = np.full((mesh.n_points, 2), -1, np.int64)
    ends[points[is_new]] = whole[chain[segment[is_new]]]
    return Chains(ends, whole[np.argsort(edge_keys(whole, n), kind="stable")])


def _check_angles(mesh: TriangleMesh, min_angle: float, original: TriangleMesh | None, chains: Chains | None) -> None:
    angles = mesh.angles()
    bad = np.flatnonzero(angles.min(axis=1) < min_angle - _ANGLE)
    if chains is not None and original is not None and bad.size:
        excused = _between_sharp_segments(mesh, original, chains, bad)
        bad = bad[~excused]
    if bad.size:
        raise VerificationError(
            f"{bad.size} triangles have an angle below {min_angle}: {bad[0]} has {angles[bad[0]].min()}"
        )


def _between_sharp_segments(
    mesh: TriangleMesh, original: TriangleMesh, chains: Chains, triangles: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return, for each triangle, whether its shortest edge lies between two segments that meet at a sharp angle."""
    n = original.n_points
    at_point: dict[int, list[int]] = {}
    for a, b in chains.whole.tolist():
        at_point.setdefault(a, []).append(b)
        at_point.setdefault(b, []).append(a)

    def segments_at(v: int) -> set[tuple[int, int]]:
        """Return the original segments at point *v*, as pairs of a possible apex of an angle and the other end."""
        if v < n:
            return {(other, v) for other in at_point.get(v, ())}
        a, b = chains.ends[v].tolist()
        return {(a, b), (b, a)} if a >= 0 else set()

    def sharp(v: int, w: int) -> bool:
        for apex, one in segments_at(v):
            for same, other in segments_at(w):
                if apex == same and one != other:
                    p, q = mesh.points[[one, other]] - mesh.points[apex]
                    if math.degrees(math.atan2(abs(p[0] * q[1] - p[1] * q[0]), p @ q)) < _SHARP:
                        return True
        return False

    corners = mesh.triangles[triangles]
    # The shortest edge of a triangle is opposite its smallest angle.
    least = mesh.angles()[triangles].argmin(axis=1)
    rows = np.arange(len(corners))
    v, w = corners[rows, (least + 1) % 3].tolist(), corners[rows, (least + 2) % 3].tolist()
    return np.fromiter(map(sharp, v, w), bool, len(v))
