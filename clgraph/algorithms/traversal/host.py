"""Breadth-first search on the host, by scipy's compiled one."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.data.graph import Graph
from clgraph.data.stats import FAR_DISTANCE
from clgraph.engine.host import met, scanned
from clgraph.model.cost import Part, Work

NONE_BEFORE = -9999  # as in scipy.sparse.csgraph
_AT_ONCE = 1 << 15  # places to which numpy scatters: it does so by 64-bit numbers, which had better stay in a cache
_TICKS, _TICKS_OF_ROOT = 1024, 8  # most levels that are expected: so many, and times the root of the vertices
_THIN, _TWO_SEARCHES = 2.0, 4.0  # times one, since the clock is as long as the graph
_SCANS = 2.5
_CALL = Work(host_seconds=3.5e-5)


def levels(
    row_offsets: NDArray[Any], column_indices: NDArray[np.int32], sources: NDArray[np.int32], *, is_thin: bool = False
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return how many edges lead from the nearest source to each vertex, and the predecessors.

    scipy tells the order of the search but not its levels. So the graph gets a vertex more, from which edges lead to
    the sources, and before them to a clock: a path, of which the search meets one vertex at the beginning of each
    level. Few searches have more levels than the clock has ticks at first, but for those of thin graphs; they are made
    again.
    """
    n = row_offsets.size - 1
    ticks = n + 1 if is_thin else _ticks(n)
    order, found = _search_with_clock(row_offsets, column_indices, sources, ticks)
    if order[-1] != n + ticks:  # the last tick was not in the last level
        ticks = n + 1
        order, found = _search_with_clock(row_offsets, column_indices, sources, ticks)
    begins = np.flatnonzero(order > n)
    counts = np.append(begins[1:], order.size) - begins
    depths = np.full(n + 1 + ticks, -1, np.int32)
    level_of = np.arange(begins.size, dtype=np.int32).repeat(counts)
    for first in range(0, level_of.size, _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        depths[order[1:][part].astype(np.intp)] = level_of[part]
    predecessors = found[:n]
    predecessors[sources] = NONE_BEFORE  # in place of n
    return depths[:n], predecessors


def levels_work(graph: Graph) -> list[Part]:
    """Return what :func:`levels` asks of the host."""
    is_known = graph.n_vertices > FAR_DISTANCE and graph.is_measured
    is_long = is_known and graph.stats.estimated_depth > _ticks(graph.n_vertices)
    times = _THIN if graph.is_thin else _TWO_SEARCHES if is_long else 1.0
    asked, reached, weight = met(graph, "traverse")
    return [(asked, times * reached, weight), (scanned(graph, _SCANS), times, 1.0), (_CALL, 1.0, 1.0)]


def _ticks(n: int) -> int:
    """Return how many levels the first clock can tell of a graph of *n* vertices."""
    return min(_TICKS + _TICKS_OF_ROOT * math.isqrt(n), n + 1)


def _search_with_clock(
    row_offsets: NDArray[Any], column_indices: NDArray[np.int32], sources: NDArray[np.int32], ticks: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the order and the predecessors of a search from vertex ``n``, which the graph does not have."""
    from scipy.sparse.csgraph import breadth_first_order  # to load it takes 0.07 s, which others need not pay

    n, m = row_offsets.size - 1, column_indices.size
    ends = np.arange(m + 1 + sources.size, m + 1 + sources.size + ticks, dtype=row_offsets.dtype)
    offsets = np.concatenate((row_offsets, ends, ends[-1:]))
    columns = np.concatenate((
        column_indices, np.array([n + 1], np.int32), sources, np.arange(n + 2, n + 1 + ticks, dtype=np.int32),
    ))  # fmt: skip
    unread = np.empty(columns.size)  # values, at which a search does not look
    found: tuple[NDArray[np.int32], NDArray[np.int32]]
    found = breadth_first_order(csr_array((unread, columns, offsets), shape=(n + 1 + ticks,) * 2), n)
    return found
