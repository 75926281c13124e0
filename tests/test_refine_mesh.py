"""Delaunay refinement: every strategy on every device, checked against the definition."""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.delaunay import ALGORITHM, STRATEGIES, RefinedMesh, refine_mesh
from clgraph.algorithms.delaunay.rounds import Refinement
from clgraph.errors import ConvergenceWarning, InputError, MeshError, UnsupportedStrategyError
from clgraph.progress import Progress, listening
from clgraph.runtime.session import Session

pytestmark = pytest.mark.filterwarnings("error::clgraph.errors.ConvergenceWarning")


def square(n: int = 0, scale: float = 1.0) -> cg.PlanarGraph:
    """Return the unit square with *n* random points inside."""
    points = np.concatenate([[[0, 0], [1, 0], [1, 1], [0, 1]], np.random.default_rng(n).random((n, 2))])
    return cg.PlanarGraph.from_arrays(scale * points, [[0, 1], [1, 2], [2, 3], [3, 0]])


def ring(n: int, radius: float, first: int) -> tuple[np.ndarray, list[list[int]]]:
    angle = 2 * np.pi * np.arange(n) / n
    points = 0.5 + radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return points, [[first + i, first + (i + 1) % n] for i in range(n)]


def with_hole() -> cg.PlanarGraph:
    outer, inner = ring(9, 0.5, 0), ring(17, 0.17, 9)
    return cg.PlanarGraph.from_arrays(
        np.concatenate([outer[0], inner[0]]), outer[1] + inner[1], holes=[[0.5, 0.5]], segment_markers=[3] * 9 + [7] * 17
    )


def with_slits() -> cg.PlanarGraph:
    """A square with segments that end inside of it, and one that two triangles share from side to side."""
    whole = square(20)
    points = [[0.5, 0.2], [0.5, 0.8], [0.21, 0.5], [0.43, 0.51], [0.62, 0.31], [0.93, 0.95]]
    return cg.PlanarGraph.from_arrays(
        np.concatenate([whole.points, points]), [*whole.segments.tolist(), [24, 25], [26, 27], [28, 29]]
    )


def with_regions() -> cg.PlanarGraph:
    whole = square()
    return cg.PlanarGraph.from_arrays(
        np.concatenate([whole.points, [[0.4, 0], [0.4, 1]]]), [*whole.segments.tolist(), [4, 5]],
        regions=[[0.1, 0.5, 11, 0.002], [0.9, 0.5, 22, 0.03]],
    )


def grid(n: int) -> cg.PlanarGraph:
    """Points of which four at a time are on one circle, as no filter can tell."""
    x, y = np.meshgrid(np.arange(n), np.arange(n) * 3.0)
    return cg.PlanarGraph.from_arrays(np.column_stack([x.ravel(), y.ravel()]))


def wedge(degrees: float) -> cg.PlanarGraph:
    tip = math.radians(degrees)
    return cg.PlanarGraph.from_arrays([[0, 0], [1, 0], [1.3 * math.cos(tip), 1.3 * math.sin(tip)]], [[0, 1], [1, 2], [2, 0]])


def fan(n: int) -> cg.PlanarGraph:
    """Segments that meet in one point, ten degrees apart."""
    angle = np.radians(10.0) * np.arange(n)
    length = 1.0 + 0.3 * np.sin(5 * np.arange(n))
    ends = np.column_stack([length * np.cos(angle), length * np.sin(angle)])
    return cg.PlanarGraph.from_arrays(
        np.concatenate([[[0, 0]], ends]), [[0, i + 1] for i in range(n)] + [[i, i + 1] for i in range(1, n)]
    )


def on_circle(n: int) -> cg.PlanarGraph:
    """A cavity of more triangles than there is room for at first."""
    points, _ = ring(n, 0.5, 0)
    return cg.PlanarGraph.from_arrays(points)


GRAPHS: dict[str, Callable[[], cg.PlanarGraph]] = {
    "square": square,
    "random": lambda: square(300),
    "tiny": lambda: square(60, 1e-8),
    "huge": lambda: square(60, 1e8),
    "hole": with_hole,
    "slits": with_slits,
    "regions": with_regions,
    "grid": lambda: grid(9),
    "needle": lambda: cg.PlanarGraph.from_arrays([[0, 0], [1, 1e-4], [2, 0]], [[0, 1], [1, 2], [2, 0]]),
    "wedge": lambda: wedge(1.0),
    "fan": lambda: fan(9),
    "circle": lambda: on_circle(150),
    "collinear": lambda: cg.PlanarGraph.from_arrays([[i, 0.0] for i in range(12)] + [[3, 4], [7, -2]]),
    "triangle": lambda: cg.PlanarGraph.from_arrays([[0, 0], [1, 0], [0.2, 0.9]]),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", GRAPHS)
def test_zoo(session: Session, name: str, strategy: str) -> None:
    mesh = GRAPHS[name]().triangulate()
    for min_angle in (20.0, 28.0):
        refined = refine_mesh(mesh, min_angle=min_angle, strategy=strategy, session=session, verify=True)
        assert np.array_equal(refined.points[: mesh.n_points], mesh.points)
        if name not in ("needle", "wedge", "fan"):
            assert refined.quality().min_angle >= min_angle - 1e-9
