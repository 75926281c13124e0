"""The strategies of HITS: PageRank's, with two pulls in an iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.hits.problem import HitsProblem
from clgraph.algorithms.pagerank import host, prices
from clgraph.algorithms.pagerank.host import iterate, matrix
from clgraph.algorithms.pagerank.plan import PowerPlan
from clgraph.algorithms.pagerank.strategies import contenders as contenders
from clgraph.algorithms.pagerank.strategies import on_cpus, row_blocks, rows
from clgraph.engine.host import sequential
from clgraph.engine.planned import planned
from clgraph.model.strategy import Strategy


def solve(problem: HitsProblem) -> tuple[Any, ...]:
    """Return hubs and authorities on the host, each with the sum 1, the number of iterations, and the last change."""
    n = problem.graph.n_vertices
    if not n:
        return np.zeros(0), np.zeros(0), 0, 0.0
    out = matrix(problem)
    back, authorities = out.T, np.zeros(n)

    def step(hubs: NDArray[np.float64]) -> NDArray[np.float64]:
        authorities[:] = back @ hubs
        authorities[:] /= authorities.sum()
        found: NDArray[np.float64] = out @ authorities
        found /= found.sum()
        return found

    hubs, count, change = iterate(problem, np.full(n, 1 / n) if problem.initial is None else problem.initial, step)
    return hubs, authorities, count, change


STRATEGIES: dict[str, Strategy] = {
    "row_blocks": planned("offline", row_blocks, PowerPlan, prices.row_blocks),
    "rows": planned("offline", rows, PowerPlan, prices.rows, unsupported=on_cpus),
    "host": sequential(solve, host.work),
}
