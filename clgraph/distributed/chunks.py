"""Chunks of a graph's edges: the forms that are allowed, and the segments in which a worker reads a chunk."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import checked_count, refusing, shown
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.csr import MAX_VERTICES, as_integers, as_weights, check_range
from clgraph.errors import GraphError, InputError, MissingExtraError
from clgraph.io import edge_list
from clgraph.io.npz import read_archive
from clgraph.io.text import file_error

Weights: TypeAlias = NDArray[Any] | None
Segment: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], Weights]
# Sources, targets and weights of the edges in a chunk, and the id of vertex 0.
_Read: TypeAlias = tuple[Any, Any, Any, int]
Chunk: TypeAlias = Any
"""Arrays ``(sources, targets)`` or ``(sources, targets, weights)``, an array of shape (m, 2), a path, a function
that returns one of these, or a Dask future of one."""

SEGMENT_EDGES = 1 << 22  # Edges per segment. A device gets the edges of one segment at a time.
_ALLOWED = "(sources, targets), (sources, targets, weights), an array of shape (m, 2), a path, a function or a future"
_ARRAYS = "expected the arrays sources and targets, and perhaps weights"


def edge_chunks(graph: Any, n_chunks: int) -> list[tuple[NDArray[Any], ...]]:
    """Divide the edges of a graph into *n_chunks* chunks of equal size.

    Parameters
    ----------
    graph : Graph, scipy sparse array or networkx graph
    n_chunks : int

    Returns
    -------
    list of tuple
        ``(sources, targets)``, or ``(sources, targets, weights)`` for a weighted graph. The arrays are views.
    """
    arrays = [array for array in as_graph(graph).edge_list() if array is not None]
    n_chunks = checked_count("n_chunks", n_chunks, 1 << 30)
    cuts = [arrays[0].size * k // n_chunks for k in range(n_chunks + 1)]
    return [tuple(array[start:stop] for array in arrays) for start, stop in itertools.pairwise(cuts)]


def checked_chunks(chunks: Any) -> list[Chunk]:
    """Return the chunks of edges as a list, or raise an error if a chunk has a form that workers cannot read."""
    if isinstance(chunks, str | os.PathLike | np.ndarray):
        raise InputError(f"chunks = {shown(chunks)}; allowed: a sequence of chunks; [chunk] is one of them")
    with refusing("chunks", chunks, "a sequence of chunks"):
        found = list(chunks)
    for place, chunk in enumerate(found):
        is_arrays = isinstance(chunk, Sequence | np.ndarray) and not isinstance(chunk, bytes)
        if not (is_arrays or isinstance(chunk, os.PathLike) or callable(chunk) or hasattr(chunk, "key")):
            raise GraphError(f"chunks[{place}] = {shown(chunk)}; allowed: {_ALLOWED}")
    return found


def segments(chunk: Chunk, *, n: int | None, base: int = 0) -> Iterator[Segment]:
    """Yield the edges of *chunk* in checked segments.

    Vertices are int32, at least 0, and below *n* if *n* is given.
    """
    if callable(chunk):
        chunk = chunk()
    if isinstance(chunk, str | os.PathLike):
        for edges in _FORMATS.get(Path(chunk).suffix, _text)(Path(chunk), base):
            yield from _cut(*edges[:3], n, edges[3])
        return
    arrays: Any = (chunk[:, 0], chunk[:, 1]) if isinstance(chunk, np.ndarray) and chunk.shape[1:] == (2,) else chunk
    if not isinstance(arrays, Sequence) or len(arrays) not in (2, 3) or not all(map(np.ndim, arrays)):
        raise GraphError(f"{shown(chunk)}; allowed: {_ALLOWED}")
    yield from _cut(arrays[0], arrays[1], arrays[2] if len(arrays) == 3 else None, n, base)


def all_segments(places: Sequence[int], chunks: Sequence[Chunk], *, n: int | None, base: int) -> Iterator[Segment]:
    """Yield the edges of all *chunks* in segments.

    Error messages begin with the chunk's position, from *places*.
    """
    for place, chunk in zip(places, chunks, strict=True):
        try:
            yield from segments(chunk, n=n, base=base)
        except (InputError, MissingExtraError) as error:
            raise type(error)(f"chunks[{place}]: {error}") from error


def _cut(sources: Any, targets: Any, weights: Any, n: int | None, base: int = 0) -> Iterator[Segment]:
    lengths = [len(array) for array in (sources, targets, weights) if array is not None]
    if len({*lengths}) != 1:
        raise GraphError(f"arrays of {', '.join(map(str, lengths))} elements; they must be as long as each other")
    for start in range(0, lengths[0], SEGMENT_EDGES):
        part = slice(start, start + SEGMENT_EDGES)
        ends = []
        for name, given in (("sources", sources), ("targets", targets)):
            end = as_integers(name, given[part])
            end = end - base if base else end
            check_range(name, end, MAX_VERTICES if n is None else n, start)
            ends.append(end.astype(np.int32, copy=False))
        yield ends[0], ends[1], None if weights is None else as_weights(weights[part], ends[0].size)


def _text(path: Path, base: int) -> Iterator[_Read]:
    waiting: list[tuple[Any, Any, Weights]] = []
    for edges in edge_list.read_edges(path, base=base):
        waiting.append(edges)
        if sum(edges[0].size for edges in waiting) >= SEGMENT_EDGES:
            yield _joined(waiting)
            waiting = []
    if waiting:
        yield _joined(waiting)


def _joined(parts: list[tuple[Any, Any, Weights]]) -> _Read:
    weights = [values for _, _, values in parts if values is not None]
    sources, targets = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    return sources, targets, np.concatenate(weights) if weights else None, 0


def _npz(path: Path, base: int) -> Iterator[_Read]:
    found = read_archive(path, "no archive of edges")
    if not isinstance(found, dict) or not {"sources", "targets"} <= found.keys():
        raise file_error(path, f"{_ARRAYS}, found {', '.join(found) if isinstance(found, dict) else 'a matrix'}")
    for name in {"sources", "targets", "weights"} & found.keys():
        if found[name].ndim != 1:
            raise file_error(path, f"{name} has shape {found[name].shape}; needed: one dimension")
    yield found["sources"], found["targets"], found.get("weights"), base


def _parquet(path: Path, base: int) -> Iterator[_Read]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtraError(f"{path}: parquet files need pyarrow: pip install pyarrow") from error
    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=SEGMENT_EDGES):
                if not 2 <= batch.num_columns <= 3:
                    raise file_error(path, f"{batch.num_columns} columns; {_ARRAYS}, in this order")
                if any(column.null_count for column in batch.columns):
                    raise file_error(path, "a value is missing")
                ends = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
                yield ends[0], ends[1], ends[2] if len(ends) == 3 else None, base
    except (ArrowException, OSError) as error:
        raise file_error(path, f"no parquet file of edges: {error}") from error


_FORMATS: dict[str, Callable[[Path, int], Iterator[_Read]]] = {".npz": _npz, ".parquet": _parquet}
