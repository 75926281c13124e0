#!/usr/bin/env python3
"""Break the host's code at one place at a time, and see whether a test fails.

    tools/mutate_host.py [--sample 400] [--seed 0] [--only PART ...] [--missed JSON] [--jobs 2] [--json FILE] [--list]

A mutation negates a comparison, moves the bound of a check by one (``<`` becomes ``<=``), swaps ``and`` and ``or``,
drops a step of one (``x + 1`` becomes ``x``), or drops a check: a raise, or a call of a function whose name begins with
``check``. A drawn sample of all mutations of ``clgraph/data``, ``runtime``, ``engine`` and the problems of algorithms
runs, each in a copy of the tree, against the tests that TESTS names for the file. The JSON file has a row for every
mutation that ran. Mutations that no test finds and that change no answer are in EQUIVALENT, with the reason.
"""
from __future__ import annotations

import argparse
import ast
import json
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent)]

from mutants import ROOT, Mutation, copy_tree, failing_test  # noqa: E402

PARTS = ("clgraph/data/*.py", "clgraph/runtime/*.py", "clgraph/engine/*.py", "clgraph/algorithms/*/problem.py")
LATE_FACTOR, LATE_SLACK_SECONDS = 5.0, 60.0  # A run is late after 5 × what its tests take without a mutation + 60 s.
# The tests that run for a file; the longest beginning of its name counts.
TESTS = {
    "clgraph/data": "graph wrapped stats edge_lists generators",
    "clgraph/data/csr": "graph wrapped edge_lists ratings",
    "clgraph/data/generator": "generators", "clgraph/data/edge": "generators graph",
    "clgraph/data/geometric": "generators triangulation", "clgraph/data/graph_arrays": "graph wrapped stats coloring",
    "clgraph/data/mesh": "mesh_files triangulation", "clgraph/data/networkx": "graph", "clgraph/data/pairs": "pairs",
    "clgraph/data/planar": "triangulation triangle_compat mesh_files", "clgraph/data/predicates": "triangulation",
    "clgraph/data/ratings": "ratings pairs generators",
    "clgraph/data/segment": "triangulation mesh_files", "clgraph/data/sparse": "graph wrapped ratings",
    "clgraph/data/triang": "triangulation triangle_compat mesh_files", "clgraph/data/vertex_h": "hash_collisions",
    "clgraph/runtime": "runtime transfers memory device_graph wrapped",
    "clgraph/runtime/arena": "arena", "clgraph/runtime/cache": "runtime unwritable_homes",
    "clgraph/runtime/child": "cli", "clgraph/runtime/declarations": "declarations",
    "clgraph/runtime/devices": "team components_on_devices", "clgraph/runtime/drivers": "self_test",
    "clgraph/runtime/kept": "kept", "clgraph/runtime/pocl_cpu": "self_test", "clgraph/runtime/query": "device_profile",
    "clgraph/runtime/recycled": "recycled", "clgraph/runtime/selection": "self_test runtime device_profile",
    "clgraph/runtime/self_test": "self_test", "clgraph/runtime/source": "declarations runtime",
    "clgraph/runtime/staging": "transfers", "clgraph/runtime/transfers": "transfers",
    "clgraph/runtime/weight_range": "sssp wrapped",
    "clgraph/engine": "kept growth host arguments prices",
    "clgraph/engine/options": "host results arguments", "clgraph/engine/split_graph": "components_on_devices",
    "clgraph/engine/team": "team",
    "clgraph/algorithms/bfs": "bfs", "clgraph/algorithms/coloring": "coloring coloring_distance_two",
    "clgraph/algorithms/delaunay": "refine_mesh",
    "clgraph/algorithms/factorization": "factorization_model factorization_estimator",
    "clgraph/algorithms/hash_collisions": "hash_collisions", "clgraph/algorithms/mst": "mst",
    "clgraph/algorithms/partition": "partition", "clgraph/algorithms/sssp": "sssp",
    "clgraph/algorithms/traversal": "bfs sssp",
}
# The key of a mutation that changes no answer, and the reason.
EQUIVALENT: dict[str, str] = {}
_NEGATED: dict[type[ast.cmpop], str] = {
    ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}
_MOVED: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}


def places(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield (begin, end, kind, replacement) of every mutation of a module."""
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    raw = text.encode()

    def at(line: int, column: int) -> int:
        return len(raw[: starts[line - 1] + column].decode())

    def span(node: ast.AST) -> tuple[int, int]:
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    tree = ast.parse(text)
    checks = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise)
        for part in ast.walk(node.test)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            node.body.clear()
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for operator, left, right in zip(node.ops, operands, operands[1:], strict=False):
                begin, end = span(left)[1], span(right)[0]
                between = text[begin:end]
                if between.count("(") == between.count(")") == 0:
                    yield begin, end, "negated comparison", f" {_NEGATED[type(operator)]} "
                    if id(node) in checks and type(operator) in _MOVED:
                        yield begin, end, "moved bound", f" {_MOVED[type(operator)]} "
        elif isinstance(node, ast.BoolOp):
            word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in zip(node.values, node.values[1:], strict=False):
                begin, end = span(left)[1], span(right)[0]
                if text[begin:end].strip() == word:
                    yield begin, end, f"{other} for {word}", f" {other} "
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            if isinstance(node.right, ast.Constant) and node.right.value == 1:
                yield span(node.left)[1], span(node)[1], "no step", ""
        elif isinstance(node, ast.Raise):
            yield *span(node), "no raise", "pass"
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name.lstrip("_").startswith("check"):
                yield *span(node), "no check", "pass"


def mutations() -> list[Mutation]:
    """Return every mutation of every file in PARTS."""
    result = []
    for path in sorted(path for part in PARTS for path in ROOT.glob(part)):
        file, text, seen = str(path.relative_to(ROOT)), path.read_text(), Counter[tuple[str, str]]()
        for begin, end, kind, new in sorted(places(text)):
            line = " ".join(text[text.rfind("\n", 0, begin) + 1 : text.find("\n", end)].split())
            seen[line, kind] += 1
            result.append(Mutation(file, line, kind, seen[line, kind], begin, end, new))
    return result


def tests_of(file: str) -> list[str]:
    """Return the files of tests that run for a file."""
    start = max((start for start in TESTS if file.startswith(start)), key=len)
    return [f"tests/test_{name}.py" for name in TESTS[start].split()]


class Trees:
    """Copies of the tree, one for each thread, and caches of kernels in which each run begins alike."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._own = folder, threading.local()
        self._seconds: dict[tuple[str, ...], float] = {}
        self._locks: defaultdict[tuple[str, ...], threading.Lock] = defaultdict(threading.Lock)

    def run(self, change: Mutation, files: Sequence[str]) -> str:
        """Return the first test that fails, ``"time"`` after several times what the tests take, or nothing."""
        limit, tree = LATE_FACTOR * self._measured(files) + LATE_SLACK_SECONDS, self._tree()
        text = (ROOT / change.file).read_text()
        (tree / change.file).write_text(change.apply(text))
        try:
            found = self._failing(tree, files, files, limit)
        finally:
            (tree / change.file).write_text(text)
        if "::" in found and self._failing(tree, files, [found], limit):
            return ""  # it fails without the mutation, too
        return found

    def _measured(self, files: Sequence[str]) -> float:
        """Return how long the tests take in the tree as it is; that run leaves its kernels for all others."""
        with self._locks[key := tuple(files)]:
            if key not in self._seconds:
                began = time.perf_counter()
                if found := failing_test(self._tree(), files, seconds=None, **self._variables(self._kept(files))):
                    raise SystemExit(f"fails without a mutation: {found}")
                self._seconds[key] = time.perf_counter() - began
                print(f"{self._seconds[key]:.0f} s: {' '.join(files)}", flush=True)
            return self._seconds[key]

    def _failing(self, tree: Path, files: Sequence[str], tests: Sequence[str], limit: float) -> str:
        own = self._folder / f"caches-{threading.get_ident()}"
        shutil.rmtree(own, ignore_errors=True)  # a mutation must not leave a wrong verdict or program behind
        shutil.copytree(self._kept(files), own, symlinks=True)
        return failing_test(tree, tests, seconds=limit, **self._variables(own))

    def _kept(self, files: Sequence[str]) -> Path:
        kept = self._folder / "-".join(Path(file).stem for file in files)
        kept.mkdir(exist_ok=True)
        return kept

    @staticmethod
    def _variables(caches: Path) -> dict[str, str]:
        """Return the environment of a run; the host's code is the same for all devices, so PoCL's is enough."""
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POCL_MAX_PTHREAD_COUNT"), "2")
        return {**threads, "CLGRAPH_TEST_DEVICES": "pocl", "CLGRAPH_TEST_CACHES": str(caches)}

    def _tree(self) -> Path:
        if not hasattr(self._own, "tree"):
            self._own.tree = copy_tree(Path(tempfile.mkdtemp(dir=self._folder)))
        tree: Path = self._own.tree
        return tree


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=400, help="how many mutations run (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--only", nargs="*", default=(), help="parts of the names of files or of lines")
    parser.add_argument("--missed", type=Path, metavar="JSON", help="run what this file says that no test has found")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    parser.add_argument("--json", type=Path, help="where rows are written")
    parser.add_argument("--list", action="store_true", help="only show what would run")
    options = parser.parse_args(arguments)
    every = [m for m in mutations() if not options.only or any(part in m.key for part in options.only)]
    if options.missed is not None:
        missed = {row["key"] for row in json.loads(options.missed.read_text()) if not row["found_by"]}
        every = [m for m in every if m.key in missed]
    drawn = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    if options.list:
        print(*(change.key for change in drawn), f"{len(drawn)} of {len(every)}", sep="\n")
        return 0
    rows, ends = list[dict[str, str]](), Counter[str]()

    def try_one(change: Mutation) -> None:
        found = trees.run(change, tests_of(change.file))
        end = "found" if found else "equivalent" if change.key in EQUIVALENT else "NOT FOUND"
        ends[end] += 1
        reason = EQUIVALENT.get(change.key, "")
        rows.append({"key": change.key, "new": change.new, "found_by": found, "equivalent": reason})
        print(f"{len(rows)}/{len(drawn)} {end}: {change.key}{found and f' by {found}'}", flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")

    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(options.jobs) as pool:
        trees = Trees(Path(name))
        list(pool.map(try_one, drawn))
    n = ends["found"] + ends["NOT FOUND"]
    print(f"{ends['found']} of {n} found, {ends['found'] / max(1, n):.1%}; {ends['equivalent']} change no answer")
    return int(ends["NOT FOUND"] > 0)


if __name__ == "__main__":
    sys.exit(main())
