"""Time every strategy of strongly connected components, and judge the pick of the cost model.

    benchmarks/bench_strongly_connected_components.py --device pocl --graphs rmat-1M-8M --scipy --json results.json

A row holds, beside what ``graph_benchmark.py`` says, ``n_components`` and ``labels_sha256``. ``--ecl-scc`` names the
program of ECL-SCC (github.com/burtscher/ECL-SCC, compiled for the GPU). It runs five times on each graph, and rows get
its median ``ecl_scc_seconds``, by its own clock, after its number of components was compared.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import inputs
import numpy as np
from graph_benchmark import GraphBenchmark, Host, main, sha256
from scipy.sparse.csgraph import connected_components as scipy_components

from clgraph.algorithms.strongly_connected_components import ALGORITHM, as_problem
from clgraph.algorithms.strongly_connected_components.host import numbered
from clgraph.algorithms.strongly_connected_components.problem import StrongProblem
from clgraph.data.graphs.graph import Graph
from clgraph.runtime.session import Session


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


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ecl-scc", metavar="PROGRAM", help="run this program beside")


def _add_peer(
    args: argparse.Namespace, _session: Session, _name: str, graph: Graph, rows: list[dict[str, Any]]
) -> None:
    """Add the time of ECL-SCC to the *rows*."""
    if not args.ecl_scc:
        return
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.egr"
        with path.open("wb") as file:
            for part in ([graph.n_vertices, graph.n_edges], graph.row_offsets, graph.column_indices):
                np.asarray(part, np.int32).tofile(file)
        for _ in range(5):
            told = subprocess.run([args.ecl_scc, path], capture_output=True, text=True, check=True).stdout
            seconds.append(float(re.findall(r"compute time: ([\d.]+)", told)[0]))
            found = int(re.findall(r"number of SCCs: (\d+)", told)[0])
    for row in rows:
        assert row["n_components"] == found, f"ECL-SCC finds {found} components, we find {row['n_components']}"
        row["ecl_scc_seconds"] = statistics.median(seconds)


if __name__ == "__main__":
    main(BENCHMARK, __doc__, add_options=_add_options, finish=_add_peer)
