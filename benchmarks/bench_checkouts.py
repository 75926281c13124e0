#!/usr/bin/env python3
"""Time this checkout beside another one, on the same graphs and in turns.

    benchmarks/bench_checkouts.py -d nvidia --other ../before --graphs rmat-22 grid-4096 --on-device
    benchmarks/bench_checkouts.py -d nvidia --other ../before --graphs rmat-18 --algorithms bfs sssp --strategy all

Each graph is made once and saved. For each turn, a process of each checkout loads it and solves it by what its own cost
model picks, or by the strategies that are named. Factorization takes the edges as ratings, and refinement a
triangulation of random points, one for each vertex up to 131,072. A row is one algorithm by one strategy on one graph
in one checkout. The generators of the two may differ, so rows of committed files cannot tell whether a change made
something slower.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import harness
import inputs
import numpy as np
from checkout import ROOT
from scipy.spatial import Delaunay
from tabulate import tabulate

from clgraph.algorithms.refine_mesh import ALGORITHM as REFINEMENT
from clgraph.algorithms.table import MODULES, ON_MESHES, find_algorithm
from clgraph.cli.main import guarded
from clgraph.cli.terminal import busy
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError
from clgraph.runtime.discovery.child import search_path
from clgraph.runtime.session import Session

ALGORITHMS = (*MODULES, *ON_MESHES)
MOST_POINTS = 1 << 17
# The child knows nothing but names that have stood in clgraph since all nine algorithms are there.
CHILD = """
import json, sys, time
import numpy as np, clgraph
file, source, device, repeats, wanted = sys.argv[1:]
arrays = np.load(file)
pattern = arrays["row_offsets"], arrays["column_indices"]
graph = clgraph.Graph(*pattern, arrays["edge_weights"])
options = {"bfs": {"source": int(source)}, "sssp": {"source": int(source)}, "partition": {"n_parts": 32, "seed": 0}}

def caller(name, strategy):
    own = {"strategy": strategy, "session": device or None}
    if name == "factorization":
        ratings = clgraph.Ratings.from_graph(clgraph.Graph(*pattern), values="synthetic")
        return lambda: clgraph.SGDMatrixFactorization(random_state=0, **own).fit(ratings).info_
    data = clgraph.Graph(*pattern) if name == "partition" else graph
    if name == "refine_mesh":
        data = clgraph.TriangleMesh.from_arrays(arrays["points"], arrays["triangles"])
    return lambda: getattr(clgraph, name)(data, **options.get(name, {}), **own).info

for name, strategy in json.loads(wanted):
    call, infos, walls = caller(name, strategy), [], []
    try:
        for _ in range(int(repeats) + 2):
            began = time.perf_counter()
            infos.append(call())
            walls.append(time.perf_counter() - began)
    except Exception as error:  # such as a strategy that this device cannot run, or this checkout does not have
        print(f"{name}, {strategy}: {type(error).__name__}: {error}", file=sys.stderr)
        continue
    kernels, spans = ([getattr(info.seconds, part, None) for info in infos[2:]] for part in ("kernel", "span"))
    row = {"algorithm": name, "strategy": strategy, "picked": infos[-1].strategy, "walls": walls[2:]}
    print(json.dumps({**row, "kernels": kernels, "spans": spans}))
"""


def measure(args: argparse.Namespace, session: Session, name: str, graph: Graph) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of a graph; of all turns the one with the least kernel time counts."""
    folders = {"this": ROOT, "other": args.other.resolve()}
    best: dict[tuple[str, str, str], dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "graph.npz"
        arrays = ("row_offsets", "column_indices", "edge_weights")
        points = np.random.default_rng(0).random((min(graph.n_vertices, MOST_POINTS), 2))
        mesh = {"points": points, "triangles": Delaunay(points).simplices} if "refine_mesh" in args.algorithms else {}
        np.savez(file, **mesh, **{array: getattr(graph, array) for array in arrays})
        for turn in range(args.turns):
            for which, folder in folders.items():
                with busy(f"{name}, turn {turn + 1}, {which} checkout"):
                    for found in solved(args, folder, file, inputs.source(name, graph)):
                        key = (found["algorithm"], found["strategy"], which)
                        if key not in best or min(found["kernels"]) < min(best[key]["kernels"]):
                            best[key] = found
    yield harness.described(
        (
            {"strategy": f"{algorithm}, {strategy}, {which} checkout".replace(", auto,", ","), **row_of(found)}
            for (algorithm, strategy, which), found in best.items()
        ),
        "checkouts", name, graph,
    )  # fmt: skip


def solved(args: argparse.Namespace, folder: Path, file: Path, source: int) -> list[dict[str, Any]]:
    """Return the times of each algorithm in a process of the checkout in *folder*."""
    path = os.pathsep.join([str(folder), search_path()])
    wanted = json.dumps([pair for name in args.algorithms for pair in wanted_of(name, args.strategy)])
    command = [sys.executable, "-c", CHILD, str(file), str(source), args.device or "", str(args.repeats), wanted]
    environment = {**os.environ, "PYTHONPATH": path}
    child = subprocess.run(command, env=environment, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in child.stdout.splitlines()]


def wanted_of(algorithm: str, strategies: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of the algorithm and a strategy to time; strategies of other algorithms are left out."""
    known = REFINEMENT.strategies if algorithm == REFINEMENT.name else find_algorithm(algorithm).strategies
    on_device = [name for name, strategy in known.items() if strategy.kind != "sequential"]
    names = on_device if [*strategies] == ["all"] else [name for name in strategies if name in ("auto", *known)]
    return [(algorithm, name) for name in names]


def row_of(found: dict[str, Any]) -> dict[str, Any]:
    if not any(found["kernels"]):  # no kernels: the host has run it, and its wall time counts
        found = {**found, "kernels": found["walls"], "spans": found["walls"]}
    row = {"picked_strategy": found["picked"], **harness.walls(found["walls"])}
    for part in ("kernel", "span"):
        if None not in (seconds := found[f"{part}s"]):  # the other checkout may not know spans
            row |= {f"{part}_seconds": statistics.median(seconds), f"least_{part}_seconds": min(seconds)}
    return row


def table(rows: list[dict[str, Any]]) -> str:
    body = []
    for row in (row for row in rows if row["strategy"].endswith("this checkout")):
        what = row["strategy"].removesuffix(", this checkout")
        of_other = [r for r in rows if r["strategy"] == f"{what}, other checkout" and r["graph"] == row["graph"]]
        if not of_other:  # it has no such strategy
            continue
        other = of_other[0]
        kernels, walls = ([1e3 * each[f"least_{part}_seconds"] for each in (other, row)] for part in ("kernel", "wall"))
        picked = other["picked_strategy"], row["picked_strategy"]
        body.append([row["graph"], what, *picked, *kernels, kernels[1] / kernels[0], *walls])
    titles = ["graph", "algorithm", "picked before", "now", "kernels before, ms", "now", "ratio", "wall before", "now"]
    return tabulate(body, titles, "github", floatfmt=".4g")


def run(args: argparse.Namespace) -> int:
    if not (args.other / "clgraph").is_dir():
        raise InputError(f"--other {args.other}: there is no clgraph in it")
    harness.measure_graphs(args, inputs.COMPONENTS, inputs.weighted, partial(measure, args), table)
    return 0


def main() -> int:
    made = harness.parser(__doc__)
    made.add_argument("--other", type=Path, required=True, metavar="FOLDER", help="where the other checkout stands")
    made.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=ALGORITHMS, metavar="NAME")
    made.add_argument("--strategy", nargs="+", default=["auto"], metavar="NAME", help="auto, all on devices, or names")
    made.add_argument("--turns", type=int, default=2, help="processes of each checkout for a graph (default 2)")
    made.add_argument("--on-device", action="store_true", help="make graphs on the device where it can")
    return guarded(run, made.parse_args())


if __name__ == "__main__":
    sys.exit(main())
