"""``triangulate`` of the package triangle, run by clgraph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import check_callback, checked_array, shown
from clgraph.compat.refinement import refined
from clgraph.compat.switches import ADDS_POINTS, Switches
from clgraph.data.meshes.mesh_arrays import edge_keys, triangle_sides
from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.errors import InputError
from clgraph.runtime.session import SessionLike

_SEGMENT_KEYS = {"segments", "segment_markers", "holes", "regions"}
_KEYS = _SEGMENT_KEYS | {
    "vertices", "vertex_attributes", "vertex_markers", "triangles", "triangle_attributes", "triangle_max_area",
    "neighbors", "edges", "edge_markers",
}  # fmt: skip
_INTEGER_KEYS = {"segments", "segment_markers", "vertex_markers", "triangles"}


def triangulate(
    tri: Mapping[str, Any],
    opts: str = "",
    *,
    refinement_func: Callable[[list[list[float]], float], Any] | None = None,
    deterministic: bool = True,
    session: SessionLike = None,
) -> dict[str, NDArray[Any]]:
    """Triangulate points or a planar graph as ``triangle.triangulate`` does.

    Parameters
    ----------
    tri : dict
        ``vertices``, float array, shape (n, 2), and optionally ``vertex_attributes``, ``vertex_markers``, ``segments``,
        ``segment_markers``, ``holes`` (a point inside each), ``regions`` (x, y, attribute, largest area), and with
        option r ``triangles``, ``triangle_attributes``, ``triangle_max_area``.
    opts : str
        Letters, some followed by a number. Spaces and a leading ``-`` are ignored, and so are options that do not
        change the result.

        * ``p``: use segments, holes and regions. Without segments, the convex hull is triangulated.
        * ``r``: start from the given triangles. With ``q``, ``a`` or ``D``, their edges are first flipped until they
          are Delaunay, except for segments.
        * ``q20``: no angle is below 20 degrees, which is also the default. Above 34 degrees refinement hardly ever
          ends, in Triangle as here. Then a warning says so, and refinement stops at four times the points that 34
          degrees take, unless ``S`` gives another number.
        * ``a0.1``: no triangle's area is above 0.1. Without a number, the areas of the regions or triangles apply.
        * ``A``: give triangles the attributes of their regions.
        * ``D``: make all triangles Delaunay by splitting segments. ``s``, which is similar, is refused.
        * ``S100``: add at most 100 points.
        * ``c``: keep the convex hull. ``j``: drop points that belong to no triangle.
        * ``e``: return edges. ``n``: return neighbours.
        * ``o2``: triangles with six points. The last three are the middles of the edges opposite the first, second and
          third corner.
        * ``u``: also divide each triangle for which *refinement_func* returns true.
        * ``B``, ``P``, ``N``, ``E``: leave out markers, segments, vertices, triangles.
        * ``Y``: split no segments at the boundary. ``YY``: split no segments at all.

        Option ``s`` is refused. ``v`` changes nothing; :func:`voronoi` returns the Voronoi diagram.
    refinement_func : callable, optional
        For option ``u``, as in MeshPy: ``refinement_func(vertices, area)`` gets the three points of a triangle and its
        area, and returns whether the triangle is too large. It is called once for each triangle that arises.
    deterministic : bool
        Return the same mesh in every run and on every device, as Triangle does. False may be faster.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to refine.

    Returns
    -------
    dict
        ``vertices``, ``vertex_markers``, ``triangles``, and depending on the options ``vertex_attributes``,
        ``neighbors``, ``triangle_attributes``, ``segments``, ``segment_markers``, ``edges``, ``edge_markers``, with
        the shapes that ``triangle`` gives; ``holes`` and ``regions`` as they were given.

    Raises
    ------
    InputError
        An option or key is unknown, or the arrays describe no planar graph or mesh.

    Warns
    -----
    ConvergenceWarning
        The least angle is above 34 degrees, or triangles are left that are too large or have too small angles.

    Examples
    --------
    >>> from clgraph.compat import triangulate
    >>> square = {"vertices": [[0, 0], [1, 0], [1, 1], [0, 1]], "segments": [[0, 2]]}
    >>> sorted(triangulate(square, "pc")["segments"].tolist())
    [[0, 1], [0, 2], [1, 2], [2, 3], [3, 0]]
    """
    switches = Switches.parse(opts)
    check_callback("refinement_func", refinement_func)
    if ("u" in switches.letters) != (refinement_func is not None):
        raise InputError("option u and refinement_func= need each other: refinement_func(vertices, area)")
    mesh = _given_mesh(tri, switches)
    if switches.letters & ADDS_POINTS:
        mesh = refined(mesh, switches, refinement_func, deterministic, session)
    mesh = mesh.without_unused_points() if "j" in switches.letters else mesh
    return _as_dictionary(mesh, tri, switches)


def _given_mesh(tri: Mapping[str, Any], switches: Switches) -> TriangleMesh:
    """Return the mesh in *tri*, or the triangulation of its points and segments."""
    letters = switches.letters
    needed = {"vertices", "triangles"} if "r" in letters else {"vertices"}
    if not isinstance(tri, Mapping) or needed - set(tri) or set(tri) - _KEYS:
        given = list(tri) if isinstance(tri, Mapping) else shown(tri)
        raise InputError(f"tri: {given}; needed: a dict with {sorted(needed)}; known: {sorted(_KEYS)}")
    known = {
        key: _integers(values) if key in _INTEGER_KEYS else values
        for key, values in tri.items() if "p" in letters or key not in _SEGMENT_KEYS
    }  # fmt: skip
    points: dict[str, Any] = {
        "point_markers": known.get("vertex_markers"),
        "point_attributes": known.get("vertex_attributes"),
        "segment_markers": known.get("segment_markers"),
    }
    if "r" in letters:
        areas = _column(known.get("triangle_max_area"))
        corners = checked_array("triangles", known["triangles"])
        corners = corners[:, :3] if corners.ndim == 2 and corners.shape[1] == 6 else corners  # made with o2
        arrays = known["vertices"], corners, known.get("segments")
        mesh = TriangleMesh.from_arrays(*arrays, max_areas=areas, **points).with_boundary_markers()
        if _attribute_rows(tri, mesh.n_triangles) is not None:  # New triangles get the row of a triangle in *tri*.
            mesh = replace(mesh, region_attributes=np.arange(mesh.n_triangles, dtype=np.float64))
        mesh = mesh.to_delaunay() if letters & ADDS_POINTS else mesh
    else:
        segments, holes, regions = (known.get(key, ()) for key in ("segments", "holes", "regions"))
        graph = PlanarGraph.from_arrays(known["vertices"], segments, holes=holes, regions=regions, **points)
        mesh = graph.triangulate(convex_hull="c" in letters, keep_points=True)
    return mesh if switches.has_areas else replace(mesh, max_areas=None)


def _integers(values: Any) -> Any:
    """Return *values* as integers if they are floats without fractions, as programs often read files as floats."""
    array = checked_array("an array of integers", values)
    is_whole = array.dtype.kind == "f" and bool((array == np.rint(array)).all() and (np.abs(array) < 2**53).all())
    return array.astype(np.int64) if is_whole else values


def _attribute_rows(tri: Mapping[str, Any], t: int) -> NDArray[np.float64] | None:
    """Return the attributes of the *t* triangles in *tri*, shape (t, a), or ``None`` without any."""
    if (values := tri.get("triangle_attributes")) is None:
        return None
    rows = checked_array("triangle_attributes", values)
    if rows.shape[:1] != (t,) or rows.ndim > 2 or rows.dtype.kind not in "biuf":
        raise InputError(f"triangle_attributes has shape {rows.shape} and type {rows.dtype}; needed: numbers, ({t}, a)")
    return (rows[:, None] if rows.ndim == 1 else rows).astype(np.float64)


def _column(values: Any) -> Any:
    """Return an array of shape (n, 1) as (n,)."""
    array = None if values is None else checked_array("an array of triangles", values)
    return array[:, 0] if array is not None and array.ndim == 2 and array.shape[1] == 1 else array


def _as_dictionary(mesh: TriangleMesh, given: Mapping[str, Any], switches: Switches) -> dict[str, NDArray[Any]]:
    letters = switches.letters
    points, attributes, markers, triangles = mesh.points, mesh.point_attributes, mesh.point_markers, mesh.triangles
    if switches.numbers.get("o", 1) == 2:
        points, attributes, markers, triangles = _with_middles(mesh)
    found: dict[str, NDArray[Any]] = {"vertices": points}
    if attributes.shape[1]:
        found["vertex_attributes"] = attributes
    found["vertex_markers"] = markers[:, None]
    found["triangles"] = triangles
    if mesh.region_attributes is not None and letters & {"A", "r"}:
        rows = _attribute_rows(given, len(given["triangles"])) if "r" in letters else None
        column = mesh.region_attributes
        found["triangle_attributes"] = column[:, None] if rows is None else rows[column.astype(np.int64)]
    if "n" in letters:
        found["neighbors"] = mesh.neighbors
    if letters & {"p", "c"}:
        found["segments"], found["segment_markers"] = mesh.segments, mesh.segment_markers[:, None]
    if "e" in letters:
        found["edges"], edge_markers = mesh.edges()
        found["edge_markers"] = edge_markers[:, None]
    if "p" in letters:
        found |= {key: np.asarray(given[key], float) for key in ("holes", "regions") if key in given}
    return {key: values for key, values in found.items() if not switches.leaves_out(key)}


def _with_middles(
    mesh: TriangleMesh,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
    """Return points, attributes, markers and triangles after each edge has got a point in its middle."""
    n, sides = mesh.n_points, triangle_sides(mesh.triangles).reshape(-1, 2)
    keys, first, edge = np.unique(edge_keys(sides, n), return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)  # New points are in the order in which triangles have their edges.
    rank[np.argsort(first)] = np.arange(len(first))
    ends = sides[np.sort(first)]
    markers = np.zeros(len(first), np.int32)
    markers[rank[np.searchsorted(keys, edge_keys(mesh.segments, n))]] = mesh.segment_markers
    middles = (n + rank[edge.ravel()]).astype(np.int32).reshape(-1, 3)
    return (
        np.concatenate([mesh.points, mesh.points[ends].mean(axis=1)]),
        np.concatenate([mesh.point_attributes, mesh.point_attributes[ends].mean(axis=1)]),
        np.concatenate([mesh.point_markers, markers]),
        np.concatenate([mesh.triangles, middles], axis=1),
    )
