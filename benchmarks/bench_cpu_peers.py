#!/usr/bin/env python3
"""Time components, searches, PageRank and triangles on CPUs beside the GAP benchmark suite, in one run.

    benchmarks/bench_cpu_peers.py --gapbs DIR --devices pocl intel --json results.json

``DIR`` has the programs of https://github.com/sbeamer/gapbs: ``bfs``, ``sssp``, ``cc``, ``pr`` and ``tc``. ``pr`` runs
until the change is below 1e-6, as ours does. Each gets the graph as a file, ``--threads`` threads and the same source.
Its time is the least "Trial Time" that it prints. ``sssp`` runs with its best Δ among powers of four. Ours is the
least time of a later call on a ``Graph``, with the answer built. Both run in turn, ``--rounds`` times. ``ratio`` is
their time over ours: above 1 ours is faster.

Answers are compared with scipy's once for each graph and device; ranks and triangles are checked by the definition.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import fresh
import harness
import inputs
import numpy as np
from end_to_end_calls import ALGORITHMS

from clgraph import generators
from clgraph.algorithms.pagerank import pagerank
from clgraph.algorithms.triangles import triangles
from clgraph.data.graphs.graph import Graph
from clgraph.report import write_rows
from clgraph.runtime.session import Session

# Each value: the maker of a graph, and the greatest weight of its edges.
GRAPHS: dict[str, tuple[Callable[[], Graph], int]] = {
    "rmat-18-16": (partial(generators.rmat, 18, 16), 255),
    "rmat-20-16": (partial(generators.rmat, 20, 16), 255),
    "uniform-20-8": (partial(generators.uniform_random, 1 << 20, 1 << 23), 255),
    "web-NotreDame": (partial(inputs.undirected, "web-NotreDame"), 255),
    "road-NY": (partial(inputs.undirected, "road-NY"), 4000),
    "road-FLA": (partial(inputs.undirected, "road-FLA"), 4000),
    "grid-1000": (partial(generators.grid, 1000, 1000), 1024),
    "grid-2048": (partial(generators.grid, 2048, 2048), 1024),
}
FRESH_VERTICES = 400_000
DELTAS = tuple(4**k for k in range(8))
TRIAL = re.compile(r"Trial Time:\s+([0-9.]+)")
PROGRAMS = {"connected_components": "cc", "bfs": "bfs", "sssp": "sssp", "pagerank": "pr", "triangles": "tc"}
OPTIONS = {"pr": ("-t", "1e-6", "-i", "1000")}
WITHOUT_WEIGHTS = {"pagerank": pagerank, "triangles": triangles}


def write_gapbs(path: Path, graph: Graph, *, weights: bool) -> None:
    """Write an undirected graph in the serialized form of GAPBS."""
    columns = graph.column_indices
    if weights:
        columns = np.column_stack([columns, graph.edge_weights.astype(np.int32)])
    with path.open("wb") as file:
        file.write(bytes([0]))
        np.array([graph.n_edges, graph.n_vertices], np.int64).tofile(file)
        graph.row_offsets.astype(np.int64).tofile(file)
        np.ascontiguousarray(columns, np.int32).tofile(file)


def their_seconds(program: Path, file: Path, source: int, threads: int, trials: int, *more: str) -> float:
    """Return the least time of some trials of a program of GAPBS."""
    command = [str(program), "-f", str(file), "-n", str(trials), *OPTIONS.get(program.name, ()), *more]
    if program.name in ("bfs", "sssp"):
        command += ["-r", str(source)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return min(float(seconds) for seconds in TRIAL.findall(done.stdout))


def our_seconds(algorithm: str, graph: Graph, source: int, session: Session, trials: int) -> tuple[float, str]:
    """Return the least time of some calls, and the strategy that ran."""
    best, strategy = float("inf"), ""
    for _ in range(trials):
        started = time.perf_counter()
        found = _ours(algorithm, graph, source, session)
        seconds = time.perf_counter() - started
        if seconds < best:
            best, strategy = seconds, found.info.strategy
    return best, strategy


def _ours(algorithm: str, graph: Graph, source: int, session: Session, *, verify: bool = False) -> Any:
    if algorithm in WITHOUT_WEIGHTS:
        return WITHOUT_WEIGHTS[algorithm](graph, session=session, verify=verify)
    return ALGORITHMS[algorithm].ours(graph, source, session)


def check(algorithm: str, graph: Graph, source: int, sessions: list[Session]) -> None:
    """Raise a ``VerificationError`` if an answer is wrong."""
    calls = ALGORITHMS.get(algorithm)
    expected = None if calls is None else calls.scipy(graph.to_scipy(), source)
    for session in sessions:
        found = _ours(algorithm, graph, source, session, verify=True)
        if calls is not None:
            calls.check(graph, found, expected)


def measure(name: str, weighted: Graph, args: argparse.Namespace, sessions: list[Session], folder: Path) -> None:
    """Write a row for each algorithm and device."""
    source = inputs.source(name, weighted)
    bare = Graph(weighted.row_offsets, weighted.column_indices, directed=False, copy=False)
    for algorithm in args.algorithms:
        graph = bare if algorithm in WITHOUT_WEIGHTS else weighted
        program, file = args.gapbs / PROGRAMS[algorithm], folder / ("g.wsg" if algorithm == "sssp" else "g.sg")
        write_gapbs(file, graph, weights=algorithm == "sssp")
        run = partial(their_seconds, program, file, source, args.threads)
        delta = min(DELTAS, key=lambda each: run(2, "-d", str(each))) if algorithm == "sssp" else None
        more = [] if delta is None else ["-d", str(delta)]
        check(algorithm, graph, source, sessions)
        theirs, ours = float("inf"), [(float("inf"), "")] * len(sessions)
        for _ in range(args.rounds):
            theirs = min(theirs, run(args.trials, *more))
            for k, session in enumerate(sessions):
                ours[k] = min(ours[k], our_seconds(algorithm, graph, source, session, args.trials))
        for session, (seconds, strategy) in zip(sessions, ours, strict=True):
            row = {
                "benchmark": "cpu_peers", "algorithm": algorithm, "graph": f"{name}, {algorithm}",
                "n_vertices": graph.n_vertices, "n_entries": graph.n_edges, "strategy": strategy,
                "wall_seconds": seconds, "gapbs_seconds": theirs, "gapbs_delta": delta,
                "ratio": theirs / seconds, "threads": args.threads,
                **harness.provenance(session),
            }  # fmt: skip
            print(f"{algorithm:22s}{name:28s}{session.facts.platform[:12]:14s}{strategy:18s}"
                  f"{1e3 * seconds:9.2f} ms, GAPBS {1e3 * theirs:9.2f} ms: {row['ratio']:.2f}", flush=True)  # fmt: skip
            if args.json:
                write_rows(args.json, [row])


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    made.add_argument("--gapbs", type=Path, required=True, metavar="DIR", help="where its programs are")
    made.add_argument("--devices", nargs="+", default=["pocl"], metavar="NAME")
    made.add_argument("--algorithms", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS))
    made.add_argument("--graphs", nargs="+", metavar="NAME", default=[*GRAPHS], help=f"of {', '.join(GRAPHS)}")
    made.add_argument("--fresh", nargs="*", metavar="KIND", default=[], help="kinds of fresh.py, of 400,000 vertices")
    made.add_argument("--seed", type=int, default=9, help="of the fresh graphs (default %(default)s)")
    made.add_argument("--threads", type=int, default=2)
    made.add_argument("--trials", type=int, default=8, help="in a round (default %(default)s)")
    made.add_argument("--rounds", type=int, default=3)
    made.add_argument("--json", metavar="PATH", help="add rows to this file")
    args = made.parse_args()
    sessions = [Session(name) for name in args.devices]
    with tempfile.TemporaryDirectory() as folder:
        for name in args.graphs:
            make, high = GRAPHS[name]
            measure(name, generators.random_weights(make(), low=1, high=high + 1), args, sessions, Path(folder))
        for kind in args.fresh:
            n, low, high = fresh.GRAPHS[kind](FRESH_VERTICES, np.random.default_rng(args.seed))
            graph = Graph.from_edges(low, high, n=n, duplicates="first", self_loops="drop")
            measure(kind, generators.random_weights(graph, low=1, high=256), args, sessions, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
