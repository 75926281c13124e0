"""Time colourings on CPUs beside graph-tool, on the same graphs in one run.

    benchmarks/bench_color_peers.py --python /usr/bin/python3 --devices pocl intel --json results.json

``--python`` is an interpreter that can import graph-tool. graph-tool runs ``sequential_vertex_coloring``, which is
greedy by vertex number (Boost). Ours is a later call of ``color`` on a ``Graph``, with the answer built, for each
``--prefer``. All run in turn, ``--rounds`` times, and the least times count. ``ratio`` is graph-tool's time over ours:
above 1 ours is faster. Our colourings are checked once for each graph and device.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import fresh
import harness
import inputs
import numpy as np

import clgraph
from clgraph import generators
from clgraph.data.graphs.graph import Graph
from clgraph.reference.color import check_coloring
from clgraph.report import write_rows
from clgraph.runtime.session import Session

GRAPHS: dict[str, Callable[[], Graph]] = {
    "rmat-18-16": partial(generators.rmat, 18, 16),
    "rmat-20-16": partial(generators.rmat, 20, 16),
    "uniform-20-8": partial(generators.uniform_random, 1 << 20, 1 << 23),
    "web-NotreDame": partial(inputs.undirected, "web-NotreDame"),
    "road-NY": partial(inputs.undirected, "road-NY"),
    "road-FLA": partial(inputs.undirected, "road-FLA"),
    "grid-1000": partial(generators.grid, 1000, 1000),
    "grid-2048": partial(generators.grid, 2048, 2048),
}
FRESH_VERTICES = 400_000
SERVER = Path(__file__).with_name("graph_tool_colors.py")


def write_graph(path: Path, graph: Graph) -> None:
    """Write *graph* for ``graph_tool_colors.py``."""
    with path.open("wb") as file:
        np.array([graph.n_vertices, graph.n_edges], np.int64).tofile(file)
        graph.row_offsets.astype(np.int64).tofile(file)
        graph.column_indices.astype(np.int32).tofile(file)


def their_seconds(server: subprocess.Popen[str], trials: int) -> tuple[float, int]:
    """Return the least time of some calls of graph-tool, and its number of colours."""
    assert server.stdin is not None and server.stdout is not None
    print(trials, file=server.stdin, flush=True)
    seconds, n_colors = server.stdout.readline().split()
    return float(seconds), int(n_colors)


def our_seconds(graph: Graph, prefer: str, session: Session, trials: int) -> tuple[float, int, str]:
    """Return the least time of some calls, and the number of colours and the strategy of the fastest call."""
    best = (float("inf"), 0, "")
    for _ in range(trials):
        started = time.perf_counter()
        found = clgraph.color(graph, prefer=prefer, session=session)
        best = min(best, (time.perf_counter() - started, found.n_colors, found.info.strategy))
    return best


def measure(name: str, graph: Graph, args: argparse.Namespace, sessions: list[Session], folder: Path) -> None:
    """Write a row for each setting and device."""
    write_graph(folder / "graph", graph)
    keys = [(session, prefer) for session in sessions for prefer in args.prefer]
    for session, prefer in keys:
        check_coloring(graph, clgraph.color(graph, prefer=prefer, session=session).colors)
    theirs, ours = (float("inf"), 0), dict.fromkeys(keys, (float("inf"), 0, ""))
    command = [args.python, str(SERVER), str(folder / "graph")]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        for _ in range(args.rounds):
            theirs = min(theirs, their_seconds(server, args.trials))
            for session, prefer in keys:
                ours[session, prefer] = min(ours[session, prefer], our_seconds(graph, prefer, session, args.trials))
    for (session, prefer), (seconds, n_colors, strategy) in ours.items():
        row = {
            "benchmark": "color_peers", "algorithm": "color", "graph": f"{name}, prefer {prefer}",
            "n_vertices": graph.n_vertices, "n_entries": graph.n_edges, "strategy": strategy,
            "wall_seconds": seconds, "n_colors": n_colors, "graph_tool_seconds": theirs[0],
            "graph_tool_colors": theirs[1], "ratio": theirs[0] / seconds,
            **harness.provenance(session),
        }  # fmt: skip
        about = f"{row['graph']:30s}{session.facts.platform[:12]:14s}{strategy:14s}"
        ours_told, theirs_told = (f"{1e3 * each[0]:9.2f} ms ({each[1]})" for each in ((seconds, n_colors), theirs))
        print(f"{about}{ours_told}, graph-tool {theirs_told}: {row['ratio']:.2f}", flush=True)
        if args.json:
            write_rows(args.json, [row])


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    made.add_argument("--python", required=True, metavar="PROGRAM", help="a Python that has graph-tool")
    made.add_argument("--devices", nargs="+", default=["pocl"], metavar="NAME")
    made.add_argument("--data", metavar="FOLDER", help="where files of graphs lie")
    made.add_argument("--prefer", nargs="+", choices=("both", "time"), default=["time"])
    made.add_argument("--graphs", nargs="*", metavar="NAME", default=[*GRAPHS], help=f"of {', '.join(GRAPHS)}")
    made.add_argument("--fresh", nargs="*", metavar="KIND", default=[], help="kinds of fresh.py, of 400,000 vertices")
    made.add_argument("--seed", type=int, default=9, help="of the fresh graphs (default %(default)s)")
    made.add_argument("--trials", type=int, default=4, help="in a round (default %(default)s)")
    made.add_argument("--rounds", type=int, default=3)
    made.add_argument("--json", metavar="PATH", help="add rows to this file")
    args = made.parse_args()
    if args.data:
        inputs.DATA = Path(args.data)
    sessions = [Session(name) for name in args.devices]
    with tempfile.TemporaryDirectory() as folder:
        for name in args.graphs:
            measure(name, GRAPHS[name](), args, sessions, Path(folder))
        for kind in args.fresh:
            n, low, high = fresh.GRAPHS[kind](FRESH_VERTICES, np.random.default_rng(args.seed))
            graph = Graph.from_edges(low, high, n=n, duplicates="first", self_loops="drop")
            measure(kind, graph, args, sessions, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
