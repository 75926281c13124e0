"""Insertion of segments into a triangulation by edge flips.

New points are added at which segments cross.

A Delaunay triangulation lacks few of the segments. The missing segments are inserted one by one: the edges that cross a
segment are flipped until none crosses it. :meth:`Triangulation.legalize` then makes the flipped triangles Delaunay
again.

The algorithm is from S. W. Sloan, "A fast algorithm for generating constrained Delaunay triangulations", Computers &
Structures 47, 1993.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.data.meshes.mesh_arrays import among, edge_keys, triangle_sides
from clgraph.data.meshes.triangle_lists import TriangleLists, last_edge, next_edge
from clgraph.data.meshes.triangulation import Triangulation
from clgraph.errors import MeshError

_ROUNDING = 2.0**-50  # Rounding error of a computed point, relative to the largest coordinate.
# Greatest number of crossings of two segments. Without rounding, two segments cross only once, so more are an error.
MAX_CROSSINGS = 64
_PATIENCE = 100  # A segment that k edges cross is given up after 100 (1 + k)² flips. It normally takes far fewer flips.

Segment = tuple[int, int]


class Crossing(NamedTuple):
    """A new point of a triangulation, at which segments cross.

    The point is on segment number *whole*. It is reached after the fraction *along* of the way from *start* to *end*.
    """

    start: int
    end: int
    along: float
    whole: int


class RecoveredSegments(NamedTuple):
    """The pieces into which segments were divided, the number of each piece's segment, and the new points."""

    segments: NDArray[np.int64]
    wholes: NDArray[np.int64]
    crossings: list[Crossing]


def recover_segments(triangulation: Triangulation, segments: NDArray[np.int64]) -> RecoveredSegments:
    """Make *segments* fixed edges of *triangulation*, and return the pieces into which the segments were divided.

    A point on a segment divides it. Crossing segments divide each other at a new point, rounded to float64. If
    segments overlap, a common piece is assigned to the first of them. *segments* are distinct pairs of distinct
    points, shape (s, 2).

    Raises
    ------
    MeshError
        Some crossings are so close together that rounding creates new crossings without end.
    """
    there = among(edge_keys(segments, len(triangulation.points)), _keys(triangulation))
    found = RecoveredSegments(segments, np.arange(len(segments)), [])
    if not there.all():
        recovery = SegmentRecovery(triangulation, segments, there)
        missing = np.flatnonzero(~there)
        for (a, b), whole in zip(segments[missing].tolist(), missing.tolist(), strict=True):
            recovery.add(a, b, whole)
        recovery.store(triangulation)
        found = recovery.found()
    triangulation.fixed = among(_keys(triangulation), edge_keys(found.segments, len(triangulation.points)))
    if not there.all():
        triangulation.legalize(recovery.touched_edges())
    return found


def _keys(triangulation: Triangulation) -> NDArray[np.int64]:
    return edge_keys(triangle_sides(triangulation.corners.reshape(-1, 3)).reshape(-1, 2), len(triangulation.points))


class SegmentRecovery(TriangleLists):
    """A triangulation in Python lists, and the pieces of segments that are edges of the triangulation so far."""

    def __init__(self, triangulation: Triangulation, segments: NDArray[np.int64], there: NDArray[np.bool_]) -> None:
        super().__init__(triangulation)
        ends = np.sort(segments[there], axis=1).tolist()
        self.whole_of: dict[Segment, int] = dict(zip(map(tuple, ends), np.flatnonzero(there).tolist(), strict=True))
        # The number of a point by its coordinates. The dictionary is filled when segments cross for the first time.
        self.number_of: dict[tuple[float, float], int] = {}
        self.crossings: list[Crossing] = []
        self.n_crossings = Counter[Segment]()  # Number of crossings of each pair of segments.

    def found(self) -> RecoveredSegments:
        """Return the pieces of the recovered segments, in the order of the segments, and the new points."""
        pieces = sorted(self.whole_of.items(), key=lambda item: item[1])
        segments = np.array([ends for ends, _ in pieces], np.int64).reshape(-1, 2)
        return RecoveredSegments(segments, np.array([whole for _, whole in pieces], np.int64), self.crossings)

    def touched_edges(self) -> NDArray[np.int64]:
        """Return the half-edges of all triangles that the recovery of segments has changed."""
        first = 3 * np.fromiter(self.touched, np.int64, len(self.touched))
        return np.concatenate([first, first + 1, first + 2])

    def add(self, start: int, end: int, whole: int) -> None:
        """Insert the segment number *whole*, which leads from point *start* to point *end*, into the triangulation."""
        left = [(start, end, whole)]
        while left:
            a, b, whole = left.pop()
            if a == b:
                continue
            reached, crossing, across = self._crossing(a, b)
            if across >= 0:
                v, w = self.ends(across)
                other = self.whole_of.pop(_pair(v, w))
                self.n_crossings[_pair(whole, other)] += 1
                if self.n_crossings[_pair(whole, other)] > MAX_CROSSINGS:
                    raise MeshError(
                        f"the segment from {self.points[start]} to {self.points[end]} crosses others so close to each "
                        "other that rounding makes new crossings without end; move or merge points that are this close"
                    )
                p = self._cut(a, b, across, whole)
                left += [(p, b, whole), (a, p, whole), (p, w, other), (v, p, other)]
                continue
            self._flip_away(a, reached, crossing)
            piece = _pair(a, reached)
            self.whole_of[piece] = min(whole, self.whole_of.get(piece, whole))
            left.append((reached, b, whole))

    def _crossing(self, a: int, b: int) -> tuple[int, list[Segment], int]:
        """Walk along the line from point *a* to *b* until it meets a point, or a segment that crosses the line.

        Return three values: the point that was met, or -1; the edges that were crossed on the way to this point; and
        the half-edge of the segment that was met, or -1.
        """
        edge = -1
        for h in self.around(a):
            right, left = self.ends(h)
            if b in (right, left):
                return b, [], -1
            one, other = self.turn(a, b, right), self.turn(a, b, left)
            for side, point in ((one, right), (other, left)):
                if side == 0 and self._ahead(a, b, point):
                    return point, [], -1
            if one < 0 < other:
                edge = h
                break
        crossing = []
        while True:
            right, left = self.ends(edge)
            if _pair(right, left) in self.whole_of:
                return -1, [], edge
            crossing.append((right, left))
            edge = self.twins[edge]
            apex = self.corners[edge]
            side = 0 if apex == b else self.turn(a, b, apex)
            if side == 0:
                return apex, crossing, -1
            edge = next_edge(edge) if side > 0 else last_edge(edge)

    def _touching(self, a: int, b: int, v: int, w: int) -> int:
        """Return an end of segment (a, b) or (v, w) that is on the other segment, within rounding, or -1 if none is."""
        least, nearest = _ROUNDING * max(abs(x) for k in (a, b, v, w) for x in self.points[k]), -1
        for start, end, ends in ((a, b, (v, w)), (v, w, (a, b))):
            (x, y), (to_x, to_y) = self.points[start], self.points[end]
            length = math.hypot(to_x - x, to_y - y)
            # With a unit vector, the products below do not underflow.
            way_x, way_y = (to_x - x) / length, (to_y - y) / length
            for k in ends:
                off_x, off_y = self.points[k][0] - x, self.points[k][1] - y
                off = abs(way_x * off_y - way_y * off_x)
                if off <= least and 0 < way_x * off_x + way_y * off_y < length:
                    least, nearest = off, k
        return nearest

    def _ahead(self, a: int, b: int, c: int) -> bool:
        """Return whether point *c*, which is on the line through *a* and *b*, is on the same side of *a* as *b*."""
        # Tuples (x, y) of points along a line either only increase or only decrease.
        return (self.points[c] > self.points[a]) == (self.points[b] > self.points[a])

    def _flip_away(self, a: int, b: int, crossing: list[Segment]) -> None:
        """Flip the edges in *crossing*, which cross the line from point *a* to *b*, until no edge crosses this line."""
        left, flips = deque(crossing), _PATIENCE * (1 + len(crossing)) ** 2
        while left:
            edge = self.find(*left.popleft())
            c, d = self.corners[edge], self.corners[self.twins[edge]]
            s, e = self.ends(edge)
            if (flips := flips - 1) < 0:
                raise MeshError(f"the segment from {self.points[a]} to {self.points[b]} cannot be brought in by flips")
            if self.turn(c, s, d) > 0 and self.turn(d, e, c) > 0:
                self.flip(edge)
                if not {c, d} & {a, b} and self.turn(a, b, c) != self.turn(a, b, d):
                    left.append((c, d))
            else:
                left.append((s, e))

    def _cut(self, a: int, b: int, edge: int, whole: int) -> int:
        """Return the point at which the line from *a* to *b* crosses *edge*.

        The point is added if it is new.

        If the two lines are closer together than rounding errors, the computed crossing may be anywhere. In this case,
        an end of one line that is this close to the other line is returned instead.
        """
        v, w = self.ends(edge)
        if (near := self._touching(a, b, v, w)) >= 0:
            return near
        (ax, ay), (bx, by), (vx, vy), (wx, wy) = ([Fraction(x) for x in self.points[k]] for k in (a, b, v, w))
        along = ((vx - ax) * (wy - vy) - (vy - ay) * (wx - vx)) / ((bx - ax) * (wy - vy) - (by - ay) * (wx - vx))
        place = float(ax + along * (bx - ax)), float(ay + along * (by - ay))
        if not self.number_of:
            self.number_of = {point: k for k, point in enumerate(self.points)}
        if (known := self.number_of.get(place)) is not None:
            return known
        p = len(self.points)
        self.points.append(place)
        t, side = self.locate(p, edge // 3)
        # Rounding has moved the point to the boundary of the mesh or outside of it.
        if t < 0 or (side >= 0 and self.twins[side] < 0):
            self.points.pop()
            return v
        self.number_of[place] = p
        self.crossings.append(Crossing(a, b, float(along), whole))
        cut = self.ends(side) if side >= 0 else None
        self.split(t, p)
        if cut is not None:
            third = self.whole_of.pop(_pair(*cut), None)
            self.flip(self.find(*cut))
            if third is not None:
                self.whole_of.update({_pair(p, cut[0]): third, _pair(p, cut[1]): third})
        return p


def _pair(a: int, b: int) -> Segment:
    return (a, b) if a < b else (b, a)
