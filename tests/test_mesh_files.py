"""Files of Triangle are read and written, and written for ParaView."""
from __future__ import annotations

import base64
import dataclasses
import gzip
import importlib.util
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import ROOT

import clgraph as cg
from clgraph.errors import GraphFileError, InputError, MissingExtraError

SHARED = ROOT.parent / "shared" / "data"

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
    assert np.array_equal(arrays["connectivity"].reshape(-1, 3), mesh.triangles)
    assert arrays["offsets"][-1] == 3 * mesh.n_triangles
    assert (arrays["types"] == 5).all()
    assert np.array_equal(arrays["min_angle"], mesh.angles().min(axis=1))
    assert np.array_equal(arrays["region"], mesh.region_attributes)
    assert np.array_equal(arrays["attributes"], mesh.point_attributes.ravel())


def test_other_suffixes_need_meshio(poly, tmp_path, monkeypatch):
    mesh = cg.read_planar_graph(poly).triangulate()
    monkeypatch.setitem(sys.modules, "meshio", None)
    for call in (lambda: cg.write_mesh(mesh, tmp_path / "m.stl"), lambda: cg.read_mesh(tmp_path / "m.msh")):
        with pytest.raises(MissingExtraError, match="needs meshio: pip install"):
            call()


@pytest.mark.skipif(importlib.util.find_spec("meshio") is None, reason="meshio is not installed")
def test_meshio(poly, tmp_path):
    mesh = cg.read_planar_graph(poly).triangulate()
    for name in ("m.vtk", "m.vtu", "m.off"):
        cg.write_mesh(mesh, tmp_path / name)
        again = cg.read_mesh(tmp_path / name)
        assert np.array_equal(again.points, mesh.points) and np.array_equal(again.triangles, mesh.triangles)
    with pytest.raises(GraphFileError):
        cg.write_mesh(mesh, tmp_path / "m.unknown")
    (tmp_path / "m.off").write_text("nonsense")
    with pytest.raises(GraphFileError):
        cg.read_mesh(tmp_path / "m.off")


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


@pytest.mark.skipif(not (SHARED / "la.poly").exists(), reason="the shared data is not here")
def test_files_of_others():
    graph = cg.read_planar_graph(SHARED / "la.poly")
    assert (len(graph.points), len(graph.segments), len(graph.regions)) == (141, 148, 6)
    assert graph.triangulate().n_triangles == 265
    mesh = cg.read_mesh(SHARED / "greenland.ele.gz")
    assert (mesh.n_points, mesh.n_triangles) == (33343, 64125)
    text = gzip.decompress(Path(SHARED / "greenland.node.gz").read_bytes()).decode().split("\n")
    assert text[1].split()[1:3] == [f"{x:g}" for x in mesh.points[0]]
