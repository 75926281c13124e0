"""Meshes in the form that other programs' files use: cells, and named columns of numbers for points and cells."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clgraph.arguments import checked_array, shown
from clgraph.data.meshes.mesh_links import BOUNDARY_MARKER
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.errors import GraphFileWarning, InputError

MARKER, REGION, MAX_AREA, ATTRIBUTE = "marker", "region", "max_area", "attribute_"
_TAGS = "gmsh:physical", "medit:ref", "gmsh:geometrical"
"""Columns of integers that meshio makes of other programs' files. The first of them that a file has is used."""
_STORED: dict[str, type] = {"bool": np.uint8, "float16": np.float32, np.dtype(np.longdouble).name: np.float64}
_DIM_TAGS = "gmsh:dim_tags"  # meshio's column of points for the entities of Gmsh's files. A mesh does not need it.
_NAME = re.compile(r'[^\s"<>&]+( [^\s"<>&]+)*')


class MeshData(NamedTuple):
    """The points, triangles, segments and columns of a mesh.

    Attributes
    ----------
    points : float64 array, shape (n, 3)
    triangles : int array, shape (t, 3)
    segments : int array, shape (s, 2)
    of_points : dict of arrays, shape (n,)
        The columns of the points, by name.
    of_cells : dict of arrays, shape (t + s,)
        The columns of the cells, by name: first the triangles, then the segments. Segments have 0 in columns that are
        for triangles only. Triangles have marker 0.
    """

    points: NDArray[np.float64]
    triangles: NDArray[Any]
    segments: NDArray[Any]
    of_points: dict[str, NDArray[Any]]
    of_cells: dict[str, NDArray[Any]]


def mesh_data(
    mesh: TriangleMesh, cell_data: Mapping[str, NDArray[Any]], point_data: Mapping[str, NDArray[Any]]
) -> MeshData:
    """Convert *mesh*, with columns of its triangles and of its points, to MeshData, in which area 0 means no bound."""
    of_triangles = dict(cell_data)
    if mesh.region_attributes is not None:
        of_triangles[REGION] = mesh.region_attributes
    if mesh.max_areas is not None:
        of_triangles[MAX_AREA] = np.where(np.isinf(mesh.max_areas), 0.0, mesh.max_areas)
    s = len(mesh.segments)
    of_cells = {name: np.concatenate([column, np.zeros(s, column.dtype)]) for name, column in of_triangles.items()}
    of_cells[MARKER] = np.concatenate([np.zeros(mesh.n_triangles, np.int32), mesh.segment_markers])
    attributes = {f"{ATTRIBUTE}{k}": column for k, column in enumerate(mesh.point_attributes.T)}
    points = np.pad(mesh.points, ((0, 0), (0, 1)))
    of_points = {MARKER: mesh.point_markers, **attributes, **point_data}
    return MeshData(points, mesh.triangles, mesh.segments, of_points, of_cells)


def checked_columns(argument: str, given: Mapping[str, ArrayLike] | None, n: int) -> dict[str, NDArray[Any]]:
    """Return the user's columns of *n* triangles or points as arrays, by name, or raise an :class:`InputError`.

    *argument* is "cell_data" or "point_data".
    """
    if not isinstance(given, Mapping | None):
        raise InputError(f"{argument} = {shown(given)}; allowed: a dictionary of arrays")
    own = (MARKER, REGION, MAX_AREA) if argument == "cell_data" else (MARKER, f"{ATTRIBUTE}0")
    columns = {}
    for name, values in (given or {}).items():
        is_own = name in (*own, *_TAGS) or (argument == "point_data" and str(name).startswith(ATTRIBUTE))
        if not isinstance(name, str) or not _NAME.fullmatch(name) or is_own:
            raise InputError(
                f"{argument} has the name {shown(name)}; allowed: text without line breaks, quotes and <>&, but not "
                f"{', '.join(map(repr, own))}, which the mesh has"
            )
        column = checked_array(f"{argument}[{name!r}]", values, InputError)
        if column.shape != (n,) or column.dtype.kind not in "biuf":
            raise InputError(
                f"{argument}[{name!r}] has shape {column.shape} and type {column.dtype}; needed: numbers, ({n},)"
            )
        columns[name] = column.astype(_STORED.get(column.dtype.name, column.dtype))
    return columns


def made_mesh(data: MeshData) -> tuple[TriangleMesh, dict[str, NDArray[Any]]]:
    """Convert *data* to a TriangleMesh; return it, and the triangles' columns that it has no attribute for.

    Raises
    ------
    MeshError
        As in :meth:`TriangleMesh.from_arrays`.

    Warns
    -----
    GraphFileWarning
        There are columns of points that a mesh has no attribute for. They are left out.
    """
    t = len(data.triangles)
    tags = next((data.of_cells[name] for name in _TAGS if name in data.of_cells), np.zeros(t + len(data.segments), int))
    markers = whole(data.of_cells.get(MARKER, tags)[t:])
    regions = data.of_cells[REGION][:t] if REGION in data.of_cells else tags[:t] if tags[:t].any() else None
    areas = data.of_cells.get(MAX_AREA)
    attributes: list[NDArray[Any]] = []
    while (name := f"{ATTRIBUTE}{len(attributes)}") in data.of_points:
        attributes.append(data.of_points[name])
    kept = {MARKER, _DIM_TAGS, *(f"{ATTRIBUTE}{k}" for k in range(len(attributes)))}
    if lost := [name for name in data.of_points if name not in kept]:
        warnings.warn(f"columns of points are left out: {', '.join(lost)}", GraphFileWarning, stacklevel=3)
    point_markers = data.of_points.get(MARKER)
    mesh = TriangleMesh.from_arrays(
        data.points[:, :2], data.triangles, data.segments, segment_markers=markers,
        point_markers=None if point_markers is None else whole(point_markers),
        point_attributes=np.column_stack(attributes) if attributes else None, region_attributes=regions,
        max_areas=None if areas is None else areas[:t],
    )  # fmt: skip
    held = {MARKER, REGION, MAX_AREA, *_TAGS}
    return mesh, {name: column[:t] for name, column in data.of_cells.items() if name not in held}


def whole(column: NDArray[Any]) -> NDArray[Any]:
    """Return *column* as int64 if it holds floats that are all integers, because some files store only floats."""
    is_whole = column.dtype.kind == "f" and (np.abs(column) < 2**53).all() and (column == np.floor(column)).all()
    return column.astype(np.int64) if is_whole else column


def beyond_triangles(mesh: TriangleMesh) -> list[str]:
    """Return the names of the data of *mesh* that a file of only points and triangles would lose."""
    s, attributes = np.count_nonzero(mesh.neighbors < 0), mesh.point_attributes.shape[1]
    is_marked = (mesh.segment_markers != BOUNDARY_MARKER).any() or (mesh.point_markers > BOUNDARY_MARKER).any()
    found = {
        "segments inside": len(mesh.segments) > s, "markers": is_marked, "point attributes": attributes,
        "regions": mesh.region_attributes is not None, "largest areas": mesh.max_areas is not None,
    }  # fmt: skip
    return [name for name, is_there in found.items() if is_there]
