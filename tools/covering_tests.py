"""A pytest plugin that writes which tests run each line of clgraph, and how long each test takes.

    COVERING=folder python -m pytest -p covering_tests

Each process of pytest-xdist writes a file. ``read_covering`` puts the files of a folder together.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import coverage
import pytest

ROOT = Path(__file__).resolve().parent.parent


class Covering(NamedTuple):
    """The tests of each line of each file; the seconds of each test, and how many lines it runs."""

    tests: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]
    n_lines: Counter[str]


class _Plugin:
    def __init__(self, folder: Path) -> None:
        self._folder, self._seconds = folder, dict[str, float]()
        self._coverage = coverage.Coverage(data_file=None, source=[str(ROOT / "clgraph")], config_file=False)
        self._coverage.start()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        name = _name_of(item)
        self._coverage.switch_context(name)
        began = time.perf_counter()
        yield
        self._seconds[name] = time.perf_counter() - began

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        data, tests = self._coverage.get_data(), dict[str, dict[int, list[str]]]()
        for file in data.measured_files():
            lines = data.contexts_by_lineno(file).items()
            tests[str(Path(file).relative_to(ROOT))] = {line: [name for name in names if name] for line, names in lines}
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        (self._folder / f"{worker}.json").write_text(json.dumps({"tests": tests, "seconds": self._seconds}))


def _name_of(item: pytest.Item) -> str:
    """Return the name by which a run of one test finds it; pytest-xdist adds the test's group."""
    group = item.get_closest_marker("xdist_group")
    return item.nodeid if group is None else item.nodeid.removesuffix(f"@{(*group.args, *group.kwargs.values())[0]}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Plugin(Path(os.environ["COVERING"])))


def read_covering(folder: Path) -> Covering:
    """Return the coverage that the processes of a run have written."""
    tests: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    seconds: dict[str, float] = {}
    for path in sorted(folder.glob("*.json")):
        part = json.loads(path.read_text())
        seconds |= part["seconds"]
        for file, lines in part["tests"].items():
            for line, names in lines.items():
                tests[file][int(line)] += names
    n_lines = Counter(name for lines in tests.values() for names in lines.values() for name in names)
    return Covering(tests, seconds, n_lines)
