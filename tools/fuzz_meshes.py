#!/usr/bin/env python3
"""Triangulate hostile planar graphs, or refine hostile meshes. Each ends in a valid mesh or in a MeshError.

    tools/fuzz_meshes.py [--count 10000] [--seed 0] [--first 0]
    tools/fuzz_meshes.py --refine [-d DEVICE] [--strategy NAME] [--count 10000] [--seed 0] [--first 0]

To be triangulated, points are on small grids, on lines up to rounding, on circles, at distances from 1e-300 to 1e8;
segments cross, touch, overlap and are there twice; points are equal and on segments; places of holes and regions are
anywhere.

To be refined, by every strategy in turn, points are on a line or an arc up to rounding, in clusters of neighbouring
floats, in strips 1e-12 wide, and at distances over 25 decades; segments cross and close lines. A refined mesh is a
fault if, by exact arithmetic, a triangle is turned, two overlap, a link is wrong or an edge is not Delaunay.

The counts of all ends are printed. The exit status is 1 if there is a fault.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import fuzzing  # first: later imports then find the clgraph of this checkout
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from clgraph.algorithms.refine_mesh import STRATEGIES, refine_mesh
from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.errors import ConvergenceWarning, MeshError, VerificationError
from clgraph.reference.refine_mesh import check_delaunay
from clgraph.runtime.session import Session

_TOLERANCE = 1e-7  # A share of the extent. Rounding moves pieces repeatedly if many segments cross in one place.
_MAX_NEW_POINTS = 400
_UNBOUNDED = ("rounded_line", "decimal_line", "cluster", "steps")  # kinds that end without max_points


# ---- triangulations


def hostile_graph(rng: Generator) -> PlanarGraph:
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


def _on_lines(rng: Generator, n: int) -> NDArray[np.float64]:
    along = rng.random(n)
    start, direction = rng.random((2, 2)), rng.random((2, 2))
    line = rng.integers(0, 2, n)
    return start[line] + along[:, None] * direction[line]


def _on_circle(rng: Generator, n: int) -> NDArray[np.float64]:
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


def triangulated(rng: Generator, _number: int) -> str:
    """Triangulate a planar graph, once with its convex hull and once without, and return its end."""
    graph = hostile_graph(rng)
    whole = replace(graph, holes=graph.holes[:0])
    check_triangulation(whole, whole.triangulate(convex_hull=True, keep_points=True))
    check_delaunay(graph.triangulate(), holes=graph.holes)
    return "mesh"


# ---- refinements


def _rounded_line(rng: Generator, n: int) -> NDArray[np.float64]:
    """Return points on a line, apart from it by rounding only."""
    start, way = rng.random(2), rng.normal(size=2)
    return start * rng.integers(0, 2) + rng.random((n, 1)) * way


def _decimal_line(rng: Generator, n: int) -> NDArray[np.float64]:
    """Return points of two decimals and a slope of one, which a person would write."""
    x = rng.integers(0, 100, n) / 100
    return np.column_stack([x, x * (rng.integers(1, 10) / 10)])


def _cluster(rng: Generator, n: int) -> NDArray[np.float64]:
    """Return neighbouring floats, and perhaps a few points far from them."""
    points = rng.choice([0.25, 0.5, 0.75], 2) + rng.integers(-4, 5, (n, 2)) * 2.0**-53
    if rng.random() < 0.5:
        points[: n // 4] = rng.random((n // 4, 2))
    return points


def _steps(rng: Generator, n: int) -> NDArray[np.float64]:
    """Return points on a line with errors of a few units in the last place."""
    line = _rounded_line(rng, n)
    return line + rng.integers(-3, 4, (n, 2)) * np.spacing(np.abs(line))


def _arc(rng: Generator, n: int) -> NDArray[np.float64]:
    """Return points on a short arc of a circle."""
    angle = rng.random() * 2 * np.pi + rng.random(n) * 10.0 ** rng.uniform(-7, -4)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + rng.integers(0, 2) * rng.random(2)


def _flat(rng: Generator, n: int) -> NDArray[np.float64]:
    """Return points in a strip, along the x axis or turned."""
    strip = np.column_stack([np.arange(n), 1e-12 * rng.random(n)])
    turn = rng.choice([0.0, rng.random()]) * 2 * np.pi
    return strip @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])


def _decades(rng: Generator, n: int) -> NDArray[np.float64]:
    return rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-13, 13, (n, int(rng.integers(1, 3))))


def _touching(rng: Generator, n: int) -> NDArray[np.float64]:
    """Return points on two lines whose ends meet under a small angle."""
    angle, along = 10.0 ** rng.uniform(-16, -1), rng.random((n, 1))
    turn = rng.random() * 2 * np.pi + angle * rng.integers(0, 2, n)
    return along * np.column_stack([np.cos(turn), np.sin(turn)])


_KINDS = {
    "rounded_line": _rounded_line, "decimal_line": _decimal_line, "cluster": _cluster, "steps": _steps, "arc": _arc,
    "flat": _flat, "decades": _decades, "touching": _touching,
    "plain": lambda rng, n: np.round(rng.random((n, 2)), int(rng.integers(1, 17))),
}  # fmt: skip


def hostile_mesh(rng: Generator) -> tuple[TriangleMesh, dict[str, Any]]:
    """Return a random mesh of at most 30 points and a few crossings, and arguments of :func:`refine_mesh`.

    Raises
    ------
    MeshError
        The points are on a line, or no triangle is left.
    """
    n, kind = int(rng.integers(3, 31)), str(rng.choice(list(_KINDS)))
    points = _KINDS[kind](rng, n)
    segments = rng.integers(0, n, (int(rng.integers(0, n // 2 + 1)) if rng.random() < 0.5 else 0, 2))
    if rng.random() < 0.3:
        order = rng.permutation(n)[: int(rng.integers(3, n + 1))]
        segments = np.concatenate([segments, np.column_stack([order, np.roll(order, 1)])])
    holes = points[rng.integers(0, n, (int(rng.integers(0, 3)), 3))].mean(axis=1)
    graph = PlanarGraph.from_arrays(
        points, segments[segments[:, 0] != segments[:, 1]], holes=holes if rng.random() < 0.3 else ()
    )
    mesh = graph.triangulate(convex_hull=bool(rng.random() < 0.6), keep_points=bool(rng.random() < 0.3))
    area = mesh.areas().sum()
    asked = {
        "min_angle": float(rng.choice([0, 10, 20, 28, 30, 34])),
        "max_area": float(area / rng.integers(2, 200)) if area > 0 and rng.random() < 0.4 else None,
        "whole": str(rng.choice(["none", "none", "none", "boundary", "segments"])),
        "conforming": bool(rng.random() < 0.2),
        "max_points": mesh.n_points + int(rng.integers(1, _MAX_NEW_POINTS)),
    }  # fmt: skip
    if kind in _UNBOUNDED and asked["max_area"] is None and asked["min_angle"] <= 30:
        del asked["max_points"]
    return mesh, asked


def refined(session: Session, strategy: str | None, rng: Generator, number: int) -> str:
    """Refine a mesh by *strategy*, or by the next of all in turn, and return its end."""
    try:
        mesh, asked = hostile_mesh(rng)
    except MeshError as error:
        return f"not meshed: {_without_numbers(str(error))}"
    asked["strategy"] = strategy or list(STRATEGIES)[number % len(STRATEGIES)]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ConvergenceWarning)
        refine_mesh(mesh, session=session, verify=True, **asked)
    return "refined, with a warning" if told else "refined"


def _without_numbers(message: str) -> str:
    """Return the first clause of an error with N for each number, so that equal errors count together."""
    return re.sub(r"\(N, N\)", "P", re.sub(r"-?\d[\d.]*(e[-+]?\d+)?", "N", re.split("[:;]", message)[0]))


def run(case: Callable[[Generator, int], str], count: int, seed: int, first: int = 0) -> tuple[Counter[str], int]:
    """Run *count* cases; return how they ended, and the number of faults among these ends."""
    ends, faults = Counter[str](), 0
    for k in range(first, first + count):
        try:
            ends[case(np.random.default_rng([seed, k]), k)] += 1
        except MeshError as error:
            ends[f"{type(error).__name__}: {_without_numbers(str(error))}"] += 1
        except Exception as error:
            faults += 1
            ends[f"FAULT: {'wrong mesh' if isinstance(error, VerificationError) else type(error).__name__}"] += 1
            print(f"number {k} of seed {seed}: {type(error).__name__}: {str(error)[:200]}", flush=True)
    return ends, faults


if __name__ == "__main__":
    parser = fuzzing.parser(__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case, to run a part")
    parser.add_argument("--refine", action="store_true", help="refine meshes (default: triangulate planar graphs)")
    parser.add_argument("-d", "--device", default="pocl", help="a device's name (default: %(default)s)")
    parser.add_argument("--strategy", choices=list(STRATEGIES), help="only this one (default: every one in turn)")
    args = parser.parse_args()
    case = partial(refined, Session(args.device), args.strategy) if args.refine else triangulated
    found, n_faults = run(case, args.count, args.seed, args.first)
    fuzzing.print_ends(found)
    print(f"{n_faults} faults in {args.count} cases")
    sys.exit(n_faults > 0)
