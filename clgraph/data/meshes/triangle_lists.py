"""The TriangleLists class: a triangulation in Python lists, for code that changes one triangle at a time."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from clgraph.data.meshes.predicates import turn
from clgraph.data.meshes.triangulation import Triangulation
from clgraph.errors import MeshError


class TriangleLists:
    """A copy of a :class:`Triangulation` that stores its arrays as Python lists and numbers half-edges in the same way.

    ``a_corner[v]`` is a half-edge opposite point ``v``. ``touched`` holds the numbers of all changed triangles.
    """

    def __init__(self, triangulation: Triangulation) -> None:
        self.points: list[tuple[float, float]] = list(map(tuple, triangulation.points.tolist()))
        self.corners: list[int] = triangulation.corners.tolist()
        self.twins: list[int] = triangulation.twins.tolist()
        a_corner = np.zeros(len(self.points), np.int64)
        a_corner[triangulation.corners] = np.arange(triangulation.corners.size)
        self.a_corner: list[int] = a_corner.tolist()
        self.touched: set[int] = set()
        self._random = random.Random(0)

    def store(self, triangulation: Triangulation) -> None:
        """Replace the arrays of *triangulation* by copies of these Python lists."""
        triangulation.replace(np.array(self.points), np.array(self.corners, np.int64), np.array(self.twins, np.int64))

    def locate(self, p: int, t: int) -> tuple[int, int]:
        """Walk through the triangulation from triangle *t* to the triangle that contains point *p*.

        Return the triangle (-1 if *p* is outside) and the half-edge on which *p* is (-1 if it is on none).
        """
        while True:
            # With a fixed first edge, the walk may go in circles, so the first edge is random.
            on, first = -1, self._random.randrange(3)
            for k in range(3):
                h = 3 * t + (first + k) % 3
                start, end = self.ends(h)
                side = self.turn(start, end, p)
                if side < 0:
                    break
                if side == 0:
                    on = h
            else:
                return t, on
            if self.twins[h] < 0:
                return -1, -1
            t = self.twins[h] // 3

    def split(self, t: int, p: int) -> None:
        """Divide triangle *t* of the triangulation into three triangles at the point *p*."""
        a, b, c = self.corners[3 * t : 3 * t + 3]
        of_a, of_b, of_c = self.twins[3 * t : 3 * t + 3]
        u = len(self.corners) // 3
        self.corners += [0] * 6
        self.twins += [0] * 6
        self.a_corner.append(0)
        self._set(t, (a, b, p), (3 * u + 1, 3 * u + 3, of_c))
        self._set(u, (b, c, p), (3 * u + 4, 3 * t, of_a))
        self._set(u + 1, (c, a, p), (3 * t + 1, 3 * u, of_b))

    def flip(self, h: int) -> None:
        """Flip the edge *h*: replace it by the other diagonal of the quadrilateral that its two triangles form."""
        g = self.twins[h]
        t, u = h // 3, g // 3
        c, s, e, d = self.corners[h], self.corners[next_edge(h)], self.corners[last_edge(h)], self.corners[g]
        outer = self.twins[next_edge(g)], self.twins[last_edge(h)], self.twins[next_edge(h)], self.twins[last_edge(g)]
        self._set(t, (c, s, d), (outer[0], 3 * u + 1, outer[1]))
        self._set(u, (d, e, c), (outer[2], 3 * t + 1, outer[3]))

    def _set(self, t: int, corners: tuple[int, int, int], twins: tuple[int, int, int]) -> None:
        self.touched.add(t)
        for h, corner, twin in zip(range(3 * t, 3 * t + 3), corners, twins, strict=True):
            self.corners[h], self.twins[h], self.a_corner[corner] = corner, twin, h
            if twin >= 0:
                self.twins[twin] = h

    def around(self, v: int) -> Iterator[int]:
        """Yield the half-edge opposite point *v* in each triangle that has *v* as a corner."""
        first = h = self.a_corner[v]
        while h >= 0:
            yield h
            h = self.twins[next_edge(h)]
            h = h if h < 0 else next_edge(h)
            if h == first:
                return
        h = self.twins[last_edge(first)]
        while h >= 0:
            h = last_edge(h)
            yield h
            h = self.twins[last_edge(h)]

    def find(self, v: int, w: int) -> int:
        """Return a half-edge that joins points *v* and *w*, in either direction."""
        for h in self.around(v):
            if self.corners[next_edge(h)] == w:
                return last_edge(h)
            if self.corners[last_edge(h)] == w:
                return next_edge(h)
        raise MeshError(f"there is no edge from {self.points[v]} to {self.points[w]}")

    def ends(self, h: int) -> tuple[int, int]:
        """Return the start point and the end point of half-edge *h*."""
        return self.corners[next_edge(h)], self.corners[last_edge(h)]

    def turn(self, a: int, b: int, c: int) -> int:
        """Return 1 if the points *a*, *b*, *c* turn counter-clockwise, -1 if clockwise, 0 if they are collinear."""
        return turn(self.points[a], self.points[b], self.points[c])


def next_edge(h: int) -> int:
    return h - 2 if h % 3 == 2 else h + 1


def last_edge(h: int) -> int:
    return h + 2 if h % 3 == 0 else h - 1
