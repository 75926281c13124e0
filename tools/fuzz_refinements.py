#!/usr/bin/env python3
"""Refine hostile meshes by every strategy in turn; each ends in a valid mesh or in a MeshError. All ends are counted.

Points are on a line or an arc up to rounding, in clusters of neighbouring floats, in strips 1e-12 wide, and at
distances over 25 decades; segments cross and close lines. A refined mesh is a fault if, by exact arithmetic, a triangle
is turned, two overlap, a link is wrong or an edge is not Delaunay. The exit status is 1 if there is a fault.

    tools/fuzz_refinements.py [-d DEVICE] [--count 10000] [--seed 0] [--first 0] [--strategy NAME]
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from typing import Any

import fuzzing  # first: later imports then find the clgraph of this checkout
import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.delaunay import STRATEGIES, refine_mesh
from clgraph.data.planar_graph import PlanarGraph
from clgraph.data.triangle_mesh import TriangleMesh
from clgraph.errors import ConvergenceWarning, MeshError, VerificationError
from clgraph.runtime.session import Session

_MAX_NEW_POINTS = 400
_UNBOUNDED = ("rounded_line", "decimal_line", "cluster", "steps")  # kinds that end without max_points


def _rounded_line(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Return points on a line, apart from it by rounding only."""
    start, way = rng.random(2), rng.normal(size=2)
    return start * rng.integers(0, 2) + rng.random((n, 1)) * way


def _decimal_line(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Return points of two decimals and a slope of one, which a person would write."""
    x = rng.integers(0, 100, n) / 100
    return np.column_stack([x, x * (rng.integers(1, 10) / 10)])


def _cluster(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Return neighbouring floats, and perhaps a few points far from them."""
    points = rng.choice([0.25, 0.5, 0.75], 2) + rng.integers(-4, 5, (n, 2)) * 2.0**-53
    if rng.random() < 0.5:
        points[: n // 4] = rng.random((n // 4, 2))
    return points


def _steps(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Return points on a line with errors of a few units in the last place."""
    line = _rounded_line(rng, n)
    return line + rng.integers(-3, 4, (n, 2)) * np.spacing(np.abs(line))


def _arc(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Return points on a short arc of a circle."""
    angle = rng.random() * 2 * np.pi + rng.random(n) * 10.0 ** rng.uniform(-7, -4)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + rng.integers(0, 2) * rng.random(2)


def _flat(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Return points in a strip, along the x axis or turned."""
    strip = np.column_stack([np.arange(n), 1e-12 * rng.random(n)])
    turn = rng.choice([0.0, rng.random()]) * 2 * np.pi
    return strip @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])


def _decades(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-13, 13, (n, int(rng.integers(1, 3))))


def _touching(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Return points on two lines whose ends meet under a small angle."""
    angle, along = 10.0 ** rng.uniform(-16, -1), rng.random((n, 1))
    turn = rng.random() * 2 * np.pi + angle * rng.integers(0, 2, n)
    return along * np.column_stack([np.cos(turn), np.sin(turn)])


_KINDS = {
    "rounded_line": _rounded_line, "decimal_line": _decimal_line, "cluster": _cluster, "steps": _steps, "arc": _arc,
    "flat": _flat, "decades": _decades, "touching": _touching,
    "plain": lambda rng, n: np.round(rng.random((n, 2)), int(rng.integers(1, 17))),
}  # fmt: skip


def hostile_mesh(rng: np.random.Generator) -> tuple[TriangleMesh, dict[str, Any]]:
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


def run(count: int, seed: int, device: str, first: int = 0, strategy: str | None = None) -> tuple[Counter[str], int]:
    """Refine *count* meshes and return how they ended, and how many of these ends are faults."""
    ends, faults, session, names = Counter[str](), 0, Session(device), list(STRATEGIES)
    for k in range(first, first + count):
        try:
            mesh, asked = hostile_mesh(np.random.default_rng([seed, k]))
        except MeshError as error:
            ends[f"not meshed: {str(error)[:40]}"] += 1
            continue
        asked["strategy"] = strategy or names[k % len(names)]
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always", ConvergenceWarning)
                refine_mesh(mesh, session=session, verify=True, **asked)
            ends["refined, with a warning" if told else "refined"] += 1
        except MeshError as error:
            ends[f"MeshError: {str(error)[:40]}"] += 1
        except Exception as error:
            faults += 1
            is_wrong = isinstance(error, VerificationError)
            ends[f"FAULT: {'wrong mesh' if is_wrong else type(error).__name__}"] += 1
            print(f"refinement {k} of seed {seed}, {asked}: {type(error).__name__}: {str(error)[:200]}", flush=True)
    return ends, faults


if __name__ == "__main__":
    parser = fuzzing.parser(__doc__)
    parser.add_argument("-d", "--device", default="pocl", help="a device's name (default: %(default)s)")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first refinement, to run a part")
    parser.add_argument("--strategy", choices=list(STRATEGIES), help="only this one (default: every one in turn)")
    arguments = parser.parse_args()
    found, n_faults = run(arguments.count, arguments.seed, arguments.device, arguments.first, arguments.strategy)
    fuzzing.print_ends(found)
    print(f"{n_faults} faults in {arguments.count} refinements on {arguments.device}")
    sys.exit(n_faults > 0)
