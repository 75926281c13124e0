"""Time the search for communities, and judge its quality.

    benchmarks/bench_communities.py --device pocl --graphs rmat-16 web-NotreDame --seeds 0 1 2 --json results.json

A row holds, beside what ``graph_benchmark.py`` says, ``method``, ``seed``, ``n_communities``, ``quality``,
``n_levels``, ``entries_per_second`` (entries of the graph by kernel seconds) and ``labels_sha256``, which must be equal
on all devices. ``--nu-louvain`` names the program of nu-Louvain (github.com/puzzlef/louvain-communities-cuda, compiled
for the GPU). It runs once on each graph, and rows get its ``nu_louvain_seconds``, the mean of its runs by its own
clock, and its ``nu_louvain_quality``.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import harness
import inputs
import numpy as np
from graph_benchmark import GraphBenchmark, main, sha256

from clgraph.algorithms.communities import ALGORITHM, as_problem
from clgraph.algorithms.communities.problem import ITERATIONS, METHODS, CommunitiesProblem
from clgraph.data.graphs.graph import Graph
from clgraph.runtime.session import Session


def _fingerprint(_problem: CommunitiesProblem, result: Any) -> dict[str, Any]:
    return {"n_communities": result.n_communities, "labels_sha256": sha256(result.labels)}


def _describe(_session: Session, _problem: CommunitiesProblem, _plan: Any, result: Any) -> dict[str, Any]:
    return {"quality": result.quality, "n_levels": len(result.levels)}


BENCHMARK = GraphBenchmark(
    ALGORITHM,
    ("rmat-16", "web-NotreDame", "road-NY", *inputs.COMMUNITIES),
    inputs.undirected,
    lambda name, graph, **settings: as_problem(graph, **settings),
    _fingerprint,
    describe=_describe,
    settings=("method", "seed", "iterations"),
    label=lambda name, method, seed, iterations: f"{name}, {method}, seed {seed}, {iterations} iterations",
)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=["leiden"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--iterations", nargs="+", type=int, default=[ITERATIONS])
    parser.add_argument("--nu-louvain", metavar="PROGRAM", help="run this program beside")


def _cases(args: argparse.Namespace) -> Sequence[Mapping[str, Any]]:
    return [
        {"method": method, "seed": seed, "iterations": iterations}
        for method in args.methods for seed in args.seeds for iterations in args.iterations
    ]  # fmt: skip


def _rates(args: argparse.Namespace, _session: Session, _name: str, graph: Graph, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["entries_per_second"] = graph.n_edges / row["kernel_seconds"]
    if args.nu_louvain:
        seconds, quality = _nu_louvain(args.nu_louvain, graph)
        for row in rows:
            row |= {"nu_louvain_seconds": seconds, "nu_louvain_quality": quality}


def _nu_louvain(program: str, graph: Graph) -> tuple[float, float]:
    """Return the seconds of nu-Louvain on *graph*, and the modularity that it tells."""
    src, dst = graph.sources(), graph.column_indices
    edges = np.stack((src, dst), axis=1)[src > dst] + 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.mtx"
        with path.open("w") as file:
            file.write("%%MatrixMarket matrix coordinate pattern symmetric\n")
            file.write(f"{graph.n_vertices} {graph.n_vertices} {len(edges)}\n")
            for part in np.array_split(edges.astype(str), max(1, len(edges) // 10**6)):
                file.write("\n".join(map(" ".join, part.tolist())) + "\n")
        told = subprocess.run([program, path, "1", "0"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"\{([\d.]+)ms.* ([\d.]+) modularity\} louvainStaticCuda", told)
    return float(found[0][0]) / 1000, float(found[0][1])


def _table(rows: list[dict[str, Any]]) -> str:
    columns: dict[str, harness.Column] = {"graph": "graph"}
    columns |= {f"{part} ms": harness.milliseconds(f"{part}_seconds") for part in ("kernel", "wall", "predicted")}
    columns |= {"quality": "quality", "communities": "n_communities", "entries/s": "entries_per_second"}
    return harness.table_of(rows, columns)


if __name__ == "__main__":
    main(BENCHMARK, __doc__, add_options=_add_options, cases=_cases, finish=_rates, table=_table)
