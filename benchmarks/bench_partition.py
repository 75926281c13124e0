"""Time partitions and their phases, and compare their cuts with METIS's where pymetis is installed.

    benchmarks/bench_partition.py --device pocl --graphs delaunay-17 grid-512 -k 64 --json results.json
    benchmarks/bench_partition.py --graphs delaunay-17 --strategies gpu "gpu, lock_free" "gpu, buffered" hybrid
    benchmarks/bench_partition.py --graphs delaunay-20 --strategies gpu "gpu, max" --seeds 0 1 2 --calls

A row holds, beside what ``graph_benchmark.py`` says, ``n_parts``, ``seed``, ``edge_cut``, ``imbalance``, ``n_levels``
and the host's seconds of each phase; with pymetis also ``metis_cut``, ``metis_seconds`` (one thread, in the same run)
and ``cut_ratio``. ``--metis FILE`` keeps what METIS gave, and is read where pymetis is not installed.
"""

from __future__ import annotations

import argparse
import json
import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import harness
import inputs
from graph_benchmark import GraphBenchmark, main, varied

from clgraph.algorithms.partition import ALGORITHM, STRATEGIES, as_problem
from clgraph.algorithms.partition.problem import PartitionProblem
from clgraph.data.graphs.graph import Graph
from clgraph.runtime.session import Session

VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # name: changes of the problem, options of the plan
    "gpu, lock_free": ({"matching": "lock_free"}, {}),
    "gpu, segmented": ({"matching": "segmented"}, {}),
    "gpu, sorted": ({"contraction": "sorted"}, {}),
    "gpu, light edges dropped": ({}, {"drop_light_edges": True}),
    "gpu, noop": ({"refinement": "noop"}, {}),
    "gpu, buffered": ({"refinement": "buffered"}, {}),
    **{f"gpu, permutations of {k}": ({"refinement": "permutations"}, {"top_k": k}) for k in (8, 11, 16)},
    "hybrid, cpu": ({}, {"host": "cpu"}),
    "gpu, max": ({"effort": "max"}, {}),
    "gpu, deterministic": ({"deterministic": True}, {}),
    **{f"gpu, coarsest {size}": ({}, {"coarsest": size}) for size in (8, 32, 64)},
}
_GRAPHS = ("delaunay-17", "grid-512", "geometric-17", "rmat-16")


def _describe(_session: Session, _problem: PartitionProblem, plan: Any, result: Any) -> dict[str, Any]:
    seconds = {key: value for key, value in plan.details.items() if key.endswith("_seconds")}
    return {
        "edge_cut": result.edge_cut, "imbalance": result.imbalance, "n_levels": len(result.levels), **seconds,
    }  # fmt: skip


@lru_cache(maxsize=1)
def unweighted(graph: Graph) -> Graph:
    """Return the graph with edges of weight 1; with few heavy edges most cuts are alike."""
    return graph if graph.weight_dtype is None else Graph._trusted(graph.row_offsets, graph.column_indices, None)


BENCHMARK = GraphBenchmark(
    ALGORITHM,
    _GRAPHS,
    inputs.undirected,
    lambda name, graph, **settings: as_problem(unweighted(graph), **settings),
    lambda problem, result: {},
    is_unique=False,
    describe=_describe,
    variants={name: varied(STRATEGIES[name.partition(",")[0]], *of) for name, of in VARIANTS.items()},
    settings=("n_parts", "seed"),
    label=lambda name, n_parts, seed: f"{name}, k = {n_parts}, seed {seed}",
)


def _metis(args: argparse.Namespace, name: str, graph: Graph, n_parts: int) -> tuple[int, float | None] | None:
    """Return cut and seconds of METIS on one host thread; without pymetis, as the file of --metis has them."""
    key = f"{name}, k = {n_parts}"
    known: dict[str, Any] = json.loads(Path(args.metis).read_text()) if args.metis and Path(args.metis).exists() else {}
    try:
        import pymetis
    except ImportError:
        return tuple(known[key]) if key in known else None  # type: ignore[return-value]
    rows = pymetis.CSRAdjacency(graph.row_offsets, graph.column_indices)
    (cut, _parts), taken = harness.timed_calls(lambda: pymetis.part_graph(n_parts, rows), 3, math.inf)
    if args.metis:
        Path(args.metis).write_text(json.dumps({**known, key: [cut, min(taken)]}, indent=1) + "\n")
    return cut, min(taken)


def _compare(args: argparse.Namespace, _session: Session, name: str, graph: Graph, rows: list[dict[str, Any]]) -> None:
    """Add the cut and the time of METIS."""
    for row in rows:
        if (found := _metis(args, name, graph, row["n_parts"])) is not None:
            row |= {"metis_cut": found[0], "cut_ratio": row["edge_cut"] / max(1, found[0])}
            row |= {} if found[1] is None else {"metis_seconds": found[1]}


_TIMES = ("wall", "metis", "coarsening", "initial", "refinement")
COLUMNS: dict[str, harness.Column] = {
    "graph": "graph", "strategy": "strategy", "levels": "n_levels", "cut": "edge_cut",
    "/ METIS": ("cut_ratio", 1, ".3f"), "imbalance %": ("imbalance", 100, ".1f"),
    **{f"{part} ms": (f"{part}_seconds", 1e3, ".1f") for part in _TIMES},
}  # fmt: skip


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-k", "--parts", type=int, nargs="+", default=[64], help="numbers of parts (64)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="seeds (0)")
    parser.add_argument("--metis", metavar="FILE", help="cuts and seconds of METIS: written, or read without pymetis")


if __name__ == "__main__":
    main(
        BENCHMARK,
        __doc__,
        add_options=_add_options,
        cases=lambda args: [{"n_parts": n_parts, "seed": seed} for n_parts in args.parts for seed in args.seeds],
        finish=_compare,
        table=COLUMNS,
    )
