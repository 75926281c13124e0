"""Time every strategy of the minimum spanning forest, and judge the pick of the cost model.

    benchmarks/bench_minimum_spanning_forest.py --device pocl --graphs rmat-18 road-FLA --scipy --json results.json
    benchmarks/bench_minimum_spanning_forest.py --reference results.json  # check another machine's rows

Weights are int32, 1 … 2**20, hashed from the edge. A row holds, beside what ``graph_benchmark.py`` says,
``numbering_seconds`` of the kernels that list the forest's edges after a run, ``total_weight``, and ``edges_sha256`` of
the edge ids (int64).
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import inputs
import numpy as np
from graph_benchmark import GraphBenchmark, Host, main, numbering, sha256, varied
from scipy.sparse import triu
from scipy.sparse.csgraph import minimum_spanning_tree

from clgraph.algorithms.minimum_spanning_forest import ALGORITHM, STRATEGIES, ForestProblem, as_problem
from clgraph.reference.minimum_spanning_forest import kruskal


def fingerprint(problem: ForestProblem, result: Any) -> dict[str, Any]:
    weights = problem.graph.edge_weights
    assert weights is not None
    return {"total_weight": int(weights[result.edges].sum(dtype=np.int64)), "edges_sha256": sha256(result.edges)}


def _matrix(problem: ForestProblem) -> Any:
    return problem.graph.to_scipy().astype(np.float64)


def _networkx(problem: ForestProblem) -> list[Any]:
    import networkx

    return [partial(networkx.minimum_spanning_tree, problem.graph.to_networkx())]


def _weight(_problem: ForestProblem, tree: Any) -> dict[str, Any]:
    return {"total_weight": int(tree.data.sum())}


BENCHMARK = GraphBenchmark(
    ALGORITHM,
    ("road-NY", "road-FLA", *inputs.SPANNING, *inputs.COMPONENTS),
    inputs.weighted,
    lambda name, graph: as_problem(graph),
    fingerprint,
    describe=numbering,
    hosts={
        "scipy": Host(lambda problem: [partial(minimum_spanning_tree, _matrix(problem))], _weight),
        "scipy, upper half": Host(
            lambda problem: [partial(minimum_spanning_tree, triu(_matrix(problem), format="csr"))], _weight
        ),
        "networkx": Host(_networkx, lambda problem, tree: {"total_weight": int(tree.size(weight="weight"))}),
    },
    oracle=lambda problem: SimpleNamespace(edges=kruskal(problem.graph)),
    variants={"segmented, transactional": varied(STRATEGIES["segmented"], {}, {"merge": "transactional"})},
)

if __name__ == "__main__":
    main(BENCHMARK, __doc__)
