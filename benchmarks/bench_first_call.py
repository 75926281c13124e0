"""How long a new process takes from its start to the first answer, with cold and with warm caches.

    benchmarks/bench_first_call.py -d intel --json benchmarks/results/first_call-cpu.json

Each row is a process of its own. ``new`` has no caches at all: it also tests the drivers and the device, once for all
algorithms. ``cold`` knows those verdicts and has no kernels; ``warm`` is the least of several that have all caches.
``processor_seconds`` are those of all cores, until the process has ended.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import harness

from clgraph.cli.terminal import busy, print_table
from clgraph.runtime.discovery.child import search_path
from clgraph.runtime.session import Session

SOURCES = {"bfs": "0, ", "sssp": "0, "}
NAMES = ("connected_components", "minimum_spanning_forest", "bfs", "sssp", "color", "hash_collisions")
CALLS = {name: f"clgraph.{name}(graph, {SOURCES.get(name, '')}session=session)" for name in NAMES}
CHILD = """
import time; began = time.time()
import json, sys
import numpy as np
import clgraph
from clgraph.data.graphs.graph import Graph
with np.load(sys.argv[1]) as arrays:
    graph = Graph(arrays["offsets"], arrays["columns"], arrays["weights"])
started = time.time()
session = clgraph.Session(sys.argv[2] or None)
ready = time.time()
result = {call}
answered = time.time()
print(json.dumps({{
    "began": began, "answered": answered, "load_seconds": started - began, "session_seconds": ready - started,
    "call_seconds": answered - ready, "compile_seconds": result.info.seconds.compile, "strategy": result.info.strategy,
}}))
"""
VERDICTS = ("drivers", "self-tests")


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("-d", "--device", default="", help="as for `clgraph`; the default is the best device")
    parser.add_argument("--side", type=int, default=300, help="of the grid that is solved (default 300)")
    parser.add_argument("--repeats", type=int, default=3, help="processes with warm caches (default 3)")
    parser.add_argument("--algorithms", nargs="+", choices=CALLS, default=list(CALLS))
    parser.add_argument("--json", metavar="FILE", help="write the rows to this file")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), args.device, args.side, args.algorithms, args.repeats)
    columns = ("algorithm", "caches", "total_seconds", "load_seconds", "session_seconds", "call_seconds",
               "compile_seconds", "processor_seconds", "strategy")  # fmt: skip
    print_table(columns, [[f"{row[c]:.2f}" if c.endswith("seconds") else row[c] for c in columns] for row in rows])
    if args.json:
        about = harness.provenance(Session(args.device or None))
        harness.write_document(args.json, {**about, "grid": args.side, "rows": rows})
    return 0


def measure(folder: Path, device: str, side: int, algorithms: list[str], repeats: int) -> list[dict[str, Any]]:
    """Return a row for each algorithm with cold and with warm caches, and one with none for the first."""
    import numpy as np

    from clgraph import generators

    graph = generators.random_weights(generators.grid(side, side))
    file = folder / "graph.npz"
    np.savez(file, offsets=graph.row_offsets, columns=graph.column_indices, weights=graph.edge_weights)
    answered(CALLS[algorithms[0]], file, device, folder)  # Python's own caches are warm in all rows
    rows = []
    for place, name in enumerate(algorithms):
        for caches in (["new"] if not place else []) + ["cold"] + ["warm"] * repeats:
            if caches != "warm":
                clear(folder, () if caches == "new" else VERDICTS)
            with busy(f"{name}, {caches}"):
                rows.append({"algorithm": name, "caches": caches, **answered(CALLS[name], file, device, folder)})
    least: dict[tuple[str, str], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: -row["total_seconds"]):
        least[row["algorithm"], row["caches"]] = row
    return [row for row in rows if row is least[row["algorithm"], row["caches"]]]


def clear(folder: Path, but: tuple[str, ...]) -> None:
    """Remove all caches of kernels, and those of clgraph except the folders *but*."""
    for path in [*folder.glob("clgraph/*"), folder / "others"]:
        if path.name not in but:
            shutil.rmtree(path, ignore_errors=True)


def own_caches(folder: Path) -> dict[str, str]:
    """Return the environment of a process whose caches of kernels are in *folder*."""
    others = folder / "others"
    kernels = {"XDG_CACHE_HOME": str(others), "CUDA_CACHE_PATH": str(others / "nvidia")}  # pyopencl's, NVIDIA's
    kept = {name: value for name, value in os.environ.items() if name != "POCL_CACHE_DIR"}
    return {**kept, **kernels, "PYTHONPATH": search_path(), "CLGRAPH_CACHE_DIR": str(folder / "clgraph")}


def answered(call: str, file: Path, device: str, folder: Path) -> dict[str, Any]:
    """Run *call* in a process of its own; return its times."""
    environment = own_caches(folder) | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started, used = time.time(), os.times()
    child = [sys.executable, "-c", CHILD.format(call=call), str(file), device]
    found: dict[str, Any] = json.loads(subprocess.run(child, env=environment, capture_output=True, check=True).stdout)
    now, began = os.times(), found.pop("began")
    return {
        "total_seconds": found.pop("answered") - started, "start_seconds": began - started, **found,
        "processor_seconds": now.children_user + now.children_system - used.children_user - used.children_system,
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
