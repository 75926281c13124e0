#!/usr/bin/env python3
"""List the tests of the main lane that a quick run leaves out, because they take long.

    tools/list_long_tests.py JUNIT.xml >tests/long_tests.txt

JUNIT.xml is from a run of all lanes, ``python -m pytest --lane all --junitxml=JUNIT.xml``. A function is listed if its
tests in a quick run take 1.5 seconds and more together, most of which compilers need.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import selection  # noqa: E402

LONG_SECONDS = 1.5


class _Collected:
    """A plugin of pytest that keeps the tests which it collects."""

    items: list[pytest.Item]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = session.items


def main() -> int:
    """Print the functions, a line each."""
    collected = _Collected()
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(["--collect-only", "-q", "-m", "not slow", str(ROOT / "tests")], plugins=[collected])
    from conftest import DEVICES

    seconds, functions = dict[str, float](), Counter[str]()
    for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        file = case.get("classname", "").replace(".", "/")
        seconds[f"{file}.py::{case.get('name', '').partition('@')[0]}"] = float(case.get("time", 0))
    for item in selection.quick(collected.items, DEVICES[0]):
        name = item.nodeid.partition("@")[0]
        functions[name.partition("[")[0]] += seconds.get(name, 0.0)  # type: ignore[assignment]
    print(*sorted(name for name, spent in functions.items() if spent >= LONG_SECONDS), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
