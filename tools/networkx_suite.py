#!/usr/bin/env python3
"""Run networkx's own tests through the backend, and count the calls that reached it.

    tools/networkx_suite.py                                # the tests of the functions that the backend has
    tools/networkx_suite.py --all                          # all of networkx's tests
    tools/networkx_suite.py networkx.algorithms.tests.test_dag -- -k descendants
    tools/networkx_suite.py --strategy device --device pocl
    tools/networkx_suite.py --names                        # write the names of the table into _clgraph_nx.py

The backend needs no installation: a folder with its entry points is put on the path.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import networkx_entry  # noqa: E402

MODULES = [
    f"networkx.{name}"
    for name in (
        "algorithms.components", "algorithms.shortest_paths", "algorithms.traversal.tests.test_bfs",
        "algorithms.tree.tests.test_mst", "algorithms.tree.tests.test_recognition", "algorithms.tests.test_dag",
        "algorithms.tests.test_cluster", "algorithms.tests.test_core", "algorithms.link_analysis",
        "algorithms.tests.test_mis", "algorithms.tests.test_matching",
        "algorithms.centrality.tests.test_eigenvector_centrality", "algorithms.centrality.tests.test_katz_centrality",
        "algorithms.bipartite.tests.test_basic", "algorithms.tests.test_isolate", "algorithms.coloring",
        "algorithms.tests.test_distance_measures", "algorithms.centrality.tests.test_degree_centrality",
        "tests.test_convert_scipy", "utils.tests.test_backends",
    )
]  # fmt: skip
"""The tests of the functions that the backend has."""
PLUGIN = """
import json, os, sys
import pytest

class Counter:
    def __init__(self): self.outcomes = {}
    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
            self.outcomes[report.nodeid] = outcome
    def pytest_sessionfinish(self):
        from clgraph.networkx_backend import profile
        calls = profile()
        with open(os.environ["CLGRAPH_NX_REPORT"], "w") as file:
            json.dump({"outcomes": self.outcomes, "calls": {n: c.n_calls for n, c in calls.items() if c.n_calls},
                       "fallbacks": {n: dict(c.fallbacks) for n, c in calls.items() if c.fallbacks}}, file)

def pytest_configure(config):
    import networkx as nx
    ours = nx.config.backends.clgraph
    ours.device, ours.strategy = os.environ.get("CLGRAPH_NX_DEVICE"), os.environ["CLGRAPH_NX_STRATEGY"]
    config.pluginmanager.register(Counter())
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help="modules of tests; by default those of the backend's functions")
    parser.add_argument("--all", action="store_true", help="all of networkx's tests")
    parser.add_argument("--device", help="the device, as session= names it")
    parser.add_argument("--strategy", choices=["auto", "device"], default="auto")
    parser.add_argument("--names", action="store_true", help="write the names of the table into _clgraph_nx.py")
    parser.add_argument("--json", type=Path, help="write the outcomes and calls to this file")
    given, rest = sys.argv[1:], []
    if "--" in given:
        given, rest = given[: given.index("--")], given[given.index("--") + 1 :]
    args = parser.parse_args(given)
    if args.names:
        return write_names()
    return run(args, rest)


def run(args: argparse.Namespace, rest: list[str]) -> int:
    """Run the tests in a new process; print what they gave."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "clgraph_nx_plugin.py").write_text(PLUGIN)
        inherited = os.environ.get("PYTHONPATH", "")
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([name, str(ROOT), *networkx_entry.folder_for_path(folder), inherited]),
            "NETWORKX_TEST_BACKEND": "clgraph", "NETWORKX_FALLBACK_TO_NX": "True",
            "CLGRAPH_NX_REPORT": str(folder / "report.json"), "CLGRAPH_NX_STRATEGY": args.strategy,
        }  # fmt: skip
        if args.device:
            environment["CLGRAPH_NX_DEVICE"] = args.device
        wanted = ["networkx"] if args.all else args.modules or MODULES
        command = [sys.executable, "-m", "pytest", "-q", "-p", "clgraph_nx_plugin", "-p", "no:cacheprovider", "-o",
                   "addopts=", "--pyargs", *wanted, *rest]  # fmt: skip
        code = subprocess.run(command, env=environment, cwd=folder, check=False).returncode
        report = json.loads((folder / "report.json").read_text())
    if args.json:
        args.json.write_text(json.dumps(report, indent=1, sort_keys=True))
    show(report)
    return code


def show(report: dict[str, dict[str, object]]) -> None:
    """Print the numbers of outcomes, the failures and ties by name, and the calls that the backend has answered."""
    outcomes = report["outcomes"]
    for kind in ("passed", "failed", "xfailed", "skipped"):
        names = sorted(name for name, outcome in outcomes.items() if outcome == kind)
        print(f"{kind}: {len(names)}")
        if kind in ("failed", "xfailed"):
            print("".join(f"  {name}\n" for name in names), end="")
    calls = {name: int(str(number)) for name, number in report["calls"].items()}
    print(f"calls that reached the backend: {sum(calls.values())}, of {len(calls)} functions")
    for name, number in sorted(calls.items(), key=lambda item: -item[1]):
        print(f"  {number:6} {name}")


def write_names() -> int:
    """Write the names of the backend's table into the module that networkx reads."""
    from clgraph.networkx_backend.table import TABLE

    path = ROOT / "_clgraph_nx.py"
    head, _, rest = path.read_text(encoding="utf-8").partition('FUNCTIONS = """\n')
    _, _, rest = rest.partition('"""')
    path.write_text(f'{head}FUNCTIONS = """\n' + "".join(f"{name}\n" for name in sorted(TABLE)) + f'"""{rest}')
    return 0


if __name__ == "__main__":
    sys.exit(main())
