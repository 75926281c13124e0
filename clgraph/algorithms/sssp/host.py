"""Shortest paths on the host, by scipy's compiled Dijkstra."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.algorithms.traversal.host import NONE_BEFORE, levels, levels_work
from clgraph.algorithms.traversal.host import unfit as levels_unfit
from clgraph.algorithms.traversal.prices import reached
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.engine.host import given_matrix, met, pattern, scanned
from clgraph.model.cost import Part, Work

_EXACT = 2**53  # A double holds every nonnegative integer below this exactly.
# Besides its visits, a search of scipy costs 1 pass over vertices and entries, and 12 over the vertices for its heap.
# Finding the predecessors of shortest paths costs 40 passes over all vertices and entries.
_SCANS, _SCANS_OF_VERTICES, _LOOKS = 1.0, 12.0, 40.0
# If no vertex has more than two entries, visits take 0.36 of the usual time, because the heap stays tiny.
_THIN_SHARE = 0.36
# Seconds of scipy's heap updates for distances that fall, per vertex and per log2(heap size) squared.
_FRONT_SECONDS = 1.8e-9
# Fixed time of a search by scipy, and fixed time to find the predecessors of its paths.
_CALL, _LOOK = Work(host_seconds=3.5e-5), Work(host_seconds=2e-5)


def unfit(problem: SearchProblem) -> str | None:
    """Return why scipy's Dijkstra cannot find these distances, since it adds weights as doubles; ``None`` if it can."""
    dtype = problem.weight_dtype
    if dtype == np.float32 and not problem.wide:
        return "scipy adds up weights as float64, and distances of float32 are sums of that type"
    is_integer = dtype is not None and dtype.kind == "i"
    if is_integer and problem.graph.n_vertices * int(problem.weight_range[1]) >= _EXACT:
        return "scipy adds up weights as float64, and a path may be longer than 2**53, up to which that is exact"
    return levels_unfit(problem)


def solve(problem: SearchProblem) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    """Find shortest paths by scipy.

    Return the distances, and the predecessors or ``None`` if they are not wanted.
    """
    lengths = _lengths(problem)
    predecessors = _predecessors(problem, lengths) if problem.predecessors else None
    if problem.held.is_float:
        return lengths, predecessors
    lengths[np.isinf(lengths)] = -1.0
    return lengths.astype(np.int64), predecessors


def _lengths(problem: SearchProblem) -> NDArray[np.float64]:
    """Return the length of the shortest path to each vertex as a double; inf for unreached vertices."""
    from scipy.sparse.csgraph import dijkstra  # The import takes 0.07 s, so only this strategy pays it.

    graph, weights, limit = problem.graph, problem.edge_weights, problem.limit
    n = graph.n_vertices
    if weights is None or not n:
        depths = levels(pattern(graph), problem.sources)[0]
        return np.where((depths < 0) | (depths > (n if limit is None else limit)), np.inf, depths)
    most = np.inf if limit is None or limit == np.inf else float(limit if problem.held.is_float else int(limit))
    matrix = given_matrix(graph)
    if matrix is None:
        doubles = weights.astype(np.float64, copy=False)
        matrix = csr_array((doubles, graph.column_indices, graph.row_offsets), shape=(n, n))
    lengths: NDArray[np.float64] = dijkstra(matrix, indices=np.unique(problem.sources), min_only=True, limit=most)
    return lengths


def _predecessors(problem: SearchProblem, lengths: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the predecessor of each vertex on a shortest path; -9999 if it has none.

    Of several predecessors with smaller distances, the one with the least number is returned. If no predecessor has a
    smaller distance, a breadth-first search along edges that add nothing to a distance finds one.
    """
    graph, weights = problem.graph, problem.edge_weights
    rows, columns = graph.sources(), graph.column_indices
    near, far = lengths[rows], lengths[columns]
    with np.errstate(over="ignore"):
        tight = (near + (1.0 if weights is None else weights) == far) & (far < np.inf)
    predecessors = np.full(graph.n_vertices, NONE_BEFORE, np.int32)
    _take_least(predecessors, rows, columns, tight & (near < far))
    predecessors[problem.sources] = NONE_BEFORE
    joined = predecessors >= 0
    joined[problem.sources] = True
    if joined[lengths < np.inf].all():
        return predecessors
    flat = np.flatnonzero(tight & (near == far))
    offsets = np.append(0, np.cumsum(np.bincount(rows[flat], minlength=graph.n_vertices))).astype(np.int32)
    rows, columns = rows[flat], columns[flat]
    flat_edges = csr_array((np.empty(columns.size), columns, offsets), shape=2 * (graph.n_vertices,))
    steps, _ = levels(flat_edges, np.flatnonzero(joined).astype(np.int32))
    _take_least(predecessors, rows, columns, steps[rows] + 1 == steps[columns])
    return predecessors


def _take_least(
    predecessors: NDArray[np.int32], rows: NDArray[np.int32], columns: NDArray[np.int32], leads: NDArray[np.bool_]
) -> None:
    """Set each vertex's predecessor to the least row of the marked entries (*leads*) that lead to the vertex.

    numpy assigns in order. So the entries are reversed, and the least row is written last.
    """
    entries = np.flatnonzero(leads)[::-1]
    predecessors[columns[entries]] = rows[entries]


def work(problem: SearchProblem) -> list[Part]:
    """Predict the host's work to find shortest distances with scipy, and the predecessors if they are wanted.

    The distances come from scipy's Dijkstra, or from a breadth-first search if all edges weigh 1.
    """
    graph = problem.graph
    looks = (scanned(graph, _LOOKS), _LOOK) if problem.predecessors else ()
    rest = [(each, 1.0, 1.0) for each in looks]
    if problem.weight_dtype is None:
        return levels_work(problem) + rest
    asked, times, weight = met(problem, "heap")
    times *= _THIN_SHARE if graph.is_thin else 1.0
    if graph.is_measured:
        rest.append((_falls(problem), 1.0, 1.0))
    return [(asked, times, weight), (scanned(graph, _SCANS, _SCANS_OF_VERTICES), 1.0, 1.0), (_CALL, 1.0, 1.0), *rest]


def _falls(problem: SearchProblem) -> Work:
    """Predict the time of scipy's heap updates for distances that fall.

    Equal weights cause no such updates.
    """
    stats = problem.stats
    met_vertices, _ = reached(stats)
    waiting = math.log2(1.0 + met_vertices / max(1.0, stats.estimated_depth))
    return Work(host_seconds=_FRONT_SECONDS * (1.0 - problem.light_share) * met_vertices * waiting**2)
