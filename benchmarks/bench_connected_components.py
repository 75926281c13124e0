"""Time every strategy of connected components, and judge the pick of the cost model.

    benchmarks/bench_connected_components.py --device pocl --graphs rmat-18 road-FLA --scipy --json results.json
    benchmarks/bench_connected_components.py --reference results.json  # check another machine's rows

A row holds, beside what ``graph_benchmark.py`` says, ``numbering_seconds`` of the kernels that number the components
0 … k-1 as scipy does, after a run.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import inputs
import numpy as np
from graph_benchmark import GraphBenchmark, Host, main, numbering, sha256
from scipy.sparse.csgraph import connected_components as scipy_components

from clgraph.algorithms.connected_components import ALGORITHM, ComponentsProblem, as_problem


def fingerprint(_problem: ComponentsProblem, result: Any) -> dict[str, Any]:
    return {"n_components": int(result.n_components), "labels_sha256": sha256(result.labels)}


def _scipy(problem: ComponentsProblem) -> list[Any]:
    """Return two ways that answer."""
    matrix, directed = problem.graph.to_scipy().astype(np.float64), problem.graph.directed
    other: dict[str, Any] = {"connection": "weak"} if directed else {"connection": "strong"}
    return [partial(scipy_components, matrix, **options) for options in ({"directed": False}, other)]


def _of_scipy(found: tuple[int, Any]) -> SimpleNamespace:
    return SimpleNamespace(n_components=found[0], labels=found[1].astype(np.int32))


BENCHMARK = GraphBenchmark(
    ALGORITHM,
    inputs.COMPONENTS,
    inputs.load,
    lambda name, graph: as_problem(graph),
    fingerprint,
    describe=numbering,
    hosts={"scipy": Host(_scipy, lambda problem, found: fingerprint(problem, _of_scipy(found)))},
    oracle=lambda problem: _of_scipy(_scipy(problem)[0]()),
)

if __name__ == "__main__":
    main(BENCHMARK, __doc__)
