"""Time every strategy of hash collisions, 15 hashes at 1 … 10 bits, and what the cost model picks.

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
    Of every width the hash with the fewest collisions, their total and those of the largest row; and a digest of all.
``proper_colors``
    How many colours :func:`clgraph.color` takes for none at all, at this distance.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import harness
import inputs
import numpy as np
from graph_benchmark import GraphBenchmark, main, sha256
from numpy.typing import NDArray
from tabulate import tabulate

from clgraph.algorithms.coloring import color
from clgraph.algorithms.hash_collisions import ALGORITHM, as_problem, lanes, planes
from clgraph.algorithms.hash_collisions.plan import CollisionPlan
from clgraph.algorithms.hash_collisions.problem import CollisionProblem
from clgraph.algorithms.hash_collisions.strategies import STRATEGIES
from clgraph.algorithms.hash_collisions.table import CollisionTable, as_table
from clgraph.cli.collisions_plot import plot_collisions
from clgraph.data.graph import Graph
from clgraph.data.pairs import pack
from clgraph.data.vertex_hashes import hash_colors
from clgraph.model.strategy import Strategy
from clgraph.report import tabulate_rows
from clgraph.runtime.session import Session

GRAPHS = ("af_shell-like", "atmosmod-like", "CurlCurl-like", "Cube_Coup-like", "road-FLA", "rmat-20")


def _is_at_one(problem: CollisionProblem) -> str | None:
    return "rows are sorted at distance 2 only" if problem.distance == 1 else None


SORTED = {  # the networks, which are never picked: bitmaps are faster at these widths
    f"{name}, {layout}": replace(strategy, plan=partial(strategy.plan, layout=layout), unfit=_is_at_one)
    for name, strategy in STRATEGIES.items()
    for layout in ("padded", "compact")
}
N_HASHES, WIDTHS = 15, range(1, 11)
_ROWS_AT_ONCE = 2048  # whose bitmaps of colours stay in caches
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


def definition(graph: Graph, problem: CollisionProblem) -> CollisionTable:
    """Return the table by the definition, as ``reference.hash_collisions`` but some rows and all widths at a time."""
    widths, most, n = problem.bit_widths, problem.bit_widths[-1], graph.n_vertices
    total, maximum = np.zeros((2, len(problem.hashes), len(widths)), np.int64)
    colors = [hash_colors(name, n, most).astype(np.uint32) for name in problem.hashes]
    for first in range(0, n, _ROWS_AT_ONCE):
        stop = min(n, first + _ROWS_AT_ONCE)
        rows, columns = _entries(graph, first, stop, problem.distance)
        for k, color_of in enumerate(colors):
            theirs, seen = color_of[columns], None
            for j in reversed(range(len(widths))):
                mask = np.uint32((1 << widths[j]) - 1)
                if problem.distance == 1:
                    counts = np.bincount(rows[(theirs ^ color_of[rows + first]) & mask == 0], minlength=stop - first)
                else:
                    seen = _colors_seen(seen, rows, theirs, stop - first, widths[j])
                    counts = np.bincount(rows, minlength=stop - first) - np.count_nonzero(seen, axis=1)
                total[k, j] += counts.sum()
                maximum[k, j] = max(maximum[k, j], counts.max())
    return as_table((total, maximum), problem)


def _entries(graph: Graph, first: int, stop: int, distance: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return row, counted from *first*, and column of what counts in rows first … stop - 1."""
    offsets = graph.row_offsets[first : stop + 1]
    rows = np.repeat(np.arange(stop - first, dtype=np.int32), np.diff(offsets))
    columns = graph.column_indices[offsets[0] : offsets[-1]]
    if distance == 1:
        return rows[rows + first != columns], columns[rows + first != columns]
    own = np.arange(stop - first, dtype=np.int32)
    closed = np.unique(np.concatenate([pack(rows, columns), pack(own, own + np.int32(first))]))
    return (closed >> 32).astype(np.int32), closed.astype(np.int32)


def _colors_seen(
    wider: NDArray[np.bool_] | None, rows: NDArray[Any], colors: NDArray[Any], n_rows: int, bits: int
) -> NDArray[np.bool_]:
    """Return which colours of *bits* bits each row has, by those of the next wider colours if there are any."""
    if wider is None:
        wider = np.zeros((n_rows, 1 << bits), bool)
        wider[rows, colors] = True
    while wider.shape[1] > 1 << bits:
        wider = wider[:, : wider.shape[1] // 2] | wider[:, wider.shape[1] // 2 :]
    return wider


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


BENCHMARK = GraphBenchmark(
    ALGORITHM,
    GRAPHS,
    inputs.load,
    _problem,
    lambda problem, table: fingerprint(table),
    oracle=lambda problem: definition(problem.graph, problem),
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
