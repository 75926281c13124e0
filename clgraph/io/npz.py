"""Graphs as numpy archives: our own arrays, or a matrix saved by ``scipy.sparse.save_npz``."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np
from scipy.sparse import load_npz

from clgraph.errors import GraphFileError, InputError
from clgraph.graph import Graph
from clgraph.io.text import Progress, file_error, reading

SUFFIXES = (".npz",)
# What numpy and scipy raise on archives that are damaged or hold something else.
DAMAGE = (
    KeyError, ValueError, TypeError, AttributeError, NotImplementedError, MemoryError, EOFError, RuntimeError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip
_ARRAYS = ("row_offsets", "column_indices", "edge_weights", "labels")


def read(path: Path, *, directed: bool | None = None, progress: Progress | None = None) -> Graph:
    """Read the arrays of :func:`write` or of ``scipy.sparse.save_npz``; nothing is unpickled.

    *directed* overrides what the archive says; for a scipy matrix it is as in
    :meth:`Graph.from_scipy`.
    """
    with reading(path) as stream:
        try:
            with np.load(stream, allow_pickle=False) as archive:
                if "row_offsets" in archive:
                    arrays = {name: archive[name] for name in _ARRAYS if name in archive}
                    flag = bool(archive["directed"]) if directed is None else directed
                    graph = Graph(**arrays, directed=flag)
                elif "format" in archive:
                    stream.seek(0)
                    graph = Graph.from_scipy(load_npz(stream), directed=directed)
                else:
                    raise file_error(path, f"expected an array row_offsets, found {', '.join(archive)}")
        except GraphFileError:
            raise
        except DAMAGE as error:
            raise file_error(path, f"not a graph saved as .npz: {error}") from error
    if progress is not None:
        progress(graph.nbytes)
    return graph


def write(graph: Graph, stream: IO[bytes]) -> None:
    """Write all arrays of *graph*, uncompressed; labels must not be Python objects."""
    if graph.labels is not None and graph.labels.dtype.kind == "O":
        raise InputError("labels that are Python objects cannot be saved; drop them or make them text")
    arrays = {name: array for name in _ARRAYS if (array := getattr(graph, name)) is not None}
    np.savez(stream, directed=np.bool_(graph.directed), **arrays)
