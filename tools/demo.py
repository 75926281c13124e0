"""Show clgraph at work on one graph: devices, statistics, predictions, measurements, the pick.

Without a graph file, a scale-free and a road-like graph of about 2**18 vertices are generated,
written and read back.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from bench_connected_components import BENCHMARK

from clgraph import generators
from clgraph.cli import devices, main
from clgraph.cli.options import add_device
from clgraph.cli.terminal import busy, milliseconds, print_table
from clgraph.data.graph import Graph
from clgraph.io import read, write
from clgraph.probing import probe
from clgraph.runtime.session import Session

_SCALE = 18


def run(args: argparse.Namespace) -> int:
    devices.run(argparse.Namespace(json=False))
    session = Session(args.device)
    started = time.perf_counter()
    known = session.profile.origin == "measured"
    with busy(f"measuring {session.facts.name}; the rates are kept for the next time"):
        session.profile = probe(session, quick=True)
    print(
        f"\nrunning on {session.facts.name} ({session.facts.platform}): {session.why}; "
        + ("rates measured before" if known else f"rates measured in {time.perf_counter() - started:.1f} s")
    )
    if args.graph is not None:
        _show(session, args.graph, _timed_read(args.graph))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for name, graph in {
            f"scale-free graph (R-MAT {_SCALE})": generators.rmat(_SCALE, 8),
            "road-like graph": generators.road_like(1 << _SCALE),
        }.items():
            path = str(Path(folder) / "graph.mtx")
            with busy(f"writing {path}"):
                write(graph, path)
            _show(session, name, _timed_read(path))
    return 0


def _timed_read(path: str) -> tuple[Graph, float]:
    started = time.perf_counter()
    with busy(f"reading {path}"):
        graph = read(path)
    return graph, time.perf_counter() - started


def _show(session: Session, name: str, timed: tuple[Graph, float]) -> None:
    graph, seconds = timed
    stats = graph.stats
    print(f"\n{name}, read in {seconds:.2f} s")
    print(
        f"  {stats.n_vertices:,} vertices, {stats.n_edges:,} stored entries, "
        f"{'directed' if stats.directed else 'undirected'}, degree {stats.mean_degree:.1f} on average, "
        f"{stats.max_degree:,} at most; {stats.far_neighbor_share:.0%} of the neighbours far away in memory\n"
    )
    rows = BENCHMARK.measure(session, name, graph)
    print_table(
        ["", "strategy", "kind", "predicted ms", "measured ms"],
        [
            [
                "->" if row["picked"] else "",
                row["strategy"],
                row["kind"],
                milliseconds(row["predicted_seconds"]),
                milliseconds(row["wall_seconds"]),
            ]
            for row in rows
        ],
    )
    best = min(rows, key=lambda row: float(row["wall_seconds"]))
    pick = next(row for row in rows if row["picked"])
    print(
        f"-> the cost model's pick: {pick['wall_seconds'] / best['wall_seconds']:.2f} x the time of the "
        "fastest; every result was checked against the definition"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="tools/demo", description=str(__doc__).partition("\n")[0])
    parser.add_argument("graph", metavar="GRAPH_FILE", nargs="?", help="(default: generate two)")
    add_device(parser)
    sys.exit(main.guarded(run, parser.parse_args()))
