"""VTK's unstructured grids (.vtu) for ParaView, with numbers in base 64."""

from __future__ import annotations

import base64
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from clgraph.io.mesh_data import MeshData

_LINE, _TRIANGLE = 3, 5  # VTK's numbers of the kinds of cells
_KINDS = {"f": "Float", "i": "Int", "u": "UInt"}


def write(data: MeshData, stream: IO[bytes]) -> None:
    """Write a mesh: its triangles, behind them its segments, and all columns."""
    t, s = len(data.triangles), len(data.segments)
    parts: dict[str, dict[str, NDArray[Any]]] = {
        "PointData": data.of_points,
        "CellData": data.of_cells,
        "Points": {"Points": data.points},
        "Cells": {
            "connectivity": np.concatenate([data.triangles.ravel(), data.segments.ravel()]),
            "offsets": np.cumsum(np.repeat([3, 2], [t, s])),
            "types": np.repeat(np.array([_TRIANGLE, _LINE], np.uint8), [t, s]),
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
            kind = f"{_KINDS[array.dtype.kind]}{8 * array.itemsize}"
            stream.write(f'<DataArray type="{kind}" Name="{name}"{components} format="binary">'.encode())
            stream.write(base64.b64encode(np.uint64(little.nbytes).tobytes() + little.tobytes()))
            stream.write(b"</DataArray>\n")
        stream.write(f"</{part}>\n".encode())
    stream.write(b"</Piece></UnstructuredGrid></VTKFile>\n")
