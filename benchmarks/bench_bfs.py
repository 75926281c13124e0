"""Time every strategy of breadth-first search, and judge the pick of the cost model.

    benchmarks/bench_bfs.py --device pocl --graphs rmat-18 road-FLA --scipy --json results.json
    benchmarks/bench_bfs.py --reference results.json     # measure nothing; check rows of another machine

A search starts from one vertex, :func:`inputs.source`. A row holds, beside what ``graph_benchmark.py`` says,
``source``; ``depth``, the greatest distance; ``reached``, the number of vertices; and ``distances_sha256``.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import inputs
import numpy as np
from graph_benchmark import GraphBenchmark, Host, main, sha256
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from clgraph.algorithms.bfs import ALGORITHM, as_problem
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.data.graphs.csr import as_csr_array
from clgraph.reference.bfs import bfs_distances

GRAPHS = ("road-NY", "road-FLA", "web-NotreDame", *inputs.SEARCHES, "rmat-18", *inputs.COMPONENTS)


def fingerprint(problem: SearchProblem, result: Any) -> dict[str, Any]:
    distances: NDArray[Any] = result.distances
    reached = distances[(distances >= 0) & np.isfinite(distances)]
    return {
        "source": int(problem.sources[0]), "depth": reached.max().item(), "reached": reached.size,
        "distances_sha256": sha256(distances),
    }  # fmt: skip


def scipy_matrix(problem: SearchProblem) -> Any:
    graph, weights = problem.graph, problem.edge_weights
    data = np.ones(graph.n_edges) if weights is None else weights.astype(np.float64)
    return as_csr_array(graph.row_offsets, graph.column_indices, data)


BENCHMARK = GraphBenchmark(
    ALGORITHM, GRAPHS, inputs.load, lambda name, graph: as_problem(graph, source=inputs.source(name, graph)),
    fingerprint, is_unique=False,
    hosts={"scipy": Host(
        lambda problem: [partial(breadth_first_order, scipy_matrix(problem), int(problem.sources[0]))],
        lambda problem, found: {"source": int(problem.sources[0]), "reached": found[0].size},
    )},
    oracle=lambda problem: SimpleNamespace(distances=bfs_distances(problem.graph, problem.sources)),
)  # fmt: skip

if __name__ == "__main__":
    main(BENCHMARK, __doc__)
