#!/usr/bin/env python3
"""Triangulate hostile planar graphs; each ends in a valid mesh or in a MeshError. The counts of all ends are printed.

Points are on small grids, on lines up to rounding, on circles, at distances from 1e-300 to 1e8; segments cross, touch,
overlap and are there twice; points are equal and on segments; places of holes and regions are anywhere.

    tools/fuzz_triangulations.py [--count 10000] [--seed 0]
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import replace

import fuzzing  # first: later imports then find the clgraph of this checkout
import numpy as np
from numpy.typing import NDArray

from clgraph.data.planar_graph import PlanarGraph
from clgraph.data.triangle_mesh import TriangleMesh
from clgraph.errors import MeshError, VerificationError
from clgraph.reference.delaunay import check_delaunay

_TOLERANCE = 1e-7  # A share of the extent. Rounding moves pieces repeatedly if many segments cross in one place.


def hostile_graph(rng: np.random.Generator) -> PlanarGraph:
    """Return a random planar graph of at most 40 points."""
    n = int(rng.integers(0, 40))
    points = _POINTS[rng.integers(len(_POINTS))](rng, n)
    if n and rng.random() < 0.3:  # equal points
        points = points[rng.integers(0, n, n)]
    points = points * 10.0 ** (0 if rng.random() < 0.7 else rng.choice([-300, -100, -8, 8, 100]))
    s = int(rng.integers(0, 2 * n + 1)) if n else 0
    segments = rng.integers(0, max(n, 1), (s, 2))
    if n > 2 and rng.random() < 0.4:
        segments = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])  # a closed line
    if s and rng.random() < 0.3:
        segments = np.concatenate([segments, segments[:, ::-1]])
    low, high = (points.min(axis=0), points.max(axis=0)) if n else (np.zeros(2), np.ones(2))
    holes = rng.uniform(low, high, (rng.integers(0, 3), 2))
    regions = np.pad(rng.uniform(low, high, (rng.integers(0, 3), 2)), ((0, 0), (0, 2)), constant_values=1.0)
    return PlanarGraph.from_arrays(
        points,
        segments,
        holes=holes,
        regions=regions,
        segment_markers=np.arange(len(segments)) + 2,
        point_attributes=rng.random((n, int(rng.integers(0, 3)))),
    )


def _on_lines(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    along = rng.random(n)
    start, direction = rng.random((2, 2)), rng.random((2, 2))
    line = rng.integers(0, 2, n)
    return start[line] + along[:, None] * direction[line]


def _on_circle(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    angle = rng.integers(0, 12, n) * (np.pi / 6)
    return np.column_stack([np.cos(angle), np.sin(angle)]) * rng.integers(1, 3, (n, 1))


_POINTS = [
    lambda rng, n: rng.random((n, 2)),
    lambda rng, n: rng.integers(0, 4, (n, 2)).astype(float),
    lambda rng, n: rng.integers(0, 7, (n, 2)) / 3 + 0.1,
    lambda rng, n: 0.5 + rng.integers(-4, 5, (n, 2)) * 2.0**-53,
    lambda rng, n: rng.integers(0, 2, (n, 2)) + rng.integers(-2, 3, (n, 2)) * 1e-300,
    lambda rng, n: rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-9, 9, (n, 1)),
    lambda rng, n: np.column_stack([np.arange(n), 1e-12 * rng.random(n)]),
    _on_lines,
    _on_circle,
]


def check_triangulation(graph: PlanarGraph, mesh: TriangleMesh) -> None:
    """Raise a :class:`VerificationError` unless *mesh*, which has the convex hull, is a triangulation of *graph*."""
    check_delaunay(mesh, unused_points=True)
    if not np.array_equal(mesh.points[: len(graph.points)], graph.points):
        raise VerificationError("points have other numbers than in the planar graph")
    near: dict[int, list[int]] = {}
    for a, b in mesh.segments.tolist():
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    number = {}
    for k, point in enumerate(map(tuple, mesh.points.tolist())):
        number.setdefault(point, k)
    extent = float(np.abs(mesh.points).max(initial=0.0))
    for a, b in graph.segments.tolist():
        start, end = (number[tuple(graph.points[k].tolist())] for k in (a, b))
        if end not in set(_along(mesh.points / (extent or 1.0), near, start, end)):
            raise VerificationError(f"the segment from {graph.points[a]} to {graph.points[b]} is not there")


def _along(points: NDArray[np.float64], near: dict[int, list[int]], start: int, end: int) -> Iterator[int]:
    """Yield the points that segments reach from *start* without leaving the line to *end*."""
    way = points[end] - points[start]
    length = float(np.hypot(*way))
    seen, left = {start}, deque([start])
    while left:
        v = left.popleft()
        yield v
        for w in near.get(v, ()):
            offset = points[w] - points[start]
            off = abs(offset[0] * way[1] - offset[1] * way[0])
            if w not in seen and off <= _TOLERANCE * max(length, _TOLERANCE):
                seen.add(w)
                left.append(w)


def _without_numbers(message: str) -> str:
    """Return the first clause of an error, the same for all places of which it can tell."""
    return re.sub(r"\(N, N\)", "P", re.sub(r"-?\d[\d.]*(e[-+]?\d+)?", "N", re.split("[:;]", message)[0]))


def run(count: int, seed: int) -> Counter[str]:
    """Triangulate *count* planar graphs and return how they ended."""
    ends: Counter[str] = Counter()
    for k in range(count):
        graph = hostile_graph(np.random.default_rng([seed, k]))
        try:
            whole = replace(graph, holes=graph.holes[:0])
            check_triangulation(whole, whole.triangulate(convex_hull=True, keep_points=True))
            mesh = graph.triangulate()
            check_delaunay(mesh, holes=graph.holes)
            ends["mesh"] += 1
        except MeshError as error:
            ends[f"{type(error).__name__}: {_without_numbers(str(error))}"] += 1
        except Exception:
            print(f"planar graph {k} of seed {seed}")
            raise
    return ends


if __name__ == "__main__":
    parser = fuzzing.parser(__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    arguments = parser.parse_args()
    fuzzing.print_ends(run(arguments.count, arguments.seed))
