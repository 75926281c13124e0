"""Delaunay triangulation of points on the host, by rounds of vectorised insertions and flips.

Each round inserts one point into every triangle that contains points, unless two insertions would change the same
triangle. The round then flips edges until all edges are Delaunay again. All decisions are exact, so any input works
unless all of its points are on a line.

The algorithm is from A. Nanjappa, "Delaunay triangulation in R3 on the GPU", PhD thesis, National University of
Singapore, 2012, and C. L. Lawson, "Software for C1 surface interpolation", 1977.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.morton import interleaved
from clgraph.data.meshes.predicates import Points, incircle, orient2d, turn
from clgraph.errors import MeshError

Indices = NDArray[np.int64]
_DIRECTIONS = 8  # directions in which convex_hull() finds extreme points
_CHUNK = 1 << 16  # points that _walk() locates in one call, few enough that their triangles fit the cache


class Triangulation:
    """A triangulation of points, stored as half-edges.

    Half-edge ``3 t + i`` is the edge of triangle ``t`` that is opposite the triangle's corner ``i``.

    Attributes
    ----------
    points : float64 array, shape (n, 2)
        Distinct points.
    corners : int64 array, shape (3 t,)
        The corners of the triangles, counter-clockwise.
    twins : int64 array, shape (3 t,)
        The half-edge of the same edge in the triangle on its other side, or -1 if there is none.
    fixed : bool array, shape (3 t,)
        Whether each half-edge must not be flipped.
    """

    def __init__(self, points: Points, corners: Indices, twins: Indices) -> None:
        self._random = np.random.default_rng(0)
        self.replace(points, corners, twins)

    def replace(self, points: Points, corners: Indices, twins: Indices) -> None:
        """Replace the arrays by *points*, *corners* and *twins*, and mark no edge as fixed."""
        self.points, self.corners, self.twins = points, corners, twins
        self.fixed, self._n_triangles = np.zeros(corners.size, bool), corners.size // 3
        self._reserve(0)

    @classmethod
    def of_points(cls, points: Points) -> Triangulation:
        """Return the Delaunay triangulation of *points*, which must be distinct.

        Raises
        ------
        MeshError
            All points are on a line.
        """
        hull = convex_hull(points)
        if hull.size < 3:
            raise MeshError(f"the {len(points)} different points are on a line; needed: points that span a triangle")
        t = np.arange(hull.size - 2)
        fan = np.column_stack([np.full(t.size, hull[0]), hull[1:-1], hull[2:]])
        twins = np.column_stack([np.full(t.size, -1), 3 * (t + 1) + 2, 3 * (t - 1) + 1])
        twins[0, 2] = twins[-1, 1] = -1
        triangulation = cls(points, fan.ravel(), twins.ravel())
        triangulation.legalize(np.arange(3 * t.size))
        n_triangles = 2 * len(points)  # an upper bound, by Euler's formula
        triangulation._reserve(3 * (n_triangles - t.size))
        triangulation._insert_levels(z_order(points), hull)
        used = 3 * triangulation._n_triangles
        triangulation.replace(points, triangulation.corners[:used], triangulation.twins[:used])
        return triangulation

    def _insert_levels(self, order: Indices, inserted: Indices) -> None:
        """Insert all points except *inserted* in levels: every 4**k-th point of *order*, every 4**(k-1)-th, and so on.

        The search for a point's triangle starts at a nearby point: its predecessor in *order* on the level above.
        """
        new = np.ones(order.size, bool)
        new[inserted] = False
        a_triangle = np.zeros(order.size, np.int64)
        for level in range((order.size.bit_length() + 1) // 2, -1, -1):
            ranks = np.arange(0, order.size, 4**level)
            half_edges = np.arange(3 * self._n_triangles)
            a_triangle[self.corners[half_edges]] = half_edges // 3
            start = a_triangle[order[ranks >> 2 * level + 2 << 2 * level + 2]]
            batch = order[ranks]
            self.insert(batch[new[batch]], start[new[batch]])
            new[batch] = False

    def insert(self, new: Indices, place: Indices) -> None:
        """Insert points *new*, which lie in the convex hull.

        The search for each starts at its triangle in *place*.
        """
        while new.size:
            place, side = self.locate(new, place)
            neighbor = np.where(side >= 0, self.twins[3 * place + side] // 3, -1)
            alone = neighbor < 0
            k, order = np.arange(new.size), self._random.permutation(new.size)
            claimed = np.column_stack([place, np.where(alone, place, neighbor)])[order]
            self._owner[claimed.ravel()] = np.repeat(order, 2)
            chosen = (self._owner[place] == k) & (alone | (self._owner[neighbor] == k))
            inside = chosen & (side < 0)
            touched = [self._split_triangles(place[inside], new[inside])]
            on = chosen & (side >= 0)
            touched.append(self._split_edges(3 * place[on] + side[on], new[on]))
            self.legalize(np.concatenate(touched))
            new, place = new[~chosen], place[~chosen]

    def locate(self, points: Indices, start: Indices) -> tuple[Indices, Indices]:
        """Find the triangle that contains each of *points*, by a walk from the point's triangle in *start*.

        Return the triangle of each point (-1 outside of the convex hull), and the side 0 … 2 of this triangle on which
        the point lies (-1 if it is on no side).
        """
        found = [
            self._walk(points[i : i + _CHUNK], start[i : i + _CHUNK]) for i in range(0, max(1, points.size), _CHUNK)
        ]
        return np.concatenate([place for place, _ in found]), np.concatenate([side for _, side in found])

    def _walk(self, points: Indices, start: Indices) -> tuple[Indices, Indices]:
        place, sides = start.copy(), np.full(points.size, -1)
        walking = np.arange(points.size)
        while walking.size:
            t = place[walking]
            corners = self.corners.reshape(-1, 3)[t].T
            one, other = (self.points[corners[order].ravel()] for order in ([1, 2, 0], [2, 0, 1]))
            turns = orient2d(one, other, np.tile(self.points[points[walking]], (3, 1))).reshape(3, -1)
            moves = (turns < 0).any(axis=0)
            on = (turns == 0) & ~moves
            sides[walking] = np.where(on.any(axis=0), on.argmax(axis=0), -1)
            walking, t, behind = walking[moves], t[moves], turns[:, moves] < 0
            # A walk that could cross several edges crosses a random one, since a fixed choice may lead it in circles.
            first, second, third = behind * (1 + self._random.random(behind.shape))
            step = np.where(third > np.maximum(first, second), 2, second > first)
            place[walking] = self.twins[3 * t + step] // 3
            walking = walking[place[walking] >= 0]
        return place, sides

    def legalize(self, edges: Indices) -> None:
        """Flip edges until *edges* and all edges around the flips are Delaunay.

        Fixed edges are never flipped.
        """
        while edges.size:
            edges = edges[(self.twins[edges] >= 0) & ~self.fixed[edges]]
            edges = np.maximum(edges, self.twins[edges])
            k = np.arange(edges.size)
            self._mark[edges] = k
            edges = edges[self._mark[edges] == k]
            twins = self.twins[edges]
            t = edges // 3
            a, b, c = self.points[self.corners.reshape(-1, 3)[t].T]
            bad = incircle(a, b, c, self.points[self.corners[twins]]) > 0
            edges, twins = edges[bad], twins[bad]
            k = np.arange(edges.size)
            self._owner[np.column_stack([edges, twins]).ravel() // 3] = np.repeat(k, 2)
            chosen = (self._owner[edges // 3] == k) & (self._owner[twins // 3] == k)
            edges = np.concatenate([edges[~chosen], self._flip(edges[chosen])])

    def _flip(self, edges: Indices) -> Indices:
        """Flip *edges*, which share no triangles, and return the outer half-edges of the changed triangles."""
        twins = self.twins[edges]
        t, u = edges // 3, twins // 3
        t_next, t_last, u_next, u_last = _next(edges), _last(edges), _next(twins), _last(twins)
        a, b, c, d = (self.corners[x] for x in (edges, t_next, t_last, twins))
        one, other = 3 * t, 3 * u
        self._renew((one, a, b, d), (other, d, c, a))
        self._move((t_last, one + 2), (u_next, one), (t_next, other), (u_last, other + 2))
        self._join((one + 1, other + 1))
        return np.concatenate([one, one + 2, other, other + 2])

    def _split_triangles(self, t: Indices, p: Indices) -> Indices:
        a, b, c = self.corners.reshape(-1, 3)[t].T
        first = self._grow(2 * t.size) + np.arange(t.size)
        one, two, three = 3 * t, 3 * first, 3 * (first + t.size)
        self._renew((one, a, b, p), (two, b, c, p), (three, c, a, p))
        self._move((one, two + 2), (one + 1, three + 2), (one + 2, one + 2))
        self._join((one, two + 1), (two, three + 1), (three, one + 1))
        return np.concatenate([one + 2, two + 2, three + 2])

    def _split_edges(self, edges: Indices, p: Indices) -> Indices:
        twins = self.twins[edges]
        inner = twins >= 0
        first = self._grow(edges.size + int(inner.sum()))
        a, b, c = self.corners[edges], self.corners[_next(edges)], self.corners[_last(edges)]
        one, two = 3 * (edges // 3), 3 * (first + np.arange(edges.size))
        s = twins[inner]
        d = self.corners[s]
        three, four = 3 * (s // 3), 3 * (first + edges.size + np.arange(s.size))
        held = self.fixed[edges]
        moves = [(_last(edges), one + 2), (_next(edges), two + 1), (_last(s), three + 2), (_next(s), four + 1)]
        self._renew((one, a, b, p), (two, a, p, c), (three, d, c[inner], p[inner]), (four, d, p[inner], b[inner]))
        self._move(*moves)
        self._join((one + 1, two + 2), (three + 1, four + 2), (one[inner], four), (two[inner], three))
        self.twins[one[~inner]] = self.twins[two[~inner]] = -1
        for half in (one, two):
            self.fixed[half] = held
        self.fixed[three] = self.fixed[four] = held[inner]
        return np.concatenate([one + 2, two + 1, three + 2, four + 1])

    def _grow(self, n: int) -> int:
        """Append *n* triangles with undefined contents, and return the number of the first new triangle."""
        first = self._n_triangles
        self._n_triangles += n
        if (more := 3 * self._n_triangles - self.corners.size) > 0:
            self._reserve(more)
        return first

    def _reserve(self, more: int) -> None:
        """Append room for *more* half-edges to all arrays."""
        self.corners = np.concatenate([self.corners, np.zeros(more, np.int64)])
        self.twins = np.concatenate([self.twins, np.full(more, -1)])
        self.fixed = np.concatenate([self.fixed, np.zeros(more, bool)])
        self._moved = np.arange(self.corners.size)
        self._owner, self._mark = np.zeros(self.corners.size // 3, np.int64), np.zeros(self.corners.size, np.int64)

    def _renew(self, *triangles: tuple[Indices, ...]) -> None:
        for first, *corners in triangles:
            for i, corner in enumerate(corners):
                self.corners[first + i] = corner

    def _move(self, *moves: tuple[Indices, Indices]) -> None:
        """Renumber half-edges, and keep their twins and flags.

        A half-edge and its twin may move in one call.
        """
        old, new = (np.concatenate(part) for part in zip(*moves, strict=True))
        twins, fixed = self.twins[old], self.fixed[old]
        self._moved[old] = new
        outer = twins >= 0
        twins[outer] = self._moved[twins[outer]]
        self._moved[old] = old
        self.twins[new], self.fixed[new] = twins, fixed
        self.twins[twins[outer]] = new[outer]

    def _join(self, *pairs: tuple[Indices, Indices]) -> None:
        for one, other in pairs:
            self.twins[one], self.twins[other] = other, one
            self.fixed[one] = self.fixed[other] = False


_NEXT, _LAST = np.array([1, 1, -2]), np.array([2, -1, -1])


def _next(edges: Indices) -> Indices:
    after: Indices = edges + _NEXT[edges % 3]
    return after


def _last(edges: Indices) -> Indices:
    before: Indices = edges + _LAST[edges % 3]
    return before


def z_order(points: Points) -> Indices:
    """Return the point numbers in Z-order (Morton order), computed from the ranks of the coordinates."""
    ranks = np.empty((2, len(points)), np.uint64)
    for axis in range(2):
        ranks[axis, np.argsort(points[:, axis], kind="stable")] = np.arange(len(points))
    return np.argsort(interleaved(*ranks), kind="stable")


def convex_hull(points: Points) -> Indices:
    """Return the numbers of the corners of the convex hull, counter-clockwise; at most two if all are collinear."""
    candidates = np.arange(len(points))
    if len(points) > _DIRECTIONS:
        angles = np.arange(_DIRECTIONS) * (2 * np.pi / _DIRECTIONS)
        scaled = points / max(np.abs(points).max(), np.finfo(float).tiny)
        extreme = points[(scaled @ [np.cos(angles), np.sin(angles)]).argmax(axis=0)]
        # Drop all points strictly left of every side of this polygon. Such points are inside the hull, even if
        # rounding has made the polygon non-convex.
        keep = np.zeros(len(points), bool)
        for a, b in zip(extreme, np.roll(extreme, -1, axis=0), strict=True):
            if (a != b).any():
                keep |= orient2d(a, b, points) <= 0
        candidates = np.flatnonzero(keep)
    order = candidates[np.lexsort(points[candidates].T[::-1])]
    upwards = list(zip(order.tolist(), map(tuple, points[order].tolist()), strict=True))
    return np.array([*_chain(upwards), *_chain(upwards[::-1])], np.int64)


def _chain(points: list[tuple[int, Any]]) -> list[int]:
    """Return the point numbers of the hull's lower chain, without its last point; *points* are sorted.

    Each of *points* is a pair (number, coordinates).
    """
    chain: list[tuple[int, Any]] = []
    for v in points:
        while len(chain) > 1 and turn(chain[-2][1], chain[-1][1], v[1]) <= 0:
            chain.pop()
        chain.append(v)
    return [number for number, _ in chain[:-1]]
