"""The functions beside ``triangulate`` that the package triangle has, and options that need more than one run."""

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, Delaunay, Voronoi
from test_triangle_compat import HAS_TRIANGLE, PYTHON, SQUARE, ask_triangle, by_rows, random_graph

import clgraph as cg
from clgraph import compat
from clgraph.errors import ConvergenceWarning, GraphFileError, InputError
from clgraph.reference.refine_mesh import check_delaunay
from clgraph.runtime.session import Session

POINTS = np.random.default_rng(0).random((60, 2))


def as_mesh(found: dict[str, NDArray[Any]]) -> cg.TriangleMesh:
    return cg.TriangleMesh.from_arrays(found["vertices"], found["triangles"][:, :3], found.get("segments"))


def test_triangles_hull_and_voronoi_diagram_are_those_of_qhull() -> None:
    triangles, hull = compat.delaunay(POINTS), compat.convex_hull(POINTS)
    assert triangles.dtype == hull.dtype == np.int32
    assert np.array_equal(by_rows(triangles), by_rows(Delaunay(POINTS).simplices))
    assert np.array_equal(by_rows(hull), by_rows(ConvexHull(POINTS).simplices))
    corners, edges, origins, directions = compat.voronoi(POINTS)
    theirs = Voronoi(POINTS)
    inner = np.array([pair for pair in theirs.ridge_vertices if -1 not in pair])
    places, expected = (np.sort(found.round(6).view("f8,f8").ravel()) for found in (corners, theirs.vertices))
    assert (
        np.array_equal(places, expected) and len(edges) == len(inner) and len(origins) == len(directions) == len(hull)
    )
    lengths = (np.sort(np.linalg.norm(at[:, 0] - at[:, 1], axis=1)) for at in (corners[edges], theirs.vertices[inner]))
    assert np.allclose(*lengths)


@pytest.mark.skipif(not HAS_TRIANGLE, reason="the package triangle is not installed")
def test_functions_give_what_triangle_gives() -> None:
    code = "import sys, json, triangle\np = json.load(sys.stdin)\nprint(json.dumps([triangle.convex_hull(p).tolist(), "
    code += "*(a.tolist() for a in triangle.voronoi(p))]))"
    child = subprocess.run([PYTHON, "-c", code], input=json.dumps(POINTS.tolist()), capture_output=True, text=True)
    hull, corners, edges, origins, directions = map(np.array, json.loads(child.stdout))
    ours, (our_corners, our_edges, our_origins, our_directions) = compat.convex_hull(POINTS), compat.voronoi(POINTS)
    rays = np.column_stack([corners[origins], directions]), np.column_stack([our_corners[our_origins], our_directions])
    assert {*map(tuple, hull)} == {*map(tuple, ours)} and edges.shape == our_edges.shape
    assert np.allclose(*(table[np.lexsort(table.round(7).T)] for table in rays))
    cases = [(random_graph(np.random.default_rng(3), crossing=False), opts) for opts in ("po2", "pAeo2", "co2")]
    for (given, opts), theirs in zip(cases, ask_triangle(cases), strict=True):
        found = compat.triangulate(given, opts)
        assert {k: (v.dtype, v.shape) for k, v in found.items()} == {k: (v.dtype, v.shape) for k, v in theirs.items()}
        tables = [
            np.column_stack([t["vertices"], t["vertex_markers"], t["vertex_attributes"]]) for t in (found, theirs)
        ]
        assert np.allclose(*(table[np.lexsort(table.round(9).T)] for table in tables))


def test_middles_of_edges_are_shared_and_keep_markers() -> None:
    found = compat.triangulate({**SQUARE, "segment_markers": [2, 3, 4, 5], "vertex_attributes": [1, 2, 3, 4]}, "po2")
    assert found["vertices"].shape == (9, 2) and found["triangles"].shape == (2, 6)
    corners = found["vertices"][found["triangles"]]
    for middle, ends in ((3, [1, 2]), (4, [2, 0]), (5, [0, 1])):
        assert np.array_equal(corners[:, middle], corners[:, ends].mean(axis=1))
    assert sorted(found["vertex_markers"][4:, 0]) == [0, 2, 3, 4, 5]
    again = compat.triangulate(found, "rp")
    assert np.array_equal(again["triangles"], found["triangles"][:, :3])


def test_a_function_refines_where_it_says(session: Session) -> None:
    """Triangles are to be small at the left; regions keep their attributes and bounds."""
    calls = []

    def is_too_large(vertices: list[list[float]], area: float) -> bool:
        calls.append(area)
        return area > 0.002 + 0.03 * min(x for x, _ in vertices)

    given = {**SQUARE, "regions": [[0.5, 0.5, 7, 0.02]]}
    found = compat.triangulate(given, "pq30aAu", refinement_func=is_too_large, session=session)
    mesh, n_calls = as_mesh(found), len(calls)
    assert not any(map(is_too_large, mesh.points[mesh.triangles].tolist(), mesh.areas().tolist()))
    check_delaunay(mesh, min_angle=30, max_area=0.02)
    assert mesh.n_triangles < n_calls < 6 * mesh.n_triangles and set(found["triangle_attributes"].ravel()) == {7}
    assert len(found["vertices"]) < 0.7 * len(compat.triangulate(SQUARE, "pq30a0.002", session=session)["vertices"])


def test_a_function_that_always_refuses_ends_at_the_limit(pocl: Session) -> None:
    with pytest.warns(ConvergenceWarning, match="refinement_func refuses [0-9]+ triangles that are left"):
        found = compat.triangulate(SQUARE, "pS40u", refinement_func=lambda _vertices, _area: True, session=pocl)
    assert len(found["vertices"]) == 44
    with pytest.raises(InputError, match="refinement_func"):
        compat.triangulate(SQUARE, "pu", refinement_func=lambda vertices: True, session=pocl)  # type: ignore[misc, arg-type]


def test_angles_above_34_degrees_come_with_a_warning_and_an_end(pocl: Session) -> None:
    given = {"vertices": [*SQUARE["vertices"], *POINTS[:20].tolist()], "segments": SQUARE["segments"]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = compat.triangulate(given, "pq42", session=pocl)
    assert "option q42 asks for angles above 34 degrees" in str(caught[0].message)
    assert len(found["vertices"]) <= 4 * len(compat.triangulate(given, "pq34", session=pocl)["vertices"])
    check_delaunay(as_mesh(found))


def test_meshes_are_the_same_in_every_run(session: Session, pocl: Session) -> None:
    first, other = (compat.triangulate(SQUARE, "pq30a0.001", session=on) for on in (session, pocl))
    assert all(np.array_equal(first[key], other[key]) for key in first)


TEXTS = {
    "node": "# points\n3 2 1 1\n1 0 0 0.5 2\n2 4 0 1.5 2\n3 0 4 2.5 3 # the last\n",
    "ele": "1 3 1\n1 1 2 3 7\n", "area": "1\n1 0.25\n", "neigh": "1 3\n1 -1 -1 -1\n",
    "edge": "2 1\n1 1 2 1\n2 3 -1 0.5 -1 0\n",
    "poly": "0 2 0 0\n2 1\n1 1 2 8\n2 2 3 9\n1\n1 0.5 0.25\n1\n1 2 1 0.125\n",
}  # fmt: skip
LOADED = {
    "vertices": [[0, 0], [4, 0], [0, 4]], "vertex_attributes": [[0.5], [1.5], [2.5]], "vertex_markers": [[2], [2], [3]],
    "segments": [[0, 1], [1, 2]], "segment_markers": [[8], [9]], "holes": [[0.5, 0.25]], "regions": [[2, 1, 0, 0.125]],
    "triangles": [[0, 1, 2]], "triangle_attributes": [[7]], "triangle_max_area": [[0.25]], "edges": [[0, 1]],
    "ray_origins": [[2]], "ray_directions": [[0.5, -1]], "triangle_neighbors": [[-1, -1, -1]],
}  # fmt: skip


def test_texts_of_triangle_become_arrays(tmp_path: Path) -> None:
    found = compat.loads(**TEXTS)
    assert {key: values.tolist() for key, values in found.items()} == LOADED
    for suffix, text in TEXTS.items():
        (tmp_path / f"one.{suffix}").write_text(text, encoding="utf-8")
    assert compat.load(tmp_path, "one").keys() == found.keys()
    with pytest.raises(InputError, match=r"has no file two\.node"):
        compat.load(tmp_path, "two")


@pytest.mark.parametrize(("kind", "text", "match"), [
    ("node", "", "the end of the text; expected the header"),
    ("node", "2 2\n1 0 0\n", "the end of the text; expected 2"),
    ("node", "1 3\n1 0 0 0\n", "points of 2 coordinates, not 3"), ("node", "1 2\n1 0 zero\n", "zero"),
    ("ele", "1 3\n1 2 3\n", "1 2 3; expected 1 triangles of 3 numbers"),
    ("edge", "1 0\n1 2\n", "1 2; expected 1 edges"),
])  # fmt: skip
def test_a_text_in_another_format_is_refused(kind: str, text: str, match: str) -> None:
    with pytest.raises(GraphFileError, match=f"{kind}: .*{match}|{kind}: {match}"):
        compat.loads(**{kind: text})


def test_samples_are_those_of_an_installed_triangle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(InputError, match="the package triangle, which is not installed"):
        compat.get_data("mine")
    (tmp_path / "triangle" / "data").mkdir(parents=True)
    (tmp_path / "triangle" / "__init__.py").write_text("raise ImportError\n", encoding="utf-8")
    (tmp_path / "triangle" / "data" / "mine.node").write_text(TEXTS["node"], encoding="utf-8")
    assert compat.get_data("mine")["vertices"].tolist() == LOADED["vertices"]


def test_a_drawing_has_all_arrays() -> None:
    axes = Figure().add_subplot()
    compat.plot(axes, **compat.loads(**TEXTS), labels=True, markers=True)
    assert {text.get_text() for text in axes.texts} == {"0", "1", "2", "3", " 0", " 7"}
    assert len(axes.collections) == 4 and len(axes.lines) == 5  # points, holes, regions, centres; the rest are lines
    with pytest.raises(InputError, match="needed: vertices"):
        compat.plot(axes, triangles=[[0, 1, 2]])
