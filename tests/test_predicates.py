"""Exact signs on devices: the filter, points near a line or a circle, grids, ranges of floats."""

import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from numpy.typing import NDArray

from clgraph.data.meshes.predicates import incircle, orient2d, turn
from clgraph.runtime.session import Session

sys.path.append(str(ROOT / "tools"))


def rational_signs(*points):
    """Return the signs of both determinants by rational numbers."""
    a, b, c, d = ([Fraction(float(x)) for x in p] for p in points)
    turn = (a[0] - c[0]) * (b[1] - c[1]) - (a[1] - c[1]) * (b[0] - c[0])
    a, b, c = ([p[0] - d[0], p[1] - d[1]] for p in (a, b, c))
    circle = sum((p[0] ** 2 + p[1] ** 2) * (q[0] * r[1] - q[1] * r[0]) for p, q, r in ((a, b, c), (b, c, a), (c, a, b)))
    return (turn > 0) - (turn < 0), (circle > 0) - (circle < 0)


def turned(rng, n):
    """Return points on a circle of radius 5 or 65 that are exact, moved by the last bit now and then."""
    exact = np.array([[3, 4], [4, 3], [5, 0], [0, 5], [-3, 4], [-4, -3], [33, 56], [16, 63], [-25, 60]], float)
    found = exact[rng.integers(0, 9, n)]
    return np.where(rng.random((n, 1)) < 0.1, np.nextafter(found, 0), found)


ADVERSARIAL = {
    "grid": lambda rng, n: rng.integers(0, 4, (n, 2)).astype(float),
    "last bits": lambda rng, n: 0.5 + rng.integers(-8, 8, (n, 2)) * 2.0**-53,
    "a line but for last bits": lambda rng, n: rng.random((n, 1)) + rng.integers(0, 2, (n, 2)) * 2.0**-53,
    "circle": turned,
    "offsets of 1e-300": lambda rng, n: rng.integers(0, 2, (n, 2)) + rng.integers(-3, 3, (n, 2)) * 1e-300,
    "denormal": lambda rng, n: rng.integers(-3, 3, (n, 2)) * 5e-324,
    "huge": lambda rng, n: rng.uniform(-1.7, 1.7, (n, 2)) * 1e308,
    "wide": lambda rng, n: rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-300, 300, (n, 1)),
    "rectangles": lambda rng, n: np.array([0.1, 1 / 3, 0.7])[rng.integers(0, 3, (n, 2))],
}


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_signs_are_those_of_rational_numbers(name):
    rng = np.random.default_rng(3)
    points = [ADVERSARIAL[name](rng, 1500) for _ in range(4)]
    expected = np.array([rational_signs(*query) for query in zip(*points, strict=True)])
    assert (orient2d(*points[:3]) == expected[:, 0]).all()
    assert (incircle(*points) == expected[:, 1]).all()
    assert [turn(*query) for query in zip(*(p.tolist() for p in points[:3]), strict=True)] == expected[:, 0].tolist()


SOURCE = str(Path(__file__).parent / "kernels" / "predicates.cl")


def decided(session: Session, quads: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return filter and exact sign of orient2d, then of incircle, for each row of four points."""
    if not session.facts.has_fp64:
        pytest.skip("no doubles")
    program, n = session.program(SOURCE), len(quads)
    points, answers = session.upload(np.ascontiguousarray(quads.ravel())), session.empty(4 * n, np.int32)
    words = session.empty(n * program.constant("WIDE_WORDS"), np.uint64)
    program.bind("decide", n, n=n, points=points, answers=answers, words=words)()
    return answers.get().reshape(n, 4)


def check(session: Session, quads: NDArray[np.float64]) -> NDArray[np.int32]:
    found, right = decided(session, quads), np.array([rational_signs(*quad) for quad in quads])
    np.testing.assert_array_equal(found[:, [1, 3]], right)
    for filtered, sign in ((0, 0), (2, 1)):
        sure = found[:, filtered] != 0
        np.testing.assert_array_equal(found[sure, filtered], right[sure, sign])
    return found


def test_ordinary_points_are_decided_by_the_filter(session: Session) -> None:
    found = check(session, np.random.default_rng(1).random((500, 4, 2)))
    assert (found[:, [0, 2]] != 0).all()


@pytest.mark.parametrize("offset", [1e-300, 5e-324, 1e-17, 1e-9, 0.0])
def test_points_off_a_line_or_a_circle_by_little_have_exact_signs(session: Session, offset: float) -> None:
    quads = []
    for dx, dy in product((-offset, 0.0, offset), repeat=2):
        quads += [
            [(0, 0), (dx, 1), (dy, 2), (dx, dy)],
            [(dx, dy), (1, 0), (1, 1), (0, 1 + dx)],
            [(0.5, 0.5 + dx), (12, 12 + dy), (24, 24), (3, 3)],
            [(dx, 0), (0, dy), (-dx, 0), (0, -dy)],
            [(3, 4), (-3, 4 + dx), (-4, 3 + dy), (0, -5)],
            [(0.1, 0.1), (0.2, 0.2 + dx), (0.3, 0.3 + dy), (0.4, 0.4)],
        ]
    check(session, np.array(quads, np.float64))


def test_grids_and_neighbouring_floats_have_exact_signs(session: Session) -> None:
    rng = np.random.default_rng(2)
    corners = rng.integers(-3, 4, (400, 4, 2)).astype(np.float64)
    moved = np.nextafter(corners[:200] * 0.1, rng.choice([-np.inf, np.inf], (200, 4, 2)))
    found = check(session, np.concatenate([corners, moved]))
    assert (found[:, 2] == 0).any() and (found[:, 3] == 0).any()


@pytest.mark.parametrize(("low", "high"), [(-1e-8, 1e-8), (-1e8, 1e8), (-300, 300)])
def test_values_of_any_range_have_exact_signs(session: Session, low: float, high: float) -> None:
    rng = np.random.default_rng(3)
    if high == 300:  # exponents from 10^-300 to 10^300 in one call
        points = rng.choice([-1.0, 1.0], (300, 4, 2)) * 10.0 ** rng.uniform(low, high, (300, 4, 2))
    else:
        points = rng.uniform(low, high, (300, 4, 2))
        points[::2, 3] = points[::2, 0] + 1e-13 * (points[::2, 1] - points[::2, 0])
        points[1::2, 2] = 0.5 * (points[1::2, 0] + points[1::2, 1])
    check(session, points)
