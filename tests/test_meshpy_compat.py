"""``clgraph.compat.meshpy``: programs written for ``meshpy.triangle``."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clgraph.compat import meshpy as triangle
from clgraph.errors import InputError

SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]
SIDES = [(0, 1), (1, 2), (2, 3), (3, 0)]


def square() -> triangle.MeshInfo:
    info = triangle.MeshInfo()
    info.set_points(SQUARE, point_markers=[5, 6, 7, 8])
    info.set_facets(SIDES, facet_markers=[1, 2, 3, 4])
    return info


def areas(mesh: triangle.MeshInfo) -> Any:
    corners = np.array(mesh.points)[np.array(mesh.elements)[:, :3]]
    (a, b), (c, d) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
    return np.abs(a * d - b * c) / 2


def test_regions_markers_faces_and_neighbours() -> None:
    info = square()
    info.regions.resize(1)
    info.regions[0] = [0.5, 0.5, 7, 0.01]
    mesh = triangle.build(info, volume_constraints=True, attributes=True, generate_faces=True, min_angle=30)
    assert areas(mesh).max() <= 0.01 and areas(mesh).sum() == pytest.approx(1)
    assert {*mesh.element_attributes} == {7.0} and {*mesh.facet_markers} == {1, 2, 3, 4}
    assert len(mesh.points) - len(mesh.faces) + len(mesh.elements) == 1 and len(mesh.neighbors) == len(mesh.elements)
    on_boundary = [face for face, marker in mesh.face_vertex_indices_to_face_marker.items() if marker]
    assert len(on_boundary) == len(mesh.facets) == sum(row.count(-1) for row in mesh.neighbors)
    assert mesh.point_markers[:4] == [5, 6, 7, 8] and mesh.points[2, 1] == mesh.points[2][1] == 1.0
    whole = triangle.build(info, max_volume=0.05, mesh_order=2)
    assert areas(whole).max() <= 0.05 and len(whole.elements[0]) == 6


def test_attributes_are_counted_and_set() -> None:
    info = square()
    assert info.number_of_point_attributes == info.number_of_element_attributes == 0
    for n, row in ((1, 0.0), (2, [0.0, 0.0])):
        info.number_of_point_attributes = n
        info.point_attributes.setup()
        assert info.point_attributes == [row] * 4 and info.number_of_point_attributes == n
    info.point_attributes[2, 1] = 8.0
    other = info.copy()
    other.point_attributes[2, 1] = 4.0
    mesh = triangle.build(info, max_volume=0.1)
    assert mesh.number_of_point_attributes == 2 and mesh.point_attributes[2] == [0, 8]
    assert mesh.number_of_element_attributes == 0 and 0 < mesh.point_attributes[4, 1] < 8
    mesh.number_of_element_attributes = 2
    assert triangle.refine(mesh).number_of_element_attributes == 2
    info.number_of_point_attributes = 0
    assert info.point_attributes == [] and other.point_attributes[2] == [0, 4]


def test_a_function_refines_around_a_hole_and_a_mesh_is_refined_again(tmp_path: Path) -> None:
    angles = np.linspace(0, 2 * math.pi, 16, endpoint=False)
    info = triangle.MeshInfo()
    info.set_points([(-1, -1), (1, -1), (1, 1), (-1, 1), *np.column_stack([np.cos(angles), np.sin(angles)]) / 2])
    info.set_facets([*SIDES, *((4 + k, 4 + (k + 1) % 16) for k in range(16))])
    info.set_holes([(0, 0)])

    def is_too_large(vertices: Any, area: float) -> bool:
        x, y = (sum(getattr(v, axis) for v in vertices) / 3 for axis in "xy")
        return area > 0.002 + 0.05 * abs(math.hypot(x, y) - 0.5)

    mesh = triangle.build(info, refinement_func=is_too_large)
    corners = [[triangle.Vertex(*mesh.points[v]) for v in element] for element in mesh.elements]
    assert not any(map(is_too_large, corners, areas(mesh)))
    assert areas(mesh).sum() == pytest.approx(4 - 2 * math.sin(math.pi / 8))
    mesh.element_volumes.setup()
    for k in range(len(mesh.elements)):
        mesh.element_volumes[k] = 1e-3 if k == 0 else -1
    inside = np.array(mesh.points)[mesh.elements[0]].mean(axis=0)
    finer = triangle.refine(mesh)
    distances = np.linalg.norm(np.array(finer.points)[np.array(finer.elements)].mean(axis=1) - inside, axis=1)
    assert len(finer.elements) > len(mesh.elements) and areas(finer)[distances.argmin()] <= 1e-3
    triangle.write_gnuplot_mesh(tmp_path / "mesh.dat", finer)
    assert len((tmp_path / "mesh.dat").read_text().split("\n\n")) == len(finer.elements) + 1


def test_a_boundary_that_is_divided_before_stays_whole() -> None:
    points, facets, markers = triangle.subdivide_facets([1, 2, 3, 3], SQUARE, SIDES, [1, 2, 3, 4])
    assert len(points) == 9 and markers == [1, 2, 2, 3, 3, 3, 4, 4, 4] and points[4] == [1.0, 0.5]
    info = triangle.MeshInfo()
    info.set_points(points)
    info.set_facets(facets, facet_markers=markers)
    mesh = triangle.build(info, max_volume=0.01, allow_boundary_steiner=False)
    assert len(mesh.facets) == 9 and len(mesh.points) > 40
    assert len(triangle.build(info, quality_meshing=False).points) == 9


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InputError, match="allow_boundary_steiner"):
        triangle.build(square(), allow_volume_steiner=False)
    with pytest.raises(InputError, match="a MeshInfo"):
        triangle.build({"points": SQUARE})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="3 numbers for 4 facets"):
        triangle.subdivide_facets([1, 2, 3], SQUARE, SIDES)
