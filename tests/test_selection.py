"""Lanes of the suite: every file has one, and a quick run keeps each value of each parameter."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import selection
from conftest import ROOT
from kept_caches import claim_folder

FILES = {path.stem for path in (ROOT / "tests").glob("test_*.py")}


class Case(SimpleNamespace):
    __hash__ = object.__hash__  # type: ignore[assignment]


def case(file: str, name: str, marks: tuple[str, ...] = (), fixtures: tuple[str, ...] = (), **parameters: Any) -> Any:
    """Return what the selection reads of a test."""

    def function() -> None: ...

    return Case(
        path=Path(f"tests/{file}.py"), nodeid=f"tests/{file}.py::{name}[{parameters}]", function=function,
        callspec=SimpleNamespace(params=parameters), fixturenames=(*fixtures, *parameters),
        get_closest_marker=lambda mark: mark if mark in marks else None,
    )  # fmt: skip


def test_files_of_lanes_exist_and_belong_to_one() -> None:
    named = [file for lane in selection.LANES.values() for file in lane.files]
    assert {*named} <= FILES and len(named) == len({*named})
    assert {*selection.LONG_TESTS} <= {*selection.LANES}


@pytest.mark.parametrize("name", selection.LANES)
def test_files_of_other_lanes_are_not_read(name: str) -> None:
    paths = [ROOT / "tests" / f"{file}.py" for file in FILES]
    read = {path.stem for path in paths if not selection.is_elsewhere(path, name)}
    main = FILES - {file for lane in selection.LANES.values() for file in lane.files}
    assert read == ({*selection.LANES[name].files} or main)
    assert not any(selection.is_elsewhere(path, "all") for path in paths)


def test_long_functions_are_left_out_of_a_quick_run_and_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    assert selection.LONG_FUNCTIONS
    for name in selection.LONG_FUNCTIONS:
        file, _, function = name.partition("::")
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), f"{name} is in long_tests.txt"
    monkeypatch.setattr(selection, "LONG_FUNCTIONS", {"tests/test_bfs.py::test_zoo"})
    tests = [case("test_bfs", "test_zoo", session="pocl"), case("test_bfs", "test_two", session="pocl")]
    assert selection.select(tests, "quick", "pocl") == tests[1:]
    assert selection.select(tests, "all", "pocl") == tests


def test_a_quick_run_has_each_value_of_each_parameter_on_one_device() -> None:
    product = itertools.product(("pocl", "intel"), ("star", "path", "grid"), ("rem", "afforest"), ({}, {"k": 2}))
    tests = [
        case("test_bfs", "test_zoo", session=device, graph=graph, strategy=strategy, options=options)
        for device, graph, strategy, options in product
    ]
    kept = [test.callspec.params for test in selection.select(tests, "quick", "pocl")]
    assert len(kept) == 3 and {test["session"] for test in kept} == {"pocl"}
    assert {test["graph"] for test in kept} == {"star", "path", "grid"}
    assert {test["strategy"] for test in kept} == {"rem", "afforest"}
    assert {str(test["options"]) for test in kept} == {"{}", "{'k': 2}"}
    assert selection.select(tests, "complete", "pocl") == tests
    params = [test.callspec.params for test in selection.select(tests, "all", "pocl")]
    assert sum(test["session"] == "pocl" for test in params) == 12
    others = [test for test in params if test["session"] == "intel"]
    assert len(others) == 3 and {test["graph"] for test in others} == {"star", "path", "grid"}


def test_lanes_and_long_tests_are_left_out_of_a_quick_run_only() -> None:
    plain, long = case("test_bfs", "test_plain"), case("test_bfs", "test_long", ("long",))
    tests = [
        plain,
        long,
        race := case("test_races", "test_race"),
        of_device := case("test_bfs", "on", (), ("session",)),
    ]
    assert selection.select(tests, "quick", "pocl") == [plain, of_device]
    assert selection.select(tests, selection.MAIN, "pocl") == [plain, long, of_device]
    assert selection.select(tests, "races", "pocl") == [race]
    assert selection.select(tests, "gpu", "pocl") == [of_device]


def test_each_run_claims_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that has grown too large is emptied; a process keeps its claim until it ends."""
    kept = tmp_path / "run-0" / "gw0" / "program"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(bytes(100))
    assert [claim_folder(tmp_path).name for _ in range(2)] == ["run-0", "run-1"]
    assert kept.exists()
    large = tmp_path / "run-2" / "gw0" / "program"
    large.parent.mkdir(parents=True)
    large.write_bytes(bytes(100))
    monkeypatch.setattr("kept_caches.MAX_BYTES", 99)
    assert claim_folder(tmp_path).name == "run-2" and not large.parent.exists()
