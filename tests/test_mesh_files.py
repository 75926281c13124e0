"""Files of planar graphs and meshes: Triangle's formats, VTU, and formats that meshio reads."""

import base64
import dataclasses
import gzip
import importlib.util
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import DATA, ROOT

import clgraph as cg
from clgraph.errors import GraphFileError, GraphFileWarning, InputError, MissingExtraError

sys.path.append(str(ROOT / "tools"))
needs_meshio = pytest.mark.skipif(importlib.util.find_spec("meshio") is None, reason="meshio is not installed")


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
    with pytest.warns(GraphFileWarning, match=r"a\.ele: triangles have 6 corners"):
        mesh = cg.read_mesh(tmp_path / "a.node")
    assert mesh.triangles.tolist() == [[0, 1, 2]]
    assert len(cg.read_planar_graph(tmp_path / "a.node").points) == 3


def test_a_second_attribute_of_triangles_is_told(tmp_path):
    (tmp_path / "a.node").write_text("3 2 0 0\n1 0 0\n2 1 0\n3 0 1\n")
    (tmp_path / "a.ele").write_text("1 3 2\n1 1 2 3 7 8\n")
    with pytest.warns(GraphFileWarning, match="2 attributes; all but the first are left out"):
        assert cg.read_mesh(tmp_path / "a.ele").region_attributes.tolist() == [7]


def test_a_planar_graph_is_not_overwritten_by_a_mesh(poly, tmp_path):
    """The .poly file of a mesh has only its segments, and the segments of another mesh may replace it."""
    mesh = cg.read_planar_graph(poly).triangulate()
    for name in ("square.node", "square.ele"):
        with pytest.raises(InputError, match=r"square\.poly would be overwritten.*such as square\.1\."):
            cg.write_mesh(mesh, tmp_path / name)
    for text in (
        "0 2\n1 0\n1 1 2\n1\n1 0.5 0.5\n",
        "0 2\n0\n0\n1\n1 0.5 0.5 1\n",
        "3 2\n1 0 0\n",
        "x",
        "0 2 0 1\n1 1\n1 1 2 0\n0\n",  # There is no .ele file, so this is a planar graph.
    ):
        (tmp_path / "other.poly").write_text(text)
        with pytest.raises(InputError, match="would be overwritten"):
            cg.write_mesh(mesh, tmp_path / "other.node")
    assert poly.read_text() == POLY and sorted(f.name for f in tmp_path.iterdir()) == ["other.poly", "square.poly"]
    (tmp_path / "other.ele").touch()
    for text in ("0 2 0 1\n1 1\n1 1 2 0\n0\n", "0 2\n0\n0\n0\n"):
        (tmp_path / "other.poly").write_text(text)
        cg.write_mesh(mesh, tmp_path / "other.node")
        assert same(cg.read_mesh(tmp_path / "other.node"), mesh)
        cg.write_mesh(mesh, tmp_path / "other.node")


@pytest.mark.parametrize(("before", "after"), [("m.node", "m.ele"), ("m.node.gz", "m.node"), ("m.node.xz", "m.ele.gz")])
def test_largest_areas_of_an_older_mesh_are_not_read(poly, tmp_path, before, after):
    mesh = cg.read_planar_graph(poly).triangulate()
    cg.write_mesh(mesh, tmp_path / before)
    cg.write_mesh(mesh, tmp_path / "m.1.node")
    cg.write_mesh(dataclasses.replace(mesh, max_areas=None), tmp_path / after)
    assert cg.read_mesh(tmp_path / after).max_areas is None
    assert same(cg.read_mesh(tmp_path / "m.1.node"), mesh)
    if before != "m.node":
        assert same(cg.read_mesh(tmp_path / before), mesh)  # the compressed mesh is another one


def test_largest_areas_of_another_compression_belong_to_the_only_mesh(poly, tmp_path):
    mesh = cg.read_planar_graph(poly).triangulate()
    cg.write_mesh(mesh, tmp_path / "m.node")
    (tmp_path / "m.area.gz").write_bytes(gzip.compress((tmp_path / "m.area").read_bytes()))
    (tmp_path / "m.area").unlink()
    assert same(cg.read_mesh(tmp_path / "m.node"), mesh)
    cg.write_mesh(dataclasses.replace(mesh, max_areas=None), tmp_path / "m.node")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.ele", "m.node", "m.poly", "square.poly"]


@pytest.mark.parametrize(("call", "match"), [
    (lambda mesh, folder: cg.read_mesh(folder / "square.poly"), "read_planar_graph reads .poly files"),
    (lambda mesh, folder: cg.write_mesh(mesh, folder / "m.poly"), r"m\.poly: write the mesh to a \.node file"),
])  # fmt: skip
def test_other_functions_for_poly_files_are_named(poly, tmp_path, call, match):
    with pytest.raises(InputError, match=match):
        call(cg.read_planar_graph(poly).triangulate(), tmp_path)


@needs_meshio
@pytest.mark.parametrize("name", ["m.unknown", "m", "m.off.gz"])
def test_an_unknown_suffix_is_told_with_the_path(poly, tmp_path, name):
    mesh = cg.read_planar_graph(poly).triangulate()
    for call in (lambda: cg.write_mesh(mesh, tmp_path / name), lambda: cg.read_mesh(tmp_path / "m.unknown")):
        with pytest.raises(GraphFileError, match=rf"^{tmp_path}/m[^:]*: the suffix '.*' is unknown; known: .node"):
            call()


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

    monkeypatch.setattr(cg.io.text.os if name in ("m.msh", "m.vtu") else cg.io.meshio_files.os, "replace", fail)
    with pytest.raises(GraphFileError, match="No space left"):
        cg.write_mesh(mesh, tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == [name] and (tmp_path / name).read_text() == "before"


@pytest.mark.parametrize(("cell_data", "message"), [
    ([1, 2], "allowed: a dictionary"),
    ({"a\nb": [1, 2, 3, 4]}, "has the name 'a"),
    ({" a": [1, 2, 3, 4]}, "has the name ' a'"),
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


@pytest.mark.parametrize(("point_data", "message"), [
    ([1, 2], "point_data = .*allowed: a dictionary"),
    ({"marker": [0] * 7}, "point_data has the name 'marker'"),
    ({"attribute_9": [0] * 7}, "point_data has the name 'attribute_9'"),
    ({"a": [1, 2, 3, 4]}, r"point_data\['a'\] has shape \(4,\).*needed: numbers, \(7,\)"),
])  # fmt: skip
def test_wrong_columns_of_points_are_refused(tmp_path, point_data, message):
    with pytest.raises(InputError, match=message):
        cg.write_mesh(two_materials(), tmp_path / "m.vtu", point_data=point_data)
    assert [*tmp_path.iterdir()] == []


@needs_meshio
@pytest.mark.parametrize("name", ["m.msh", "m.vtu", "m.vtk"])
def test_columns_of_points_are_written_and_reading_tells_of_them(tmp_path, name):
    import meshio

    mesh, heat = two_materials(), np.arange(7) / 7
    label = "heat" if ".vtk" in name else "heat of points"
    cg.write_mesh(mesh, tmp_path / name, point_data={label: heat}, cell_data={label: [1, 2, 3, 4]})
    format = "gmsh" if ".msh" in name else None
    assert np.array_equal(np.ravel(meshio.read(tmp_path / name, format).point_data[label]), heat)
    with pytest.warns(GraphFileWarning, match=f"columns of points are left out: {label}$"):
        again, found = cg.read_mesh(tmp_path / name, cell_data=True)
    assert by_place(again, {label: found[label]}) == by_place(mesh, {label: np.arange(1, 5)})
    for file in ("m.ele", "m.off"):
        with pytest.warns(GraphFileWarning, match="files do not hold .*point_data"):
            cg.write_mesh(mesh, tmp_path / file, point_data={"heat": heat})
    with pytest.raises(InputError, match="the column 'a b' has a blank"):
        cg.write_mesh(mesh, tmp_path / "n.vtk", point_data={"a b": heat})


@needs_meshio
def test_other_formats_go_through_meshio(poly, tmp_path):
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
def test_files_of_others_are_read():
    graph = cg.read_planar_graph(DATA / "la.poly")
    assert (len(graph.points), len(graph.segments), len(graph.regions)) == (141, 148, 6)
    assert graph.triangulate().n_triangles == 265
    mesh = cg.read_mesh(DATA / "greenland.ele.gz")
    assert (mesh.n_points, mesh.n_triangles) == (33343, 64125)
    text = gzip.decompress(Path(DATA / "greenland.node.gz").read_bytes()).decode().split("\n")
    assert text[1].split()[1:3] == [f"{x:g}" for x in mesh.points[0]]
