"""Edges gathered block by block from a text file, checked, and made into a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.csr import MAX_VERTICES, Duplicates
from clgraph.data.graph import Graph
from clgraph.data.pairs import csr_of_blocks, csr_of_pairs, csr_of_weighted_blocks
from clgraph.io.text import Block, file_error

_SPARE_VERTICES = 1 << 24  # vertices a file may have without an edge, and some more per edge
_SPARE_PER_EDGE = 64


def believed_vertices(n_edges: int) -> int:
    """Return the most vertices believed of a file of *n_edges*: a wrong number must not exhaust the memory."""
    return min(MAX_VERTICES, _SPARE_VERTICES + _SPARE_PER_EDGE * n_edges)


class Edges:
    """The edges of one file.

    Parameters
    ----------
    path : Path
        The file, for the error messages.
    expected : str
        What a line should look like, for the error messages.
    base : int
        The lowest id allowed.
    n : int, optional
        Number of vertices, if the file's header tells.
    """

    def __init__(self, path: Path, expected: str, *, base: int, n: int | None = None) -> None:
        self.path, self.expected, self.base, self.n = path, expected, base, n
        self.n_edges, self.smallest, self.largest = 0, 2**63, -1
        self._pairs: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self._weights: list[NDArray[Any]] = []

    def add(self, block: Block, width: int, *, marker: int | None = None) -> None:
        """Take over *block*, whose lines hold *width* numbers: the marker, two ids, a weight."""
        rows = block.rows(width, self.expected)
        if rows.size == 0:
            return
        if marker is not None:
            if (strange := rows[:, 0] != marker).any():
                raise block.value_error(int(strange.argmax()) * width, self.expected)
            rows = rows[:, 1:]
        ids = rows[:, :2]
        low, high = ids.min(), ids.max()
        top = 2**63 - 1 if self.n is None else self.n - 1 + self.base
        if rows.dtype.kind == "f":
            top = min(top, 2**53)
            fits = (ids == np.floor(ids)) & (ids >= self.base) & (ids <= top)
        elif low < self.base or high > top:
            fits = (ids >= self.base) & (ids <= top)
        else:
            fits = np.ones(1, bool)
        if not fits.all():
            row = int((~fits).any(axis=1).argmax())
            allowed = f"{self.expected}, ids from {self.base}" + ("" if self.n is None else f" to {top}")
            raise block.value_error(row * width, allowed)
        if rows.shape[1] > 2:
            weights = rows[:, 2]
            narrow = weights.dtype.kind == "i" and weights.min() >= -(2**31) and weights.max() < 2**31
            self._weights.append(weights.astype(np.int32 if narrow else weights.dtype))
        dtype = np.int32 if high <= MAX_VERTICES else np.int64
        self._pairs.append((ids[:, 0].astype(dtype), ids[:, 1].astype(dtype)))
        self.n_edges += len(rows)
        self.smallest, self.largest = min(self.smallest, int(low)), max(self.largest, int(high))

    @property
    def spare_vertices(self) -> int:
        """The most vertices believed of this file."""
        return believed_vertices(self.n_edges)

    def weights(self) -> NDArray[Any] | None:
        """Return the weights: int32 if they are integers and fit, else int64 or float64."""
        return np.concatenate(self._weights) if self._weights else None

    def pairs(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the ids of all sources and all targets."""
        if not self._pairs:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        src, dst = (np.concatenate(ids) for ids in zip(*self._pairs, strict=True))
        return src, dst

    def graph(self, n: int, *, directed: bool, duplicates: Duplicates) -> Graph:
        """Build the graph of *n* vertices in which id ``base`` is vertex 0; empties this object."""
        if n > self.spare_vertices:
            raise file_error(
                self.path,
                f"{n} vertices with only {self.n_edges} edges; at most {self.spare_vertices} are believed",
            )
        for src, dst in self._pairs:
            src -= self.base
            dst -= self.base
        if self._weights:
            blocks = [(*pair, weights) for pair, weights in zip(self._pairs, self._weights, strict=True)]
            arrays = csr_of_weighted_blocks(n, blocks, directed=directed, duplicates=duplicates)
        else:
            arrays = csr_of_blocks(n, self._pairs, directed=directed, duplicates=duplicates)
        return Graph._trusted(*arrays, directed=directed, sorted_rows=True)

    def mirror_negated(self) -> None:
        """Add the reverse of each edge with its weight negated."""
        proper = [src != dst for src, dst in self._pairs]
        self._pairs += [(dst[p], src[p]) for p, (src, dst) in zip(proper, self._pairs, strict=True)]
        self._weights += [-w[p] for p, w in zip(proper, self._weights, strict=True)]


def settle_direction(graph: Graph, directed: bool | None) -> Graph:
    """Return a directed *graph* as asked for; ``None``: undirected if it is symmetric.

    If it is not and *directed* is false, the directions are joined, the lesser weight kept.
    """
    symmetric = directed is not True and graph.is_symmetric()
    if directed is False and not symmetric:
        entries = graph.sources(), graph.column_indices, graph.edge_weights
        arrays = csr_of_pairs(graph.n_vertices, *entries, directed=False, duplicates="min")
        return Graph._trusted(*arrays, sorted_rows=True)
    return as_directed(graph, not symmetric)


def as_directed(graph: Graph, directed: bool) -> Graph:
    """Return *graph*, whose entries are symmetric unless *directed*, with that flag."""
    arrays = graph.row_offsets, graph.column_indices, graph.edge_weights
    return Graph._trusted(*arrays, directed=directed, labels=graph.labels, sorted_rows=True)
