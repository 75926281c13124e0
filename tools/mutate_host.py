#!/usr/bin/env python3
"""Break the host's code at one place at a time, and see whether a test fails.

    tools/mutate_host.py --covering FOLDER [--sample 400] [--seed 0] [--only PART ...] [--missed JSON] [--jobs 2]
                         [--seconds S] [--json FILE] [--list]

A mutation negates a comparison, moves the bound of a check by one (``<`` becomes ``<=``), swaps ``and`` and ``or``,
drops a step of one (``x + 1`` becomes ``x``), or drops a check: a raise, or a call of a function whose name begins with
``check``. An ``assert`` stays as it is: it tells readers and type checkers what holds. A drawn sample of all mutations
of ``clgraph/data``, ``runtime``, ``engine`` and the problems of algorithms runs, each in a copy of the tree, against
tests that run the line and little else, within the first of BUDGETS. Where none fails, more tests run.

If the folder of the tests of each line is missing, the whole suite runs once and fills it. The JSON file has a row for
every mutation that ran. A mutation that changes no answer has the reason, as `equivalent`, in the recorded rows of
TABLE.
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
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).resolve().parent)]

from covering_tests import Covering, read_covering  # noqa: E402
from mutants import ROOT, Mutation, copy_tree, failing_test, numbered  # noqa: E402

PARTS = (
    "clgraph/data/**/*.py", "clgraph/runtime/**/*.py", "clgraph/engine/*.py", "clgraph/multi_device/*.py",
    "clgraph/algorithms/*/problem.py",
)  # fmt: skip
LATE_FACTOR, LATE_SLACK_SECONDS = 5.0, 60.0  # A run is late after 5 × the time of its tests without a mutation + 60 s.


class Budget(NamedTuple):
    """The most seconds of one test and of all tests of a mutation, as measured in the whole suite; and how many run."""

    longest: float
    seconds: float
    n_tests: int


BUDGETS = Budget(1.5, 8.0, 60), Budget(10.0, 60.0, 300)  # the second for mutations that the first does not find
# Tests that do not run the host's code in their own process, or only time it.
LEFT_OUT = (
    "races", "oclgrind", "packaging", "amd_compile", "mutations", "architecture", "readme", "documentation",
)  # fmt: skip
TABLE = ROOT / "benchmarks" / "results" / "host_mutations-pocl.json"  # recorded rows, some with a reason
_NEGATED: dict[type[ast.cmpop], str] = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<"}
_NEGATED |= {ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"}
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
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise)
        for part in ast.walk(node.test)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            node.body.clear()
        if isinstance(node, ast.Assert):
            node.test = ast.Constant(True)
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
    files = sorted(path for part in PARTS for path in ROOT.glob(part))
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in files}
    definition = r"^ *(?:async )?(?:def|class) (\w+)"
    return [each for file, text in texts.items() for each in numbered(file, text, places(text), definition)]


def lines_of(change: Mutation, text: str) -> range:
    """Return the lines of the innermost statement with the place of a mutation, as far as that place."""
    last = text.count("\n", 0, change.end) + 1
    starts = (node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt))
    return range(max(line for line in starts if line <= text.count("\n", 0, change.begin) + 1), last + 1)


def tests_of(change: Mutation, covering: Covering, budget: Budget) -> list[str]:
    """Return the tests that run a mutation's line, or its file if it runs at the import.

    Tests that run few lines of other files come first. The quickest test runs if all are too long.
    """
    lines = covering.tests.get(change.file, {})
    names = {name for line in lines_of(change, (ROOT / change.file).read_text()) for name in lines.get(line, ())}
    names = names or {name for of_line in lines.values() for name in of_line}
    here = Counter(name for of_line in lines.values() for name in of_line)
    result, total = list[str](), 0.0
    for name in sorted(names, key=lambda name: (-here[name] / covering.n_lines[name], covering.seconds[name])):
        seconds = covering.seconds[name]
        if seconds <= budget.longest and total + seconds <= budget.seconds and len(result) < budget.n_tests:
            result.append(name)
            total += seconds
    return result or sorted(names, key=lambda name: covering.seconds[name])[:1]


def cover(folder: Path, jobs: int) -> None:
    """Run the whole suite once, and leave in *folder* which tests run each line, and the kernels of all tests."""
    (folder / "caches").mkdir(parents=True)
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "covering_tests", "-m", "not slow", "-n", str(jobs), "--dist",
        "loadgroup", "--timeout=300", *(f"--ignore=tests/test_{name}.py" for name in LEFT_OUT),
    ]  # fmt: skip
    path = os.pathsep.join(filter(None, [str(ROOT), str(ROOT / "tools"), os.environ.get("PYTHONPATH")]))
    environment = {**_variables(folder / "caches"), "PYTHONPATH": path, "COVERING": str(folder)}
    subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=False)
    for worker in (folder / "caches").glob("gw*"):
        _link_tree(worker, folder / "caches" / "main")
        shutil.rmtree(worker)


def _link_tree(folder: Path, to: Path) -> None:
    """Give *to* the files of *folder* that it has not, without copying them; drivers replace their files whole."""

    def link(source: str, target: str) -> None:
        if not os.path.exists(target):
            os.link(source, target)

    ignore = shutil.ignore_patterns("gpu", "pyopencl")  # links to folders that all runs share
    shutil.copytree(folder, to, copy_function=link, ignore=ignore, dirs_exist_ok=True)


def _variables(caches: Path) -> dict[str, str]:
    """Return the environment of a run; the host's code is the same for all devices, so PoCL's is enough."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POCL_MAX_PTHREAD_COUNT"), "2")
    return {**threads, "CLGRAPH_TEST_DEVICES": "pocl", "CLGRAPH_TEST_CACHES": str(caches)}


class Trees:
    """Copies of the tree, one for each thread, and caches of kernels in which each run begins alike."""

    def __init__(self, folder: Path, covering: Covering, caches: Path) -> None:
        self._folder, self._covering, self._caches, self._own = folder, covering, caches, threading.local()
        self._is_sound: dict[tuple[str, ...], bool] = {}  # whether tests that found a mutation pass without it

    def run(self, change: Mutation) -> str:
        """Return the first test that fails, ``"time"`` if the tests take several times their usual time, or nothing."""
        few, many = (tests_of(change, self._covering, budget) for budget in BUDGETS)
        return self._found_by(change, few) or self._found_by(change, [test for test in many if test not in few])

    def _found_by(self, change: Mutation, tests: Sequence[str]) -> str:
        if not tests:
            return ""
        limit = LATE_FACTOR * sum(map(self._covering.seconds.__getitem__, tests)) + LATE_SLACK_SECONDS
        tree, text = self._tree(), (ROOT / change.file).read_text()
        (tree / change.file).write_text(change.apply(text))
        try:
            found = self._failing(tree, tests, limit)
        finally:
            (tree / change.file).write_text(text)
        proof = (found,) if "::" in found else tuple(tests)  # all of them if they came late, or the process ended
        if found and proof not in self._is_sound:
            self._is_sound[proof] = not self._failing(tree, proof, limit)
        return found if found and self._is_sound[proof] else ""

    def _failing(self, tree: Path, tests: Sequence[str], limit: float) -> str:
        own = self._folder / f"caches-{threading.get_ident()}"
        # A mutation must not leave a wrong verdict or program behind. Threads of Python would copy one at a time.
        subprocess.run(["rm", "-rf", own], check=True)
        subprocess.run(["cp", "-al", self._caches, own], check=True)
        return failing_test(tree, tests, seconds=limit, **_variables(own))

    def _tree(self) -> Path:
        if not hasattr(self._own, "tree"):
            self._own.tree = copy_tree(Path(tempfile.mkdtemp(dir=self._folder)))
        tree: Path = self._own.tree
        return tree


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--covering", type=Path, metavar="FOLDER", help="the tests of each line, made if it is missing")
    parser.add_argument("--sample", type=int, default=400, help="how many mutations run (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--only", nargs="*", default=(), help="parts of the names of files or of lines")
    parser.add_argument("--missed", type=Path, metavar="JSON", help="run what this file says that no test has found")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no mutation after that time")
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
    if options.covering is None:
        parser.error("--covering is needed")
    if not options.covering.exists():
        cover(options.covering, options.jobs)
    reasons = {row["key"]: row["equivalent"] for row in json.loads(TABLE.read_text())["rows"] if row["equivalent"]}
    rows, ends = list[dict[str, str]](), Counter[str]()
    end = time.monotonic() + options.seconds

    def try_one(change: Mutation) -> None:
        if time.monotonic() > end:
            return
        found = trees.run(change)
        verdict = "found" if found else "equivalent" if change.key in reasons else "NOT FOUND"
        ends[verdict] += 1
        reason = reasons.get(change.key, "")
        rows.append({"key": change.key, "new": change.new, "found_by": found, "equivalent": reason})
        print(f"{len(rows)}/{len(drawn)} {verdict}: {change.key}{found and f' by {found}'}", flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")

    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(options.jobs) as pool:
        trees = Trees(Path(name), read_covering(options.covering), options.covering / "caches")
        list(pool.map(try_one, drawn))
    n = ends["found"] + ends["NOT FOUND"]
    print(f"{ends['found']} of {n} found, {ends['found'] / max(1, n):.1%}; {ends['equivalent']} change no answer")
    return int(ends["NOT FOUND"] > 0)


if __name__ == "__main__":
    sys.exit(main())
