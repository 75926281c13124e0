"""The check of triangulations: right meshes pass, each wrong one is found."""

import dataclasses

import numpy as np
import pytest

from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.errors import VerificationError
from clgraph.reference.refine_mesh import check_delaunay, segment_chains

RING = [[0, 1], [1, 2], [2, 3], [3, 0]]


@pytest.fixture(scope="module")
def mesh():
    """A square with random points, divided by a segment."""
    points = np.concatenate([[[0, 0], [1, 0], [1, 1], [0, 1]], np.random.default_rng(0).uniform(0.1, 0.9, (40, 2))])
    return PlanarGraph.from_arrays(points, [*RING, [0, 2]]).triangulate()


def flipped(mesh, *, segments=False):
    """Return the mesh with an edge flipped that is no segment, or that is one, whose place the new edge takes."""
    fixed = set(map(tuple, np.sort(mesh.segments, axis=1).tolist()))
    for t, i in zip(*np.nonzero(mesh.neighbors >= 0), strict=True):
        u = mesh.neighbors[t, i]
        a, b, c = np.roll(mesh.triangles[t], -i)
        d = next(v for v in mesh.triangles[u] if v not in (b, c))
        if ((min(b, c), max(b, c)) in fixed) != segments:
            continue
        triangles = mesh.triangles.copy()
        triangles[t], triangles[u] = (a, b, d), (d, c, a)
        kept = mesh.segments[~(np.sort(mesh.segments) == sorted((b, c))).all(axis=1)]
        try:
            return TriangleMesh.from_arrays(mesh.points, triangles, [*kept, (a, d)] if segments else kept)
        except ValueError:  # the edges of this quadrangle cannot be exchanged
            continue
    raise AssertionError("no edge can be flipped")


def refined(mesh):
    """Return the mesh with a point in the middle of the longest segment, which is a segment of one triangle."""
    middle = mesh.points[[0, 1]].mean(axis=0)
    n = mesh.n_points
    parts = [edge for edge in mesh.segments.tolist() if sorted(edge) != [0, 1]] + [[0, n], [n, 1]]
    return PlanarGraph.from_arrays(np.concatenate([mesh.points, [middle]]), parts).triangulate()


def test_a_right_mesh_passes(mesh):
    check_delaunay(mesh, original=mesh)
    check_delaunay(refined(mesh), original=mesh)


def test_chains_join_the_parts_of_segments(mesh):
    chains = segment_chains(refined(mesh), mesh.n_points)
    assert chains.whole.tolist() == sorted(np.sort(mesh.segments, axis=1).tolist())
    assert chains.ends[mesh.n_points].tolist() == [0, 1]
    assert (chains.ends[: mesh.n_points] == -1).all()


def moved(mesh, point, place):
    points = mesh.points.copy()
    points[point] = place
    return dataclasses.replace(mesh, points=points)


def swapped(values):
    values = values.copy()
    values[[0, 1]] = values[[1, 0]]
    return values


def equal_points(_mesh):
    """Two triangles far from each other in links, with a corner of each in the same place."""
    points = [[0, 0], [1, 0], [0, 1], [0, 0], [-1, 0], [0, -1]]
    return TriangleMesh.from_arrays(points, [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize(("plant", "match"), [
    (equal_points, "points 0 and 3 are equal"),
    (flipped, "not Delaunay"),
    (lambda m: dataclasses.replace(m, triangles=m.triangles[:, ::-1]), "counter-clockwise"),
    (lambda m: dataclasses.replace(m, triangles=m.triangles + 1), "corners of triangles"),
    (lambda m: dataclasses.replace(m, neighbors=swapped(m.neighbors)), "has neighbours"),
    (lambda m: dataclasses.replace(m, triangles=m.triangles[[0, *range(m.n_triangles - 1)]]), "same side"),
    (lambda m: dataclasses.replace(m, segments=m.segments[1:]), "boundary"),
    (lambda m: dataclasses.replace(m, segments=m.segments[[0, *range(len(m.segments))]]), "twice"),
    (lambda m: dataclasses.replace(m, segments=np.append(m.segments, [[0, 1], [1, 3]], axis=0)[-1:]), "no edge"),
    (lambda m: dataclasses.replace(m, segments=m.segments[:0]), "boundary"),
    (lambda m: dataclasses.replace(m, points=np.append(m.points, [[9, 9]], axis=0)), "in no triangle"),
])  # fmt: skip
def test_a_wrong_mesh_is_found(mesh, plant, match):
    planted = plant(mesh)
    with pytest.raises(VerificationError, match=match):
        check_delaunay(planted, original=mesh)


def test_what_refines_nothing_is_found(mesh):
    more = refined(mesh)
    n = mesh.n_points
    half = PlanarGraph.from_arrays(mesh.points, [[0, 1], [1, 2], [2, 0]]).triangulate(keep_points=True)
    inner = next(v for v in more.triangles[(more.triangles == n).any(axis=1)].ravel() if 3 < v < n)
    for planted, match in (
        (flipped(mesh, segments=True), "not unions|not Delaunay"),
        (moved(more, n, [0.5, 1e-9]), "off its segment|not Delaunay"),
        (moved(mesh, 5, mesh.points[5] + 1e-9), "first"),
        (half, "the area"),
        (dataclasses.replace(more, segments=np.append(more.segments, [[n, inner]], axis=0)), "on 3 segments"),
    ):
        with pytest.raises(VerificationError, match=match):
            check_delaunay(planted, original=mesh, unused_points=True)


def test_bounds_and_holes_are_checked(mesh):
    areas = mesh.areas()
    check_delaunay(mesh, max_area=areas.max(), min_angle=mesh.quality().min_angle)
    for bound in ({"max_area": areas.max() * 0.99}, {"min_angle": mesh.quality().min_angle + 0.01}):
        with pytest.raises(VerificationError, match=r"too large|angle below"):
            check_delaunay(mesh, **bound)
    capped = dataclasses.replace(mesh, max_areas=np.where(np.arange(mesh.n_triangles) == 7, areas / 2, np.inf))
    with pytest.raises(VerificationError, match="too large: 7"):
        check_delaunay(capped, original=mesh)
    with pytest.raises(VerificationError, match="in the hole"):
        check_delaunay(mesh, holes=[[0.501, 0.502]])


def test_sharp_input_angles_are_excused():
    """Between two segments at 5 degrees no triangle can be better; one at a blunt corner could."""
    sharp = PlanarGraph.from_arrays(
        [[0, 0], [1, 0], [np.cos(0.087), np.sin(0.087)]], [[0, 1], [0, 2], [1, 2]]
    ).triangulate()
    check_delaunay(sharp, original=sharp, min_angle=20)
    flat = PlanarGraph.from_arrays([[0, 0], [1, 0], [0.5, 0.05]], [[0, 1]]).triangulate(convex_hull=True)
    check_delaunay(flat, original=flat, min_angle=5)
    blunt = PlanarGraph.from_arrays([[0, 0], [1, 0], [1, 0.05], [0, 0.05]], [[0, 1]]).triangulate(convex_hull=True)
    with pytest.raises(VerificationError, match="angle below"):
        check_delaunay(blunt, original=blunt, min_angle=5)
