"""Files of triangulations and of planar graphs."""
from __future__ import annotations

import base64
import importlib
import os
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import checked_path, shown
from clgraph.data.planar_graph import PlanarGraph
from clgraph.data.triangle_mesh import TriangleMesh
from clgraph.errors import GraphFileError, InputError, MissingExtraError
from clgraph.io import suffix_of, triangle_files
from clgraph.io.text import writing

_TRIANGLE = (".node", ".ele")
_VTK_TRIANGLE = 5
_VTK_TYPES = {"f8": "Float64", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}


def read_mesh(path: str | os.PathLike[str]) -> TriangleMesh:
    """Read a triangulation.

    Parameters
    ----------
    path : path
        A .node or .ele file of Triangle, perhaps compressed by gzip, xz or bzip2: both are read, and .poly and .area
        files of the same name if there are. All other suffixes are left to meshio, which must be installed; what is no
        triangle is passed over, and so is the third coordinate.

    Returns
    -------
    TriangleMesh

    Raises
    ------
    GraphFileError
        A file cannot be read, or is malformed, or what is in it is no triangulation.
    MissingExtraError
        The suffix needs meshio.
    """
    source = checked_path("path", path)
    if suffix_of(source) in _TRIANGLE:
        return triangle_files.read_mesh(source)
    meshio = _meshio(source)
    try:
        found = meshio.read(source)
        points, triangles = np.asarray(found.points)[:, :2], found.get_cells_type("triangle")
        return TriangleMesh.from_arrays(points, triangles)
    except SystemExit as error:  # so meshio ends where it knows no reader
        raise GraphFileError(f"{source}: meshio cannot read it") from error
    except Exception as error:
        raise GraphFileError(f"{source}: {error}") from error


def write_mesh(mesh: TriangleMesh, path: str | os.PathLike[str]) -> None:
    """Write a triangulation.

    Parameters
    ----------
    mesh : TriangleMesh
    path : path
        With .node or .ele, files of both suffixes are written, and a .poly file with the segments; numbers begin with
        1. With .vtu, a file for ParaView and VTK. All other suffixes are left to meshio, which must be installed.

    Raises
    ------
    InputError
        A file cannot be written, or meshio does not know the suffix.
    MissingExtraError
        The suffix needs meshio.
    """
    target = checked_path("path", path)
    if not isinstance(mesh, TriangleMesh):
        raise InputError(f"mesh = {shown(mesh)}; allowed: a TriangleMesh")
    if suffix_of(target) in _TRIANGLE:
        triangle_files.write_mesh(mesh, target)
    elif suffix_of(target) == ".vtu":
        with writing(target) as stream:
            _write_vtu(mesh, stream)
    else:
        meshio = _meshio(target)
        points = np.pad(mesh.points, ((0, 0), (0, 1)))  # most formats have three coordinates
        try:
            meshio.Mesh(points, [("triangle", mesh.triangles), ("line", mesh.segments)]).write(target)
        except (Exception, SystemExit) as error:
            raise GraphFileError(f"{target}: cannot be written: {error}") from error


def read_planar_graph(path: str | os.PathLike[str]) -> PlanarGraph:
    """Read points and segments from a .poly file of Triangle, or points from a .node file.

    Parameters
    ----------
    path : path
        It may be compressed by gzip, xz or bzip2.

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


def _write_vtu(mesh: TriangleMesh, stream: IO[bytes]) -> None:
    """Write VTK's unstructured grid, with numbers in base 64."""
    t = mesh.n_triangles
    in_points: dict[str, NDArray[Any]] = {"marker": mesh.point_markers}
    if mesh.point_attributes.shape[1]:
        in_points["attributes"] = mesh.point_attributes
    in_cells: dict[str, NDArray[Any]] = {"min_angle": mesh.angles().min(axis=1), "area": mesh.areas()}
    if mesh.region_attributes is not None:
        in_cells["region"] = mesh.region_attributes
    parts: dict[str, dict[str, NDArray[Any]]] = {
        "PointData": in_points,
        "CellData": in_cells,
        "Points": {"Points": np.pad(mesh.points, ((0, 0), (0, 1)))},
        "Cells": {
            "connectivity": mesh.triangles.ravel(),
            "offsets": 3 * np.arange(1, t + 1),
            "types": np.full(t, _VTK_TRIANGLE, np.uint8),
        },
    }
    stream.write(
        b'<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
        b'header_type="UInt64"><UnstructuredGrid>\n'
        + f'<Piece NumberOfPoints="{mesh.n_points}" NumberOfCells="{t}">\n'.encode()
    )
    for part, arrays in parts.items():
        stream.write(f"<{part}>\n".encode())
        for name, array in arrays.items():
            little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            components = f' NumberOfComponents="{array.shape[1]}"' if array.ndim > 1 else ""
            kind = _VTK_TYPES[little.dtype.str[1:]]
            stream.write(f'<DataArray type="{kind}" Name="{name}"{components} format="binary">'.encode())
            stream.write(base64.b64encode(np.uint64(little.nbytes).tobytes() + little.tobytes()))
            stream.write(b"</DataArray>\n")
        stream.write(f"</{part}>\n".encode())
    stream.write(b"</Piece></UnstructuredGrid></VTKFile>\n")


def _meshio(path: Path) -> Any:
    try:
        return importlib.import_module("meshio")
    except ImportError as error:
        raise MissingExtraError(
            f"{path}: this suffix needs meshio: pip install 'meshio>=5'; .node and .ele do not"
        ) from error
