"""A sequential reference implementation that counts collisions of hash colourings, and a check of a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.pairs import distinct, pack
from clgraph.data.graphs.vertex_hashes import hash_colors
from clgraph.errors import VerificationError
from clgraph.reference.entries import entry_chunks

Tables = tuple[NDArray[np.int64], NDArray[np.int64]]
Rows = NDArray[np.int32]
_CELLS = 8  # A table of (row, colour) with at most 8 cells per entry is faster than sorting the pairs (row, colour).


def hash_collisions(graph: Graph, hashes: Sequence[str], bit_widths: Sequence[int], *, distance: int = 1) -> Tables:
    """Return the sum and the maximum of the hash collisions in a row of the graph, for each hash and bit width.

    Both are int64 arrays of shape (n_hashes, n_bit_widths).
    """
    colors_of = [hash_colors(name, graph.n_vertices, max(bit_widths)) for name in hashes]
    total, maximum = np.zeros((2, len(hashes), len(bit_widths)), np.int64)
    for _, rows, columns in entry_chunks(graph):
        if not rows.size:
            continue
        if distance == 1:
            proper = rows != columns
            rows, columns = rows[proper], columns[proper]
        else:
            own = distinct(rows)
            closed = distinct(np.concatenate([pack(rows, columns), pack(own, own)]))
            rows, columns = (closed >> 32).astype(np.int32), closed.astype(np.int32)
        numbers = rows - rows.min(initial=graph.n_vertices)
        for k, colors in enumerate(colors_of):
            for j, bits in enumerate(bit_widths):
                low = colors & np.int32((1 << bits) - 1)
                counts = _collisions(numbers, low[rows], low[columns], bits, distance)
                total[k, j] += counts.sum()
                maximum[k, j] = max(maximum[k, j], counts.max(initial=0))
    return total, maximum


def _collisions(rows: Rows, own: Rows, theirs: Rows, bits: int, distance: int) -> NDArray[np.int64]:
    """Return the number of hash collisions in each of the rows of the graph.

    At distance 1, it is the number of entries with the row's own colour. At distance 2, it is the number of members of
    the closed row (a vertex and its neighbours) minus the number of the members' different colours.
    """
    if distance == 1:
        return np.bincount(rows[own == theirs])
    n_rows = int(rows.max(initial=-1)) + 1
    if n_rows << bits > _CELLS * rows.size:
        seen = np.bincount(distinct(pack(rows, theirs)) >> 32, minlength=n_rows)
    else:
        has = np.zeros((n_rows, 1 << bits), bool)
        has[rows, theirs] = True
        seen = np.count_nonzero(has, axis=1)
    return np.bincount(rows, minlength=n_rows) - seen


def check_collisions(
    graph: Graph,
    hashes: Sequence[str],
    bit_widths: Sequence[int],
    total: NDArray[Any],
    maximum: NDArray[Any],
    *,
    distance: int = 1,
) -> None:
    """Raise an error unless *total* and *maximum* are the results of :func:`hash_collisions`.

    Raises
    ------
    VerificationError
        A value differs; the message names the hash and the width.
    """
    expected = hash_collisions(graph, hashes, bit_widths, distance=distance)
    for what, found, right in zip(("total", "maximum"), (total, maximum), expected, strict=True):
        if found.shape != right.shape or found.dtype != np.int64:
            raise VerificationError(f"{what} is {found.dtype} {found.shape}; needed: int64 {right.shape}")
        if (wrong := found != right).any():
            k, j = (int(i) for i in np.unravel_index(wrong.argmax(), wrong.shape))
            raise VerificationError(
                f"{what} of {hashes[k]} at {bit_widths[j]} bits is {found[k, j]}, but the rows have {right[k, j]}"
            )
