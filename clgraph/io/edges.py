"""Collection of a text file's edges, block by block, with checks, and their conversion to a graph."""

from __future__ import annotations

import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.csr import MAX_VERTICES, Duplicates, merge_duplicates
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.pairs import csr_of_blocks
from clgraph.data.graphs.vertex_ids import number_integers
from clgraph.errors import GraphFileWarning
from clgraph.io.text import Block, file_error, parse_numbers

_SPARE_VERTICES = 1 << 24  # A file may have this many vertices plus 64 per edge.
_SPARE_PER_EDGE = 64


def believed_vertices(n_edges: int) -> int:
    """Return the largest number of vertices accepted with *n_edges* edges, so that wrong ids cannot fill the memory."""
    return min(MAX_VERTICES, _SPARE_VERTICES + _SPARE_PER_EDGE * n_edges)


class Edges:
    """The edges read from one file, with checks of the edges and conversion to a graph.

    Errors name the file *path* and the form of a line (*expected*). *base* is the lowest id allowed. *n* is the number
    of vertices if the file's header states it, or the numbers of sources and of targets if these are two sets.
    """

    def __init__(self, path: Path, expected: str, *, base: int, n: int | tuple[int, int] | None = None) -> None:
        self.path, self.expected, self.base = path, expected, base
        self._limits = n if isinstance(n, tuple) else (n, n)
        self._pairs: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self.weight_blocks: list[NDArray[Any]] = []  # one array of weights for each block of lines

    def add(self, block: Block, width: int, columns: tuple[int, ...] = (0, 1, 2), *, marker: int | None = None) -> None:
        """Add the edges of *block*, whose lines must have *width* numbers.

        *columns* has the positions of source, target and, if any, weight. If *marker* is given, each line must begin
        with that number.
        """
        rows = block.rows(width, self.expected)
        if rows.size == 0:
            return
        if marker is not None and (strange := rows[:, 0] != marker).any():
            raise block.value_error(int(strange.argmax()) * width, self.expected)
        ends = []
        for column, limit in zip(columns, self._limits, strict=False):
            ids = self._integers(block, rows, column, limit)
            top = 2**63 - 1 if limit is None else limit - 1 + self.base
            if ids.min() < self.base or ids.max() > top:
                row = int(((ids < self.base) | (ids > top)).argmax())
                raise block.value_error(row * width, self._allowed(limit))
            ends.append(ids.astype(np.int32 if ids.max() <= MAX_VERTICES else np.int64))
        if len(columns) > 2 and width > columns[2]:
            weights = rows[:, columns[2]]
            narrow = weights.dtype.kind == "i" and weights.min() >= -(2**31) and weights.max() < 2**31
            self.weight_blocks.append(weights.astype(np.int32 if narrow else weights.dtype))
        self._pairs.append((ends[0], ends[1]))

    def _integers(self, block: Block, rows: NDArray[Any], column: int, limit: int | None) -> NDArray[np.int64]:
        """Return the exact ids in *column*, even if another number made numpy parse the whole block as floats."""
        if rows.dtype.kind == "i":
            return rows[:, column]
        words = block.words[column :: rows.shape[1]]
        ids = parse_numbers(b" ".join(words), len(words))
        if ids.dtype.kind == "i":
            return ids
        exact = np.empty(len(words), np.int64)
        for row, word in enumerate(words):  # Words such as 5.0 or 1e3 are integers, too.
            number = Decimal(word.decode())
            if not -(2**63) <= number < 2**63 or number != int(number):
                raise block.value_error(row * rows.shape[1], self._allowed(limit, 2**63 - 1))
            exact[row] = int(number)
        return exact

    def _allowed(self, limit: int | None, top: int | None = None) -> str:
        top = top if limit is None else limit - 1 + self.base
        return f"{self.expected}, ids from {self.base}" + ("" if top is None else f" to {top}")

    @property
    def n_edges(self) -> int:
        """Number of edges so far."""
        return sum(src.size for src, _ in self._pairs)

    @property
    def ranges(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Pairs of the least and greatest source, and of the least and greatest target; (0, -1) without edges."""
        if not self._pairs:
            return (0, -1), (0, -1)
        sources, targets = (
            (min(int(ids.min()) for ids in side), max(int(ids.max()) for ids in side))
            for side in zip(*self._pairs, strict=True)
        )
        return sources, targets

    @property
    def smallest(self) -> int:
        """The least id."""
        return min(low for low, _ in self.ranges)

    @property
    def largest(self) -> int:
        """The greatest id."""
        return max(high for _, high in self.ranges)

    def prepend(self, first: Edges) -> None:
        """Insert the edges of *first*, which are from the same file, before this object's edges."""
        self._pairs[:0], self.weight_blocks[:0] = first._pairs, first.weight_blocks

    def compact(self, *, apart: bool = False) -> list[NDArray[np.int64]]:
        """Replace ids by numbers from 0 on, in ascending order of the ids that occur, and return these ids.

        If *apart*, sources and targets are two sets of ids. Targets are numbered after the sources, and their ids
        are returned as a second array.
        """
        src, dst = (list(side) for side in zip(*self._pairs, strict=True)) if self._pairs else ([], [])
        if apart:
            (sources, src), (targets, dst) = number_integers(src), number_integers(dst)
            dst = [ids + np.int32(sources.size) for ids in dst]
            names = [sources, targets]
        else:
            ids, numbers = number_integers(src + dst)
            src, dst, names = numbers[: len(src)], numbers[len(src) :], [ids]
        self._pairs, self.base = list(zip(src, dst, strict=True)), 0
        return names

    def move_targets(self, by: int) -> None:
        """Add *by* to the ids of all targets."""
        self._pairs = [(src, dst.astype(np.int64) + by) for src, dst in self._pairs]

    def weights(self) -> NDArray[Any] | None:
        """Return all weights as int32, int64 or float64, whichever fits first, or ``None`` if there are no weights."""
        return np.concatenate(self.weight_blocks) if self.weight_blocks else None

    def pairs(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the ids of all sources and all targets."""
        if not self._pairs:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        src, dst = (np.concatenate(ids) for ids in zip(*self._pairs, strict=True))
        return src, dst

    def graph(self, n: int, *, directed: bool, duplicates: Duplicates | None) -> Graph:
        """Return the graph of *n* vertices in which id ``base`` is vertex 0.

        If *duplicates* is ``None``, the first of repeated edges is kept, as by :func:`first_of_each`. Do not use this
        object afterwards.
        """
        if n > (most := believed_vertices(self.n_edges)):
            raise file_error(self.path, f"{n} vertices with only {self.n_edges} edges; at most {most} are believed")
        for src, dst in self._pairs:
            src -= self.base
            dst -= self.base
        blocks: list[Any] = self._pairs
        if self.weight_blocks:
            blocks = [(*pair, weights) for pair, weights in zip(self._pairs, self.weight_blocks, strict=True)]
        how: Duplicates = duplicates or ("keep" if self.weight_blocks else "first")
        arrays = csr_of_blocks(n, blocks, directed=directed, duplicates=how)
        graph = Graph._trusted(*arrays, directed=directed, sorted_rows=True)
        return first_of_each(self.path, graph) if duplicates is None else graph

    def mirror_negated(self) -> None:
        """Add the reverse of each edge with its weight negated."""
        proper = [src != dst for src, dst in self._pairs]
        self._pairs += [(dst[p], src[p]) for p, (src, dst) in zip(proper, self._pairs, strict=True)]
        self.weight_blocks += [-w[p] for p, w in zip(proper, self.weight_blocks, strict=True)]


def first_of_each(path: Path, graph: Graph) -> Graph:
    """Return *graph*, read from *path*, with only the first of repeated edges; warn if others have another weight."""
    arrays = graph.arrays
    merged = merge_duplicates(*arrays, "first")
    if merged[1].size == arrays[1].size:
        return graph
    offsets, columns, weights = arrays
    if weights is not None:
        after = np.flatnonzero((columns[1:] == columns[:-1]) & (weights[1:] != weights[:-1])) + 1
        if not (offsets[np.searchsorted(offsets, after)] == after).all():  # Not all of them begin rows.
            warnings.warn(
                f"{path}: edges are repeated with other weights, and the first weight of each edge is kept; "
                "duplicates='first', 'sum', 'min', 'max', 'keep' or 'error' (--duplicates) says what to do",
                GraphFileWarning, stacklevel=3,
            )  # fmt: skip
    return Graph._trusted(*merged, directed=graph.directed, ids=graph.ids, sorted_rows=True)
