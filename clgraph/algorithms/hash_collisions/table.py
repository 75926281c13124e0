"""The result of :func:`hash_collisions`: a table of collisions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.hash_collisions.problem import MOST_BITS, CollisionProblem
from clgraph.arguments import check_choice, checked_count
from clgraph.data.graphs.vertex_hashes import HASHES, hash_colors
from clgraph.engine.result import Result
from clgraph.errors import InputError
from clgraph.runtime.driver.timing import RunInfo


class _CollisionTable(NamedTuple):
    total: NDArray[np.int64]
    maximum: NDArray[np.int64]


class BestHash(NamedTuple):
    """One hash colouring of a graph and its collisions, as :meth:`CollisionTable.best` returns it."""

    hash: str
    bits: int
    total: int
    maximum: int


class CollisionTable(Result, _CollisionTable):
    """Result of :func:`hash_collisions`; unpacks as ``total, maximum``.

    Attributes
    ----------
    total, maximum : int64 array, shape (n_hashes, n_bit_widths)
        Collisions summed over all rows, and the largest number of collisions of a row.
    hashes : tuple of str
        The hash function of each table row.
    bit_widths : tuple of int
        The number of bits of a colour, for each column.
    n_vertices : int
    distance : int
    info : RunInfo
        What ran, where, and how long it took.
    """

    hashes: tuple[str, ...]
    bit_widths: tuple[int, ...]
    n_vertices: int
    distance: int
    info: RunInfo

    def best(self, *, max_colors: int | None = None) -> BestHash:
        """Return the hash colouring with the fewest collisions.

        Among equals, fewer bits win, then the earlier hash function.

        Parameters
        ----------
        max_colors : int, optional
            Consider only colourings with at most this number of colours. b bits give ``2**b`` colours.

        Raises
        ------
        InputError
            Every width of the table has more colours.
        """
        widths = np.array(self.bit_widths)
        if max_colors is not None:
            checked_count("max_colors", max_colors, 2**MOST_BITS)
        allowed = np.flatnonzero([max_colors is None or 1 << bits <= max_colors for bits in self.bit_widths])
        if not allowed.size:
            raise InputError(f"max_colors = {max_colors}; the narrowest of the table are {widths.min()} bits")
        _, bits, k, j = min(
            (int(self.total[k, j]), int(widths[j]), k, int(j)) for k in range(len(self.hashes)) for j in allowed
        )
        return BestHash(self.hashes[k], bits, int(self.total[k, j]), int(self.maximum[k, j]))

    def colors(self, hash: str, bits: int) -> NDArray[np.int32]:
        """Return the colour of each vertex as int32: the low *bits* of the
        hash function *hash* of the vertex number.
        """
        check_choice("hash", hash, HASHES)
        return hash_colors(hash, self.n_vertices, checked_count("bits", bits, MOST_BITS))

    def __str__(self) -> str:
        return self._table("simple")

    def _repr_html_(self) -> str:
        return self._table("html") + self.info._repr_html_()

    def _table(self, style: str) -> str:
        from tabulate import tabulate

        lines = [
            [name, *(f"{total} ({most})" for total, most in zip(totals, maxima, strict=True))]
            for name, totals, maxima in zip(self.hashes, self.total.tolist(), self.maximum.tolist(), strict=True)
        ]
        headers = ["total (maximum)", *(f"{bits} bits" for bits in self.bit_widths)]
        return str(tabulate(lines, headers, style, disable_numparse=True, stralign="right"))


def as_table(counts: Iterable[NDArray[np.int64]], problem: CollisionProblem) -> CollisionTable:
    """Return the collision counts, sums and maxima, as the :class:`CollisionTable` of *problem*."""
    table = CollisionTable(*counts)
    table.hashes, table.bit_widths = problem.hashes, problem.bit_widths
    table.n_vertices, table.distance = problem.graph.n_vertices, problem.distance
    return table
