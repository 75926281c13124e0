"""Time maximal matchings, and judge the predictions of the cost model.

    benchmarks/bench_maximal_matching.py --device pocl --graphs rmat-16 road-NY --networkx --json results.json

Weights are int32, 1 … 2**20, hashed from the edge. A row holds, beside what ``graph_benchmark.py`` says,
``n_matched``, ``weight``, ``entries_per_second`` (entries of the graph by kernel seconds) and ``mates_sha256``, which
must be equal for all devices. networkx's function ignores weights, and takes the edges in their order.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import inputs
from graph_benchmark import GraphBenchmark, Host, main, sha256

from clgraph.algorithms.maximal_matching import ALGORITHM, as_problem
from clgraph.algorithms.maximal_matching.problem import MatchingProblem
from clgraph.data.graphs.graph import Graph
from clgraph.runtime.session import Session


def _fingerprint(_problem: MatchingProblem, result: Any) -> dict[str, Any]:
    return {"n_matched": result.n_matched, "weight": result.weight, "mates_sha256": sha256(result.mates)}


def _networkx(problem: MatchingProblem) -> list[Any]:
    import networkx

    return [partial(networkx.maximal_matching, problem.graph.to_networkx())]


BENCHMARK = GraphBenchmark(
    ALGORITHM, inputs.COMPONENTS, inputs.weighted, lambda name, graph: as_problem(graph), _fingerprint,
    hosts={"networkx": Host(_networkx, lambda problem, edges: {"networkx_matched": len(edges)})},
)  # fmt: skip


def _rates(_args: argparse.Namespace, _session: Session, _name: str, graph: Graph, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["entries_per_second"] = graph.n_edges / row["kernel_seconds"] if row.get("kernel_seconds") else None


if __name__ == "__main__":
    main(BENCHMARK, __doc__, finish=_rates)
