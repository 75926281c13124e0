"""Writers of mesh files that need no meshio: Gmsh's text format 4.1 (.msh) and VTK's unstructured grids (.vtu)."""

from __future__ import annotations

import base64
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from clgraph.errors import InputError
from clgraph.io.mesh_data import MARKER, REGION, MeshData, whole
from clgraph.io.text import write_rows

_GMSH_LINE, _GMSH_TRIANGLE = 1, 2  # Gmsh's numbers of the element types, which equal the elements' dimensions.
_VTK_LINE, _VTK_TRIANGLE = 3, 5  # VTK's numbers of the types of cells.
_VTK_KINDS = {"f": "Float", "i": "Int", "u": "UInt"}


def write_gmsh(data: MeshData, stream: IO[bytes]) -> None:
    """Write a mesh in Gmsh's format.

    Regions become surfaces, markers become curves, and both become physical groups.

    Triangles are grouped by region; their element tags are row numbers from 1 on. Gmsh's data are float64, so an
    integer that float64 cannot hold raises an :class:`InputError`.
    """
    t, s, n = len(data.triangles), len(data.segments), len(data.points)
    regions = whole(data.of_cells.get(REGION, np.zeros(t + s))[:t])
    surfaces, surface = np.unique(regions, return_inverse=True)
    curves, curve = np.unique(data.of_cells[MARKER][t:], return_inverse=True)
    names = surfaces if _are_groups(surfaces) else 1 + np.arange(surfaces.size)
    lines, triangles = np.argsort(curve, kind="stable"), np.argsort(surface, kind="stable")
    stream.write(b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n")
    stream.write(f"0 {curves.size} {surfaces.size} 0\n".encode())
    for corners, number, groups in ((data.segments, curve, curves), (data.triangles, surface, names)):
        low, high = _boxes(data.points[corners], number, groups.size)
        form = "%d" + " %.17g" * 6 + " 1 %d 0\n"
        write_rows(stream, form, 1 + np.arange(groups.size), *low.T, *high.T, groups)
    stream.write(f"$EndEntities\n$Nodes\n1 {n} 1 {n}\n2 1 0 {n}\n".encode())
    write_rows(stream, "%d\n", 1 + np.arange(n))
    write_rows(stream, "%.17g %.17g %.17g\n", *data.points.T)
    stream.write(f"$EndNodes\n$Elements\n{curves.size + surfaces.size} {t + s} 1 {t + s}\n".encode())
    for dimension, cells, number, order, first in (
        (_GMSH_LINE, data.segments, curve, lines, t), (_GMSH_TRIANGLE, data.triangles, surface, triangles, 0),
    ):  # fmt: skip
        ends = np.cumsum(np.bincount(number))
        for k, rows in enumerate(np.split(order, ends[:-1]) if ends.size else []):
            stream.write(f"{dimension} {k + 1} {dimension} {rows.size}\n".encode())
            columns = 1 + first + rows, *(1 + cells[rows]).T
            write_rows(stream, " ".join(["%d"] * len(columns)) + "\n", *columns)
    stream.write(b"$EndElements\n")
    for name, column in data.of_points.items():
        _write_gmsh_data(stream, "NodeData", name, np.arange(n), column)
    for name, column in data.of_cells.items():
        if name != MARKER:
            _write_gmsh_data(stream, "ElementData", name, np.concatenate([t + lines, triangles]), column)


def _are_groups(values: NDArray[Any]) -> bool:
    """Return whether all *values* are 32-bit integers, so that they can be tags of physical groups in Gmsh's format."""
    limits = np.iinfo(np.int32)
    return values.dtype.kind in "iu" and bool(((values >= limits.min) & (values <= limits.max)).all())


def _boxes(corners: NDArray[Any], number: NDArray[Any], n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the least and the greatest coordinates of each of *n* groups of cells.

    *number* has each cell's group.
    """
    low, high = np.full((n, 3), np.inf), np.full((n, 3), -np.inf)
    np.minimum.at(low, number, corners.min(axis=1))
    np.maximum.at(high, number, corners.max(axis=1))
    return low, high


def _write_gmsh_data(stream: IO[bytes], kind: str, name: str, rows: NDArray[Any], column: NDArray[Any]) -> None:
    values = column.astype(np.float64)
    if column.dtype.kind in "iu" and (wrong := values.astype(column.dtype) != column).any():
        at = int(wrong.argmax())
        raise InputError(f"{name}[{at}] = {column[at]}; allowed in Gmsh's files: numbers that float64 holds")
    stream.write(f'${kind}\n1\n"{name}"\n1\n0\n3\n0\n1\n{rows.size}\n'.encode())
    write_rows(stream, "%d %.17g\n", 1 + rows, values[rows])
    stream.write(f"$End{kind}\n".encode())


def write_vtu(data: MeshData, stream: IO[bytes]) -> None:
    """Write a mesh in VTK's format: first the triangles, then the segments, with all columns of points and cells."""
    t, s = len(data.triangles), len(data.segments)
    parts: dict[str, dict[str, NDArray[Any]]] = {
        "PointData": data.of_points,
        "CellData": data.of_cells,
        "Points": {"Points": data.points},
        "Cells": {
            "connectivity": np.concatenate([data.triangles.ravel(), data.segments.ravel()]),
            "offsets": np.cumsum(np.repeat([3, 2], [t, s])),
            "types": np.repeat(np.array([_VTK_TRIANGLE, _VTK_LINE], np.uint8), [t, s]),
        },
    }
    stream.write(
        b'<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
        b'header_type="UInt64"><UnstructuredGrid>\n'
        + f'<Piece NumberOfPoints="{len(data.points)}" NumberOfCells="{t + s}">\n'.encode()
    )
    for part, arrays in parts.items():
        stream.write(f"<{part}>\n".encode())
        for name, array in arrays.items():
            little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            components = f' NumberOfComponents="{array.shape[1]}"' if array.ndim > 1 else ""
            kind = f"{_VTK_KINDS[array.dtype.kind]}{8 * array.itemsize}"
            stream.write(f'<DataArray type="{kind}" Name="{name}"{components} format="binary">'.encode())
            stream.write(base64.b64encode(np.uint64(little.nbytes).tobytes() + little.tobytes()))
            stream.write(b"</DataArray>\n")
        stream.write(f"</{part}>\n".encode())
    stream.write(b"</Piece></UnstructuredGrid></VTKFile>\n")
