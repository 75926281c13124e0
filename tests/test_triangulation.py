"""Exact signs, triangulations of points, and planar graphs with their holes and regions."""

import base64
import dataclasses
import gzip
import importlib.util
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import DATA, ROOT
from numpy.typing import NDArray
from scipy.spatial import Delaunay

import clgraph as cg
from clgraph.data.meshes import segment_recovery, triangle_mesh
from clgraph.data.meshes.planar_graph import PlanarGraph, unique_points
from clgraph.data.meshes.predicates import incircle, orient2d, turn
from clgraph.data.meshes.triangle_lists import TriangleLists
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.data.meshes.triangulation import Triangulation, convex_hull
from clgraph.errors import (
    GraphError,
    GraphFileError,
    GraphFileWarning,
    InputError,
    MeshError,
    MissingExtraError,
    VerificationError,
)
from clgraph.reference.refine_mesh import check_delaunay
from clgraph.runtime.session import Session

sys.path.append(str(ROOT / "tools"))
from fuzz_meshes import check_triangulation, run, triangulated

SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]]


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


POINTS = {
    "random": lambda: np.random.default_rng(0).random((3000, 2)),
    "grid": lambda: np.argwhere(np.ones((40, 30))).astype(float),
    "rounded grid": lambda: np.argwhere(np.ones((30, 40))) / [3.0, 7.0],
    "circle": lambda: np.unique(np.round([(np.cos(x), np.sin(x)) for x in range(300)], 12), axis=0),
    "fan": lambda: np.append(np.repeat(np.arange(500.0), 2).reshape(-1, 2), [[0, 1]], axis=0),
    "clusters": lambda: np.random.default_rng(1).normal(size=(2000, 2)) * 10.0 ** np.arange(-8, 12, 0.01)[:, None],
    "1e-300": lambda: np.unique(np.random.default_rng(2).integers(0, 50, (500, 2)), axis=0) * 1e-300,
    "last bits": lambda: np.unique(0.5 + np.random.default_rng(2).integers(-9, 9, (200, 2)) * 2.0**-53, axis=0),
    "triangle": lambda: np.array([[0.0, 0], [1, 0], [0, 1]]),
}


@pytest.mark.parametrize("name", POINTS)
def test_points_become_delaunay(name):
    points = POINTS[name]()
    found = Triangulation.of_points(points)
    mesh = TriangleMesh.from_arrays(points, found.corners.reshape(-1, 3))
    check_delaunay(mesh)
    assert (mesh.neighbors == found.twins.reshape(-1, 3) // 3).all()
    hull = np.flatnonzero(np.bincount(mesh.segments[mesh.segment_markers == 1].ravel()))
    assert set(convex_hull(points)) <= set(hull)
    assert mesh.n_triangles == 2 * len(points) - 2 - len(hull)  # by Euler, so the convex hull is covered


def test_any_mesh_becomes_delaunay():
    """A fan of thin triangles with a segment that stays, and a mesh of which some edges are Delaunay."""
    angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    points = np.column_stack([np.cos(angle), 0.3 * np.sin(angle)]) * np.random.default_rng(0).uniform(0.99, 1, (100, 1))
    fan = [[0, k, k + 1] for k in range(1, 99) if orient2d(*points[[[0], [k], [k + 1]]])[0] > 0]
    mesh = TriangleMesh.from_arrays(points, fan, [[0, 50]])
    with pytest.raises(VerificationError, match="not Delaunay"):
        check_delaunay(mesh, unused_points=True)
    better = mesh.to_delaunay()
    check_delaunay(better, original=mesh, unused_points=True)
    assert [0, 50] in better.segments.tolist()
    again = better.to_delaunay()
    assert np.array_equal(again.triangles, better.triangles)


def test_points_on_a_line_are_refused():
    for points in ([], [[0, 0]], SQUARE[:2], [[k, 2 * k] for k in range(50)], [[0.1, 0.1]] * 9):
        with pytest.raises(MeshError, match="on a line"):
            PlanarGraph.from_arrays(points).triangulate()


def test_equal_points_have_the_number_of_the_first():
    points = np.array([[1.0, 0], [0, 0], [1, 0], [-0.0, 0], [5, 5], [1, 0]])
    first, number = unique_points(points)
    assert first.tolist() == [0, 1, 4]
    assert number.tolist() == [0, 1, 0, 1, 2, 0]


def test_scipy_triangulation():
    mesh = TriangleMesh.from_scipy(Delaunay(np.random.default_rng(0).random((200, 2))))
    check_delaunay(mesh)
    with pytest.raises(MeshError, match="Delaunay"):
        TriangleMesh.from_scipy(3)


def test_a_mesh_tells_angles_and_areas():
    mesh = TriangleMesh.from_arrays([[0, 0], [2, 0], [0, 2], [2, 2]], [[0, 1, 2], [1, 2, 3]])
    assert mesh.triangles.tolist() == [[0, 1, 2], [1, 3, 2]]  # clockwise ones are turned round
    np.testing.assert_allclose(mesh.angles(), [[90, 45, 45], [45, 90, 45]])
    np.testing.assert_allclose(mesh.areas(), 2)
    quality = mesh.quality()
    assert (quality.n_triangles, quality.total_area) == (2, 4)
    assert (quality.angle_histogram.sum(), round(quality.min_angle, 9)) == (6, 45)
    edges, markers = mesh.edges()
    assert sorted(map(sorted, edges.tolist())) == [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]
    assert markers.sum() == 4
    assert repr(mesh) == "TriangleMesh(n_points=4, n_triangles=2)"


@pytest.mark.parametrize(("change", "match"), [
    ({"points": [[0, 0], [1, 0], [0, np.nan]]}, r"points\[2\]"),
    ({"points": [[0, 0, 0]]}, "shape"),
    ({"points": [["a", "b"]]}, "type"),
    ({"triangles": [[0, 1, 3]]}, r"triangles\[0\].*0 to 2"),
    ({"triangles": [[0, 1, -1]]}, r"triangles\[0\]"),
    ({"triangles": [[0, 1, 1]]}, "different"),
    ({"triangles": [[0.5, 1, 2]]}, "integers"),
    ({"points": [[0, 0], [1, 1], [2, 2]]}, "no area"),
    ({"points": [*SQUARE, [2, 0]], "triangles": [[0, 1, 2], [0, 1, 4]]}, r"triangles\[1\] = \[0, 1, 4\] has no area"),
    ({"triangles": [[0, 1, 2], [1, 0, 2]]}, "same side"),
    ({"points": [*SQUARE, [2, 3]], "triangles": [[0, 1, 2], [0, 1, 3], [0, 1, 4]]}, "same side"),
    ({"points": SQUARE, "segments": [[0, 3]]}, "no edge"),
    ({"segments": [[0, 1]], "segment_markers": [1, 2]}, "segment_markers"),
    ({"point_markers": [2**40, 0, 0]}, "int32"),
    ({"point_attributes": [[1.0]]}, "point_attributes"),
    ({"region_attributes": [np.nan]}, "region_attributes"),
    ({"max_areas": "many"}, "max_areas"),
])  # fmt: skip
def test_a_wrong_mesh_is_refused(change, match):
    given = {"points": SQUARE[:3], "triangles": [[0, 1, 2]], **change}
    with pytest.raises(MeshError, match=match):
        TriangleMesh.from_arrays(**given)
    assert not issubclass(MeshError, GraphError) and issubclass(MeshError, InputError)


def test_holes_and_regions():
    """A frame with a wall through it: the inner square is a hole, the walls divide what is left into two regions."""
    inner = [[1, 1], [2, 1], [2, 2], [1, 2]]
    outer = [[0, 0], [3, 0], [3, 3], [0, 3]]
    ring = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    graph = PlanarGraph.from_arrays(
        outer + inner,
        np.concatenate([ring, ring + 4, [[0, 4], [2, 6]]]),
        holes=[[1.5, 1.5]],
        regions=[[2.5, 0.5, 7, 0.25], [0.5, 2.5, 8, 0], [9, 9, 9, 9]],
        segment_markers=[5] * 4 + [0] * 6,
    )
    mesh = graph.triangulate()
    check_delaunay(mesh, holes=graph.holes)
    assert mesh.areas().sum() == pytest.approx(8)
    centers = mesh.points[mesh.triangles].mean(axis=1)
    below = centers[:, 0] > centers[:, 1]
    assert (mesh.region_attributes == np.where(below, 7, 8)).all()
    assert (mesh.max_areas == np.where(below, 0.25, np.inf)).all()
    assert mesh.point_markers.tolist() == [5] * 4 + [1] * 4
    assert sorted(mesh.segment_markers.tolist()) == [0] * 2 + [1] * 4 + [5] * 4
    whole = dataclasses.replace(graph, holes=graph.holes[:0]).triangulate()
    assert whole.areas().sum() == pytest.approx(9)
    assert (whole.region_attributes == 0).sum() == 2


def test_segments_cross_and_touch():
    """A point on a segment divides it, and so does a crossing, which gets marker and attributes of the segment."""
    graph = PlanarGraph.from_arrays(
        [*SQUARE, [0.5, 0], [0.25, 0.25]],
        [[0, 2], [1, 3], [0, 1], [0, 1], [1, 0], [2, 2]],
        segment_markers=[4, 6, 8, 9, 9, 9],
        point_attributes=[0, 1, 2, 3, 4, 5],
    )
    mesh = graph.triangulate(convex_hull=True)
    check_triangulation(graph, mesh)
    assert mesh.points[6:].tolist() == [[0.5, 0.5]]
    assert mesh.point_markers[6] in (4, 6)
    assert mesh.point_attributes[6, 0] in (1, 2)
    ends = map(tuple, np.sort(mesh.segments, axis=1).tolist())
    assert dict(zip(ends, mesh.segment_markers.tolist(), strict=True)) == {
        (0, 5): 4, (5, 6): 4, (2, 6): 4, (1, 6): 6, (3, 6): 6, (0, 4): 8, (1, 4): 8, (1, 2): 1, (2, 3): 1, (0, 3): 1,
    }  # fmt: skip


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(("below", "n_points"), [(2.0**-52, 5), (2.0**-30, 6)])
def test_a_segment_ends_on_another_but_for_rounding(below, n_points, swap):
    """An end within rounding of a segment divides it. An end farther behind it makes a crossing."""
    points, segments = [[0, 0], [1, 0], [0.5, -below], [0.25, 1], [0.5, -1]], [[0, 1], [2, 3]]
    graph = PlanarGraph.from_arrays(points, segments[::-1] if swap else segments)
    mesh = graph.triangulate(convex_hull=True)
    check_triangulation(graph, mesh)
    assert mesh.points[:5].tolist() == points and mesh.n_points == n_points
    middle = n_points - 1 if n_points > 5 else 2
    assert {(0, middle), (1, middle)} <= set(map(tuple, np.sort(mesh.segments, axis=1).tolist()))


def test_a_segment_crosses_as_many_others_as_there_are():
    """Only crossings of the same two segments are counted to find out whether rounding makes new ones without end."""
    fence = [[x, y] for x in range(200) for y in (0, 1)]
    ends = [[2 * k, 2 * k + 1] for k in range(200)]
    graph = PlanarGraph.from_arrays([*fence, [-1, 0.5], [200, 0.5]], [*ends, [400, 401]])
    mesh = graph.triangulate(convex_hull=True)
    check_triangulation(graph, mesh)
    assert mesh.n_points == 402 + 200


def test_points_keep_their_numbers():
    points = [*SQUARE, [0, 0], [5, 5], [0.5, 0.5]]
    graph = PlanarGraph.from_arrays(points, [[4, 1], [1, 2], [2, 3], [3, 0]])
    kept, used = graph.triangulate(keep_points=True), graph.triangulate()
    assert kept.points.tolist() == points
    assert np.unique(kept.triangles).tolist() == [0, 1, 2, 3, 6]
    assert used.n_points == 5
    check_delaunay(used)
    check_delaunay(kept, unused_points=True)
    with pytest.raises(VerificationError, match="in no triangle"):
        check_delaunay(kept)


def test_a_needle_and_a_sharp_angle():
    needle = PlanarGraph.from_arrays([[0, 0], [1, 0], [1, 1e-9]], [[0, 1], [1, 2], [2, 0]]).triangulate()
    check_delaunay(needle)
    assert needle.n_triangles == 1
    angle = np.radians(1.0)
    far = 1e8 * np.array([[0, 0], [1, 0], [np.cos(angle), np.sin(angle)]])
    check_delaunay(PlanarGraph.from_arrays(far, [[0, 1], [0, 2]]).triangulate(convex_hull=True))


def test_nothing_is_left():
    open_line = PlanarGraph.from_arrays(SQUARE, [[0, 1], [1, 2]])
    with pytest.raises(MeshError, match="no triangle is left"):
        open_line.triangulate()
    assert open_line.triangulate(convex_hull=True).n_triangles == 2


@pytest.mark.parametrize(("change", "match"), [
    ({"points": [[np.inf, 0]]}, r"points\[0\]"),
    ({"segments": [[0, 4]]}, r"segments\[0\].*0 to 3"),
    ({"segments": [[0, 1, 2]]}, "segments"),
    ({"holes": [[0, np.nan]]}, r"holes\[0\]"),
    ({"regions": [[0, 0, 0, 0, 0]]}, "regions"),
    ({"regions": "x"}, "regions"),
    ({"point_attributes": np.zeros((3, 1))}, "point_attributes"),
])  # fmt: skip
def test_a_wrong_planar_graph_is_refused(change, match):
    with pytest.raises(MeshError, match=match):
        PlanarGraph.from_arrays(**{"points": SQUARE, **change})


def test_what_a_triangulation_has_not_is_told(monkeypatch):
    lists = TriangleLists(Triangulation.of_points(np.array(SQUARE, float)))
    with pytest.raises(MeshError, match=r"no edge from \(0.0, 0.0\) to \(0.0, 0.0\)"):
        lists.find(0, 0)
    monkeypatch.setattr(triangle_mesh, "MAX_TRIANGLES", 1)
    with pytest.raises(MeshError, match="2 triangles; allowed: at most 1"):
        TriangleMesh.from_arrays(SQUARE, [[0, 1, 2], [0, 2, 3]])
    monkeypatch.setattr(segment_recovery, "_PATIENCE", 0)
    with pytest.raises(MeshError, match="cannot be brought in by flips"):
        PlanarGraph.from_arrays([[0, 0], [2, 1], [4, 0], [2, -1]], [[0, 2]]).triangulate()


def test_flips_keep_the_links_of_both_sides():
    lists, flips = TriangleLists(Triangulation.of_points(np.random.default_rng(0).random((50, 2)))), 0
    for h in range(len(lists.twins)):
        if (g := lists.twins[h]) < 0:
            continue
        c, d, (s, e) = lists.corners[h], lists.corners[g], lists.ends(h)
        if lists.turn(c, s, d) > 0 and lists.turn(d, e, c) > 0:
            lists.flip(h)
            flips += 1
            assert all(lists.twins[twin] == each for each, twin in enumerate(lists.twins) if twin >= 0)
    assert flips > 50


def test_many_segments_are_recovered():
    """A star-shaped line through random points, hardly any of it among the Delaunay edges."""
    rng = np.random.default_rng(5)
    angle = np.sort(rng.uniform(0, 2 * np.pi, 600))
    line = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.uniform(0.3, 1, (600, 1))
    points = np.concatenate([line, rng.uniform(-1, 1, (3000, 2))])
    ring = np.column_stack([np.arange(600), (np.arange(600) + 1) % 600])
    graph = PlanarGraph.from_arrays(points, ring)
    whole = graph.triangulate(convex_hull=True)
    check_triangulation(graph, whole)
    mesh = graph.triangulate()
    check_delaunay(mesh)
    x, y = line.T
    assert mesh.areas().sum() == pytest.approx(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


@pytest.mark.long
def test_hostile_planar_graphs_end_in_a_mesh_or_an_error():
    ends, n_faults = run(triangulated, 250, seed=7)
    assert ends["mesh"] > 150 and not n_faults


def test_a_lost_segment_is_found():
    """The check of the test above sees a segment that is not there."""
    graph = PlanarGraph.from_arrays([*SQUARE, [3, 0.2]], [[0, 2]])
    mesh = graph.triangulate(convex_hull=True, keep_points=True)
    without = dataclasses.replace(
        mesh, segments=mesh.segments[mesh.segment_markers == 1], segment_markers=np.ones(5, np.int32)
    )
    with pytest.raises(VerificationError, match="is not there"):
        check_triangulation(graph, without)


# ---- predicates on devices


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


# ---- files


POLY = """# a square with a square hole
8 2 1 1   # points, of the plane, one attribute, markers
0  0 0  1.5  7
1  3 0  2.5  7
2  3 3  3.5  0
3  0 3  4.5  0

4  1 1  0    0
5  2 1  0    0
6  2 2  0    0
7  1 2  0    0
8 1
0 0 1 5
1 1 2 0
2 2 3 0
3 3 0 0
# the hole
4 4 5 0
5 5 6 0
6 6 7 0
7 7 4 0
1
0 1.5 1.5
1
0 0.5 0.5 9 0.25
"""


def same(one, other):
    """Return whether all arrays of two meshes or planar graphs are equal."""
    return all(np.array_equal(getattr(one, f.name), getattr(other, f.name)) for f in dataclasses.fields(one))


@pytest.fixture
def poly(tmp_path):
    path = tmp_path / "square.poly"
    path.write_text(POLY)
    return path


def test_a_planar_graph_is_read(poly):
    graph = cg.read_planar_graph(poly)
    assert graph.points[2].tolist() == [3, 3]
    assert graph.point_attributes[:4, 0].tolist() == [1.5, 2.5, 3.5, 4.5]
    assert graph.point_markers.tolist() == [7, 7, 0, 0, 0, 0, 0, 0]
    assert graph.segments[-1].tolist() == [7, 4]
    assert graph.segment_markers.tolist() == [5, 0, 0, 0, 0, 0, 0, 0]
    assert graph.holes.tolist() == [[1.5, 1.5]]
    assert graph.regions.tolist() == [[0.5, 0.5, 9, 0.25]]
    assert graph.triangulate().areas().sum() == pytest.approx(8)


@pytest.mark.parametrize("name", ["copy.poly", "copy.1.poly.gz"])
def test_a_planar_graph_is_written(poly, tmp_path, name):
    graph = cg.read_planar_graph(poly)
    cg.write_planar_graph(graph, tmp_path / name)
    assert same(cg.read_planar_graph(tmp_path / name), graph)


@pytest.mark.parametrize("name", ["m.node", "m.ele", "m.1.ele.gz"])
def test_a_mesh_is_written_and_read(poly, tmp_path, name):
    mesh = cg.read_planar_graph(poly).triangulate()
    cg.write_mesh(mesh, tmp_path / name)
    again = cg.read_mesh(tmp_path / name)
    assert same(again, mesh)
    assert again.max_areas.tolist() == [0.25] * mesh.n_triangles


def test_numbers_may_begin_with_one_and_points_may_be_beside(tmp_path):
    (tmp_path / "a.node").write_text("3 2 0 0\n1 0 0\n2 1 0\n3 0 1e0\n")
    (tmp_path / "a.poly").write_text("0\n3 0\n1 1 2\n2 2 3\n3 3 1\n0\n2\n1 0.1 0.1 4\n2 9 9 4\n")
    (tmp_path / "a.ele").write_text("1 6 0\n1 1 2 3 1 2 3\n")
    graph = cg.read_planar_graph(tmp_path / "a.poly")
    assert graph.segments.tolist() == [[0, 1], [1, 2], [2, 0]]
    assert graph.regions.tolist() == [[0.1, 0.1, 4, 4], [9, 9, 4, 4]]  # one number stands for both
    mesh = cg.read_mesh(tmp_path / "a.node")
    assert mesh.triangles.tolist() == [[0, 1, 2]]
    assert len(cg.read_planar_graph(tmp_path / "a.node").points) == 3


@pytest.mark.parametrize(("old", "new", "match"), [
    ("8 2 1 1 ", "8 3 1 1 ", "line 2.*header"),
    ("8 2 1 1 ", "1000000000 2 1 1 ", "line 2.*no more than"),
    ("8 2 1 1 ", "9 2 1 1 ", "line 12"),
    ("8 2 1 1 ", "8.5 2 1 1 ", "line 2"),
    ("8 2 1 1 ", "8 2 1 2 ", "line 2"),
    ("2  3 3", "5  3 3", "line 5.*number 2 in front"),
    ("2  3 3  3.5  0", "2  3 3", "line 5"),
    ("2  3 3", "2  3 x", "line 5"),
    ("2  3 3", "2  3 1e400", "line 5"),
    ("2  3 3  3.5  0", "2  3 3  3.5  0.5", "line 5.*marker"),
    ("0  0 0", "4  0 0", "line 3.*number 0 or 1"),
    ("5 5 6 0", "5 5 8 0", "line 19.*0 to 7"),
    ("8 1\n", "8 2\n", "line 12.*markers"),
    ("1\n0 1.5 1.5\n", "9\n0 1.5 1.5\n", "line 22.*no more"),
    ("1\n0 1.5 1.5\n", "1 1\n0 1.5 1.5\n", "line 22.*holes"),
    ("0.5 0.5 9 0.25", "0.5 0.5", "line 25.*regions"),
])  # fmt: skip
def test_a_malformed_file_is_refused(poly, old, new, match):
    assert old in POLY
    poly.write_text(POLY.replace(old, new))
    with pytest.raises(GraphFileError, match=match):
        cg.read_planar_graph(poly)


@pytest.mark.parametrize(("name", "text", "match"), [
    (".node", None, "cannot be read"),
    (".ele", None, "cannot be read"),
    (".ele", "", "the file ends"),
    (".ele", "1 4 0\n1 1 2 3 4\n", "3 or 6 corners"),
    (".ele", "1\n1 1 2 4\n", "numbers from 1 to 3"),
    (".ele", "2\n1 1 2 3\n2 2 1 3\n", "same side"),
    (".poly", "0 2 0 0\n1\n1 1 4\n0\n", "numbers from 1 to 3"),
    (".area", "2\n1 3\n2 3\n", "max_areas"),
])  # fmt: skip
def test_a_malformed_mesh_is_refused(tmp_path, name, text, match):
    files = {".node": "3 2\n1 0 0\n2 1 0\n3 0 1\n", ".ele": "1\n1 1 2 3\n", name: text}
    for suffix, content in files.items():
        if content is not None:
            (tmp_path / f"m{suffix}").write_text(content)
    with pytest.raises(GraphFileError, match=match):
        cg.read_mesh(tmp_path / "m.ele")


def test_vtu_has_what_the_mesh_has(poly, tmp_path):
    mesh = cg.read_planar_graph(poly).triangulate()
    cg.write_mesh(mesh, tmp_path / "m.vtu")
    arrays = {}
    for array in ElementTree.parse(tmp_path / "m.vtu").iter("DataArray"):
        content = base64.b64decode(array.text)
        assert int.from_bytes(content[:8], "little") == len(content) - 8
        arrays[array.get("Name")] = np.frombuffer(content[8:], array.get("type").lower())
    assert np.array_equal(arrays["Points"].reshape(-1, 3)[:, :2], mesh.points)
    t, s = mesh.n_triangles, len(mesh.segments)
    assert np.array_equal(arrays["connectivity"][: 3 * t].reshape(-1, 3), mesh.triangles)
    assert np.array_equal(arrays["connectivity"][3 * t :].reshape(-1, 2), mesh.segments)
    assert arrays["offsets"].tolist() == [*range(3, 3 * t + 1, 3), *range(3 * t + 2, 3 * t + 2 * s + 1, 2)]
    assert arrays["types"].tolist() == [5] * t + [3] * s
    assert np.array_equal(arrays["min_angle"][:t], mesh.angles().min(axis=1))
    assert np.array_equal(arrays["region"][:t], mesh.region_attributes)
    assert np.array_equal(arrays["attribute_0"], mesh.point_attributes.ravel())


def test_other_suffixes_need_meshio(poly, tmp_path, monkeypatch):
    mesh = cg.read_planar_graph(poly).triangulate()
    monkeypatch.setitem(sys.modules, "meshio", None)
    for call in (lambda: cg.write_mesh(mesh, tmp_path / "m.stl"), lambda: cg.read_mesh(tmp_path / "m.msh")):
        with pytest.raises(MissingExtraError, match="needs meshio: pip install"):
            call()


needs_meshio = pytest.mark.skipif(importlib.util.find_spec("meshio") is None, reason="meshio is not installed")


def two_materials(**changes):
    """Return a mesh with a segment between two regions, and with something in every array."""
    points = [[0, 0], [2, 0], [4, 0], [0, 2], [2, 2], [4, 2], [0.1, 1e-300]]
    given = {
        "segments": [[0, 1], [1, 2], [2, 5], [5, 4], [4, 3], [3, 0], [1, 4]],
        "segment_markers": [21, 0, 22, -23, 23, 2**31 - 1, 25], "point_markers": [0, 4, 0, 0, -1, 2**31 - 1, 9],
        "point_attributes": np.column_stack([np.arange(7) / 3, -np.arange(7.0)]), "region_attributes": [7, 8, 7, 8],
        "max_areas": [0.5, np.inf, -1, 1 / 3],
    }  # fmt: skip
    return cg.TriangleMesh.from_arrays(points, [[0, 1, 4], [1, 2, 5], [0, 4, 3], [1, 5, 4]], **given | changes)


def by_place(mesh, columns):
    """Return all that a mesh and *columns* hold, by the numbers of points."""
    fields = "triangles", "region_attributes", "max_areas"
    of_cells = {name: value for name in fields if (value := getattr(mesh, name)) is not None} | columns
    triangles = {frozenset(row[0]): row[1:] for row in zip(*(c.tolist() for c in of_cells.values()), strict=True)}
    segments = {
        frozenset(ends): marker
        for ends, marker in zip(mesh.segments.tolist(), mesh.segment_markers.tolist(), strict=True)
    }
    points = mesh.points.tolist(), mesh.point_markers.tolist(), mesh.point_attributes.tolist()
    return [*of_cells], triangles, segments, points


@needs_meshio
@pytest.mark.parametrize("regions", [[7, 8, 7, 8], [0.5, 8, 0.5, 2**40], [0, 0, 0, 0], [-1, 0, -1, 0], None])
@pytest.mark.parametrize("name", ["m.msh", "m.vtu", "m.vtk", "m.msh.gz", "m.vtu.xz"])
def test_files_hold_all_of_a_mesh(tmp_path, name, regions):
    mesh = two_materials(region_attributes=regions)
    data = {"heat": np.array([1 / 3, np.pi, -1e300, 0]), "number": np.arange(4), "on": np.array([True, False] * 2)}
    cg.write_mesh(mesh, tmp_path / name, cell_data=data)
    again, found = cg.read_mesh(tmp_path / name, cell_data=True)
    assert by_place(again, {key: found[key] for key in data}) == by_place(mesh, data)
    assert {*found} - {*data} == ({"min_angle", "area"} if ".vtu" in name else set())
    assert same(cg.read_mesh(tmp_path / name), again)
    if ".msh" not in name:
        assert same(again, mesh)
    assert [file.name for file in tmp_path.iterdir()] == [name]


@needs_meshio
def test_gmsh_has_regions_and_markers_as_physical_groups(tmp_path):
    import meshio

    cg.write_mesh(two_materials(), tmp_path / "m.msh")
    found = meshio.read(tmp_path / "m.msh", "gmsh")
    groups = found.get_cell_data("gmsh:physical", "triangle"), found.get_cell_data("gmsh:physical", "line")
    assert [sorted(column.tolist()) for column in groups] == [[7, 7, 8, 8], [-23, 0, 21, 22, 23, 25, 2**31 - 1]]
    text = (tmp_path / "m.msh").read_text()
    assert text.startswith("$MeshFormat\n4.1 0 8\n") and "\n1 0 0 0 2 2 0 1 7 0\n" in text


@needs_meshio
@pytest.mark.parametrize(("format", "names"), [
    ("gmsh22", ["gmsh:physical", "gmsh:geometrical"]),
    ("vtk", ["gmsh:physical", "gmsh:geometrical"]),
    ("vtk", ["gmsh:geometrical"]),
    ("vtk", ["medit:ref", "gmsh:geometrical"]),
    ("vtk", ["marker", "gmsh:physical"]),
])  # fmt: skip
def test_interfaces_and_regions_of_others_stay(tmp_path, format, names):
    import meshio

    mesh = two_materials(segment_markers=[21, 21, 22, 23, 23, 24, 25])
    points, cells = np.pad(mesh.points, ((0, 0), (0, 1))), [("line", mesh.segments), ("triangle", mesh.triangles)]
    tags = [mesh.segment_markers, mesh.region_attributes.astype(np.int32)]
    data = {name: tags if name == names[0] else [column + 100 for column in tags] for name in names}
    file = tmp_path / ("m.vtk" if format == "vtk" else "m.msh")
    meshio.write(file, meshio.Mesh(points, cells, cell_data=data), file_format=format)
    again = cg.read_mesh(file)
    assert np.array_equal(again.segments, mesh.segments) and again.segment_markers.tolist() == tags[0].tolist()
    regions = tags[1] + 100 * (names[0] == "marker")  # Markers belong to segments only.
    assert again.region_attributes.tolist() == regions.tolist()
    refined = cg.refine_mesh(again, min_angle=30, max_area=0.3, session="cpu")
    x = refined.points[refined.triangles][..., 0]
    assert not ((x.min(axis=1) < 2) & (x.max(axis=1) > 2)).any()
    is_left = x.min(axis=1) < 2
    assert {*refined.region_attributes[is_left]} == {regions[0]}


@needs_meshio
@pytest.mark.parametrize(("changes", "message"), [
    ({"cells": [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])]}, "no triangles but 2 quad"),
    ({"cells": [("line", [[0, 1]])]}, "there are no triangles$"),
    ({"cells": [("triangle", [[0, 1, 4]]), ("line", [[0, 5]])]}, r"segments\[0\] = \[0, 5\] is no edge"),
    ({"cells": [("triangle", [[0, 1, 2]])]}, "has no area"),
    ({"cell_data": {"marker": [[0.0] * 4, [0.5] * 7]}}, "segment_markers has"),
])  # fmt: skip
def test_what_is_no_mesh_is_refused(tmp_path, changes, message):
    import meshio

    mesh = two_materials()
    points = np.pad(mesh.points, ((0, 0), (0, 1)))
    cells = [("triangle", mesh.triangles), ("line", mesh.segments)]
    meshio.write(tmp_path / "m.vtk", meshio.Mesh(points, **{"cells": cells} | changes))
    with pytest.raises(GraphFileError, match=message):
        cg.read_mesh(tmp_path / "m.vtk")


@needs_meshio
def test_what_a_mesh_does_not_hold_is_told(tmp_path):
    import meshio

    mesh = two_materials()
    points = np.column_stack([mesh.points, mesh.points[:, 0] ** 2])
    meshio.write(tmp_path / "z.vtk", meshio.Mesh(points, [("triangle", mesh.triangles)]))
    with pytest.warns(GraphFileWarning, match="the third coordinate, 0 to 16, is left out"):
        cg.read_mesh(tmp_path / "z.vtk")
    cells = [("triangle", mesh.triangles[[0, 2]]), ("quad", [[1, 2, 5, 4]]), ("vertex", [[0]])]
    meshio.write(tmp_path / "q.vtk", meshio.Mesh(points[:, :2], cells))
    with pytest.warns(GraphFileWarning, match="left out: 1 quad$"):
        cg.read_mesh(tmp_path / "q.vtk")
    for call in (
        lambda: cg.write_mesh(mesh, tmp_path / "m.obj", cell_data={"heat": [1, 2, 3, 4]}),
        lambda: cg.write_mesh(mesh, tmp_path / "m.ele", cell_data={"heat": [1, 2, 3, 4]}),
    ):
        with pytest.warns(GraphFileWarning, match="files do not hold .*cell_data") as told:
            call()
        assert ("segments inside, markers" in str(told[0].message)) == ("obj" in str(told[0].message))
    assert np.array_equal(cg.read_mesh(tmp_path / "m.obj").triangles, mesh.triangles)
    plain = cg.TriangleMesh.from_arrays(mesh.points, mesh.triangles)
    cg.write_mesh(plain, tmp_path / "m.obj")  # no warning: all of it is there


@needs_meshio
@pytest.mark.parametrize("name", ["m.msh", "m.vtu", "m.vtk", "m.off"])
def test_a_file_that_cannot_be_written_is_as_before(tmp_path, name, monkeypatch):
    (tmp_path / name).write_text("before")
    mesh = cg.TriangleMesh.from_arrays([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cg.io.text.os if name in ("m.msh", "m.vtu") else cg.io.meshes.os, "replace", fail)
    with pytest.raises(GraphFileError, match="No space left"):
        cg.write_mesh(mesh, tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == [name] and (tmp_path / name).read_text() == "before"


@pytest.mark.parametrize(("cell_data", "message"), [
    ([1, 2], "allowed: a dictionary"),
    ({"a b": [1, 2, 3, 4]}, "has the name 'a b'"),
    ({3: [1, 2, 3, 4]}, "has the name 3"),
    ({"region": [1, 2, 3, 4]}, "has the name 'region'"),
    ({"a": [1, 2]}, r"cell_data\['a'\] has shape \(2,\)"),
    ({"a": ["x", "y", "z", "u"]}, "needed: numbers"),
    ({"a": [2**53 + 1, 0, 0, 0]}, r"a\[0\] = 9007199254740993; allowed in Gmsh's files"),
])  # fmt: skip
def test_wrong_columns_are_refused(tmp_path, cell_data, message):
    with pytest.raises(InputError, match=message):
        cg.write_mesh(two_materials(), tmp_path / "m.msh", cell_data=cell_data)
    assert [*tmp_path.iterdir()] == []


@needs_meshio
def test_meshio(poly, tmp_path):
    mesh = cg.read_planar_graph(poly).triangulate()
    with pytest.warns(GraphFileWarning, match=r"\.off files do not hold"):
        cg.write_mesh(mesh, tmp_path / "m.off")
    again = cg.read_mesh(tmp_path / "m.off")
    assert np.array_equal(again.points, mesh.points) and np.array_equal(again.triangles, mesh.triangles)
    with pytest.raises(GraphFileError):
        cg.write_mesh(mesh, tmp_path / "m.unknown")
    for name in ("m.off", "m.msh", "m.vtk", "m.vtu"):
        (tmp_path / name).write_text("nonsense")
        with pytest.raises(GraphFileError):
            cg.read_mesh(tmp_path / name)


def test_wrong_arguments_are_refused(poly, tmp_path):
    graph = cg.read_planar_graph(poly)
    for call in (
        lambda: cg.read_planar_graph("a.txt"),
        lambda: cg.write_planar_graph(graph, tmp_path / "a.txt"),
        lambda: cg.write_planar_graph(3, tmp_path / "a.poly"),
        lambda: cg.write_mesh(graph, tmp_path / "a.ele"),
        lambda: cg.write_mesh(graph.triangulate(), tmp_path / "none" / "a.ele"),
    ):
        with pytest.raises(InputError):
            call()


@pytest.mark.skipif(not (DATA / "la.poly").exists(), reason="the shared data is not here")
def test_files_of_others():
    graph = cg.read_planar_graph(DATA / "la.poly")
    assert (len(graph.points), len(graph.segments), len(graph.regions)) == (141, 148, 6)
    assert graph.triangulate().n_triangles == 265
    mesh = cg.read_mesh(DATA / "greenland.ele.gz")
    assert (mesh.n_points, mesh.n_triangles) == (33343, 64125)
    text = gzip.decompress(Path(DATA / "greenland.node.gz").read_bytes()).decode().split("\n")
    assert text[1].split()[1:3] == [f"{x:g}" for x in mesh.points[0]]
