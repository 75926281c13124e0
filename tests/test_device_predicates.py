"""Orientation and in-circle tests of the device against rational numbers, on points that defeat rounding."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from test_triangulation import rational_signs

from clgraph.runtime.session import Session

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
def test_points_off_a_line_or_a_circle_by_little(session: Session, offset: float) -> None:
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


def test_grids_and_neighbouring_floats(session: Session) -> None:
    rng = np.random.default_rng(2)
    corners = rng.integers(-3, 4, (400, 4, 2)).astype(np.float64)
    moved = np.nextafter(corners[:200] * 0.1, rng.choice([-np.inf, np.inf], (200, 4, 2)))
    found = check(session, np.concatenate([corners, moved]))
    assert (found[:, 2] == 0).any() and (found[:, 3] == 0).any()


@pytest.mark.parametrize(("low", "high"), [(-1e-8, 1e-8), (-1e8, 1e8), (-300, 300)])
def test_ranges(session: Session, low: float, high: float) -> None:
    rng = np.random.default_rng(3)
    if high == 300:  # exponents from 10^-300 to 10^300 in one call
        points = rng.choice([-1.0, 1.0], (300, 4, 2)) * 10.0 ** rng.uniform(low, high, (300, 4, 2))
    else:
        points = rng.uniform(low, high, (300, 4, 2))
        points[::2, 3] = points[::2, 0] + 1e-13 * (points[::2, 1] - points[::2, 0])
        points[1::2, 2] = 0.5 * (points[1::2, 0] + points[1::2, 1])
    check(session, points)
