#!/usr/bin/env python3
"""Execute every kernel's AMD machine code on the CPU, and write which kernels ran on which GPU, and how often.

    tools/execute_amd.py [--targets gfx90a gfx1100] [--seeds 100] [--seconds 60] [--json rows.json] [workload ...]
    tools/execute_amd.py --first 101 --seeds 20 --json rows.json --add refine_mesh

A workload (``tests/amd/work.py``) runs each strategy of an algorithm, and checks each answer by the definition. Each
seed interleaves the waves in another way. ``--caches`` gives each work-group a first-level cache that is not coherent.
``--add`` adds to the rows of the file.
The exit status is 1 if an answer was wrong, or a kernel did not end. ``docs/amd.md`` tells what this shows.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CL = ROOT / "cl"
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tools")]

from amd.compiled import TARGETS  # noqa: E402
from amd.work import WORKLOADS  # noqa: E402
from tabulate import tabulate  # noqa: E402

# Kernels that run on CPUs only, by file; and kernels that pyopencl builds for the self-test, without the package.
ON_CPUS = {
    "bfs/bitmaps.cl": ("mark_bits", "pull_bits", "queue_bits"),
    "bfs/matrix.cl": ("search_matrix",),
    "bfs/queue.cl": ("expand_queue", "initialize", "search_queue", "start"),
    "color/in_order.cl": ("color_by_number", "color_in_order", "list_by_length"),
    "connected_components/matrix.cl": (
        "flatten_blocks", "number_others", "number_roots", "unite_blocks", "unite_crossing",
    ),
    "cores/buckets.cl": ("peel_in_order",),
    "factorization/block_order.cl": ("interleave",),
    "pagerank/rows.cl": ("pull_rows",),
    "partition/clusters.cl": (
        "contract", "count_clusters", "join_clusters", "list_members", "map_vertices", "number_clusters",
        "start_clusters",
    ),
    "partition/pairwise_fm.cl": (
        "begin", "keep_best", "list_border", "make_individuals", "mark_border", "project", "refine_pairs",
        "start_round",
    ),
    "primitives/segmented_reduce.cl": ("reduce_pieces",),
    "strongly_connected_components/depth_first.cl": ("find_in_depth",),
    "triangles/merge.cl": ("count_merged",),
    "sssp/buckets.cl": ("search", "start"),
    "sssp/dijkstra.cl": ("search", "start"),
    "triangles/marks.cl": ("count_marked",),
}  # fmt: skip
OF_SELF_TEST = ("atomics32", "atomics64", "exchanges", "local_memory")


def defined_kernels() -> list[str]:
    """Return all kernels of the package as ``file:name``, since kernels of several files have one name."""
    return [f"{path.relative_to(CL)}:{name}" for path in sorted(CL.rglob("*.cl")) for name in _defined(path)]


def kernels_of_gpus() -> list[str]:
    """Return the kernels that GPUs run."""
    left_out = {f"{path}:{name}" for path, names in ON_CPUS.items() for name in names}
    return [
        kernel for kernel in defined_kernels() if kernel not in left_out and kernel.split(":")[1] not in OF_SELF_TEST
    ]


def defined_in(kernel: str) -> str:
    """Return *kernel*, as ``file:name``, with the file that defines it, if it is launched from one that includes it."""
    source, name = kernel.split(":")
    if name not in _defined(CL / source):
        for included in re.findall(r'#include "([^"]+\.cl)"', (CL / source).read_text(encoding="utf-8")):
            return defined_in(f"{included}:{name}")
    return kernel


def _defined(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    names = re.findall(r"\bKERNEL(?:_\w+)?\s*(?:\([^()]*\)\s*)?(\w+)\(", text)
    for macro in re.findall(r"#define (\w+)\(NAME\b[^\n]*\\\n\s*KERNEL NAME\(", text):
        names += re.findall(rf"^{macro}\((\w+)", text, re.MULTILINE)
    return [name for name in names if not name.isupper()]  # upper case is the parameter of a macro


def run_workload(name: str, target: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run one workload in a process of its own, and return what it printed last."""
    command = [sys.executable, str(ROOT / "tests/amd/work.py"), name, target]
    command += ["--first", str(options.first), "--seeds", str(options.seeds), "--seconds", str(options.seconds)]
    command += ["--caches"] if options.caches else []
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        told: dict[str, Any] = json.loads(run.stdout.strip().splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        return {
            "failure": run.stderr[-600:] or f"exit status {run.returncode}",
            "seeds": 0,
            "launches": {},
            "seconds": 0.0,
        }
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--targets", nargs="+", choices=sorted(TARGETS), default=sorted(TARGETS, reverse=True))
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seeds", type=int, default=100, help="schedules of each workload on each GPU")
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="begin no further seed of a workload after this CPU time"
    )
    parser.add_argument("--caches", action="store_true", help="give each group a cache that is not coherent")
    parser.add_argument("--json", type=Path, help="write the result to this file")
    parser.add_argument("--add", action="store_true", help="add to the rows of the file, which used other seeds")
    parser.add_argument("workloads", nargs="*", help=f"some of {', '.join(WORKLOADS)}; by default all")
    options = parser.parse_args(arguments)
    before: dict[str, Any] = json.loads(options.json.read_text(encoding="utf-8")) if options.add else {}
    kernels: dict[str, dict[str, list[int]]] = defaultdict(dict)
    for row in before.get("kernels", ()):
        kernels[row["kernel"]] = {target: [*seen.values()] for target, seen in row.items() if target in TARGETS}
    runs = before.get("runs", [])
    for name in options.workloads or WORKLOADS:
        for target in options.targets:
            told = run_workload(name, target, options)
            seeds, failure = told["seeds"], told["failure"]
            runs.append(
                {"workload": name, "target": target, "seeds": seeds, "seconds": told["seconds"], "failure": failure}
            )
            print(
                f"{name} on {target}: {seeds} seeds, {told['seconds']} s{', ' if failure else ''}{failure}", flush=True
            )
            _count(kernels, told["launches"], target)
            if options.json:
                told = _result(before, runs, kernels, options)
                options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    result = _result(before, runs, kernels, options)
    rows = [[row["kernel"], *(row.get(target, {}).get("launches", "") for target in options.targets)]
            for row in result["kernels"]]  # fmt: skip
    print(tabulate(rows, ["kernel", *options.targets]))
    print(result["summary"])
    return int(any(run["failure"] for run in runs))


def _count(kernels: dict[str, dict[str, list[int]]], launches: dict[str, list[int]], target: str) -> None:
    """Add the seeds and launches of each kernel in one workload to those in *kernels*."""
    by_kernel: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for kernel, (seeds, count) in launches.items():
        if not Path(kernel.rpartition(":")[0]).is_absolute():  # else it is a kernel of a test
            seen = by_kernel[defined_in(kernel)]
            seen[:] = max(seen[0], seeds), seen[1] + count
    for kernel, (seeds, count) in by_kernel.items():
        seen = kernels[kernel].setdefault(target, [0, 0])
        seen[:] = seen[0] + seeds, seen[1] + count


def _result(
    before: dict[str, Any], runs: list[dict[str, Any]], kernels: dict[str, dict[str, list[int]]],
    options: argparse.Namespace,
) -> dict[str, Any]:  # fmt: skip
    of_gpus = kernels_of_gpus()
    rows = [
        {"kernel": kernel} | {target: dict(zip(("seeds", "launches"), seen, strict=True))
                              for target, seen in kernels[kernel].items()}
        for kernel in of_gpus if kernel in kernels
    ]  # fmt: skip
    n_executed = {target: sum(target in row for row in rows) for target in sorted(TARGETS)}
    words = (word for word in sys.argv[1:] if not word.endswith(".json") and word not in ("--json", "--add"))
    return {
        "commands": [*before.get("commands", ()), " ".join(["tools/execute_amd.py", *words])],
        "date": datetime.date.today().isoformat(), "caches": options.caches,
        "summary": {"kernels_of_gpus": len(of_gpus), "kernels_executed": n_executed},
        "runs": runs, "kernels": rows, "not_executed": [kernel for kernel in of_gpus if kernel not in kernels],
        "of_cpus": sorted(kernels.keys() - of_gpus),  # executed all the same
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
