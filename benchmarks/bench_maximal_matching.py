"""Time maximal matchings of graphs with and without weights, and judge the predictions of the cost model.

    benchmarks/bench_maximal_matching.py --device pocl --graphs rmat-16 road-NY --json results.json

A graph without weights gets random ones, 1 to 255, if its name ends in ``-weighted``. A row holds, beside what
``graph_benchmark.py`` says, ``n_matched``, ``weight``, ``entries_per_second`` (entries of the graph by kernel seconds)
and ``mates_sha256``, which must be equal for all devices.
"""

from __future__ import annotations

import argparse
from typing import Any

import inputs
from graph_benchmark import GraphBenchmark, main, sha256

from clgraph.algorithms.maximal_matching import ALGORITHM, as_problem
from clgraph.algorithms.maximal_matching.problem import MatchingProblem
from clgraph.data.graphs.graph import Graph
from clgraph.generators import random_weights
from clgraph.runtime.session import Session

_WEIGHTED = "-weighted"
GRAPHS = tuple(name + ending for name in inputs.COMPONENTS for ending in ("", _WEIGHTED))


def load(name: str, *, session: Session | None = None) -> Graph:
    """Return graph *name* of the inputs, with random weights if the name ends in ``-weighted``."""
    graph = inputs.undirected(name.removesuffix(_WEIGHTED), session=session)
    return random_weights(graph, seed=1) if name.endswith(_WEIGHTED) else graph


def _fingerprint(_problem: MatchingProblem, result: Any) -> dict[str, Any]:
    return {"n_matched": result.n_matched, "weight": result.weight, "mates_sha256": sha256(result.mates)}


BENCHMARK = GraphBenchmark(ALGORITHM, GRAPHS, load, lambda name, graph: as_problem(graph), _fingerprint)


def _rates(_args: argparse.Namespace, _session: Session, _name: str, graph: Graph, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["entries_per_second"] = graph.n_edges / row["kernel_seconds"] if row.get("kernel_seconds") else None


if __name__ == "__main__":
    main(BENCHMARK, __doc__, finish=_rates)
