"""Time the search for communities, and judge its quality.

    benchmarks/bench_communities.py --device pocl --graphs rmat-16 web-NotreDame --seeds 0 1 2 --json results.json

A row holds, beside what ``graph_benchmark.py`` says, ``method``, ``seed``, ``n_communities``, ``quality``,
``n_levels``, ``entries_per_second`` (entries of the graph by kernel seconds) and ``labels_sha256``, which must be equal
on all devices.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import harness
import inputs
from graph_benchmark import GraphBenchmark, main, sha256

from clgraph.algorithms.communities import ALGORITHM, as_problem
from clgraph.algorithms.communities.problem import METHODS, CommunitiesProblem
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
    settings=("method", "seed"),
    label=lambda name, method, seed: f"{name}, {method}, seed {seed}",
)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=["leiden"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])


def _cases(args: argparse.Namespace) -> Sequence[Mapping[str, Any]]:
    return [{"method": method, "seed": seed} for method in args.methods for seed in args.seeds]


def _rates(_args: argparse.Namespace, _session: Session, _name: str, graph: Graph, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["entries_per_second"] = graph.n_edges / row["kernel_seconds"]


def _table(rows: list[dict[str, Any]]) -> str:
    columns: dict[str, harness.Column] = {"graph": "graph"}
    columns |= {f"{part} ms": harness.milliseconds(f"{part}_seconds") for part in ("kernel", "wall", "predicted")}
    columns |= {"quality": "quality", "communities": "n_communities", "entries/s": "entries_per_second"}
    return harness.table_of(rows, columns)


if __name__ == "__main__":
    main(BENCHMARK, __doc__, add_options=_add_options, cases=_cases, finish=_rates, table=_table)
