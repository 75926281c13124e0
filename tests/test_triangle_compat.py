"""``clgraph.compat.triangulate`` gives what Triangle gives; Triangle itself runs in a child process, if it is there.

Its licence is not free, so it is no dependency, not even of tests: ``CLGRAPH_TRIANGLE_PYTHON`` names an interpreter
that has the package ``triangle``.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import DATA

import clgraph as cg
from clgraph.compat import triangulate
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.errors import ConvergenceWarning, InputError
from clgraph.reference.refine_mesh import check_delaunay

ORACLE = """
import json, sys
import numpy as np
import triangle
for line in sys.stdin:
    given, opts = json.loads(line)
    given = {key: np.array(values) for key, values in given.items()}
    found = {key: np.asarray(values) for key, values in triangle.triangulate(given, opts).items()}
    print(json.dumps({key: [str(values.dtype), values.shape, values.tolist()] for key, values in found.items()}))
"""
PYTHON = os.environ.get("CLGRAPH_TRIANGLE_PYTHON", sys.executable)
HAS_TRIANGLE = subprocess.run([PYTHON, "-c", "import triangle"], capture_output=True, check=False).returncode == 0
needs_triangle = pytest.mark.skipif(not HAS_TRIANGLE, reason="the package triangle is not installed")
SQUARE = {"vertices": [[0, 0], [1, 0], [1, 1], [0, 1]], "segments": [[0, 1], [1, 2], [2, 3], [3, 0]]}


def ask_triangle(cases):
    """Return what Triangle makes of each dictionary and options."""
    text = "".join(json.dumps([{key: np.asarray(v).tolist() for key, v in g.items()}, o]) + "\n" for g, o in cases)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    child = subprocess.run([PYTHON, "-c", ORACLE], input=text, capture_output=True, text=True, check=True, env=env)
    for line in child.stdout.splitlines():
        yield {k: np.array(values, kind).reshape(shape) for k, (kind, shape, values) in json.loads(line).items()}


def random_graph(rng, *, crossing):
    """Return a frame with a wall, a hole and random points, and perhaps segments that cross."""
    ring = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    frame = np.array([[0, 0], [4, 0], [4, 4], [0, 4], [1, 1], [2, 1.1], [2.2, 2], [1, 2.1]])
    # No two points are equal: Triangle 1.6 crashes on such input now and then.
    points = np.concatenate([frame, rng.uniform(0.05, 3.95, (30, 2)), [[6, 1]]])
    segments = np.concatenate([ring, ring + 4, [[0, 4]]])
    if crossing:
        segments = np.concatenate([segments, rng.integers(8, 38, (6, 2))])
        segments = segments[segments[:, 0] != segments[:, 1]]
    return {
        "vertices": points,
        "segments": segments,
        "holes": [[1.5, 1.5]],
        "regions": [[3, 0.5, 7, 0.2]],
        "segment_markers": rng.integers(0, 3, (len(segments), 1)),
        "vertex_markers": rng.integers(0, 2, (39, 1)),
        "vertex_attributes": rng.random((39, 2)),
    }


def by_rows(rows, *columns):
    """Return for each row its columns, without regard to the order within rows."""
    table = np.concatenate([np.sort(rows, axis=1), *columns], axis=1)
    return table[np.lexsort(table.T[::-1])]


def check_same(ours, theirs, opts):
    """Raise unless both have the same arrays, but for the order of triangles, edges, and of corners in each."""
    assert set(ours) == set(theirs), opts
    for key, values in theirs.items():
        assert (ours[key].dtype, ours[key].shape) == (values.dtype, values.shape), (opts, key)
    np.testing.assert_allclose(ours["vertices"], theirs["vertices"], rtol=1e-14)
    for key in {"vertex_markers", "vertex_attributes"} & set(theirs):
        np.testing.assert_allclose(ours[key], theirs[key], rtol=1e-12)
    of_rows = {"triangles": "triangle_attributes", "segments": "segment_markers", "edges": "edge_markers"}
    for rows, markers in of_rows.items():
        if rows in theirs:
            tables = [by_rows(found[rows], *([found[markers]] if markers in found else [])) for found in (ours, theirs)]
            assert np.array_equal(*tables), (opts, rows)


@needs_triangle
def test_random_graphs_are_triangulated_as_by_triangle():
    rng = np.random.default_rng(0)
    options = ["p", "pc", "pe", "pAn", "pAj", "", "c", "e"]
    cases = [(random_graph(rng, crossing=False), opts) for _ in range(12) for opts in options]
    for (given, opts), theirs in zip(cases, ask_triangle(cases), strict=True):
        check_same(triangulate(given, opts), theirs, opts)


@needs_triangle
def test_crossings_are_those_of_triangle():
    """Triangle may number them otherwise, and rounds them otherwise; there are as many, in the same places."""
    rng = np.random.default_rng(1)
    cases = [(random_graph(rng, crossing=True), "p") for _ in range(30)]
    for (given, _), theirs in zip(cases, ask_triangle(cases), strict=True):
        ours = triangulate(given, "p")
        places = [np.sort(np.round(found["vertices"][39:], 9).view("f8,f8").ravel()) for found in (ours, theirs)]
        assert np.array_equal(*places)
        assert len(ours["triangles"]) == len(theirs["triangles"])
        assert len(ours["segments"]) == len(theirs["segments"])


@pytest.mark.parametrize(("opts", "keys"), [
    ("", {"vertices", "vertex_markers", "triangles"}),
    ("pz", {"vertices", "vertex_markers", "triangles", "segments", "segment_markers"}),
    ("pB", {"vertices", "triangles", "segments"}),
    ("pen", {
        "vertices", "vertex_markers", "triangles", "segments", "segment_markers", "edges", "edge_markers", "neighbors",
    }),
    ("cQ", {"vertices", "vertex_markers", "triangles", "segments", "segment_markers"}),
    ("pP", {"vertices", "vertex_markers", "triangles"}),
    ("pN", {"triangles", "segments", "segment_markers"}),
    ("pEB", {"vertices", "segments"}),
    (" -p NPe", {"triangles", "edges", "edge_markers"}),
])  # fmt: skip
def test_keys_of_the_input_are_kept(opts, keys):
    assert set(triangulate(SQUARE, opts)) == keys


@needs_triangle
def test_keys_are_those_of_triangle():
    given = {**SQUARE, "vertex_attributes": [1.0, 2, 3, 4], "regions": [[0.5, 0.5, 1, 2]], "holes": [[9.0, 9]]}
    cases = [(given, "pAen" + left_out) for left_out in ("", "B", "P", "N", "E", "PNE", "BN")]
    for (_, opts), theirs in zip(cases, ask_triangle(cases), strict=True):
        assert set(triangulate(given, opts)) == set(theirs), opts


def test_whole_numbers_may_be_floats():
    """Tables of files are often read as floats, and Triangle takes them."""
    as_floats = {key: np.asarray(values, float) for key, values in SQUARE.items()}
    markers = {"vertex_markers": [5.0, 6, 7, 8], "segment_markers": [[2.0], [3], [4], [5]]}
    found = triangulate({**as_floats, **markers}, "p")
    assert found["vertex_markers"].ravel().tolist() == [5, 6, 7, 8]
    assert found["segment_markers"].ravel().tolist() == [2, 3, 4, 5]
    triangles = triangulate({"vertices": SQUARE["vertices"], "triangles": [[0.0, 1, 2], [0, 2, 3]]}, "r")["triangles"]
    assert sorted(map(sorted, triangles.tolist())) == [[0, 1, 2], [0, 2, 3]]


def test_a_limit_is_told_of_also_where_segments_stay_whole(session):
    with pytest.warns(ConvergenceWarning, match="max_points = 6"):
        triangulate({"vertices": [*SQUARE["vertices"], [0.5, 0.4]]}, "qa0.001YS1", session=session)


def test_points_outside_are_left_out_on_request():
    given = {**SQUARE, "vertices": [*SQUARE["vertices"], [5, 5]]}
    assert len(triangulate(given, "p")["vertices"]) == 5
    assert len(triangulate(given, "pj")["vertices"]) == 4


def test_regions_give_attributes_only_with_option_a_large():
    given = {**SQUARE, "regions": [[0.5, 0.5, 3, 0.1]]}
    assert "triangle_attributes" not in triangulate(given, "p")
    assert triangulate(given, "pA")["triangle_attributes"].tolist() == [[3], [3]]


KITE = {"vertices": [[0, 0], [4, -1], [8, 0], [4, 1], [9, 9]], "triangles": [[0, 1, 2], [0, 2, 3]]}  # the long diagonal
KEPT = [
    KITE,
    {**KITE, "triangle_attributes": [[5.0], [6]], "vertex_markers": [[3], [0], [0], [5], [0]]},
    {**KITE, "triangle_attributes": [[5.0, 1], [6, 2]]},
    {**KITE, "segments": [[0, 1], [0, 2], [1, 2]], "segment_markers": [[9], [0], [0]]},
]


@pytest.mark.parametrize(("opts", "triangles"), [
    ("r", [[0, 1, 2], [0, 2, 3]]), ("rp", [[0, 1, 2], [0, 2, 3]]), ("rD", [[0, 1, 3], [1, 2, 3]]),
])  # fmt: skip
def test_given_triangles_are_flipped_only_if_points_may_be_added(session, opts, triangles):
    found = triangulate({**KITE, "triangle_attributes": [[5], [5]]}, opts, session=session)
    assert sorted(map(sorted, found["triangles"].tolist())) == triangles
    assert found["triangle_attributes"].tolist() == [[5], [5]]
    assert found["vertex_markers"].ravel().tolist() == [1, 1, 1, 1, 0]


def test_segments_in_a_hole_mark_their_points():
    """Points get the marker of their first segment before holes are cut. These markers are Triangle's."""
    points = [[0, 0], [3, 0], [3, 3], [0, 3], [1, 1], [2, 1], [2, 2], [1, 2], [5, 5]]
    segments = [[4, 6], [2, 8], [0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4]]
    given = {"vertices": points, "segments": segments, "segment_markers": [7, 9, 1, 1, 1, 1, 3, 3, 3, 3]}
    found = triangulate({**given, "holes": [[1.8, 1.2], [1.2, 1.8]]}, "p")
    assert found["vertex_markers"].ravel().tolist() == [1, 1, 9, 1, 7, 3, 7, 3, 9]
    assert len(found["segments"]) == 8


def test_given_triangles_may_have_several_attributes(session):
    """Attributes may change at edges that are no segments. Triangle makes no segments of these either."""
    given = {**triangulate(SQUARE, "p"), "triangle_attributes": [[1, 2], [3, 4]]}
    kept, found = triangulate(given, "rp"), triangulate(given, "rpa.1", session=session)
    assert kept["triangle_attributes"].tolist() == [[1, 2], [3, 4]] and len(kept["segments"]) == 4
    assert len(found["triangles"]) > 2 and {*map(tuple, found["triangle_attributes"].tolist())} == {(1, 2), (3, 4)}


@needs_triangle
def test_given_triangles_are_kept_as_by_triangle():
    cases = [(given, opts) for given in KEPT for opts in ("r", "rp", "re", "rpen", "rpc", "rpA", "rB")]
    for (given, opts), theirs in zip(cases, ask_triangle(cases), strict=True):
        check_same(triangulate(given, opts), theirs, opts)


@pytest.mark.skipif(not HAS_TRIANGLE or not (DATA / "la.poly").exists(), reason="needs triangle and the shared data")
def test_files_are_triangulated_as_by_triangle():
    graph, mesh = cg.read_planar_graph(DATA / "la.poly"), cg.read_mesh(DATA / "greenland.ele.gz")
    city = {
        "vertices": graph.points,
        "segments": graph.segments,
        "segment_markers": graph.segment_markers[:, None],
        "vertex_markers": graph.point_markers[:, None],
        "regions": graph.regions,
    }
    ice = {"vertices": mesh.points, "triangles": mesh.triangles, "vertex_markers": mesh.point_markers[:, None]}
    cases = [(city, opts) for opts in ("", "pAen", "pcj")] + [(ice, "re")]
    for (given, opts), theirs in zip(cases, ask_triangle(cases), strict=True):
        check_same(triangulate(given, opts), theirs, opts)


def refined(given, opts, session):
    """Return what is found for *given*, as a mesh, and the arrays."""
    found = triangulate(given, opts, session=session)
    mesh = TriangleMesh.from_arrays(
        found["vertices"], found["triangles"], found["segments"], segment_markers=found["segment_markers"]
    )
    return mesh, found


def test_angles_and_areas_are_bounded(session):
    mesh, found = refined({**SQUARE, "segment_markers": [[2], [3], [4], [5]]}, "pq25a0.02", session)
    check_delaunay(mesh, min_angle=25, max_area=0.02)
    assert np.array_equal(found["vertices"][:4], SQUARE["vertices"])
    assert mesh.areas().sum() == pytest.approx(1)
    middle = mesh.points[mesh.segments].mean(axis=1)
    assert (found["segment_markers"][middle[:, 1] == 0] == 2).all()
    assert set(found["vertex_markers"].ravel()) == {0, 2, 3, 4, 5}


def test_areas_are_those_of_regions_without_a_number(session):
    walls = {
        "vertices": [[0, 0], [1, 0], [2, 0], [2, 1], [1, 1], [0, 1]],
        "segments": [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [1, 4]],
        "regions": [[0.5, 0.5, 7, 0.01], [1.5, 0.5, 8, 0]],
    }
    mesh, found = refined(walls, "paA", session)
    left = mesh.points[mesh.triangles].mean(axis=1)[:, 0] < 1
    assert mesh.areas()[left].max() <= 0.01 < mesh.areas()[~left].max()
    assert (found["triangle_attributes"].ravel() == np.where(left, 7, 8)).all()
    capped = triangulate({**found, "triangle_max_area": np.full((mesh.n_triangles, 1), 0.05)}, "rpa", session=session)
    again = TriangleMesh.from_arrays(capped["vertices"], capped["triangles"])
    assert again.areas().max() <= 0.05
    assert set(capped["triangle_attributes"].ravel()) == {7, 8}


def test_all_triangles_may_become_delaunay(session):
    """A long segment close to points keeps triangles from being Delaunay, until it is split."""
    given = {"vertices": [[0, 0], [10, 0], [5, 1], [5, -1], [5, 9], [5, -9]], "segments": [[0, 1]]}
    mesh, _ = refined(given, "pcD", session)
    assert mesh.n_points > 6
    free = TriangleMesh.from_arrays(mesh.points, mesh.triangles)
    check_delaunay(free)


def test_points_to_add_may_be_few(session):
    with pytest.warns(ConvergenceWarning):
        assert len(triangulate(SQUARE, "pa0.0001S9", session=session)["vertices"]) <= 13
    with pytest.warns(ConvergenceWarning):
        assert len(triangulate(SQUARE, "pa0.0001S", session=session)["vertices"]) == 4


@needs_triangle
def test_refined_meshes_are_about_as_large_as_those_of_triangle(session):
    rng = np.random.default_rng(2)
    cases = [(random_graph(rng, crossing=False), "pq28a0.01") for _ in range(5)]
    for (given, opts), theirs in zip(cases, ask_triangle(cases), strict=True):
        ours = triangulate(given, opts, session=session)
        assert set(ours) == set(theirs)
        assert len(ours["vertices"]) <= 1.1 * len(theirs["vertices"])


def layers(rng):
    """Return ground in thin layers that are crooked, and come close to one another."""
    x = np.linspace(0, 40, 25)
    depth = np.concatenate([[0.0], -np.cumsum(rng.uniform(0.3, 3, 5))])
    y = depth[:, None] + rng.uniform(-0.12, 0.12, (6, 25))
    rows = np.arange(150).reshape(6, 25)
    across, down = (np.stack(pair, axis=-1).reshape(-1, 2) for pair in (
        (rows[:, :-1], rows[:, 1:]), (rows[:-1, [0, -1]], rows[1:, [0, -1]])
    ))  # fmt: skip
    return {"vertices": np.column_stack([np.tile(x, 6), y.ravel()]), "segments": np.concatenate([across, down])}


@needs_triangle
def test_thin_layers_take_no_more_points_than_by_triangle(session):
    cases = [(layers(np.random.default_rng(seed)), opts) for seed in range(4) for opts in ("pq", "pq28", "pq30", "pa1")]
    counts = [
        (len(triangulate(given, opts, session=session)["vertices"]), len(theirs["vertices"]))
        for (given, opts), theirs in zip(cases, ask_triangle(cases), strict=True)
    ]
    assert all(ours <= 1.1 * theirs for ours, theirs in counts), counts


@pytest.mark.parametrize("opts", ["pq28a0.01Y", "pq28a0.01YY"])
def test_option_y_keeps_segments_whole(session, opts):
    """Bad triangles stay near what is whole, no more of them than Triangle leaves."""
    given = random_graph(np.random.default_rng(5), crossing=False)
    plain, ours = (triangulate(given, o, session=session) for o in ("p", opts))
    old, new = ({tuple(sorted(pair)) for pair in found["segments"].tolist()} for found in (plain, ours))
    edges = {tuple(sorted(pair)) for pair in triangulate(given, "pe", session=session)["edges"].tolist()}
    assert old == new if opts.endswith("YY") else len(new) > len(old) and len(new - edges) == len(new) - len(old) + 1
    assert len(ours["vertices"]) > 3 * len(plain["vertices"])
    if HAS_TRIANGLE:
        (theirs,) = ask_triangle([(given, opts)])
        assert len(ours["vertices"]) <= 1.6 * len(theirs["vertices"])
        assert _share_below(ours, 28) <= _share_below(theirs, 28) + 0.01


def _share_below(found, angle):
    return (TriangleMesh.from_arrays(found["vertices"], found["triangles"]).angles() < angle).any(axis=1).mean()


@pytest.mark.parametrize(("given", "opts", "match"), [
    (3, "", "needed: a dict"),
    ({}, "", "vertices"),
    ({"vertices": [], "color": []}, "", "color"),
    (SQUARE, "w", "allowed"),
    (SQUARE, "pq30u", "option u and refinement_func= need each other"),
    (SQUARE, "ps", "'s' is unknown.*use D"),
    (SQUARE, "po3", "'o' is unknown"),
    (SQUARE, "pqa1e-2", "'-' is unknown"),
    ({**SQUARE, "segments": [[0.5, 1]]}, "p", "segments"),
    (SQUARE, 3, "allowed"),
    (SQUARE, "pq1.2.3", "no number"),
    (SQUARE, "r", "triangles"),
    ({"vertices": [[0, 0], [1, 1], [2, 2]]}, "", "on a line"),
    ({**SQUARE, "segments": [[0, 9]]}, "p", r"segments\[0\]"),
    ({**KITE, "triangle_attributes": [1, 2, 3]}, "r", r"triangle_attributes has shape.*needed: numbers, \(2, a\)"),
])  # fmt: skip
def test_what_is_wrong_is_refused(given, opts, match):
    with pytest.raises(InputError, match=match):
        triangulate(given, opts)
