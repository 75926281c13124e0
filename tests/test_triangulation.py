"""Triangulations of points, and planar graphs with their holes and regions."""

import dataclasses
import sys

import numpy as np
import pytest
from conftest import ROOT
from scipy.spatial import Delaunay

from clgraph.data.meshes import segment_recovery, triangle_mesh
from clgraph.data.meshes.planar_graph import PlanarGraph, unique_points
from clgraph.data.meshes.predicates import orient2d
from clgraph.data.meshes.triangle_lists import TriangleLists
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.data.meshes.triangulation import Triangulation, convex_hull
from clgraph.errors import GraphError, InputError, MeshError, VerificationError
from clgraph.reference.refine_mesh import check_delaunay

sys.path.append(str(ROOT / "tools"))
from fuzz_meshes import check_triangulation, run, triangulated

SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]]


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
    assert mesh.n_triangles == 2 * len(points) - 2 - len(hull)  # Euler's formula: the convex hull is covered.


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


def test_a_triangulation_of_scipy_is_taken():
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


def test_holes_are_cut_and_regions_are_numbered():
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


def test_segments_that_cross_or_touch_are_split():
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
    """Crossings are counted for each pair of segments, to stop if rounding makes new ones without end."""
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


def test_a_needle_and_a_sharp_angle_are_triangulated():
    needle = PlanarGraph.from_arrays([[0, 0], [1, 0], [1, 1e-9]], [[0, 1], [1, 2], [2, 0]]).triangulate()
    check_delaunay(needle)
    assert needle.n_triangles == 1
    angle = np.radians(1.0)
    far = 1e8 * np.array([[0, 0], [1, 0], [np.cos(angle), np.sin(angle)]])
    check_delaunay(PlanarGraph.from_arrays(far, [[0, 1], [0, 2]]).triangulate(convex_hull=True))


def test_a_graph_of_which_nothing_is_left_is_refused():
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
