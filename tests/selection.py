"""Lanes of the test suite, and the few cases of the main lane that a quick run takes.

``pytest --lane NAME`` runs one lane, ``--lane complete`` every lane, ``--lane all`` the same with a part of the main
lane on the second device, ``--lane quick`` a part of the main lane, and ``--lane gpu`` the tests that run on the
devices of CLGRAPH_TEST_DEVICES. A new suite gets a row in LANES.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest


class Lane(NamedTuple):
    """A part of the suite: the files whose tests belong to it, and what these tests do."""

    files: tuple[str, ...]
    what: str


MAIN = "tests"
LANES = {
    MAIN: Lane((), "every strategy, function and command on each device"),
    "widths": Lane((), "sub-groups of 8, 16, 32 and 64 lanes on Intel's runtime"),  # tests that call run_at_width
    "devices": Lane(
        (
            "test_on_devices",
            "test_teams",
            "test_factorization_on_devices",
            "test_hetero",
            "test_hetero_policies",
            "test_hetero_processes",
            "test_distributed",
            "test_distributed_workers",
            "test_distributed_factorization",
        ),
        "several devices and workers",
    ),
    "races": Lane(("test_races", "test_mutations"), "kernels as C++ under ThreadSanitizer and a seeded scheduler"),
    "oclgrind": Lane(("test_oclgrind",), "kernels under Oclgrind"),
    "faults": Lane(("test_faults",), "each OpenCL call fails once"),
    "compilers": Lane(
        ("test_amd_compile", "test_declarations"), "every kernel compiled for AMD and NVIDIA GPUs and for CPUs"
    ),
    "amd": Lane(("test_amd",), "AMD machine code of kernels executed on the CPU"),
    "packaging": Lane(
        ("test_packaging", "test_imports", "test_documentation", "test_typing"), "wheels, imports, types, code of pages"
    ),
    "site": Lane(("test_site",), "the site of the documentation, built without warnings"),
    "benchmarks": Lane(
        ("test_benchmarks", "test_benchmark_calls", "test_benchmark_faults", "test_results", "test_mutated_files"),
        "scripts and kept rows of timings",
    ),
}
LONG_TESTS = ("faults", "oclgrind", "widths", "amd")  # lanes in which one test takes up to two minutes
SELECTIONS = ("complete", "all", "quick", "gpu", *LANES)
# Functions whose tests take 1.5 seconds and more in a quick run, by tools/list_long_tests.py.
LONG_FUNCTIONS = frozenset((Path(__file__).parent / "long_tests.txt").read_text(encoding="utf-8").split())
_LANE_OF_FILE = {file: name for name, lane in LANES.items() for file in lane.files}
_AT_WIDTHS = {"run_at_width", "test_all_words_on_wide_sub_groups"}  # the second runs its whole file in a child
_ON_DEVICES = {"session", "pair"}  # fixtures


def lane_of(item: pytest.Item) -> str:
    """Return the name of the lane of *item*."""
    code = item.function.__code__  # type: ignore[attr-defined]
    if _AT_WIDTHS & {code.co_name, *code.co_names}:
        return "widths"
    return _LANE_OF_FILE.get(item.path.stem, MAIN)


def is_elsewhere(path: Path, selection: str) -> bool:
    """Return whether no test of the file *path* belongs to *selection*."""
    if selection in ("complete", "all") or not path.name.startswith("test_"):
        return False
    lane = _LANE_OF_FILE.get(path.stem, MAIN)
    if selection == "gpu":
        return lane not in (MAIN, "devices")
    return lane not in ((MAIN,) if selection in ("quick", "widths") else (selection,))


def select(items: list[pytest.Item], selection: str, device: str) -> list[pytest.Item]:
    """Return the tests of *selection* in their order.

    The selection ``quick`` has short tests on *device* only. The selection ``all`` has fewer tests of the main lane on
    other devices: each value of a parameter occurs there, but not each combination of values. This is enough, because
    two runtimes of one processor seldom differ in a single combination.
    """
    if selection == "complete":
        return items
    if selection == "all":
        others = [item for item in items if _is_on_another(item, device)]
        kept = {each for tests in _by_function(others) for each in _each_value_once(tests)}
        return [item for item in items if item in kept or not _is_on_another(item, device)]
    if selection == "gpu":
        return [item for item in items if _ON_DEVICES & {*getattr(item, "fixturenames", ())}]
    if selection != "quick":
        return [item for item in items if lane_of(item) == selection]
    return [item for item in quick(items, device) if item.nodeid.partition("[")[0] not in LONG_FUNCTIONS]


def quick(items: list[pytest.Item], device: str) -> list[pytest.Item]:
    """Return the tests of the selection ``quick``, with the long tests that it leaves out."""
    main = [
        item for item in items
        if lane_of(item) == MAIN and item.get_closest_marker("long") is None
        and _parameters(item).get("session", device) == device
    ]  # fmt: skip
    kept = {item for tests in _by_function(main) for item in _each_value_once(tests)}
    return [item for item in main if item in kept]


def _is_on_another(item: pytest.Item, device: str) -> bool:
    """Return whether *item* is of the main lane, and on another device than *device*."""
    return lane_of(item) == MAIN and _parameters(item).get("session", device) != device


def lines_about_all(device: str) -> list[str]:
    """Return lines that tell what a run of all lanes leaves out."""
    return [f"{MAIN} on other devices than {device}: combinations of parameters whose values are in other tests"]


def lines_about_quick() -> list[str]:
    """Return lines that tell what a quick run leaves out."""
    return [
        *(f"{name}: {lane.what}" for name, lane in LANES.items() if name != MAIN),
        f"{MAIN}: every device but the first; tests marked long, and {len(LONG_FUNCTIONS)} that take 1.5 seconds and "
        "more; of a test with several parameters it runs each value of each, not each combination",
    ]


def _parameters(item: pytest.Item) -> dict[str, Any]:
    return dict(item.callspec.params) if hasattr(item, "callspec") else {}


def _key(value: Any) -> Any:
    """Return what equal parameters have in common; objects of other classes may have a repr that raises."""
    return repr(value) if isinstance(value, str | int | float | dict | tuple | type | None) else id(value)


def _by_function(items: Iterable[pytest.Item]) -> Iterator[list[pytest.Item]]:
    tests = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    yield from tests.values()


def _each_value_once(tests: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield tests of one function until each value of each parameter is in one, those with most new values first."""
    values = {item: {(name, _key(value)) for name, value in _parameters(item).items()} for item in tests}
    missing = set().union(*values.values())
    if not missing:
        yield from tests
    for n_new in range(max(map(len, values.values())), 0, -1):
        for item, own in values.items():
            if len(own & missing) >= n_new:
                missing -= own
                yield item
