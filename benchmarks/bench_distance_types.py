"""Time shortest paths by float32 weights with distances of float32 and of float64, in turns.

    benchmarks/bench_distance_types.py --device nvidia --on-device --json results.json
    benchmarks/bench_distance_types.py --device pocl --graphs rmat-16 grid-512 --strategies frontier dijkstra

Both read the same float32 weights, at least 1 and below 1024, hashed from the edge, so that the difference is the
distances'. A row holds the fields of ``harness.py``, the ``dtype`` of the distances, and ``over_float32``: the median
kernel time divided by that of float32 distances. Graphs above ``--check-limit`` have ``verified`` false.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import harness
import inputs

from clgraph import generators
from clgraph.algorithms.sssp import ALGORITHM, as_problem
from clgraph.cli.main import guarded
from clgraph.data.graph import Graph
from clgraph.runtime.session import Session
from clgraph.runtime.timing import Seconds

GRAPHS = ("rmat-20", "rmat-22", "uniform-random", "delaunay", "grid-4096", "road-like")
DTYPES = ("float32", "float64")
WITH_KERNELS = [name for name, strategy in ALGORITHM.strategies.items() if strategy.kind != "sequential"]


def load(name: str, session: Session | None = None) -> Graph:
    """Return graph *name* with float32 weights, at least 1 and below 1024, in place of its own."""
    return generators.random_weights(inputs.load(name, session=session), low=1, high=1024, dtype="float32")


def measure(
    session: Session, name: str, graph: Graph, *, strategy: str, repeats: int, check_limit: int
) -> list[dict[str, Any]]:
    """Return a row for each type of distances; their runs take turns."""
    problems = {dtype: as_problem(graph, source=inputs.source(name, graph), dtype=dtype) for dtype in DTYPES}
    plans = {dtype: ALGORITHM.strategies[strategy].plan(session, problem) for dtype, problem in problems.items()}
    timed: dict[str, list[Seconds]] = {dtype: [] for dtype in DTYPES}
    for i in range(harness.WARM_UPS + repeats):
        for dtype, plan in plans.items():
            with session.measure() as recorder:
                plan.run()
            assert recorder.seconds is not None
            if i >= harness.WARM_UPS:
                timed[dtype].append(recorder.seconds)
    rows, is_checked = [], graph.n_edges <= check_limit
    for dtype, plan in plans.items():
        if is_checked:
            with harness.naming(f"{strategy} on {name}, {dtype}"):
                ALGORITHM.check(problems[dtype], ALGORITHM.answer(problems[dtype], plan))
        kernel, wall = ([getattr(seconds, part) for seconds in timed[dtype]] for part in ("kernel", "total"))
        kernels = {"kernel_seconds": statistics.median(kernel), "least_kernel_seconds": min(kernel)}
        about = {"strategy": f"{strategy}, {dtype}", "dtype": dtype, "verified": is_checked}
        rows.append({**about, **kernels, **harness.walls(wall)})
    for row in rows:
        row["over_float32"] = row["kernel_seconds"] / rows[0]["kernel_seconds"]
    for plan in plans.values():
        plan.release()
    return harness.described(rows, "sssp_distance_types", name, graph)


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a table."""
    columns: dict[str, harness.Column] = {"graph": "graph", "strategy, distances": "strategy"}
    columns |= {"kernel ms": harness.milliseconds("kernel_seconds")}
    columns |= {"least": harness.milliseconds("least_kernel_seconds"), "over float32": ("over_float32", 1, ".2f")}
    return harness.table_of(rows, columns | {"verified": "verified"})


def main() -> None:
    parser = harness.parser(__doc__)
    parser.add_argument("--on-device", action="store_true", help="make graphs on the device where it can")
    predicted = "(default: the one that the cost model predicts to be fastest)"
    parser.add_argument("--strategies", nargs="+", choices=WITH_KERNELS, metavar="NAME", help=predicted)
    limit = "check the definition on graphs of at most N stored entries (20,000,000)"
    parser.add_argument("--check-limit", metavar="N", type=int, default=20_000_000, help=limit)

    def of_graph(args: argparse.Namespace, session: Session, name: str, graph: Graph) -> Iterator[list[dict[str, Any]]]:
        strategies = args.strategies
        if strategies is None:
            choice = ALGORITHM.choose(session, as_problem(graph))
            strategies = [next(key for key in choice.predicted if key in WITH_KERNELS)]
        for strategy in strategies:
            yield measure(session, name, graph, strategy=strategy, repeats=args.repeats, check_limit=args.check_limit)

    def run(args: argparse.Namespace) -> int:
        harness.measure_graphs(args, GRAPHS, load, partial(of_graph, args), table)
        return 0

    sys.exit(guarded(run, parser.parse_args()))


if __name__ == "__main__":
    main()
