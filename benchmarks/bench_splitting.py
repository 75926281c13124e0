"""Time how much splitting vertices, and child launches, gain over plain rounds over all vertices.

    benchmarks/bench_splitting.py --device nvidia --seconds 600 --plot pictures --json results.json

The published study: breadth-first search and shortest paths on R-MAT and on web graphs, maximum degrees from 4 to the
largest degree. The kernels' times count, the splitting itself included. Kernels that find predecessors do not count,
since the study has none. Cases that do not fit into ``--seconds`` are left out, with a message. A row holds, beside
what ``harness.py`` says:

``mda, n_extra, threshold, launched_by, rounds``
    As the plans tell them.
``baseline_kernel_seconds, improvement``
    Of plain rounds without atomics, and the share of it that is saved.
``most_over_mean``
    Edges of the busiest work-group over the mean of all work-groups, in the round with most edges.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import bench_bfs
import bench_sssp
import harness
import inputs
from graph_benchmark import Verifier

from clgraph.cli.main import guarded
from clgraph.data.graphs.graph import Graph
from clgraph.figure import figure_file
from clgraph.runtime.session import Session

GRAPHS = ("rmat-1M-8M", "web-NotreDame", "web-282K-2.3M")
SEARCHES = {"bfs": bench_bfs.BENCHMARK, "sssp": bench_sssp.BENCHMARK}
_LEFT_OUT = {"find", "mark_sources", "finish"}  # kernels of predecessors; their `start` shares a name

Case = tuple[str, dict[str, Any]]


def cases(graph: Graph) -> Iterator[Case]:
    """Yield strategies and options, in the order of the study's tables."""
    largest = int(graph.degrees.max(initial=1))
    sweep = [*(1 << k for k in range(2, largest.bit_length()) if 1 << k < largest), largest]
    for atomic in (False, True):
        yield "topology_driven", {"atomic": atomic}
    for mda in ("histogram", "model"):
        for atomic in (False, True):
            yield "node_splitting", {"mda": mda, "atomic": atomic}
    for atomic in (False, True):
        yield "child_launch", {"atomic": atomic}
        for value in sweep:
            yield "node_splitting", {"mda": value, "atomic": atomic}
            yield "child_launch", {"threshold": value, "atomic": atomic}


def label(name: str, options: Mapping[str, Any]) -> str:
    parts = [f"{key}={value}" for key, value in options.items() if key != "atomic"]
    return ", ".join([name, *parts, *(["atomic"] if options["atomic"] else [])])


def kernel_seconds(session: Session, run: Any, repeats: int) -> tuple[float, float, float]:
    """Return the median and the least time of the kernels that count, and the median of the host."""
    kernel, wall = [], []
    for recorder, seconds in harness.recorded(session, run, repeats):
        kernel.append(sum(t for name, (_, t) in recorder.kernels().items() if name not in _LEFT_OUT))
        wall.append(seconds.total)
    return statistics.median(kernel), min(kernel), statistics.median(wall)


def measure(
    session: Session, search: str, name: str, graph: Graph, *, until: float, repeats: int
) -> list[dict[str, Any]]:
    """Return a row for each case that is begun before *until*."""
    benchmark = SEARCHES[search]
    problem, strategies = benchmark.problem(name, graph), benchmark.algorithm.strategies
    rows: list[dict[str, Any]] = []
    verify = Verifier(benchmark, session, problem, True, None)
    baseline = None
    for strategy, options in cases(graph):
        if time.monotonic() > until and rows:
            print(f"{search} on {name}: no time left for {label(strategy, options)} and what follows", flush=True)
            break
        make = partial(strategies[strategy].plan, session, problem, **options)
        plan = make()
        plan.run()
        median, least, wall = kernel_seconds(session, plan.run, repeats)
        with harness.naming(f"{label(strategy, options)} on {name}"):
            verify(plan)
        baseline = baseline or median
        row = {
            "strategy": label(strategy, options),
            "atomic": options["atomic"],
            "source": int(problem.sources[0]),
            "kernel_seconds": median,
            "least_kernel_seconds": least,
            "wall_seconds": wall,
            "repeats": repeats,
            "baseline_kernel_seconds": baseline,
            "improvement": 1.0 - median / baseline,
            **plan.details,
        }
        if not options["atomic"]:
            counted = make(balance=True)
            counted.run()
            with harness.naming(f"{row['strategy']} on {name}, edges counted"):
                verify(counted)
            row["most_over_mean"] = float(counted.group_edges.max() / counted.group_edges.mean())
        rows.append(row)
    return harness.described(rows, f"{search}_splitting", name, graph)


def tabulate_study(rows: list[dict[str, Any]]) -> str:
    """Return the table of the study."""
    columns: dict[str, harness.Column] = {
        "strategy": "strategy",
        "baseline ms": harness.milliseconds("baseline_kernel_seconds"),
        "MDA": "mda",
        "extra nodes": "n_extra",
        "ms": harness.milliseconds("kernel_seconds"),
        "% improvement": ("improvement", 100, ".1f"),
        "rounds": "rounds",
        "busiest / mean": ("most_over_mean", 1, ".1f"),
    }
    launches = {"threshold": "mda", "launched_by": "n_extra"}  # Child launches show these fields in the same columns.
    return harness.table_of(({launches.get(key, key): row[key] for key in row} for row in rows), columns)


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Write the curves of one search on one graph."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with figure_file(path, 8.0, 5.0) as figure:
        axes = figure.subplots()
        for atomic, style in ((False, "-"), (True, "--")):
            of_kind = [row for row in rows if row["atomic"] == atomic]
            suffix = ", atomic" if atomic else ""
            for k, (strategy, field) in enumerate((("node_splitting", "mda"), ("child_launch", "threshold"))):
                swept = sorted(
                    (row[field], 1e3 * row["kernel_seconds"]) for row in of_kind
                    if f"{strategy}, {field}={row.get(field)}" in row["strategy"]
                )  # fmt: skip
                if swept:
                    axes.plot(*zip(*swept, strict=True), style, color=f"C{k}", marker=".", label=strategy + suffix)
            for row in of_kind:
                if row["strategy"].startswith("topology_driven"):
                    axes.axhline(1e3 * row["kernel_seconds"], linestyle=style, color="black", label=row["strategy"])
                elif not atomic and "mda=histogram" in row["strategy"]:
                    axes.plot(row["mda"], 1e3 * row["kernel_seconds"], "*", color="C3", label="histogram MDA")
                elif not atomic and "mda=model" in row["strategy"]:
                    axes.plot(row["mda"], 1e3 * row["kernel_seconds"], "P", color="C2", label="model's MDA")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("maximum degree allowed; threshold of child launches")
        axes.set_ylabel("kernels, ms")
        axes.set_title(f"{rows[0]['benchmark']} on {rows[0]['graph']}")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")


def run(args: argparse.Namespace) -> int:
    graphs = args.graphs or list(GRAPHS)
    inputs.prepare(graphs, args.workers)
    session = Session(args.device)
    started, todo = time.monotonic(), [(search, name) for name in graphs for search in args.searches]
    for i, (search, name) in enumerate(todo):
        now = time.monotonic()
        until = now + (started + args.seconds - now) / (len(todo) - i)
        graph = SEARCHES[search].load(name)
        rows = measure(session, search, name, graph, until=until, repeats=args.repeats)
        print(f"\n{search} on {name}:\n")
        harness.finish(args, session, rows, tabulate_study)
        session.release()
        if args.plot is not None:
            draw(rows, Path(args.plot) / f"{search}-{Path(name).name}.png")
    return 0


if __name__ == "__main__":
    parser = harness.parser(__doc__)
    parser.add_argument("--searches", nargs="+", choices=list(SEARCHES), default=list(SEARCHES), help="(default: both)")
    parser.add_argument("--seconds", type=float, default=1e9, help="end after about so long (default: never)")
    parser.add_argument("--plot", metavar="DIR", help="draw the curves there")
    sys.exit(guarded(run, parser.parse_args()))
