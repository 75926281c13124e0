#!/usr/bin/env python3
"""Run scipy's own tests of csgraph on ``clgraph.csgraph``, and print each test with its result.

    tools/csgraph_suite.py                  # as a user calls it: scipy answers calls on small graphs
    tools/csgraph_suite.py --device pocl    # each function of ours runs kernels, also on small graphs
    tools/csgraph_suite.py -k dijkstra

The tests come with the installed scipy. In their modules and parameters, each function of scipy.sparse.csgraph is
replaced by the function of clgraph.csgraph with the same name. Calls that clgraph leaves to scipy, such as calls with
negative weights, stay with scipy on any device. The last line counts the calls that a device has answered.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import scipy.sparse.csgraph as scipys

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from clgraph import csgraph
from clgraph.engine.algorithm import Algorithm

TESTS = Path(scipys.__file__).parent / "tests"
STRATEGIES = {  # strategies that run on every device
    "connected_components": "rem",
    "minimum_spanning_tree": "edge_list",
    **dict.fromkeys(("dijkstra", "bellman_ford", "johnson", "shortest_path"), "frontier"),
}


class Replacement:
    """A plugin of pytest that replaces scipy's functions and keeps the result of each test.

    Attributes
    ----------
    results : dict of str to str
        "passed", "failed" or "skipped" by the test's name.
    on_device : Counter of str
        Runs on a device, by algorithm.
    """

    def __init__(self, device: str | None) -> None:
        self.results: dict[str, str] = {}
        self.on_device = Counter[str]()
        names = [name for name in scipys.__all__ if hasattr(csgraph, name)]
        ours = {name: self._on(device, name) for name in names}
        self._replaced = {id(getattr(scipys, name)): ours[name] for name in names}
        module = ModuleType("csgraph")
        vars(module).update({**vars(scipys), **ours})
        self._replaced[id(scipys)] = module
        solve = Algorithm.solve

        def counted(algorithm: Algorithm, *arguments: Any, **options: Any) -> Any:
            result = solve(algorithm, *arguments, **options)
            self.on_device[algorithm.name] += result.info.kind != "sequential"
            return result

        Algorithm.solve = counted  # type: ignore[method-assign]

    @staticmethod
    def _on(device: str | None, name: str) -> Any:
        function: Callable[..., Any] = getattr(csgraph, name)
        if device is None or name not in STRATEGIES:
            return function

        @wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            given = signature(function).bind(*arguments, **options).arguments
            is_strong = given.get("connection", "weak") == "strong" and given.get("directed", True)
            strategy = "forward_backward" if is_strong else STRATEGIES[name]
            return function(*arguments, **options, session=device, strategy=strategy)

        return run

    def pytest_collection_modifyitems(self, items: list[pytest.Function]) -> None:
        for item in items:
            for space in (vars(item.module), item.callspec.params if hasattr(item, "callspec") else {}):
                space.update({name: self._replaced.get(id(value), value) for name, value in space.items()})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.results[report.nodeid.rpartition("tests/")[2]] = report.outcome

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome != "passed":
            self.results[report.nodeid.rpartition("tests/")[2]] = report.outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("-d", "--device", help="run the kernels of our functions there, whatever the graph's size")
    parser.add_argument("-k", default="", metavar="EXPRESSION", help="tests to run, as for pytest")
    args = parser.parse_args()
    if not TESTS.is_dir():
        print(f"{TESTS} does not exist: this scipy came without its tests")
        return 2
    replacement = Replacement(args.device)
    options = ["-q", "--no-header", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(TESTS), "-k", args.k]
    code = pytest.main([*options, "-W", "ignore::pytest.PytestUnknownMarkWarning", str(TESTS)], plugins=[replacement])
    for name, result in replacement.results.items():
        print(f"{result:8}{name}")
    counts = Counter(replacement.results.values())
    print(", ".join(f"{counts[result]} {result}" for result in ("passed", "failed", "skipped")))
    runs = ", ".join(f"{n} of {name}" for name, n in sorted(replacement.on_device.items()))
    print(f"runs on a device: {runs or 'none'}")
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
