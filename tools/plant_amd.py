#!/usr/bin/env python3
"""Plant the bugs of ``tests/test_races.py`` into copies of the kernels, and count those that executed AMD code finds.

    tools/plant_amd.py [--targets gfx90a] [--seeds 100] [--seconds 20] [--caches] [--json rows.json] [bug ...]
    tools/plant_amd.py --caches --json rows.json --add [bug ...]

A bug is found if a workload of its folder has a wrong answer, an access out of bounds or a livelock under some seed.
Workloads are small and solve whole problems, while the cases of the race lanes are made for the one race that a bug
breaks; so some bugs stay unseen here. Bugs of files whose kernels run on CPUs only are left out.
"""

from __future__ import annotations

import argparse
import datetime
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tools")]

import test_races as races  # noqa: E402
from execute_amd import ON_CPUS, kernels_of_gpus  # noqa: E402

OF_CPUS = ON_CPUS.keys() - {kernel.split(":")[0] for kernel in kernels_of_gpus()}

WORKLOADS = {
    "bfs": ("bfs", "options", "small_searches"),
    "color": ("color", "distance_two", "small_colorings", "small_distance_two", "columns", "large_nets", "fallbacks"),
    "common": ("vocabulary", "primitives"), "communities": ("small_communities", "undone", "giants"),
    "connected_components": ("connected_components", "small_components", "fallbacks", "messages", "several"),
    "factorization": (
        "factorization_online", "factorization_offline", "small_factorization_offline", "small_factorization_blocks",
        "launches", "fallbacks",
    ),
    "hash_collisions": ("hash_collisions", "small_hash_collisions"),
    "maximal_independent_set": ("sets_and_matchings",), "maximal_matching": ("sets_and_matchings",),
    "minimum_spanning_forest": ("minimum_spanning_forest", "small_forests", "fallbacks", "several"),
    "pagerank": ("ranks",), "partition": ("partition", "small_partitions", "small_partition_variants", "cycles"),
    "primitives": ("primitives", "segments"), "refine_mesh": ("refine_mesh", "flips"),
    "sssp": ("sssp", "options", "small_searches", "small_rounds"),
    "strongly_connected_components": ("strongly_connected_components", "small_strong_components", "fallbacks"),
    "traversal": ("bfs", "sssp", "options", "small_searches", "small_rounds"), "vocabulary.cl": ("vocabulary",),
}  # fmt: skip


def execute(kernels: Path, name: str, target: str, options: argparse.Namespace) -> tuple[str, int]:
    """Return how the workload failed, or "", and the seeds that it took."""
    command = [sys.executable, str(ROOT / "tests/amd/work.py"), name, target, "--kernels", str(kernels)]
    command += ["--seeds", str(options.seeds), "--seconds", str(options.seconds)]
    command += ["--caches"] if options.caches else []
    limit = (
        int(options.seconds) + 240
    )  # CPU seconds: other programs' load does not count, so it cannot look like an endless workload.

    def set_limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    run = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=set_limit)
    try:
        told = json.loads(run.stdout.strip().splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        if run.returncode > 0:
            raise RuntimeError(f"{name} did not run:\n{run.stderr[-2000:]}") from None
        return f"the workload ended by signal {-run.returncode}", 0
    return told["failure"], told["seeds"]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--targets", nargs="+", default=["gfx90a"])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="begin no further seed of a workload after this CPU time"
    )
    parser.add_argument("--caches", action="store_true", help="give each group a cache that is not coherent")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--add", action="store_true", help="keep the file's rows of other bugs, and of those found")
    parser.add_argument("bugs", nargs="*")
    options = parser.parse_args(arguments)
    before: dict[str, Any] = json.loads(options.json.read_text(encoding="utf-8")) if options.add else {}
    rows: list[dict[str, Any]] = before.get("rows", [])
    for place, bugs in races.BUGS.items():
        for name, (old, new) in bugs.items():
            folder = place.file.split("/")[0]
            if (options.bugs and name not in options.bugs) or folder not in WORKLOADS or place.file in OF_CPUS:
                continue
            with tempfile.TemporaryDirectory() as directory:
                kernels = Path(directory) / "cl"
                shutil.copytree(ROOT / "cl", kernels)
                shutil.copy(ROOT / "tests/kernels/vocabulary.cl", kernels)
                text = (kernels / place.file).read_text(encoding="utf-8")
                if old not in text:
                    print(f"nowhere to plant {name}: {place.file} has changed", flush=True)
                    continue
                (kernels / place.file).write_text(text.replace(old, new), encoding="utf-8")
                for target in options.targets:
                    row = _row(kernels, name, place.file, target, options)
                    print(f"{name} on {target}: {row['found_by'] or 'not found'}", flush=True)
                    _keep(rows, row)
            if options.json:
                options.json.write_text(json.dumps(_result(before, rows, options), indent=1) + "\n", encoding="utf-8")
    print({key: value for key, value in _result(before, rows, options).items() if key != "rows"})
    return 0


def _row(kernels: Path, name: str, file: str, target: str, options: argparse.Namespace) -> dict[str, Any]:
    failure, seeds, workload = "", 0, ""
    for workload in WORKLOADS[file.split("/")[0]]:
        failure, more = execute(kernels, workload, target, options)
        seeds += more
        if failure:
            break
    found_by = workload if failure else ""
    return {
        "bug": name, "file": file, "target": target, "caches": options.caches, "found_by": found_by, "seeds": seeds,
        "failure": failure[:200],
    }  # fmt: skip


def _keep(rows: list[dict[str, Any]], row: dict[str, Any]) -> None:
    """Append *row*, or put it in the place of the row of the same bug and target, unless that has found the bug."""
    for place, other in enumerate(rows):
        if (other["bug"], other["target"]) == (row["bug"], row["target"]):
            rows[place] = other if other["found_by"] else row
            return
    rows.append(row)


def _result(before: dict[str, Any], rows: list[dict[str, Any]], options: argparse.Namespace) -> dict[str, Any]:
    words = [word for word in sys.argv[1:] if word not in ("--json", "--add") and not word.endswith(".json")]
    return {
        "commands": [*before.get("commands", ()), " ".join(["tools/plant_amd.py", *words])],
        "date": datetime.date.today().isoformat(), "bugs": len(rows),
        "found": sum(bool(row["found_by"]) for row in rows), "rows": rows,
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
