"""Graphs as numpy archives: our own arrays, or a matrix saved by ``scipy.sparse.save_npz``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graph import Graph
from clgraph.errors import InputError
from clgraph.io.archive import read_archive
from clgraph.io.edges import believed_vertices
from clgraph.io.text import Progress, file_error

SUFFIXES = (".npz",)
_FAULT = "not a graph saved as .npz"
_ARRAYS = ("row_offsets", "column_indices", "edge_weights", "labels")


def read(path: Path, *, directed: bool | None = None, progress: Progress | None = None) -> Graph:
    """Read the arrays of :func:`write` or of ``scipy.sparse.save_npz``; nothing is unpickled.

    *directed* overrides what the archive says; for a scipy matrix it is as in
    :meth:`Graph.from_scipy`.
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
        labels=arrays.get("labels"), copy=False,
    )  # fmt: skip


def write(graph: Graph, stream: IO[bytes]) -> None:
    """Write all arrays of *graph*, uncompressed; labels must not be Python objects."""
    if graph.labels is not None and graph.labels.dtype.kind == "O":
        raise InputError("labels that are Python objects cannot be saved; drop them or make them text")
    arrays = {name: array for name in _ARRAYS if (array := getattr(graph, name)) is not None}
    np.savez(stream, directed=np.bool_(graph.directed), **arrays)
