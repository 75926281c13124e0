#!/usr/bin/env python3
"""Break the host's code at one place at a time, and see whether a test fails.

    tools/mutate_host.py [--sample 400] [--seed 0] [--only PART ...] [--jobs 2] [--json FILE] [--list]

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
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("clgraph/data/*.py", "clgraph/runtime/*.py", "clgraph/engine/*.py", "clgraph/algorithms/*/problem.py")
COPIED = ("clgraph", "cl", "tests", "tools", "benchmarks", "docs", "pyproject.toml", "README.md", "CONTRIBUTING.md")
MAX_SECONDS = 240  # of a run of tests; an endless loop is found by then
# The tests that run for a file; the longest beginning of its name counts.
TESTS = {
    "clgraph/data": "graph wrapped stats edge_lists",
    "clgraph/data/csr": "graph wrapped edge_lists ratings", "clgraph/data/sparse": "graph wrapped ratings",
    "clgraph/data/ratings": "ratings pairs factorization_estimator generators",
    "clgraph/data/pairs": "ratings pairs factorization_estimator",
    "clgraph/data/ids": "graph edge_lists ratings pairs io", "clgraph/data/generator": "generators",
    "clgraph/data/planar": "triangulation triangle_compat mesh_files refine_mesh",
    "clgraph/data/segment": "triangulation refine_mesh", "clgraph/data/geometric": "generators triangulation",
    "clgraph/data/predicates": "triangulation", "clgraph/data/triang": "triangulation triangle_compat refine_mesh",
    "clgraph/data/mesh": "refine_mesh mesh_files",
    "clgraph/runtime": "runtime memory transfers device_graph wrapped first_call",
    "clgraph/runtime/source": "declarations runtime", "clgraph/runtime/declarations": "declarations runtime",
    "clgraph/runtime/selection": "self_test runtime", "clgraph/runtime/query": "self_test runtime device_profile",
    "clgraph/runtime/kept": "kept memory", "clgraph/runtime/recycled": "recycled memory",
    "clgraph/runtime/child": "self_test calls_without_drivers", "clgraph/runtime/timing": "runtime results",
    "clgraph/runtime/arena": "arena", "clgraph/runtime/drivers": "self_test calls_without_drivers",
    "clgraph/runtime/cache": "runtime unwritable_homes",
    "clgraph/runtime/devices": "components_on_devices team",
    "clgraph/data/graph_arrays": "graph wrapped coloring stats",
    "clgraph/engine": "kept growth components bfs first_call",
    "clgraph/engine/split_graph": "components_on_devices mst_on_devices",
    "clgraph/engine/team": "team components_on_devices", "clgraph/engine/teams": "team components_on_devices",
    "clgraph/engine/host": "host sssp", "clgraph/engine/options": "arguments results bfs",
    "clgraph/algorithms/bfs": "bfs", "clgraph/algorithms/sssp": "sssp", "clgraph/algorithms/traversal": "bfs sssp",
    "clgraph/algorithms/components": "components", "clgraph/algorithms/mst": "mst",
    "clgraph/algorithms/coloring": "coloring coloring_distance_two", "clgraph/algorithms/delaunay": "refine_mesh",
    "clgraph/algorithms/hash_collisions": "hash_collisions",
    "clgraph/algorithms/partition": "partition partition_balance",
    "clgraph/algorithms/factorization": "factorization factorization_model factorization_estimator",
}
# The key of a mutation that changes no answer, and the reason.
EQUIVALENT: dict[str, str] = {}
_NEGATED: dict[type[ast.cmpop], str] = {
    ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}
_MOVED: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}


@dataclass(frozen=True)
class Mutation:
    """A change of one place: characters *begin* … *end* of *file* become *new*."""

    file: str
    line: str
    kind: str
    number: int
    begin: int
    end: int
    new: str

    @property
    def key(self) -> str:
        return f"{self.file} | {self.line} | {self.kind} {self.number}"


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
    """Copies of the tree, one for each thread."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._own = folder, threading.local()

    def run(self, change: Mutation | None, files: Sequence[str]) -> str:
        """Return the first test that fails, ``"time"`` after MAX_SECONDS, or nothing."""
        tree = self._tree()
        if change is not None:
            text = (ROOT / change.file).read_text()
            (tree / change.file).write_text(text[: change.begin] + change.new + text[change.end :])
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", *files]
        alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POCL_MAX_PTHREAD_COUNT"), "2")
        path = os.pathsep.join([str(tree), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, **alone, "PYTHONPATH": path}
        try:
            ran = subprocess.run(
                command, cwd=tree, env=environment, capture_output=True, text=True, timeout=MAX_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return "time"
        finally:
            if change is not None:
                shutil.copy(ROOT / change.file, tree / change.file)
        if not ran.returncode:
            return ""
        failed = [line.split()[1] for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return failed[0] if failed else f"exit status {ran.returncode}"

    def _tree(self) -> Path:
        if not hasattr(self._own, "tree"):
            self._own.tree = Path(tempfile.mkdtemp(dir=self._folder))
            for part in COPIED:
                copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
                copy(ROOT / part, self._own.tree / part)
        tree: Path = self._own.tree
        return tree


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=400, help="how many mutations run (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--only", nargs="*", default=(), help="parts of the names of files or of lines")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    parser.add_argument("--json", type=Path, help="where rows are written")
    parser.add_argument("--list", action="store_true", help="only show what would run")
    options = parser.parse_args(arguments)
    every = [m for m in mutations() if not options.only or any(part in m.key for part in options.only)]
    drawn = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    if options.list:
        print(*(change.key for change in drawn), f"{len(drawn)} of {len(every)}", sep="\n")
        return 0
    rows, ends = list[dict[str, object]](), Counter[str]()

    def try_one(change: Mutation) -> None:
        found = trees.run(change, tests_of(change.file))
        if "::" in found and trees.run(None, [found]):
            raise RuntimeError(f"{found} fails without a mutation")
        end = "found" if found else "equivalent" if change.key in EQUIVALENT else "NOT FOUND"
        ends[end] += 1
        rows.append({**asdict(change), "found_by": found, "equivalent": EQUIVALENT.get(change.key, "")})
        print(f"{len(rows)}/{len(drawn)} {end}: {change.key}", flush=True)
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
