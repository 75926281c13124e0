"""Time every strategy of strongly connected components, and judge the pick of the cost model.

    benchmarks/bench_strongly_connected_components.py --device pocl --graphs rmat-1M-8M --scipy --json results.json

A row holds, beside what ``graph_benchmark.py`` says, ``n_components`` and ``labels_sha256``.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import inputs
import numpy as np
from graph_benchmark import GraphBenchmark, Host, main, sha256
from scipy.sparse.csgraph import connected_components as scipy_components

from clgraph.algorithms.strongly_connected_components import ALGORITHM, as_problem
from clgraph.algorithms.strongly_connected_components.host import numbered
from clgraph.algorithms.strongly_connected_components.problem import StrongProblem


def fingerprint(_problem: StrongProblem, result: Any) -> dict[str, Any]:
    return {"n_components": int(result.n_components), "labels_sha256": sha256(result.labels)}


def _scipy(problem: StrongProblem) -> list[Any]:
    matrix = problem.graph.to_scipy().astype(np.float64)
    matrix.sum_duplicates()  # scipy's search goes wrong with parallel edges.
    return [partial(scipy_components, matrix, connection="strong")]


def _of_scipy(found: tuple[int, Any]) -> SimpleNamespace:
    return SimpleNamespace(n_components=found[0], labels=numbered(found[1], found[0]))


BENCHMARK = GraphBenchmark(
    ALGORITHM,
    (*inputs.SEARCHES, *inputs.DIRECTED, *inputs.SWEEPS),
    inputs.load,
    lambda name, graph: as_problem(graph),
    fingerprint,
    hosts={"scipy": Host(_scipy, lambda problem, found: fingerprint(problem, _of_scipy(found)))},
    oracle=lambda problem: _of_scipy(_scipy(problem)[0]()),
)

if __name__ == "__main__":
    main(BENCHMARK, __doc__)
