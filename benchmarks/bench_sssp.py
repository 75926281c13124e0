"""Time every strategy of shortest paths, and what the cost model picks.

    benchmarks/bench_sssp.py --device pocl --graphs rmat-18 road-FLA --scipy --json results.json
    benchmarks/bench_sssp.py --reference results.json     # measure nothing; check rows of another machine

Weights are int32, 1 … 1024, hashed from the edge. What a row holds, ``bench_bfs.py`` says.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import inputs
import numpy as np
from bench_bfs import GRAPHS, fingerprint, scipy_matrix
from graph_benchmark import GraphBenchmark, Host, main
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra

from clgraph.algorithms.sssp import ALGORITHM, as_problem
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.reference.sssp import dijkstra


def _scipy(problem: SearchProblem) -> list[Any]:
    return [partial(scipy_dijkstra, scipy_matrix(problem), indices=int(problem.sources[0]))]


def _describe(problem: SearchProblem, found: NDArray[Any]) -> dict[str, Any]:
    distances = np.where(found < np.inf, found, -1).astype(np.int64)
    return fingerprint(problem, SimpleNamespace(distances=distances))


BENCHMARK = GraphBenchmark(
    ALGORITHM,
    GRAPHS,
    partial(inputs.weighted, high=1024, directed=True),
    lambda name, graph: as_problem(graph, source=inputs.source(name, graph)),
    fingerprint,
    hosts={"scipy": Host(_scipy, _describe)},
    oracle=lambda problem: SimpleNamespace(distances=dijkstra(problem.graph, problem.sources)),
)

if __name__ == "__main__":
    main(BENCHMARK, __doc__)
