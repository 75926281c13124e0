"""Meshes in the formats that meshio reads and writes."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import shutil
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from clgraph.errors import GraphFileError, GraphFileWarning, MissingExtraError
from clgraph.io import suffix_of
from clgraph.io.mesh_data import MeshData
from clgraph.io.text import reading


def known_meshio(path: Path, *, packed: bool = False) -> Any:
    """Return the module meshio, or raise a :class:`GraphFileError` if it has no format for the suffix of *path*.

    *packed* allows a compression suffix after the suffix of the format.
    """
    try:
        meshio = importlib.import_module("meshio")
    except ImportError as error:
        raise MissingExtraError(
            f"{path}: this suffix needs meshio: pip install 'meshio>=5'; .node and .ele do not"
        ) from error
    ends = {"".join(path.suffixes[k:]).lower() for k in range(len(path.suffixes))}
    ends |= {suffix_of(path)} if packed else set()
    if not ends & {*meshio.extension_to_filetypes}:
        raise GraphFileError(
            f"{path}: the suffix {path.suffix!r} is unknown; known: .node, .ele, .msh, .vtu, and others of meshio"
        )
    return meshio


def read_by_meshio(source: Path) -> MeshData:
    """Return the points, triangles, lines and columns of a file.

    Ignored cells and coordinates cause a warning.
    """
    meshio = known_meshio(source, packed=True)
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


def write_by_meshio(data: MeshData, path: Path, has_columns: bool) -> None:
    """Write the files of *path* to a temporary folder in the same directory, and then move the files in place."""
    meshio, target, t = known_meshio(path), Path(os.path.realpath(path)), len(data.triangles)
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
