"""The strategies of Katz centrality: PageRank's, with another epilogue."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.katz_centrality.problem import KatzProblem
from clgraph.algorithms.pagerank import host, prices
from clgraph.algorithms.pagerank.host import Ranked, iterate, matrix
from clgraph.algorithms.pagerank.plan import PowerPlan
from clgraph.algorithms.pagerank.strategies import contenders as contenders
from clgraph.algorithms.pagerank.strategies import on_cpus, row_blocks, rows
from clgraph.engine.host import sequential
from clgraph.engine.planned import planned
from clgraph.model.strategy import Strategy


def solve(problem: KatzProblem) -> Ranked:
    """Return the values on the host, not normalised."""
    n = problem.graph.n_vertices
    if not n:
        return Ranked(np.zeros(0), 0, 0.0)
    along, own = matrix(problem).T, problem.beta if problem.home is None else problem.home

    def step(values: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = problem.alpha * (along @ values) + own
        return found

    with np.errstate(over="ignore", invalid="ignore"):
        return iterate(problem, np.zeros(n) if problem.initial is None else problem.initial, step)


STRATEGIES: dict[str, Strategy] = {
    "row_blocks": planned("offline", row_blocks, PowerPlan, prices.row_blocks),
    "rows": planned("offline", rows, PowerPlan, prices.rows, unsupported=on_cpus),
    "host": sequential(solve, host.work),
}
