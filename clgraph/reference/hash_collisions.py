"""Oracle of hash colourings' collisions, by the definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graph import Graph
from clgraph.data.pairs import distinct, pack
from clgraph.data.vertex_hashes import hash_colors
from clgraph.errors import VerificationError

Tables = tuple[NDArray[np.int64], NDArray[np.int64]]


def hash_collisions(graph: Graph, hashes: Sequence[str], bit_widths: Sequence[int], *, distance: int = 1) -> Tables:
    """Return sum and maximum over the rows of their collisions, int64, shape (n_hashes, n_bit_widths)."""
    n = graph.n_vertices
    rows, columns = graph.sources(), graph.column_indices
    if distance == 1:
        proper = rows != columns
        rows, columns = rows[proper], columns[proper]
    else:
        vertices = np.arange(n, dtype=np.int32)
        closed = distinct(np.concatenate([pack(rows, columns), pack(vertices, vertices)]))
        rows, columns = (closed >> 32).astype(np.int32), closed.astype(np.int32)
    total, maximum = np.zeros((2, len(hashes), len(bit_widths)), np.int64)
    for k, name in enumerate(hashes):
        for j, bits in enumerate(bit_widths):
            colors = hash_colors(name, n, bits)
            if distance == 1:
                counts = np.bincount(rows[colors[rows] == colors[columns]], minlength=n)
            else:
                seen = distinct(pack(rows, colors[columns]))
                counts = np.bincount(rows, minlength=n) - np.bincount(seen >> 32, minlength=n)
            total[k, j], maximum[k, j] = counts.sum(), counts.max(initial=0)
    return total, maximum


def check_collisions(
    graph: Graph,
    hashes: Sequence[str],
    bit_widths: Sequence[int],
    total: NDArray[Any],
    maximum: NDArray[Any],
    *,
    distance: int = 1,
) -> None:
    """Raise unless *total* and *maximum* are those of the definition.

    Raises
    ------
    VerificationError
        Naming the hash and the width that differ.
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
