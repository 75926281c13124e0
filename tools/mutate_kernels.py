#!/usr/bin/env python3
"""Break the kernels at one place at a time, and record which lane of the tests finds it.

    tools/mutate_kernels.py [--only FILE ...] [--missed] [--again] [--list] [--elsewhere]

A mutation deletes a barrier, a fence or an unlock, makes two steps of an atomic, or ignores a status or a check. The
race lanes (tests/race) are built once with all mutations, of which an environment variable chooses one; a case runs for
the mutations whose places it reaches, with few seeds first. With ``--elsewhere`` what is left then runs under Oclgrind,
or in a file of tests, in a copy of the tree. The table, tests/mutations.json, is written after every mutation, so that
a run can be stopped and continued. A mutation that no lane finds is written into the table by hand: as ``equivalent``
with the reason why nothing depends on it, or as ``unseen`` with the reason why no lane sees it. Rows that have one are
tried again only with ``--again``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests" / "mutations.json"
sys.path[:0] = [str(ROOT / "tests" / "race"), str(ROOT / "tools")]

import lanes  # noqa: E402
import mutants  # noqa: E402
from kernel_mutations import mutations, with_all  # noqa: E402
from mutants import Mutation  # noqa: E402

SEEDS = (40, 400)
THREAD_RUNS = (60, 3)  # later, and at first
CPU_SECONDS = 20
# Which run of tests/grind.py has the kernels of a file, or which tests run them.
ELSEWHERE = {  # the first that fits counts
    "test_sssp.py": ("sssp/dijkstra", "traversal/child_launch"),
    "test_probing.py": ("probe",),
    "test_device_graph.py": ("data",),
    "test_refine_mesh.py": ("refine_mesh",),
    "test_hetero.py": ("hetero",),
    "distance_two": ("color/conflicts", "color/nets", "color/distance_two", "color/net_bitmaps"),
    "factorization_blocks": ("factorization/block",),
    "factorization_offline": tuple(f"factorization/{name}" for name in ("matchings", "superstep", "item_block")),
    "factorization_online": ("factorization",),
    "searches": ("bfs", "sssp", *(f"traversal/{name}" for name in ("queues", "lists", "row_edges", "levels", "turn"))),
    "rounds": ("traversal",),
    "vocabulary": ("common",),
    "partitions": ("partition",),
    "communities": ("communities",),
    "strong_components": ("strongly_connected_components",),
    "components": ("connected_components",),
    "forests": ("minimum_spanning_forest",),
    "colorings": ("color",),
    "hash_collisions": ("hash_collisions",),
    "triangles": ("triangles",),
    "core_numbers": ("cores",),
    "sets_and_matchings": ("maximal_",),
    "primitives": ("primitives",),
}
# In C++ a schedule point stands between both steps, in OpenCL C they are as plain as they can be.
_HEAD = """
#ifdef HOST_BUILD
#define LOAD_STEP_(p) load_relaxed(p)
#define STORE_STEP_(p, v) store_relaxed(p, v)
#else
#define LOAD_STEP_(p) (*(p) + 0)
#define STORE_STEP_(p, v) (*(p) = (v))
#endif
"""
_SWITCH = """
static unsigned char reached_[4096];
static void tell_reached_() {
  if (FILE *file = fopen(getenv("REACHED"), "w")) {
    for (int k = 0; k < 4096; k++) if (reached_[k]) fprintf(file, "%d ", k);
    fclose(file);
  }
}
static const int mutant_ = (atexit(tell_reached_), atoi(getenv("MUTANT")));
static inline int mutant_is_(int k) {
  __atomic_store_n(reached_ + k, 1, __ATOMIC_RELAXED);
  return k == mutant_;
}
"""


class RaceLanes:
    """The builds of tests/race with all mutations, and which case reaches which."""

    def __init__(self, directory: Path, every: Sequence[Mutation]) -> None:
        compiler = lanes.find_compiler(directory)
        if compiler is None:
            raise SystemExit("no clang++ with ThreadSanitizer is on the path")
        self.kernels = lanes.copy_kernels(directory)
        for file in {change.file for change in every}:
            changes = [change for change in every if change.file == file]
            text = with_all((ROOT / "cl" / file).read_text(), changes)
            (self.kernels / file).write_text(lanes.as_cpp(text))
        types = self.kernels / "common" / "types.h"
        guard = "#define CLGRAPH_TYPES_H"
        types.write_text(types.read_text().replace(guard, guard + _SWITCH + _HEAD))
        self.directory, self.compiler = directory, compiler
        self.reached: dict[tuple[str, str, str, tuple[str, ...]], set[int]] = {}

    def run(self, place: tuple[str, str, str, tuple[str, ...]], seeds: int, mutant: int = -1) -> bool:
        """Return whether the case at (lane, subject, case, options) is right."""
        lane, subject, case, options = place
        spins = "-DSPINS=100000u" if lane == "scheduler" else "-DSPINS=20000000u"
        program = lanes.build(self.compiler, lane, subject, self.kernels, (*options, "-O0", spins))
        reached = self.directory / "reached"
        environment = {**os.environ, "MUTANT": str(mutant), "REACHED": str(reached)}
        seeds = seeds if lane == "scheduler" else THREAD_RUNS[seeds == SEEDS[0]]
        command = ["setarch", "-R", str(program), case, *(("1",) if lane == "scheduler" else ()), str(seeds)]
        limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        try:
            ran = lanes.run(command, env=environment, timeout=4 * CPU_SECONDS, preexec_fn=limit)
        except subprocess.TimeoutExpired:  # work-items that wait for each other for ever
            return False
        if mutant < 0:
            self.reached[place] = {int(number) for number in reached.read_text().split()}
        return ran.returncode == 0

    def find(self, number: int, change: Mutation) -> str | None:
        """Return the lane, case and build that find a mutation."""
        order = ("scheduler", "threads") if "steps" in change.kind else ("threads", "scheduler")
        for seeds in SEEDS:
            for lane in order:
                for place in self.places(lane):
                    if number in self.reached[place] and not self.run(place, seeds, number):
                        return " ".join((*place[:3], *place[3]))
        return None

    def places(self, lane: str) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
        for subject, options, case in lanes.places():
            place = lane, subject, case, options
            if place not in self.reached and not self.run(place, SEEDS[0]):
                raise SystemExit(f"wrong without a mutation: {place}")
            yield place


def find_elsewhere(change: Mutation) -> str | None:
    """Return the run of tests/grind.py in which Oclgrind finds a mutation, or the file of tests that does."""
    what = next(what for what, starts in ELSEWHERE.items() if change.file.startswith(starts))
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name)
        mutants.copy_tree(tree)
        (tree / "cl" / change.file).write_text(_HEAD + change.apply((ROOT / "cl" / change.file).read_text()))
        log = tree / "log"
        grind = ["oclgrind", "--data-races", "--check-api", "--log", str(log), sys.executable, "tests/grind.py", what]
        if what.endswith(".py"):
            return what if mutants.failing_test(tree, [f"tests/{what}"], seconds=600) else None
        environment = {**os.environ, "PYTHONPATH": str(tree), "CLGRAPH_CACHE_DIR": str(tree / "cache")}
        try:
            ran = lanes.run(grind, cwd=tree, env=environment, timeout=600)
        except subprocess.TimeoutExpired:
            return f"oclgrind {what}"
        complaints = re.findall(r"data race|Invalid (?:read|write)|divergence", log.read_text() if log.exists() else "")
        return f"oclgrind {what}" if complaints or "finished" not in ran.stdout else None


def read_table() -> dict[str, dict[str, str]]:
    return dict(json.loads(TABLE.read_text())) if TABLE.exists() else {}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", nargs="*", default=(), help="parts of the names of kernel files")
    parser.add_argument("--missed", action="store_true", help="also what no lane has found")
    parser.add_argument("--again", action="store_true", help="also what the table has already")
    parser.add_argument("--list", action="store_true", help="only show what would run")
    parser.add_argument("--elsewhere", action="store_true", help="run what the race lanes do not find elsewhere")
    options = parser.parse_args(arguments)
    every, table = mutations(), read_table()
    table = {change.key: table[change.key] for change in every if change.key in table}
    with tempfile.TemporaryDirectory() as name:
        race = None
        for number, change in enumerate(every):
            row = table.get(change.key)
            is_missed = row is None or (options.missed and not row)
            is_wanted = not options.only or any(part in change.file for part in options.only)
            if not is_wanted or not (is_missed or options.again):
                continue
            if options.list:
                print(number, change.key, row or "")
                continue
            race = race or RaceLanes(Path(name), every)
            found = race.find(number, change) or (find_elsewhere(change) if options.elsewhere else None)
            table[change.key] = {"found_by": found} if found else row or {}
            print(f"{found or 'NOT FOUND'}: {number} {change.key}", flush=True)
            ordered = {change.key: table[change.key] for change in every if change.key in table}
            TABLE.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n")
    counts = Counter(next(iter(row), "open") for row in table.values())
    print(f"{len(every)} mutations: {', '.join(f'{n} {name}' for name, n in counts.items())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
