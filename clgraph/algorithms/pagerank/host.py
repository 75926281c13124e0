"""PageRank on the host: power iteration by scipy's product of a sparse matrix and a vector."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.algorithms.pagerank.problem import PageRankProblem
from clgraph.model.cost import Part, Work

# Seconds of an iteration on one core of an EPYC (family 26), for each entry and each vertex. Measured on R-MAT 16.
_SECONDS_PER_ENTRY, _SECONDS_PER_VERTEX, _SECONDS_PER_ITERATION = 1.2e-9, 6e-9, 3e-5


class Ranked(NamedTuple):
    """Ranks, the number of iterations, and the sum of the absolute changes in the last one."""

    ranks: NDArray[Any]
    n_iterations: int
    change: float


def solve(problem: PageRankProblem) -> Ranked:
    """Return the ranks of *problem*.

    All iterations are float64; the ranks are then rounded to the wanted type.
    """
    graph, n, alpha = problem.graph, problem.graph.n_vertices, problem.alpha
    if not n:
        return Ranked(np.zeros(0, problem.dtype), 0, 0.0)
    values = graph.edge_weights if problem.is_weighted else None
    values = np.ones(graph.n_edges) if values is None else values.astype(np.float64)
    matrix = csr_array((values, graph.column_indices, graph.row_offsets), shape=(n, n)).T
    strengths = problem.strengths
    is_dangling = strengths == 0
    inverse = np.divide(1.0, strengths, out=np.zeros(n), where=~is_dangling)
    home = np.full(n, 1 / n) if problem.home is None else problem.home
    refuge = home if problem.refuge is None else problem.refuge
    ranks = np.full(n, 1 / n) if problem.initial is None else problem.initial
    count, change = 0, 0.0
    while count < problem.max_iter:
        found = alpha * (matrix @ (ranks * inverse) + ranks[is_dangling].sum() * refuge) + (1 - alpha) * home
        change = float(np.abs(found - ranks).sum())
        ranks, count = found, count + 1
        if change < problem.tol:
            break
    return Ranked(ranks.astype(problem.dtype), count, change)


def work(problem: PageRankProblem) -> list[Part]:
    """Return the host's work for :func:`solve`."""
    from clgraph.algorithms.pagerank.prices import iterations

    n, m = problem.graph.n_vertices, problem.graph.n_edges
    seconds = _SECONDS_PER_ITERATION + _SECONDS_PER_ENTRY * m + _SECONDS_PER_VERTEX * n
    return [(Work(host_seconds=seconds), iterations(problem), 1.0)]
