"""Reading and writing of files of triangulations and planar graphs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, overload

from numpy.typing import ArrayLike, NDArray

from clgraph.arguments import checked_flag, checked_path, shown
from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.errors import GraphFileError, GraphFileWarning, InputError, MeshError
from clgraph.io import suffix_of, triangle_files, triangle_writer
from clgraph.io.mesh_data import beyond_triangles, checked_columns, made_mesh, mesh_data
from clgraph.io.mesh_formats import write_gmsh, write_vtu
from clgraph.io.meshio_files import known_meshio, read_by_meshio, write_by_meshio
from clgraph.io.text import writing
from clgraph.io.triangle_names import beside, companion, needed, stem_of, written_files

_TRIANGLE = (".node", ".ele")


@overload
def read_mesh(path: str | os.PathLike[str], *, cell_data: Literal[False] = ...) -> TriangleMesh: ...


@overload
def read_mesh(
    path: str | os.PathLike[str], *, cell_data: Literal[True]
) -> tuple[TriangleMesh, dict[str, NDArray[Any]]]: ...


def read_mesh(
    path: str | os.PathLike[str], *, cell_data: bool = False
) -> TriangleMesh | tuple[TriangleMesh, dict[str, NDArray[Any]]]:
    """Read a triangulation from a file.

    Lines in the file become segments. The markers of segments and the regions of triangles are taken from the columns
    "marker" and "region", else from Gmsh's physical groups, Medit's references or Gmsh's geometrical tags.

    Parameters
    ----------
    path : path
        A .node or .ele file of Triangle, or a file of another suffix, which meshio reads and so must be installed. Of
        Triangle's files, both are read, and .poly and .area files of the same name if they exist. Files may be
        compressed by gzip, xz or bzip2.
    cell_data : bool
        Whether to return the file's other columns of triangles, too.

    Returns
    -------
    TriangleMesh
    dict of arrays, shape (t,)
        The other columns by name, if *cell_data*; empty for Triangle's files.

    Raises
    ------
    GraphFileError
        A file cannot be read, is malformed, has no triangles, or its data are not a triangulation.
    MissingExtraError
        The suffix needs meshio, which is not installed.

    Warns
    -----
    GraphFileWarning
        The points have different third coordinates; there are cells other than triangles, lines and points, or columns
        of points; triangles of an .ele file have several attributes or six corners. These are ignored.
    """
    source, with_data = checked_path("path", path), checked_flag("cell_data", cell_data)
    columns: dict[str, NDArray[Any]] = {}
    if suffix_of(source) == ".poly":
        raise InputError(
            f"path = {shown(path)}; read_planar_graph reads .poly files, and read_mesh .node and .ele files"
        )
    if suffix_of(source) in _TRIANGLE:
        mesh = triangle_files.read_mesh(source)
    else:
        try:
            mesh, columns = made_mesh(read_by_meshio(source))
        except MeshError as error:
            raise GraphFileError(f"{source}: {error}") from error
    return (mesh, columns) if with_data else mesh


def write_mesh(
    mesh: TriangleMesh,
    path: str | os.PathLike[str],
    *,
    cell_data: Mapping[str, ArrayLike] | None = None,
    point_data: Mapping[str, ArrayLike] | None = None,
) -> None:
    """Write a triangulation to a file.

    An older file is replaced atomically, and stays unchanged if writing fails.

    Parameters
    ----------
    mesh : TriangleMesh
    path : path
        The suffix determines the format:

        * .node or .ele: files of both suffixes in Triangle's format, and a .poly file with the segments; numbered
          from 1.
        * .msh: Gmsh's format 4.1. Triangles are grouped by region, so reading the file returns them in another order.
        * .vtu: a file for ParaView, with the least angle and the area of each triangle.
        * Other suffixes are written by meshio, which must be installed.

        Files with .node, .ele, .msh, .vtu and .vtk hold the whole mesh, other files only points and triangles. An .area
        file with the largest areas is written beside .node and .ele, or removed if the mesh has no largest areas.
    cell_data : dict of arrays, shape (t,), optional
        Further columns of triangles, by name, for .msh, .vtu and .vtk. In .msh files they are float64. Names may have
        blanks, except in .vtk files.
    point_data : dict of arrays, shape (n,), optional
        Columns of points, likewise. :func:`read_mesh` does not read them.

    Raises
    ------
    InputError
        A file cannot be written, *cell_data* or *point_data* is malformed, or meshio does not know the suffix. Or a
        .poly file with points, holes or regions would be overwritten: it may be the only file of a planar graph.
    MissingExtraError
        The suffix needs meshio, which is not installed.

    Warns
    -----
    GraphFileWarning
        The format does not hold the whole mesh, *cell_data* or *point_data*; the warning names what is missing.
    """
    target = checked_path("path", path)
    if not isinstance(mesh, TriangleMesh):
        raise InputError(f"mesh = {shown(mesh)}; allowed: a TriangleMesh")
    check_target(target)
    columns = checked_columns("cell_data", cell_data, mesh.n_triangles)
    of_points = checked_columns("point_data", point_data, mesh.n_points)
    suffix, data = suffix_of(target), {"cell_data": columns, "point_data": of_points}
    lost = [name for name, given in data.items() if given]
    if suffix in _TRIANGLE:
        triangle_writer.write_mesh(mesh, target)
    elif suffix == ".vtu":
        quality = {"min_angle": mesh.angles().min(axis=1), "area": mesh.areas()}
        with writing(target) as stream:
            write_vtu(mesh_data(mesh, quality | columns, of_points), stream)
        return
    elif suffix == ".msh":
        with writing(target) as stream:
            write_gmsh(mesh_data(mesh, columns, of_points), stream)
        return
    else:
        has_columns = suffix == ".vtk"
        if has_columns and (names := [name for given in data.values() for name in given if " " in name]):
            raise InputError(f"{target}: the column {names[0]!r} has a blank, which .vtk files do not allow; .vtu do")
        write_by_meshio(mesh_data(mesh, columns, of_points), target, has_columns)
        lost = [] if has_columns else [*beyond_triangles(mesh), *lost]
    if lost:
        warnings.warn(
            f"{target}: {suffix} files do not hold {', '.join(lost)}; .msh, .vtu and .vtk files do",
            GraphFileWarning, stacklevel=2,
        )  # fmt: skip


def check_target(target: Path, source: Path | None = None) -> None:
    """Raise an :class:`InputError` if :func:`write_mesh` does not write *target*, or would overwrite files of *source*.

    *source* is a file from which a mesh or a planar graph was read.
    """
    suffix, is_triangle = suffix_of(target), suffix_of(target) in _TRIANGLE
    if suffix == ".poly":
        raise InputError(
            f"{target}: write the mesh to a .node file; its segments are written to a .poly file beside it"
        )
    given = set() if source is None else {os.path.realpath(file) for file in _files_read(source)}
    for file in written_files(target) if is_triangle else [target]:
        if os.path.realpath(file) in given:
            name = stem_of(target)
            raise InputError(
                f"{target}: {file.name} would be overwritten, which is the input; write to another name, such as "
                f"{name.stem}.1{name.suffix}"
            )
    if is_triangle:
        triangle_writer.check_poly(target)
    elif suffix not in (".msh", ".vtu"):
        known_meshio(target)


def _files_read(source: Path) -> list[Path]:
    if suffix_of(source) not in _TRIANGLE:  # The points of a .poly file may be in a .node file.
        node = beside(source, ".node") if suffix_of(source) == ".poly" else None
        return [source] if node is None else [source, node]
    optional = (companion(source, suffix) for suffix in (".poly", ".area"))
    return [*(needed(source, suffix) for suffix in _TRIANGLE), *(file for file in optional if file is not None)]


def read_planar_graph(path: str | os.PathLike[str]) -> PlanarGraph:
    """Read points and segments from a .poly file of Triangle, or points from a .node file.

    Parameters
    ----------
    path : path
        The file, which may be compressed by gzip, xz or bzip2.

    Returns
    -------
    PlanarGraph

    Raises
    ------
    GraphFileError
        The file cannot be read or is malformed.
    """
    source = checked_path("path", path)
    if suffix_of(source) not in (".poly", ".node"):
        raise InputError(f"path = {shown(path)}; allowed: files that end in .poly or .node")
    return triangle_files.read_planar_graph(source)


def write_planar_graph(graph: PlanarGraph, path: str | os.PathLike[str]) -> None:
    """Write points, segments, holes and regions to a .poly file of Triangle.

    Raises
    ------
    InputError
        The suffix is not .poly, or the file cannot be written.
    """
    target = checked_path("path", path)
    if not isinstance(graph, PlanarGraph) or suffix_of(target) != ".poly":
        raise InputError(f"graph = {shown(graph)}, path = {shown(path)}; allowed: a PlanarGraph, *.poly")
    triangle_writer.write_planar_graph(graph, target)
