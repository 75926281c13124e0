"""The dual graph of a mesh, algorithms on it, and drawings of meshes."""

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import clgraph as cg
from clgraph.algorithms.color.problem import as_problem as coloring_problem
from clgraph.algorithms.partition.problem import as_problem as partition_problem
from clgraph.errors import InputError, MissingExtraError
from clgraph.runtime.session import Session

LINES = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]


def halves(n: int = 200) -> cg.TriangleMesh:
    """Return a triangulated square of random points, which a segment divides into two regions."""
    points = np.random.default_rng(0).uniform(0.1, 0.9, (n, 2))
    corners = [[0, 0], [1, 0], [1, 1], [0, 1]]
    return cg.PlanarGraph.from_arrays([*corners, *points], LINES, regions=[[0.9, 0.1, 1], [0.1, 0.9, 2]]).triangulate()


def test_neighbours_in_the_dual_graph_share_two_corners() -> None:
    mesh = halves()
    graph = mesh.dual_graph()
    assert graph.n_vertices == mesh.n_triangles and graph.n_edges == np.count_nonzero(mesh.neighbors >= 0)
    for one, other in zip(graph.sources(), graph.column_indices, strict=True):
        assert np.intersect1d(mesh.triangles[one], mesh.triangles[other]).size == 2


def test_segments_keep_regions_of_the_dual_graph_apart(pocl: Session) -> None:
    mesh = halves()
    found = cg.connected_components(mesh.dual_graph(across_segments=False), session=pocl)
    assert mesh.region_attributes is not None and found.n_components == 2
    assert np.array_equal(found.labels == found.labels[0], mesh.region_attributes == mesh.region_attributes[0])
    assert cg.connected_components(mesh, session=pocl).n_components == 1


def test_triangles_of_a_colour_share_no_point(pocl: Session) -> None:
    mesh = halves()
    graph = mesh.dual_graph(sharing="points")
    for t, corners in enumerate(mesh.triangles):
        near = np.flatnonzero(np.isin(mesh.triangles, corners).any(axis=1))
        assert np.array_equal(graph.column_indices[graph.row_offsets[t] : graph.row_offsets[t + 1]], near[near != t])
    found = cg.color(graph, session=pocl)
    for color in range(found.n_colors):
        points = mesh.triangles[found.colors == color]
        assert np.unique(points).size == points.size > 0
    empty = cg.TriangleMesh.from_arrays(np.zeros((0, 2)), np.zeros((0, 3), int)).dual_graph(sharing="points")
    assert empty.n_vertices == 0
    wrong: Any
    for wrong in ({"sharing": "corners"}, {"sharing": "points", "across_segments": False}):
        with pytest.raises(InputError):
            mesh.dual_graph(**wrong)


@pytest.mark.parametrize("as_problem", [partition_problem, coloring_problem])
def test_algorithms_take_the_dual_graph_of_a_mesh(as_problem: Any) -> None:
    mesh = halves()
    graph, dual = as_problem(mesh).graph, mesh.dual_graph()
    assert np.array_equal(graph.row_offsets, dual.row_offsets)
    assert np.array_equal(graph.column_indices, dual.column_indices)


def test_a_drawing_has_the_values_of_triangles_and_of_points() -> None:
    mesh = halves()
    parts = np.arange(mesh.n_triangles) % 3
    axes = mesh.plot(parts, ax=Figure().add_subplot())
    drawn: Any = axes.collections[0]
    assert np.array_equal(drawn.get_array(), parts) and drawn.get_clim() == (-0.5, 2.5)
    axes = mesh.plot(mesh.points[:, 0], ax=Figure().add_subplot(), edges=False, cmap="plasma")
    assert axes.collections[0].get_array().shape == (mesh.n_points,) and len(axes.lines) == 1
    axes = mesh.plot(ax=Figure().add_subplot())
    ends = axes.lines[-1].get_xydata().reshape(-1, 3, 2)[:, :2]
    assert not axes.collections and np.array_equal(ends, mesh.points[mesh.segments])


@pytest.mark.parametrize(("values", "style", "message"), [
    (np.zeros(3), {}, r"values have shape \(3,\) and type float64; needed: numbers"),
    (["a"] * 404, {}, "needed: numbers"),
    (None, {"cmap": "plasma"}, "cmap= colours triangles by values"),
])  # fmt: skip
def test_a_bad_drawing_is_refused(values: Any, style: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        halves().plot(values, **style)


def test_a_mesh_without_triangles_is_not_drawn() -> None:
    empty = cg.TriangleMesh.from_arrays(np.zeros((3, 2)), np.zeros((0, 3), int))
    for values in (None, np.zeros(3)):
        with pytest.raises(InputError, match="no triangles to draw"):
            empty.plot(values, ax=Figure().add_subplot())


@pytest.mark.parametrize("scale", [2.0**-1070, 2.0**-540, 2.0**1020])
@pytest.mark.filterwarnings("error")
def test_angles_do_not_depend_on_the_scale(scale: float) -> None:
    points, triangles = np.array([[0, 0], [3, 0], [3, 2], [0, 1]]), [[0, 1, 2], [0, 2, 3]]
    one, other = (cg.TriangleMesh.from_arrays(factor * points, triangles) for factor in (1.0, scale))
    assert np.array_equal(one.angles(), other.angles())


def test_a_drawing_without_matplotlib_tells_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'matplotlib>=3\.8'"):
        halves().plot()
