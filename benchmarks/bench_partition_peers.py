"""Time partitions on CPUs beside METIS and KaMinPar, on the same graphs in one run.

    benchmarks/bench_partition_peers.py --devices pocl intel --json results.json

It needs the packages pymetis and kaminpar. All run in turn, ``--rounds`` times, each round with another seed. Times are
the least ones, cuts are means. METIS runs on one thread, KaMinPar's preset "fast" on ``--threads``; its time includes
the list of parts that its function returns. Ours is a later call on a ``Graph`` with the default strategy. In a row,
``metis_time_ratio`` and ``kaminpar_time_ratio`` are our time over theirs, and the same for cuts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import harness
import inputs
import numpy as np
import stencils
from bench_partition import unweighted

from clgraph import generators
from clgraph.algorithms.partition import partition
from clgraph.algorithms.partition.host import by_metis
from clgraph.algorithms.partition.problem import as_problem
from clgraph.data.graphs.graph import Graph
from clgraph.report import write_rows
from clgraph.runtime.session import Session

GRAPHS: dict[str, Callable[[], Graph]] = {
    "web-NotreDame": partial(inputs.undirected, "web-NotreDame"),
    "road-FLA": partial(inputs.undirected, "road-FLA"),
    "delaunay-17": partial(generators.delaunay_points, 1 << 17, ids="random"),
    "rmat-18-16": partial(generators.rmat, 18, 16),
    "grid-700-shuffled": lambda: generators.grid(700, 700).permuted(0),
    "road-NY": partial(inputs.undirected, "road-NY"),
    "geometric-17": partial(generators.random_geometric, 1 << 17, 14),
    "rmat-16-8": partial(generators.rmat, 16, 8, seed=5),
    "stencil-50": partial(stencils.twenty_seven_point, 50),
    "road-like-18": partial(generators.road_like, 1 << 18),
    "uniform-16-8": partial(generators.uniform_random, 1 << 16, 1 << 19),
    "delaunay-18": partial(generators.delaunay_points, 1 << 18, seed=3, ids="spatial"),
    "grid-900-300": partial(generators.grid, 900, 300),
}
Run = Callable[[int], tuple[float, int]]  # maps a seed to seconds and cut


def timed(call: Callable[[int], Any], cut_of: Callable[[Any], int], seed: int) -> tuple[float, int]:
    started = time.perf_counter()
    found = call(seed)
    return time.perf_counter() - started, cut_of(found)


def kaminpar_run(graph: Graph, n_parts: int, threads: int, folder: str) -> Run:
    """Return a run of KaMinPar's preset "fast" on a graph that it has read."""
    import kaminpar  # type: ignore[import-not-found,unused-ignore]

    path = Path(folder) / "graph.metis"
    offsets, columns = graph.row_offsets, (graph.column_indices + 1).astype(str)
    with path.open("w") as file:
        file.write(f"{graph.n_vertices} {graph.n_edges // 2}\n")
        file.writelines(" ".join(columns[offsets[v] : offsets[v + 1]]) + "\n" for v in range(graph.n_vertices))
    made = kaminpar.KaMinPar(num_threads=threads, ctx=kaminpar.context_by_name("fast"))
    read = kaminpar.load_graph(str(path), kaminpar.GraphFileFormat.METIS, compress=False)

    def call(seed: int) -> Any:
        kaminpar.reseed(seed)
        return made.compute_partition(read, n_parts, eps=0.03)

    return partial(timed, call, partial(kaminpar.edge_cut, read))


def measure(name: str, args: argparse.Namespace, sessions: list[Session], folder: str) -> list[dict[str, Any]]:
    """Return a row for each device and effort."""
    graph = unweighted(GRAPHS[name]())

    def metis(seed: int) -> Any:
        return by_metis(as_problem(graph, n_parts=args.parts, seed=seed))

    runs: dict[Any, Run] = {
        "metis": partial(timed, metis, lambda found: found[1]),
        "kaminpar": kaminpar_run(graph, args.parts, args.threads, folder),
    }
    for session in sessions:
        for effort in args.efforts:
            given = {"session": session, "effort": effort, "strategy": args.strategy}
            partition(graph, args.parts, verify=True, **given)
            ours = partial(_ours, graph, args.parts, given)
            runs[session, effort] = partial(timed, ours, lambda found: found.edge_cut)
    found: dict[Any, list[tuple[float, int]]] = {key: [] for key in runs}
    for seed in range(args.rounds):
        for key, run in runs.items():
            found[key].append(run(seed))
    best = {key: (min(s for s, _ in each), float(np.mean([cut for _, cut in each]))) for key, each in found.items()}
    rows = []
    for session in sessions:
        for effort in args.efforts:
            seconds, cut = best[session, effort]
            row = {
                "benchmark": "partition_peers", "algorithm": "partition", "graph": f"{name}, {effort}",
                "n_vertices": graph.n_vertices, "n_entries": graph.n_edges, "n_parts": args.parts, "effort": effort,
                "strategy": partition(graph, args.parts, session=session, effort=effort).info.strategy
                if args.strategy == "auto" else args.strategy,
                "wall_seconds": seconds, "edge_cut": cut, "seeds": args.rounds, "threads": args.threads,
            }  # fmt: skip
            for peer in ("metis", "kaminpar"):
                theirs, their_cut = best[peer]
                row |= {f"{peer}_seconds": theirs, f"{peer}_cut": their_cut}
                row |= {f"{peer}_time_ratio": seconds / theirs, f"{peer}_cut_ratio": cut / their_cut}
            rows.append({**row, **harness.provenance(session)})
    return rows


def _ours(graph: Graph, n_parts: int, given: dict[str, Any], seed: int) -> Any:
    return partition(graph, n_parts, seed=seed, **given)


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    made.add_argument("--devices", nargs="+", default=["pocl"], metavar="NAME")
    made.add_argument("--graphs", nargs="+", metavar="NAME", default=[*GRAPHS], help=f"of {', '.join(GRAPHS)}")
    made.add_argument("--efforts", nargs="+", default=["fast", "normal"], metavar="EFFORT")
    made.add_argument("--strategy", default="auto")
    made.add_argument("-k", "--parts", type=int, default=16)
    made.add_argument("--threads", type=int, default=2, help="of KaMinPar (default %(default)s)")
    made.add_argument("--rounds", type=int, default=5, help="each with another seed (default %(default)s)")
    made.add_argument("--json", metavar="PATH", help="add rows to this file")
    args = made.parse_args()
    sessions = [Session(name) for name in args.devices]
    with tempfile.TemporaryDirectory() as folder:
        for name in args.graphs:
            rows = measure(name, args, sessions, folder)
            for row in rows:
                print(f"{row['graph']:28s}{row['platform'][:10]:12s}{1e3 * row['wall_seconds']:8.1f} ms "
                      f"{row['edge_cut']:10.0f}; METIS: time {row['metis_time_ratio']:.2f}, cut "
                      f"{row['metis_cut_ratio']:.3f}; KaMinPar: {row['kaminpar_time_ratio']:.2f}, "
                      f"{row['kaminpar_cut_ratio']:.3f}", flush=True)  # fmt: skip
            if args.json:
                write_rows(args.json, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
