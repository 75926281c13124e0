#!/usr/bin/env python3
"""Time components and forests over Dask's workers on this machine, and count what they send.

    benchmarks/bench_distributed.py --edges 20e6 200e6 --workers 1 2 --device pocl --json distributed.json

The edges are uniform, an eighth as many vertices, with weights of 32 bits, in .npz files of CHUNK edges. A cluster of
k workers shares the cores of the device. The first call, which compiles, is not timed. Every answer is compared with
that of the first cluster, the components also with scipy's where that takes less than SCIPY edges. A row has the edges
per second of the whole call, reading included, and the bytes that went between workers.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import harness
import numpy as np
import scipy.sparse as sp
from tabulate import tabulate

from clgraph.distributed import LocalOpenCLCluster, connected_components, minimum_spanning_forest
from clgraph.errors import VerificationError
from clgraph.report import write_rows
from clgraph.runtime.session import Session

CHUNK = 2_500_000
EDGES_A_VERTEX = 8
SCIPY = 50_000_000


def write_chunks(folder: Path, n_edges: int, seed: int = 0) -> tuple[list[Path], int]:
    """Write the files, a chunk in memory at a time; return their paths and the number of vertices."""
    n, paths = max(2, n_edges // EDGES_A_VERTEX), []
    for place, start in enumerate(range(0, n_edges, CHUNK)):
        rng, m = np.random.default_rng([seed, place]), min(CHUNK, n_edges - start)
        sources, targets = (rng.integers(0, n, m, dtype=np.int32) for _ in range(2))
        paths.append(folder / f"{n_edges}-{place}.npz")
        np.savez(paths[-1], sources=sources, targets=targets, weights=rng.integers(0, 1 << 30, m, dtype=np.int32))
    return paths, n


def scipy_components(paths: Sequence[Path], n: int) -> int:
    """Return how many components scipy finds."""
    parts = [np.load(path) for path in paths]
    ends = [np.concatenate([part[name] for part in parts]) for name in ("sources", "targets")]
    matrix = sp.coo_array((np.ones(ends[0].size, bool), ends), shape=(n, n))
    return int(sp.csgraph.connected_components(matrix, directed=False)[0])


def timed(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the median seconds of some calls, and what the last one returned."""
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        result = call()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken), result


def main() -> int:
    made = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    made.add_argument("--edges", nargs="+", type=float, default=[20e6])
    made.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    made.add_argument("--device", default="pocl")
    made.add_argument("--algorithms", nargs="+", choices=("components", "forest"), default=["components", "forest"])
    made.add_argument("--repeats", type=int, default=3)
    made.add_argument("--folder", type=Path, help="where the chunks are written (default: a temporary folder)")
    made.add_argument("--json", metavar="PATH")
    args = made.parse_args()
    rows: list[dict[str, Any]] = []
    session = Session(args.device)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for edges in map(int, args.edges):
            paths, n = write_chunks(Path(folder), edges)
            wanted: dict[str, Any] = {"components": scipy_components(paths, n)} if edges < SCIPY else {}
            for workers in args.workers:
                with (
                    LocalOpenCLCluster([args.device], workers_per_device=workers, memory_limit=None) as cluster,
                    cluster.get_client() as client,
                ):
                    client.wait_for_workers(workers)
                    for name in args.algorithms:
                        function = connected_components if name == "components" else minimum_spanning_forest
                        function(paths[:workers], n_vertices=n, client=client)
                        seconds, found = timed(lambda: function(paths, n_vertices=n, client=client), args.repeats)  # noqa: B023
                        if found[0] != wanted.setdefault(name, found[0]):
                            raise VerificationError(f"{name}: {found[0]} by {workers} workers, not {wanted[name]}")
                        rows.append(
                            {
                                "benchmark": "distributed",
                                "graph": f"{edges:,} uniform edges, {workers} workers",
                                "strategy": name,
                                "algorithm": name,
                                "edges": edges,
                                "n_vertices": n,
                                "workers": workers,
                                "chunks": len(paths),
                                "seconds": seconds,
                                "wall_seconds": seconds,
                                "edges_per_second": edges / seconds,
                                "messages": found.info.n_messages,
                                "bytes_sent": found.info.bytes_sent,
                                "bytes_a_vertex": found.info.largest_message_bytes / n,
                                "answer": found[0],
                                **harness.provenance(session),
                            }
                        )
                        if args.json:
                            write_rows(args.json, rows[-1:])
            for path in paths:
                path.unlink()
    head = ["algorithm", "edges", "workers", "s", "M edges/s", "messages", "MB sent", "bytes a vertex"]
    body = [
        [
            row["algorithm"],
            f"{row['edges']:,}",
            row["workers"],
            row["seconds"],
            row["edges_per_second"] / 1e6,
            row["messages"],
            row["bytes_sent"] / 1e6,
            row["bytes_a_vertex"],
        ]
        for row in rows
    ]
    print(tabulate(body, head, "github", floatfmt=".2f"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
