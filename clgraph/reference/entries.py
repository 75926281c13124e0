"""Helpers of the result checks: the type of an array, the first wrong position, and a graph's entries in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError

_CHUNK = 1 << 22


def check_array(name: str, array: NDArray[Any], n: int, dtype: Any) -> None:
    if array.shape != (n,) or array.dtype != dtype:
        raise VerificationError(f"{name} are {array.dtype} {array.shape}; needed: {np.dtype(dtype)} ({n},)")


def first(bad: NDArray[Any]) -> int | None:
    """Return the first position at which the mask *bad* is true, or ``None``."""
    return int(bad.argmax()) if bad.any() else None


def entry_chunks(graph: Graph) -> Iterator[tuple[slice, NDArray[np.int32], NDArray[np.int32]]]:
    """Yield the positions, rows and columns of the graph's CSR entries, in chunks of whole rows."""
    row, n = 0, graph.n_vertices
    while row < n:
        first = int(graph.row_offsets[row])
        stop = max(row + 1, int(np.searchsorted(graph.row_offsets, first + _CHUNK, "right")) - 1)
        places = slice(first, int(graph.row_offsets[stop]))
        rows = np.repeat(np.arange(row, stop, dtype=np.int32), graph.degrees[row:stop])
        yield places, rows, graph.column_indices[places]
        row = stop
