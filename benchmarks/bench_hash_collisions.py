"""Time every strategy of hash collisions, 15 hashes at 1 … 10 bits, and judge the pick of the cost model.

    benchmarks/bench_hash_collisions.py --device nvidia --graphs Cube_Coup-like --plot pictures --json results.json
    benchmarks/bench_hash_collisions.py --reference results.json  # the definition, at full size, on any machine

A row holds, beside what ``graph_benchmark.py`` says, ``distance`` and:

``matrix_bytes_per_second, copy_share``
    Bytes of the matrix, row offsets and column indices once, over the least kernel time; and its share of the
    device's streaming rate.
``hash_seconds, load_seconds, count_seconds, reduce_seconds``
    Of the kernels: evaluating all hashes of all vertices; and of the kernel that counts, what it takes without
    comparing and counting, what these add to that, and what is left: keeping and reducing the counters. Where a
    strategy has no such variants the last three are missing.
``best, table_sha256``
    For every width the hash with the fewest collisions, their total, and the largest row's number; a digest of all.
``proper_colors``
    How many colours :func:`clgraph.color` takes for none at all, at this distance.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import harness
import inputs
import numpy as np
from graph_benchmark import GraphBenchmark, main, sha256, varied
from tabulate import tabulate

from clgraph.algorithms.color import color
from clgraph.algorithms.hash_collisions import ALGORITHM, as_problem, lanes, planes
from clgraph.algorithms.hash_collisions.plan import CollisionPlan
from clgraph.algorithms.hash_collisions.problem import CollisionProblem
from clgraph.algorithms.hash_collisions.strategies import STRATEGIES
from clgraph.algorithms.hash_collisions.table import CollisionTable, as_table
from clgraph.cli.collisions_plot import plot_collisions
from clgraph.data.graphs.graph import Graph
from clgraph.model.strategy import Strategy
from clgraph.reference.hash_collisions import hash_collisions
from clgraph.report import tabulate_rows
from clgraph.runtime.session import Session

GRAPHS = ("af_shell-like", "atmosmod-like", "CurlCurl-like", "Cube_Coup-like", "road-FLA", "rmat-20")


def _is_at_one(problem: CollisionProblem) -> str | None:
    return "rows are sorted at distance 2 only" if problem.distance == 1 else None


SORTED = {  # the networks, which are never picked: bitmaps are faster at these widths
    f"{name}, {layout}": replace(varied(strategy, {}, {"layout": layout}), unfit=_is_at_one)
    for name, strategy in STRATEGIES.items()
    for layout in ("padded", "compact")
}
N_HASHES, WIDTHS = 15, range(1, 11)
_COUNTING = ("count_tiles", "count_rows", "count_long_rows", "count_split_rows", "write_keys", "count_sorted")


@contextmanager
def tuned(session: Session, **values: int) -> Iterator[None]:
    """Build the kernels that count with these tunables inside the block."""
    profile = session.profile
    tuning = {source: {**profile.tuning.get(source, {}), **values} for source in (planes.SOURCE, lanes.SOURCE)}
    session.profile = replace(profile, tuning={**profile.tuning, **tuning})
    try:
        yield
    finally:
        session.profile = profile


def kernel_times(session: Session, plan: CollisionPlan) -> dict[str, float]:
    """Return the least time of each kernel of *plan* over a few runs."""
    runs = [recorder.kernels() for recorder, _ in harness.recorded(session, plan.run)]
    return {name: min(run[name][1] for run in runs) for name in runs[-1]}


def split(session: Session, problem: CollisionProblem, strategy: Strategy) -> dict[str, float]:
    """Return the fields of a row that say where the time goes."""
    counting = []
    for stages in (1, 2, 3):
        with tuned(session, STAGES=stages):
            times = kernel_times(session, strategy.plan(session, problem))
        counting.append(sum(seconds for name, seconds in times.items() if name in _COUNTING))
    hashing = sum(seconds for name, seconds in times.items() if name.startswith("tabulate"))
    load, counted, everything = counting
    return {
        "hash_seconds": hashing,
        "load_seconds": load,
        "count_seconds": max(0.0, counted - load),
        "reduce_seconds": max(0.0, everything - counted),
    }


def best_of_widths(table: CollisionTable) -> list[list[Any]]:
    rows = table.total.argmin(axis=0)
    return [
        [bits, table.hashes[k], int(table.total[k, j]), int(table.maximum[k, j])]
        for j, (bits, k) in enumerate(zip(table.bit_widths, rows, strict=True))
    ]


def fingerprint(table: CollisionTable) -> dict[str, Any]:
    """Return the fields of a row by which its table is known again."""
    counts = np.stack([table.total, table.maximum]).astype("<i8")
    return {"best": best_of_widths(table), "table_sha256": sha256(counts)}


def _add_to(args: argparse.Namespace, session: Session, name: str, graph: Graph, rows: list[dict[str, Any]]) -> None:
    """Add the rates of reading, a proper colouring, and where the time goes."""
    distance = rows[0]["distance"]
    problem = BENCHMARK.problem(name, graph, distance=distance)
    proper = color(graph, distance=distance, session=session).n_colors
    n_bytes = graph.row_offsets.nbytes + graph.column_indices.nbytes
    for row in rows:
        rate = n_bytes / row["least_kernel_seconds"]
        row |= {
            "matrix_bytes_per_second": rate,
            "copy_share": rate / session.profile.rates.stream_bytes_per_second,
            "proper_colors": proper,
        }
        if row["strategy"] in STRATEGIES:
            row |= split(session, problem, STRATEGIES[row["strategy"]])
    if args.plot is not None:
        Path(args.plot).mkdir(parents=True, exist_ok=True)
        table = ALGORITHM.solve(problem, strategy=rows[0]["strategy"].partition(",")[0], session=session)
        plot_collisions(table, Path(args.plot) / f"{Path(name).name}-{distance}.png", Path(name).name)


def _problem(_name: str, graph: Graph, distance: int) -> CollisionProblem:
    return as_problem(graph, distance=distance, hashes=N_HASHES, bit_widths=WIDTHS)


def _oracle(problem: CollisionProblem) -> CollisionTable:
    found = hash_collisions(problem.graph, problem.hashes, problem.bit_widths, distance=problem.distance)
    return as_table(found, problem)


BENCHMARK = GraphBenchmark(
    ALGORITHM,
    GRAPHS,
    inputs.load,
    _problem,
    lambda problem, table: fingerprint(table),
    oracle=_oracle,
    variants=SORTED,
    settings=("distance",),
    label=lambda name, distance: f"{name}, distance {distance}",
)


def _tables(rows: list[dict[str, Any]]) -> str:
    return "\n".join([
        tabulate_rows(rows, "rows", "github"), tabulate_split(rows) + "\n", tabulate_best(rows[0]) + "\n"
    ])  # fmt: skip


def tabulate_best(row: dict[str, Any]) -> str:
    """Return the best hash of every width, beside a proper colouring, as a table."""
    cells = [[1 << bits, *best] for bits, *best in row["best"]] + [[row["proper_colors"], "proper colouring", 0, 0]]
    return tabulate(cells, ["colours", "hash", "collisions", "largest row"], tablefmt="github")


def tabulate_split(rows: list[dict[str, Any]]) -> str:
    """Return the rows' rates and where their time goes, as a table."""
    columns: dict[str, harness.Column] = {"strategy": "strategy"}
    columns |= {"matrix GB/s": ("matrix_bytes_per_second", 1e-9, ".4g"), "of copying": ("copy_share", 1, ".1%")}
    parts = ("hash", "load", "count", "reduce")
    return harness.table_of(rows, columns | {f"{part} ms": (f"{part}_seconds", 1e3, ".3g") for part in parts})


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--distances", nargs="+", type=int, choices=(1, 2), default=[1, 2], help="(default: both)")
    parser.add_argument("--plot", metavar="DIR", help="draw the collisions of every graph there")


if __name__ == "__main__":
    main(
        BENCHMARK,
        __doc__,
        add_options=_add_options,
        cases=lambda args: [{"distance": distance} for distance in args.distances],
        finish=_add_to,
        table=_tables,
        check_limit=2_000_000,
    )
