"""Time every strategy that counts triangles, and judge the pick of the cost model.

    benchmarks/bench_triangles.py --device pocl --graphs rmat-16 road-NY --json results.json

A row holds, beside what ``graph_benchmark.py`` says, ``n_triangles``, ``triangles_per_second`` by kernel seconds, and
``counts_sha256``, which must be equal for all strategies and devices.
"""

from __future__ import annotations

import argparse
from typing import Any

import inputs
from graph_benchmark import GraphBenchmark, main, sha256

from clgraph.algorithms.triangles import ALGORITHM, as_problem
from clgraph.algorithms.triangles.problem import TrianglesProblem
from clgraph.data.graphs.graph import Graph
from clgraph.runtime.session import Session


def _fingerprint(_problem: TrianglesProblem, result: Any) -> dict[str, Any]:
    return {"n_triangles": result.n_triangles, "counts_sha256": sha256(result.counts)}


BENCHMARK = GraphBenchmark(
    ALGORITHM, inputs.COMPONENTS, inputs.undirected, lambda name, graph: as_problem(graph), _fingerprint
)


def _rates(_args: argparse.Namespace, _session: Session, _name: str, _graph: Graph, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["triangles_per_second"] = row["n_triangles"] / row["kernel_seconds"] if row.get("kernel_seconds") else None


if __name__ == "__main__":
    main(BENCHMARK, __doc__, finish=_rates)
