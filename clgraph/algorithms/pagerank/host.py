"""PageRank on the host: power iteration by scipy's product of a sparse matrix and a vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.algorithms.pagerank.problem import PageRankProblem, PowerProblem
from clgraph.model.cost import Part, Work

# Seconds of a pull on one core of an EPYC (family 26), for each entry and each vertex. Measured on R-MAT 16.
_SECONDS_PER_ENTRY, _SECONDS_PER_VERTEX, _SECONDS_PER_ITERATION = 1.2e-9, 6e-9, 3e-5


class Ranked(NamedTuple):
    """Ranks, the number of iterations, and the sum of the absolute changes in the last one."""

    ranks: NDArray[Any]
    n_iterations: int
    change: float


def matrix(problem: PowerProblem) -> csr_array:
    """Return the graph of *problem* as a matrix of float64; the entry of an edge is in the row of its source."""
    graph, n = problem.graph, problem.graph.n_vertices
    values = graph.edge_weights if problem.is_weighted else None
    values = np.ones(graph.n_edges) if values is None else values.astype(np.float64)
    return csr_array((values, graph.column_indices, graph.row_offsets), shape=(n, n))


def iterate(
    problem: PowerProblem, values: NDArray[np.float64], step: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> Ranked:
    """Return the values after iterations of *step* from *values* on, until changes add up to less than the limit."""
    count, change = 0, 0.0
    while count < problem.max_iter:
        found = step(values)
        change = float(np.abs(found - values).sum())
        values, count = found, count + 1
        if not change >= problem.limit:
            break
    return Ranked(values, count, change)


def solve(problem: PageRankProblem) -> Ranked:
    """Return the ranks of *problem*.

    All iterations are float64; the ranks are then rounded to the wanted type.
    """
    n, alpha = problem.graph.n_vertices, problem.alpha
    if not n:
        return Ranked(np.zeros(problem.shape, problem.dtype), 0, 0.0)
    along, inverse = matrix(problem).T, problem.inverse_strengths
    is_dangling = inverse == 0
    start = np.full(n, 1 / n) if problem.initial is None else problem.initial

    def ranked(home: NDArray[np.float64]) -> Ranked:
        refuge = home if problem.refuge is None else problem.refuge

        def step(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
            found: NDArray[np.float64] = alpha * (along @ (ranks * inverse) + ranks[is_dangling].sum() * refuge)
            return found + (1 - alpha) * home

        return iterate(problem, start, step)

    if len(problem.shape) == 1:
        ranks, count, change = ranked(np.full(n, 1 / n) if problem.home is None else problem.home)
        return Ranked(ranks.astype(problem.dtype), count, change)
    several = [ranked(home) for home in np.asarray(problem.home)]
    ranks = np.stack([each.ranks for each in several]).astype(problem.dtype)
    return Ranked(ranks, max(each.n_iterations for each in several), max(each.change for each in several))


def work(problem: PowerProblem) -> list[Part]:
    """Return the host's work for :func:`solve` and the like."""
    from clgraph.algorithms.pagerank.prices import iterations

    n, m = problem.graph.n_vertices, problem.graph.n_edges
    seconds = _SECONDS_PER_ITERATION + _SECONDS_PER_ENTRY * m + _SECONDS_PER_VERTEX * n
    times = len(problem.pulls) * (len(problem.home) if problem.n_lanes > 1 else 1)
    return [(Work(host_seconds=seconds), times * iterations(problem), 1.0)]
