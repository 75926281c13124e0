"""Time every strategy of PageRank, and judge the pick of the cost model.

    benchmarks/bench_pagerank.py --device pocl --graphs rmat-18 road-NY --json results.json

``--strategies batch-16`` ranks for 16 personalizations at once, each of which is one random vertex. A row holds, beside
what ``graph_benchmark.py`` says, ``n_iterations`` until the ranks have converged (``tol=1e-6``). Each result is checked
against the definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import inputs
import numpy as np
from graph_benchmark import GraphBenchmark, main

from clgraph.algorithms.pagerank import ALGORITHM, STRATEGIES
from clgraph.engine.algorithm import Algorithm
from clgraph.model.strategy import Strategy, solves_all
from clgraph.runtime.session import Session


def _iterations(_session: Any, _problem: Any, _plan: Any, result: Any) -> dict[str, Any]:
    return {"n_iterations": result.n_iterations}


def _batch(session: Session, problem: Any) -> Any:
    homes = np.zeros((16, problem.graph.n_vertices))
    homes[range(16), np.random.default_rng(0).integers(problem.graph.n_vertices, size=16)] = 1
    return STRATEGIES["lanes"].plan(session, replace(problem, home=homes))


def benchmark_of(
    algorithm: Algorithm, variants: Mapping[str, Strategy] = MappingProxyType({}), **settings: Any
) -> GraphBenchmark:
    """Return the benchmark of PageRank or of another algorithm that runs its kernels."""
    return GraphBenchmark(
        algorithm,
        inputs.COMPONENTS,
        inputs.load,
        lambda name, graph: algorithm.problem(graph, **settings),
        lambda problem, result: {},
        is_unique=False,
        describe=_iterations,
        variants=variants,
    )


BENCHMARK = benchmark_of(ALGORITHM, {"batch-16": replace(STRATEGIES["lanes"], plan=_batch, unfit=solves_all)})

if __name__ == "__main__":
    main(BENCHMARK, __doc__)
