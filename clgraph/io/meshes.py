"""Reading and writing of files of triangulations and planar graphs."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clgraph.arguments import checked_flag, checked_path, shown
from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.errors import GraphFileError, GraphFileWarning, InputError, MeshError, MissingExtraError
from clgraph.io import suffix_of, triangle_files
from clgraph.io.mesh_data import MeshData, beyond_triangles, checked_cell_data, made_mesh, mesh_data
from clgraph.io.mesh_formats import write_gmsh, write_vtu
from clgraph.io.text import reading, writing

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
        The points have different third coordinates, or there are cells other than triangles, lines and points. These
        are ignored.
    """
    source, with_data = checked_path("path", path), checked_flag("cell_data", cell_data)
    columns: dict[str, NDArray[Any]] = {}
    if suffix_of(source) in _TRIANGLE:
        mesh = triangle_files.read_mesh(source)
    else:
        try:
            mesh, columns = made_mesh(_read_by_meshio(source))
        except MeshError as error:
            raise GraphFileError(f"{source}: {error}") from error
    return (mesh, columns) if with_data else mesh


def write_mesh(
    mesh: TriangleMesh, path: str | os.PathLike[str], *, cell_data: Mapping[str, ArrayLike] | None = None
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

        Files with .node, .ele, .msh, .vtu and .vtk hold the whole mesh, other files only points and triangles.
    cell_data : dict of arrays, shape (t,), optional
        Further columns of triangles, by name, for .msh, .vtu and .vtk. In .msh files they are float64.

    Raises
    ------
    InputError
        A file cannot be written, *cell_data* is malformed, or meshio does not know the suffix.
    MissingExtraError
        The suffix needs meshio, which is not installed.

    Warns
    -----
    GraphFileWarning
        The format does not hold the whole mesh or *cell_data*; the warning names what is missing.
    """
    target = checked_path("path", path)
    if not isinstance(mesh, TriangleMesh):
        raise InputError(f"mesh = {shown(mesh)}; allowed: a TriangleMesh")
    columns, suffix = checked_cell_data(cell_data, mesh.n_triangles), suffix_of(target)
    lost = ["cell_data"] if columns else []
    if suffix in _TRIANGLE:
        triangle_files.write_mesh(mesh, target)
    elif suffix == ".vtu":
        quality = {"min_angle": mesh.angles().min(axis=1), "area": mesh.areas()}
        with writing(target) as stream:
            write_vtu(mesh_data(mesh, quality | columns), stream)
        return
    elif suffix == ".msh":
        with writing(target) as stream:
            write_gmsh(mesh_data(mesh, columns), stream)
        return
    else:
        has_columns = suffix == ".vtk"
        _write_by_meshio(mesh_data(mesh, columns), target, has_columns)
        lost = [] if has_columns else [*beyond_triangles(mesh), *lost]
    if lost:
        warnings.warn(
            f"{target}: {suffix} files do not hold {', '.join(lost)}; .msh, .vtu and .vtk files do",
            GraphFileWarning, stacklevel=2,
        )  # fmt: skip


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
    triangle_files.write_planar_graph(graph, target)


def _read_by_meshio(source: Path) -> MeshData:
    """Return the points, triangles, lines and columns of a file.

    Ignored cells and coordinates cause a warning.
    """
    meshio = _meshio(source)
    with contextlib.ExitStack() as stack:
        file, format = source, None
        with reading(source) as stream:
            if source.suffix.lower() in (".gz", ".xz", ".bz2"):
                file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / source.stem
                with open(file, "wb") as unpacked:
                    shutil.copyfileobj(stream, unpacked)
            elif suffix_of(source) == ".msh" and stream.read(1) == b"$":
                # Files with the suffix .msh that Ansys has written begin otherwise.
                format = "gmsh"
        # meshio prints errors of the readers that it tries, so its output is dropped.
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        try:
            found = meshio.read(file, format)
            points = np.asarray(found.points, np.float64)
            counts = Counter[str]()
            for block in found.cells:
                counts[block.type] += len(block.data)
            triangles, lines = (found.get_cells_type(kind) for kind in ("triangle", "line"))
            kinds = [kind for kind in ("triangle", "line") if kind in counts] if counts["triangle"] else []
            columns = {
                name: np.concatenate([found.get_cell_data(name, kind) for kind in kinds])
                for name in found.cell_data if kinds
            }  # fmt: skip
            data = MeshData(points, triangles, lines, dict(found.point_data), columns)
        except SystemExit as error:  # meshio exits in this way if it has no reader for the file.
            raise GraphFileError(f"{source}: meshio cannot read it") from error
        except Exception as error:
            raise GraphFileError(f"{source}: {error}") from error
    others = [f"{n} {kind}" for kind, n in counts.items() if kind not in ("triangle", "line", "vertex")]
    if not counts["triangle"]:
        raise GraphFileError(f"{source}: there are no triangles{' but ' if others else ''}{', '.join(others)}")
    if others:
        warnings.warn(
            f"{source}: cells other than triangles are left out: {', '.join(others)}", GraphFileWarning, stacklevel=3
        )
    if points.shape[1:] == (3,) and np.ptp(points[:, 2]) > 0:
        warnings.warn(
            f"{source}: the third coordinate, {points[:, 2].min():g} to {points[:, 2].max():g}, is left out",
            GraphFileWarning, stacklevel=3,
        )  # fmt: skip
    return data


def _write_by_meshio(data: MeshData, path: Path, has_columns: bool) -> None:
    """Write the files of *path* to a temporary folder in the same directory, and then move the files in place."""
    meshio, target, t = _meshio(path), Path(os.path.realpath(path)), len(data.triangles)
    cells, columns = [("triangle", data.triangles)], {}
    if has_columns:
        cells += [("line", data.segments)] if len(data.segments) else []
        columns = {name: [column[:t], column[t:]][: len(cells)] for name, column in data.of_cells.items()}
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=target.parent) as folder:
            made = meshio.Mesh(data.points, cells, point_data=data.of_points if has_columns else {}, cell_data=columns)
            with contextlib.redirect_stdout(io.StringIO()):
                made.write(Path(folder) / target.name)
            for file in Path(folder).iterdir():  # Some mesh formats store their data in a second file.
                os.replace(file, target.with_name(file.name))
    except (Exception, SystemExit) as error:
        raise GraphFileError(f"{path}: cannot be written: {error}") from error


def _meshio(path: Path) -> Any:
    try:
        return importlib.import_module("meshio")
    except ImportError as error:
        raise MissingExtraError(
            f"{path}: this suffix needs meshio: pip install 'meshio>=5'; .node and .ele do not"
        ) from error
