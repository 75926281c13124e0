"""Time every strategy of core numbers, and judge the pick of the cost model.

    benchmarks/bench_core_numbers.py --device pocl --graphs rmat-16 road-NY --networkit --json results.json

A row holds, beside what ``graph_benchmark.py`` says, ``degeneracy``, ``entries_per_second`` (entries of the graph by
kernel seconds) and ``cores_sha256``, which must be equal for all strategies and devices. ``--networkit`` times
NetworKit's ``CoreDecomposition``, too, without the making of its graph.
"""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import inputs
import numpy as np
from graph_benchmark import GraphBenchmark, Host, main, sha256

from clgraph.algorithms.cores import ALGORITHM, as_problem
from clgraph.algorithms.cores.problem import CoresProblem
from clgraph.data.graphs.graph import Graph
from clgraph.runtime.session import Session


def _fingerprint(_problem: CoresProblem, result: Any) -> dict[str, Any]:
    return {"degeneracy": result.degeneracy, "cores_sha256": sha256(result.cores)}


def _networkit(problem: CoresProblem) -> list[Any]:
    import networkit  # type: ignore[import-not-found,unused-ignore]

    src, dst = problem.graph.sources(), problem.graph.column_indices
    once = src < dst
    graph = networkit.GraphFromCoo((src[once], dst[once]), n=problem.graph.n_vertices)
    return [lambda: networkit.centrality.CoreDecomposition(graph).run()]


def _of_networkit(problem: CoresProblem, found: Any) -> dict[str, Any]:
    cores = np.array(found.scores(), np.int32)
    return _fingerprint(problem, SimpleNamespace(cores=cores, degeneracy=int(cores.max(initial=0))))


BENCHMARK = GraphBenchmark(
    ALGORITHM,
    inputs.COMPONENTS,
    inputs.undirected,
    lambda name, graph: as_problem(graph),
    _fingerprint,
    hosts={"networkit": Host(_networkit, _of_networkit)},
)


def _rates(_args: argparse.Namespace, _session: Session, _name: str, graph: Graph, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["entries_per_second"] = graph.n_edges / row["kernel_seconds"] if row.get("kernel_seconds") else None


if __name__ == "__main__":
    main(BENCHMARK, __doc__, finish=_rates)
