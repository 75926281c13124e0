"""Time reading an edge list of 20 million lines, and the memory it takes beyond the graph.

Each reading is done by a new process, so that peaks do not mix. The files (two ids per line, about
300 MB, and the same with weights) are made first and removed at the end.
``python benchmarks/bench_io.py --json FILE`` keeps the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import harness
import numpy as np
from checkout import ROOT
from first_answer import resident_bytes

from clgraph.cli.main import guarded
from clgraph.io import read, write
from clgraph.io.text import write_rows
from clgraph.progress import Progress, listening

MEASURE = "--measure"


def measure(path: str, options: dict[str, Any]) -> dict[str, float]:
    """Read *path* in this process."""
    before = resident_bytes("VmRSS")
    read_until = [0.0]

    def listen(state: Progress) -> None:
        if state.unit == "bytes":
            read_until[0] = time.perf_counter()

    start = time.perf_counter()
    with listening(listen):
        graph = read(path, **options)
    seconds = time.perf_counter() - start
    beyond = resident_bytes("VmHWM") - before - graph.nbytes
    return {
        "seconds": seconds,
        "parse_seconds": read_until[0] - start,
        "peak_bytes_beyond_graph": beyond,
        "graph_bytes": graph.nbytes,
        "n_vertices": graph.n_vertices,
        "n_edges": graph.n_edges,
    }


def measured(path: Path, repeats: int, **options: Any) -> dict[str, Any]:
    """Read *path* in *repeats* processes; return medians and the least time."""
    command = [sys.executable, __file__, MEASURE, str(path), json.dumps(options)]
    runs = []
    for _ in range(repeats):
        output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
        runs.append(json.loads(output))
    figures: dict[str, Any] = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    figures["least_seconds"] = min(run["seconds"] for run in runs)
    return figures | {"options": options, "file_bytes": path.stat().st_size, "repeats": repeats}


def run(args: argparse.Namespace) -> int:
    figures: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file, matrix = Path(folder) / "edges.txt", Path(folder) / "edges.mtx"
        src, dst = np.random.default_rng(0).integers(args.vertices, size=(2, args.lines), dtype=np.int32)
        src.sort()
        weights = np.random.default_rng(1).integers(1, 1000, size=args.lines, dtype=np.int32)
        for prefix, columns in (("", (src, dst)), ("weighted_", (src, dst, weights))):
            with open(file, "wb") as stream:
                write_rows(stream, "\t".join(["%d"] * len(columns)) + "\n", *columns)
            for directed in (False, True):
                name = f"{prefix}{'directed' if directed else 'undirected'}"
                figures[name] = measured(file, args.repeats, directed=directed)
            if not prefix:
                write(read(file, directed=True), matrix)
                figures["matrix_market"] = measured(matrix, args.repeats, directed=True)
    columns_of: dict[str, harness.Column] = {"reading": "name"}
    columns_of |= {"s": ("seconds", 1, ".2f"), "least": ("least_seconds", 1, ".2f")}
    columns_of |= {"parsing": ("parse_seconds", 1, ".2f"), "graph, MB": ("graph_bytes", 1e-6, ".0f")}
    columns_of["peak beyond, MB"] = "peak_bytes_beyond_graph", 1e-6, ".0f"
    print(harness.table_of(({"name": name, **row} for name, row in figures.items()), columns_of))
    if args.json:
        about = {"command": harness.command(), "cores": os.cpu_count(), "python": platform.python_version()}
        harness.write_document(args.json, {**about, "numpy": np.__version__, "lines": args.lines, **figures})
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == [MEASURE]:
        print(json.dumps(measure(sys.argv[2], json.loads(sys.argv[3]))))
        sys.exit()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=20_000_000)
    parser.add_argument("--vertices", type=int, default=1 << 22)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    sys.exit(guarded(run, parser.parse_args()))
