"""Reading and writing of graph files.

Each format has a module; :func:`read` detects the format.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from clgraph.arguments import check_callback, check_choice, checked_flag, checked_path
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.csr import REDUCTIONS, Duplicates
from clgraph.data.graphs.graph import Graph
from clgraph.errors import GraphError, GraphFileError, GraphFileWarning, InputError
from clgraph.io import cache as _cache
from clgraph.io import dimacs9, dimacs_col, edge_list, matrix_market, metis, npz, packages, parquet
from clgraph.io.pipes import is_pipe, read_pipe
from clgraph.io.text import COMPRESSED, Progress, reading, writing
from clgraph.names import unknown_argument
from clgraph.progress import reading_progress

__all__ = ["FORMATS", "read", "write"]

FORMATS: dict[str, Any] = {
    "matrix_market": matrix_market, "edge_list": edge_list, "dimacs9": dimacs9, "dimacs_col": dimacs_col,
    "metis": metis, "npz": npz, "parquet": parquet, "graphml": packages.GRAPHML, "gml": packages.GML,
    "pajek": packages.PAJEK,
}  # fmt: skip
_FROM_ONE = ("matrix_market", "dimacs9", "dimacs_col", "metis")  # formats that number the vertices from 1
_OTHERS = {  # refused formats
    ".hgr": "hMETIS hypergraphs", ".adjlist": "adjacency lists", ".gexf": "GEXF files", ".dot": "Graphviz files",
    ".gv": "Graphviz files", ".xlsx": "workbooks", ".json": "JSON files", ".feather": "feather files",
}  # fmt: skip
_WRITTEN = tuple(name for name, module in FORMATS.items() if module.write)
_PARQUET = b"PAR1"  # the first bytes of a parquet file
_HEAD_BYTES = 4096  # bytes of a file from which its format is detected


class Options(TypedDict, total=False):
    """Options of :func:`read` that only some formats have."""

    ids: Literal["auto", "keep", "compact", "names"]
    columns: Sequence[str] | Mapping[str, str] | None
    size_line: bool | None
    duplicates: Duplicates | None


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    directed: bool | None = None,
    base: Literal[0, 1] | None = None,
    with_ids: bool = False,
    cache: bool = False,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Graph:
    """Read a graph from a file, which may be compressed by gzip, xz, bzip2 or zstd, or the only one in a zip archive.

    Parameters
    ----------
    path : path
        The file, or a pipe.
    format : str, optional
        A key of ``clgraph.io.FORMATS``: "matrix_market", "edge_list", "dimacs9", "dimacs_col", "metis", "npz",
        "parquet" (by pyarrow), "graphml", "gml" or "pajek" (by networkx or igraph). By default, it is detected from
        the content (Matrix Market, npz, parquet and DIMACS files), else from the suffix. A file of any other suffix is
        taken for an edge list.
    directed : bool, optional
        Whether to make a directed graph; by default, the file decides, as the format's module documents.
    base : {0, 1}, optional
        The lowest id of an edge list whose ids are vertex numbers; see :mod:`clgraph.io.edge_list`. In
        other formats it is fixed.
    with_ids : bool
        Whether to keep the file's ids as ``Graph.ids`` in every format. By default, vertices that a file
        numbers from 1 are renumbered from 0 without ids, and an edge list's ids are kept only if they were
        compacted.
    cache : bool
        Whether to keep a binary copy in the cache directory (``CLGRAPH_CACHE_DIR``, else
        ``XDG_CACHE_HOME/clgraph``), which is mapped into memory the next time.
    progress : callable, optional
        A function that is called with the number of bytes read so far, after decompression.
    **options
        Options of the format's ``read``, such as ``ids``, ``columns`` and ``size_line`` of
        :mod:`clgraph.io.edge_list`. With ``duplicates``, as in :meth:`Graph.from_edges`, repeated edges are merged
        otherwise than the format does: by default an edge list or a parquet file keeps the first, Matrix Market adds
        the weights, and DIMACS ``.gr`` keeps all.

    Returns
    -------
    Graph

    Raises
    ------
    GraphFileError
        The file cannot be read; the message names the file, the line, its text and the expected form.

    Warns
    -----
    GraphFileWarning
        A part of the file was assumed or ignored, such as the lowest id of an edge list.
    """
    source, cache = checked_path("path", path), checked_flag("cache", cache)
    with_ids = checked_flag("with_ids", with_ids)
    directed = directed if directed is None else checked_flag("directed", directed)
    check_callback("progress", progress)
    given: dict[str, Any]
    if is_pipe(source):
        given = {"format": format, "directed": directed, "base": base, "with_ids": with_ids, "progress": progress}
        return read_pipe(read, source, **given, **options)
    given = {name: value for name, value in {**options, "base": base}.items() if value is not None}
    if "duplicates" in given:
        check_choice("duplicates", given["duplicates"], ("keep", *REDUCTIONS, "error"))
    if format is None:
        format = _detect(source)
    check_choice("format", format, FORMATS)
    reader = FORMATS[format].read
    known = set(inspect.signature(reader).parameters) - {"path"}
    if unknown := set(given) - known:
        raise InputError(unknown_argument(f"read of {format}", unknown, known))
    given["directed"] = directed
    if with_ids and "with_ids" in known:
        given["with_ids"] = True
    copy = None
    if cache and source.is_file():
        copy = _cache.place(source, {"format": format, "with_ids": with_ids, **given})
    found = None if copy is None else _cache.load(copy)
    if found is None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", GraphFileWarning)
            try:
                graph: Graph = reader(source, progress=progress or reading_progress(source), **given)
            except GraphError as error:
                raise GraphFileError(f"{source}: {error}") from error
        if with_ids and graph.ids is None and format in _FROM_ONE:
            graph = graph._named(np.arange(1, graph.n_vertices + 1))
        for warning in caught:
            if warning.category is not GraphFileWarning:
                warnings.warn(warning.message, warning.category, stacklevel=2)
        found = graph, [str(warning.message) for warning in caught if warning.category is GraphFileWarning]
        if copy is not None:
            _cache.save(found[0], copy, found[1])
    for note in found[1]:
        warnings.warn(note, GraphFileWarning, stacklevel=2)
    return found[0]


def write(graph: Any, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write *graph* to a file, compressed if the path ends in .gz, .xz, .bz2 or .zst.

    An older file is replaced atomically. "npz" keeps ids, and "edge_list" writes them if they
    are integers. The other formats number the vertices from 1. The columns of an edge list are separated
    by commas if the suffix is .csv, else by tabs.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        The graph.
    path : path
        The file; its suffix determines the format, unless *format* is given.
    format : str, optional
        As in :func:`read`.

    Raises
    ------
    InputError
        The format cannot hold the graph (for example, infinite weights in text), or the file cannot be written.

    Warns
    -----
    GraphFileWarning
        The format does not hold the ids, or the vertices without edges.
    """
    target = checked_path("path", path)
    if format is None:
        suffix = suffix_of(target)
        format = next((name for name, module in FORMATS.items() if suffix in module.SUFFIXES), None)
        if format is None:
            known = ", ".join(s for module in FORMATS.values() if module.write for s in module.SUFFIXES)
            raise InputError(f"{target}: the suffix {suffix!r} tells no format; known: {known}")
    check_choice("format", format, FORMATS)
    if FORMATS[format].write is None:
        raise InputError(f"{target}: {format} files are only read; allowed: {', '.join(_WRITTEN)}")
    graph = as_graph(graph)
    weights = graph.edge_weights
    if format != "npz" and weights is not None and not (finite := np.isfinite(weights)).all():
        at = int(finite.argmin())
        raise InputError(f"edge_weights[{at}] = {weights[at]}; a text file has finite weights, format='npz' any")
    ids = graph.ids
    if format in _FROM_ONE and ids is not None and not np.array_equal(ids, np.arange(1, ids.size + 1)):
        warnings.warn(
            f"{target}: a {format} file numbers the vertices from 1, so the ids are not in it",
            GraphFileWarning, stacklevel=2,
        )  # fmt: skip
    options = {"delimiter": ","} if format == "edge_list" and suffix_of(target) == ".csv" else {}
    with writing(target) as stream:
        FORMATS[format].write(graph, stream, **options)


def _detect(path: Path) -> str:
    with reading(path) as stream:
        head = stream.read(_HEAD_BYTES)
    if head.startswith(b"PK\x03\x04"):
        return "npz"
    if head.startswith(matrix_market.BANNER):
        return "matrix_market"
    first = next((line for line in head.split(b"\n") if line.strip() and not line.startswith(b"c")), b"")
    if first.startswith(b"p sp "):
        return "dimacs9"
    if first.startswith((b"p edge ", b"p edges ", b"p col ")):
        return "dimacs_col"
    if head.startswith(_PARQUET):
        return "parquet"
    suffix = suffix_of(path)
    if suffix in _OTHERS:
        known = ", ".join(f"{name} ({', '.join(module.SUFFIXES)})" for name, module in FORMATS.items())
        raise GraphFileError(
            f"{path}: {_OTHERS[suffix]} are not read; format='edge_list' reads pairs of ids. Formats: {known}"
        )
    return next((name for name, module in FORMATS.items() if suffix in module.SUFFIXES), "edge_list")


def suffix_of(path: Path) -> str:
    suffixes = [s.lower() for s in path.suffixes if s.lower() not in COMPRESSED]
    return suffixes[-1] if suffixes else ""
