"""Time every strategy of PageRank, and judge the pick of the cost model.

    benchmarks/bench_pagerank.py --device pocl --graphs rmat-18 road-NY --json results.json

A row holds, beside what ``graph_benchmark.py`` says, ``n_iterations`` until the ranks have converged (``tol=1e-6``).
Each result is checked against the definition.
"""

from __future__ import annotations

from typing import Any

import inputs
from graph_benchmark import GraphBenchmark, main

from clgraph.algorithms.pagerank import ALGORITHM
from clgraph.engine.algorithm import Algorithm


def _iterations(_session: Any, _problem: Any, _plan: Any, result: Any) -> dict[str, Any]:
    return {"n_iterations": result.n_iterations}


def benchmark_of(algorithm: Algorithm, **settings: Any) -> GraphBenchmark:
    """Return the benchmark of PageRank or of another algorithm that runs its kernels."""
    return GraphBenchmark(
        algorithm,
        inputs.COMPONENTS,
        inputs.load,
        lambda name, graph: algorithm.problem(graph, **settings),
        lambda problem, result: {},
        is_unique=False,
        describe=_iterations,
    )


BENCHMARK = benchmark_of(ALGORITHM)

if __name__ == "__main__":
    main(BENCHMARK, __doc__)
