"""Time maximal independent sets, and judge the predictions of the cost model.

    benchmarks/bench_maximal_independent_set.py --device pocl --graphs grid-300 --networkx --json results.json

A row holds, beside what ``graph_benchmark.py`` says, ``size`` (members of the set), ``entries_per_second`` (entries of
the graph by kernel seconds) and ``members_sha256``, which must be equal for all devices.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import inputs
from graph_benchmark import GraphBenchmark, Host, main, sha256

from clgraph.algorithms.maximal_independent_set import ALGORITHM, as_problem
from clgraph.algorithms.maximal_independent_set.problem import IndependentSetProblem
from clgraph.data.graphs.graph import Graph
from clgraph.runtime.session import Session


def _fingerprint(_problem: IndependentSetProblem, result: Any) -> dict[str, Any]:
    return {"size": result.size, "members_sha256": sha256(result.members)}


def _networkx(problem: IndependentSetProblem) -> list[Any]:
    import networkx

    return [partial(networkx.maximal_independent_set, problem.graph.to_networkx(), seed=0)]


BENCHMARK = GraphBenchmark(
    ALGORITHM, inputs.COMPONENTS, inputs.undirected, lambda name, graph: as_problem(graph), _fingerprint,
    hosts={"networkx": Host(_networkx, lambda problem, members: {"networkx_size": len(members)})},
)  # fmt: skip


def _rates(_args: argparse.Namespace, _session: Session, _name: str, graph: Graph, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["entries_per_second"] = graph.n_edges / row["kernel_seconds"] if row.get("kernel_seconds") else None


if __name__ == "__main__":
    main(BENCHMARK, __doc__, finish=_rates)
