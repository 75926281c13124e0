"""Numpy archives (``.npz``): a graph's arrays as clgraph writes them, or a matrix of ``scipy.sparse.save_npz``.

numpy and scipy read the archives, but the sizes that an archive states are checked first.
"""

from __future__ import annotations

import math
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.sparse import load_npz, sparray, spmatrix

from clgraph.data.graphs.csr import check_rising
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError
from clgraph.io.edges import believed_vertices
from clgraph.io.text import Progress, file_error, reading

SUFFIXES = (".npz",)
_FAULT = "not a graph saved as .npz"
_ARRAYS = ("row_offsets", "column_indices", "edge_weights", "ids")
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_END_BYTES = 22  # Size in bytes of a zip file's last record, without its comment.
_MAX_INFLATION = 1032  # The largest factor by which deflate can compress data.


def read(path: Path, *, directed: bool | None = None, progress: Progress | None = None) -> Graph:
    """Read a graph that :func:`write` or ``scipy.sparse.save_npz`` has written.

    Nothing is unpickled.

    *directed* overrides the archive's flag. For a scipy matrix, it is as in :meth:`Graph.from_scipy`.
    """
    contents = read_archive(path, _FAULT)
    try:
        if isinstance(contents, dict):
            graph = _from_arrays(contents, directed)
        else:
            if max(contents.shape) > believed_vertices(contents.data.size):
                raise InputError(f"a matrix of shape {contents.shape} with only {contents.data.size} entries")
            graph = Graph.from_scipy(contents, directed=directed)
    except InputError as error:
        raise file_error(path, f"{_FAULT}: {error}") from error
    if progress is not None:
        progress(graph.nbytes)
    return graph


def _from_arrays(found: Mapping[str, NDArray[Any]], directed: bool | None) -> Graph:
    arrays = {name: found[name] for name in _ARRAYS if name in found}
    flag = found.get("directed") if directed is None else np.bool_(directed)
    if not {"row_offsets", "column_indices"} <= set(arrays) or flag is None:
        raise InputError(f"expected the arrays row_offsets, column_indices and directed, found {', '.join(found)}")
    if any(array.ndim != 1 for array in arrays.values()) or flag.shape or flag.dtype != bool:
        raise InputError("expected arrays of one dimension and a truth value 'directed'")
    return Graph(
        arrays["row_offsets"], arrays["column_indices"], arrays.get("edge_weights"), directed=bool(flag),
        ids=arrays.get("ids"), copy=False,
    )  # fmt: skip


def write(graph: Graph, stream: IO[bytes]) -> None:
    """Write all arrays of *graph* as an uncompressed archive.

    Its ids must not be Python objects.
    """
    if graph.ids is not None and graph.ids.dtype.kind == "O":
        raise InputError("ids that are Python objects cannot be saved; drop them or make them text")
    arrays = {name: array for name in _ARRAYS if (array := getattr(graph, name)) is not None}
    np.savez(stream, directed=np.bool_(graph.directed), **arrays)


def read_archive(path: Path, fault: str) -> dict[str, NDArray[Any]] | sparray | spmatrix:
    """Return all arrays of an .npz archive by name, or the matrix if ``scipy.sparse.save_npz`` wrote it.

    Raises
    ------
    GraphFileError
        The file is not an archive, is damaged, states sizes beyond its content, or holds Python objects. The message
        begins with *fault*, such as "not a graph saved as .npz".
    """
    with reading(path) as stream:
        try:
            _check_claims(stream)
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as archive:
                if "format" not in archive:
                    arrays = dict(archive)
                    _check_text(arrays)
                    return arrays
            stream.seek(0)
            matrix = load_npz(stream)
            if hasattr(matrix, "indptr"):
                # scipy checks only differences of the offsets, which can overflow.
                check_rising(matrix.indptr, name="indptr")
            return matrix
        # The block runs only library code. Its parsers of zip files, headers and literals raise many kinds of errors.
        # Among these errors are SyntaxError, TokenError and MemoryError.
        except Exception as error:
            raise file_error(path, f"{fault}: {type(error).__name__}: {error}") from error


def _check_claims(stream: IO[bytes]) -> None:
    """Raise ValueError unless the file has all bytes that its headers claim, because numpy allocates these bytes."""
    with zipfile.ZipFile(stream) as archive:
        n_bytes = stream.seek(0, 2)
        stream.seek(-_END_BYTES - len(archive.comment), 2)
        n_members = int.from_bytes(stream.read(_END_BYTES)[10:12], "little")
        # A damaged length in the directory of the zip file hides the next entry.
        if n_members != len(archive.infolist()):
            raise ValueError(f"the archive has {n_members} members; its directory shows {len(archive.infolist())}")
        for member in archive.infolist():
            inflation = _MAX_INFLATION if member.compress_type == zipfile.ZIP_DEFLATED else 1
            most = min(member.compress_size, n_bytes) * inflation
            if member.compress_type not in _METHODS or member.file_size > most:
                raise ValueError(f"{member.filename} claims {member.file_size} bytes, at most {most} are there")
            with archive.open(member) as entry:
                version = npy.read_magic(entry)
                if version not in _HEADERS:
                    raise ValueError(f"{member.filename} has a header of version {version}")
                shape, _, dtype = _HEADERS[version](entry)
                claimed, there = dtype.itemsize * math.prod(shape), member.file_size - entry.tell()
            if claimed != there or dtype.kind in "OV":
                raise ValueError(
                    f"{member.filename} claims {dtype} values of shape {shape}, {claimed} bytes; there are {there}"
                )


def _check_text(arrays: dict[str, NDArray[Any]]) -> None:
    """Raise ValueError if a text array has an invalid character code, which numpy stores but Python refuses."""
    for name, array in arrays.items():
        if array.dtype.kind == "U" and array.size:
            codes = array.ravel().astype(array.dtype.newbyteorder("=")).view(np.uint32)
            if codes.max() > sys.maxunicode:
                raise ValueError(f"{name} holds the character {codes.max():#x}; the last one is {sys.maxunicode:#x}")
