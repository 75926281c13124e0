#!/usr/bin/env python3
"""Time components and forests over Dask's workers on this machine, and count the bytes between them.

    benchmarks/bench_distributed.py --edges 20e6 200e6 --workers 1 2 --device pocl --json distributed.json

The edges are uniform, an eighth as many vertices, with weights of 32 bits, in .npz files of CHUNK edges. A cluster of k
workers shares the cores of the device. The first call, which compiles, is not timed. Every answer is compared with the
answer of the first cluster. Below SCIPY edges the components are compared with scipy's, too. A row has the edges per
second of the whole call, reading included, and the bytes that went between workers.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import harness
import numpy as np
import scipy.sparse as sp

from clgraph.cli.main import guarded
from clgraph.distributed import LocalOpenCLCluster, connected_components, minimum_spanning_forest
from clgraph.errors import VerificationError
from clgraph.runtime.session import Session

CHUNK = 2_500_000
EDGES_A_VERTEX = 8
SCIPY = 50_000_000
COLUMNS: dict[str, harness.Column] = {
    "algorithm": "algorithm", "edges": ("edges", 1, ","), "workers": "workers", "s": ("seconds", 1, ".2f"),
    "M edges/s": ("edges_per_second", 1e-6, ".2f"), "messages": "messages", "MB sent": ("bytes_sent", 1e-6, ".2f"),
    "bytes a vertex": ("bytes_a_vertex", 1, ".2f"),
}  # fmt: skip


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


def row_of(name: str, sizes: dict[str, int], seconds: float, found: Any) -> dict[str, Any]:
    graph = f"{sizes['edges']:,} uniform edges, {sizes['workers']} workers"
    row = {"benchmark": "distributed", "graph": graph, "strategy": name, "algorithm": name, **sizes}
    row |= {"seconds": seconds, "wall_seconds": seconds, "edges_per_second": sizes["edges"] / seconds}
    row |= {"messages": found.info.n_messages, "bytes_sent": found.info.bytes_sent, "answer": found[0]}
    return row | {"bytes_a_vertex": found.info.largest_message_bytes / sizes["n_vertices"]}


def measure(args: argparse.Namespace, paths: Sequence[Path], n: int, n_edges: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of one graph; all clusters must find the same."""
    wanted: dict[str, Any] = {"components": scipy_components(paths, n)} if n_edges < SCIPY else {}
    for workers in args.workers:
        with (
            LocalOpenCLCluster([args.device], workers_per_device=workers, memory_limit=None) as cluster,
            cluster.get_client() as client,
        ):
            client.wait_for_workers(workers)
            for name in args.algorithms:
                function = connected_components if name == "components" else minimum_spanning_forest
                function(paths[:workers], n_vertices=n, client=client)
                call = partial(function, paths, n_vertices=n, client=client)
                found, taken = harness.timed_calls(call, args.repeats, math.inf)
                if found[0] != wanted.setdefault(name, found[0]):
                    raise VerificationError(f"{name}: {found[0]} by {workers} workers, not {wanted[name]}")
                sizes = {"edges": n_edges, "n_vertices": n, "workers": workers, "chunks": len(paths)}
                yield row_of(name, sizes, statistics.median(taken), found)


def run(args: argparse.Namespace) -> int:
    session = Session(args.device)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for n_edges in map(int, args.edges):
            paths, n = write_chunks(Path(folder), n_edges)
            for row in measure(args, paths, n, n_edges):
                harness.finish(args, session, [row], COLUMNS)
            for path in paths:
                path.unlink()
    return 0


if __name__ == "__main__":
    parser = harness.parser(__doc__, graphs=False)
    parser.set_defaults(device="pocl", repeats=3)
    parser.add_argument("--edges", nargs="+", type=float, default=[20e6])
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    some = ("components", "forest")
    parser.add_argument("--algorithms", nargs="+", choices=some, default=some)
    parser.add_argument("--folder", type=Path, help="where the chunks are written (default: a temporary folder)")
    sys.exit(guarded(run, parser.parse_args()))
