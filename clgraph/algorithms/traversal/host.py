"""Breadth-first search on the host, by scipy's compiled one."""
from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.data.graph import Graph
from clgraph.engine.host import met, scanned, too_many_entries
from clgraph.model.cost import Part, Work

NONE_BEFORE = -9999  # as in scipy.sparse.csgraph
_AT_ONCE = 1 << 14  # vertices, so that what is computed of them stays in a cache
_ONES = np.ones(_AT_ONCE, np.int32)
_SCANS, _SCANS_OF_VERTICES = 0.2, 5.0
_CALL = Work(host_seconds=3e-5)


def unfit(problem: Any) -> str | None:
    """Return why :func:`levels` cannot search the graph of *problem*, or ``None``."""
    return too_many_entries(problem) if _adds_in_turn() else "this scipy does not add up levels in order"


def levels(
    row_offsets: NDArray[Any], column_indices: NDArray[np.int32], sources: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return how many edges lead from the nearest source to each vertex, and the predecessors.

    scipy tells the order of the search but not its levels. Several sources get a vertex before them, which the graph
    does not have.
    """
    from scipy.sparse.csgraph import breadth_first_order  # to load it takes 0.07 s, which others need not pay

    n, first = row_offsets.size - 1, sources[0]
    if sources.size > 1:
        first = n
        column_indices = np.concatenate((column_indices, sources))
        row_offsets = np.append(row_offsets, row_offsets.dtype.type(column_indices.size))
    unread = np.empty(column_indices.size)  # values, at which a search does not look
    matrix = csr_array((unread, column_indices, row_offsets), shape=2 * (row_offsets.size - 1,))
    order, predecessors = breadth_first_order(matrix, first)
    depths = predecessors >> 31  # -1 where nobody comes before, else 0
    depths |= 1
    depths[first] = -1 if first == n else 0
    for at in range(1, order.size, _AT_ONCE):
        _add_levels(depths, order[at : at + _AT_ONCE], predecessors)
    predecessors[sources] = NONE_BEFORE
    return depths[:n], predecessors[:n]


def _add_levels(depths: NDArray[np.int32], vertices: NDArray[np.int32], predecessors: NDArray[np.int32]) -> None:
    """Add to the depth of each of *vertices*, one after the other, the depth of the vertex before it.

    scipy multiplies a matrix of one entry a row by the depths and adds to the depths, which it lets one array be; so
    each row finds what the rows before it have added.
    """
    from scipy.sparse._sparsetools import coo_matvec

    coo_matvec(vertices.size, vertices, predecessors.take(vertices, mode="clip"), _ONES, depths, depths)


@cache
def _adds_in_turn() -> bool:
    """Return whether scipy, which promises nothing of this product, still computes it in place and in order."""
    depths, path = np.array([0, 1, 1, 1], np.int32), np.arange(4, dtype=np.int32)
    try:
        _add_levels(depths, path[1:], path - np.int32(1))
    except (ImportError, TypeError, ValueError):
        return False
    return bool((depths == path).all())


def levels_work(graph: Graph) -> list[Part]:
    """Return what :func:`levels` asks of the host."""
    return [met(graph, "traverse"), (scanned(graph, _SCANS, _SCANS_OF_VERTICES), 1.0, 1.0), (_CALL, 1.0, 1.0)]
