"""Time every strategy of shortest paths, and judge the pick of the cost model.

    benchmarks/bench_sssp.py --device pocl --graphs rmat-18 road-FLA --scipy --json results.json
    benchmarks/bench_sssp.py --reference results.json     # measure nothing; check rows of another machine
    benchmarks/bench_sssp.py --dtypes float32 float64 --strategies frontier   # the cost of wider distances

Weights are int32, 1 … 1024, hashed from the edge; with ``--dtypes`` they are float32, from 1 to 1024. What a row holds,
``bench_bfs.py`` says.
"""

from __future__ import annotations

import argparse
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any

import inputs
import numpy as np
from bench_bfs import GRAPHS, fingerprint, scipy_matrix
from graph_benchmark import GraphBenchmark, Host, main
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra

from clgraph import generators
from clgraph.algorithms.sssp import ALGORITHM, as_problem
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.data.graphs.graph import Graph
from clgraph.reference.sssp import dijkstra


def _scipy(problem: SearchProblem) -> list[Any]:
    return [partial(scipy_dijkstra, scipy_matrix(problem), indices=int(problem.sources[0]))]


@lru_cache(maxsize=1)
def with_floats(graph: Graph) -> Graph:
    """Return the graph with float32 weights in place of its own."""
    return generators.random_weights(graph, low=1, high=1024, dtype="float32")


def _problem(name: str, graph: Graph, dtype: str | None = None) -> SearchProblem:
    weighted = graph if dtype is None else with_floats(graph)
    return as_problem(weighted, source=inputs.source(name, graph), dtype=dtype)


def _describe(problem: SearchProblem, found: NDArray[Any]) -> dict[str, Any]:
    distances = np.where(found < np.inf, found, -1).astype(np.int64)
    return fingerprint(problem, SimpleNamespace(distances=distances))


def _oracle(problem: SearchProblem) -> SimpleNamespace:
    dtype = None if problem.wide else problem.graph.weight_dtype
    return SimpleNamespace(distances=dijkstra(problem.graph, problem.sources, dtype=dtype))


BENCHMARK = GraphBenchmark(
    ALGORITHM,
    GRAPHS,
    partial(inputs.weighted, high=1024, directed=True),
    _problem,
    fingerprint,
    hosts={"scipy": Host(_scipy, _describe)},
    oracle=_oracle,
    settings=("dtype",),
    label=lambda name, dtype=None: name if dtype is None else f"{name}, {dtype} distances",
)


def _add_options(parser: argparse.ArgumentParser) -> None:
    of_type = "distances of these types by float32 weights (default: int64 by integers)"
    parser.add_argument("--dtypes", nargs="+", choices=("float32", "float64"), default=[None], help=of_type)


if __name__ == "__main__":
    main(BENCHMARK, __doc__, add_options=_add_options, cases=lambda args: [{"dtype": dtype} for dtype in args.dtypes])
