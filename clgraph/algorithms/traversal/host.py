"""Breadth-first search on the host, by scipy's compiled search."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.algorithms.traversal.prices import reached
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.data.graphs.stats import GraphStats
from clgraph.engine.host import met, pattern, scanned, too_many_entries
from clgraph.model.cost import Part, Work

NONE_BEFORE = -9999  # as in scipy.sparse.csgraph
# scipy's ``coo_matvec`` adds up the levels of 2^14 vertices per call, so that the vertices' data fit a cache.
_AT_ONCE = 1 << 14
_ONES = np.ones(_AT_ONCE, np.int32)
# Besides the visits, a search costs 0.1 passes over all vertices and entries, and one pass over the vertices.
_SCANS, _SCANS_OF_VERTICES = 0.1, 1.0
_CALL = Work(host_seconds=2e-5)  # A call to scipy takes this fixed time.
_GUESS_SECONDS = 1.5e-8  # Seconds that mispredicted branches cost, per vertex of a graph whose irregularity is 1.


def unfit(problem: Any) -> str | None:
    """Return why scipy cannot search the graph of *problem* breadth-first, or ``None`` if it can."""
    return "this scipy does not add up levels in order" if _product() is None else too_many_entries(problem)


def search(problem: SearchProblem) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Search breadth-first by scipy.

    Return each vertex's level (-1 if unreached or too far) and its predecessor.
    """
    distances, predecessors = levels(pattern(problem.graph), problem.sources)
    if problem.limit is not None:
        beyond = distances > problem.limit
        distances[beyond], predecessors[beyond] = -1, NONE_BEFORE
    return distances, predecessors


def levels(matrix: csr_array, sources: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return, for each vertex, its level (the number of edges from the nearest source) and its predecessor, by scipy.

    scipy returns the order in which the search visits vertices, but not their levels. So each vertex starts with a
    level of 1. In the order of the search, the level of its predecessor is added to it. Several sources get an extra
    vertex as their common predecessor.
    """
    from scipy.sparse.csgraph import breadth_first_order  # The import takes 0.07 s, so only this strategy pays it.

    n, first = matrix.shape[0], sources[0]
    if sources.size > 1:
        first = n
        columns = np.concatenate((matrix.indices, sources))
        offsets = np.append(matrix.indptr, matrix.indptr.dtype.type(columns.size))
        # The values of the matrix stay uninitialised, because scipy's breadth-first search does not read them.
        matrix = csr_array((np.empty(columns.size), columns, offsets), shape=(n + 1, n + 1))
    order, predecessors = breadth_first_order(matrix, first)
    if order.size == predecessors.size:
        depths = np.ones(order.size, np.int32)
    else:
        depths = predecessors >> 31  # -1 for a vertex without a predecessor, which scipy stores as -9999; else 0.
        depths |= 1
    depths[first] = -1 if first == n else 0
    add = _product()
    assert add is not None
    for at in range(1, order.size, _AT_ONCE):
        vertices = order[at : at + _AT_ONCE]
        add(vertices.size, vertices, predecessors.take(vertices, mode="clip"), _ONES, depths, depths)
    predecessors[sources] = NONE_BEFORE
    return depths[:n], predecessors[:n]


@cache
def _product() -> Callable[..., None] | None:
    """Return scipy's matrix product ``coo_matvec``, or ``None`` if its input and output cannot be the same array.

    ``coo_matvec`` adds matrix times input to the output, entry by entry. If input and output are the same array, and
    each row has one entry, then each row reads the sums of the rows before. scipy does not guarantee this, so it is
    tested on a path of 64 vertices.
    """
    levels, path = np.ones(64, np.int32), np.arange(64, dtype=np.int32)
    levels[0] = 0
    try:
        from scipy.sparse._sparsetools import coo_matvec as product

        product(63, path[1:], path[:-1], _ONES, levels, levels)
    except (ImportError, TypeError, ValueError):
        return None
    return product if np.array_equal(levels, path) else None


def levels_work(problem: Any) -> list[Part]:
    """Predict the host's work to find the level of each vertex with scipy's breadth-first search."""
    graph = problem.graph
    asked = [met(problem, "traverse"), (scanned(graph, _SCANS, _SCANS_OF_VERTICES), 1.0, 1.0), (_CALL, 1.0, 1.0)]
    return [*asked, (_guesses(problem.stats), 1.0, 1.0)] if graph.is_measured else asked


def _guesses(stats: GraphStats) -> Work:
    """Predict the time that mispredicted branches cost a search on the host.

    It grows with the irregularity of degrees.

    Only neighbours with near numbers are counted, because the measured rates of far accesses include mispredictions.
    """
    met_vertices, _ = reached(stats)
    return Work(host_seconds=_GUESS_SECONDS * (1.0 - stats.far_neighbor_share) * stats.irregularity * met_vertices)
