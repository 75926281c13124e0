"""Tables of benchmark results: rows, columns, CSV and LaTeX, and places in pages."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from clgraph import report
from clgraph.algorithms.table import MODULES
from clgraph.cli.main import main
from clgraph.errors import InputError


def row(graph: str, strategy: str, seconds: float, **fields: Any) -> dict[str, Any]:
    return {
        "benchmark": "connected_components", "device": "Test 1", "graph": graph, "strategy": strategy, "kind": "online",
        "wall_seconds": seconds, "predicted_seconds": 2 * seconds, "kernel_seconds": seconds / 2, **fields,
    }  # fmt: skip


OPENING, CLOSING = "<!-- report connected_components -->", "<!-- /report connected_components -->"
INTO = ("--benchmark", "connected_components", "--into")


ROWS = [
    row("road", "rem", 0.004, picked=True),
    row("road", "afforest", 0.001),
    row("road", "scipy", 0.0001, kind=None),
    row("rmat", "rem", 0.002),
    row("rmat", "afforest", 0.002, picked=True),
]


def test_strategies_marks_the_pick_and_the_fastest_strategy() -> None:
    lines = report.tabulate_rows(ROWS, "strategies", "github").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["device", "graph", "rem", "afforest", "scipy"]
    assert cells[2] == ["Test 1", "road", "4 *", "**1**", "0.1"]  # The fastest strategy is marked, and scipy is none.
    assert cells[3] == ["Test 1", "rmat", "**2**", "**2** *", ""]


def test_calls_have_tables_of_their_parts_and_of_how_they_compare() -> None:
    def call(graph: str, name: str, seconds: float, **fields: Any) -> dict[str, Any]:
        about = {"algorithm": "bfs", "input": "Graph", "call": name, "ran": "frontier", "least_wall_seconds": seconds}
        return row(graph, f"Graph, {name}", seconds, **about, **fields)

    calls = [
        call("road: bfs", "first call", 0.004, scipy_seconds=0.008, upload_seconds=0.001, read_seconds=0.0),
        call("road: bfs", "later call", 0.002, scipy_seconds=0.008),
        call("rmat: bfs", "later call", 0.002, scipy_seconds=0.002, networkx_seconds=0.02),
        row("road: bfs", "scipy", 0.008),
    ]
    parts = list(csv.reader(report.tabulate_rows(calls, "parts", "csv").splitlines()))
    columns = ["device", "graph", "input", "call", "strategy", "ms", "upload", "kernel"]
    assert parts[0] == [*columns, "scipy / ours", "networkx / ours"]
    assert parts[1] == ["Test 1", "road: bfs", "Graph", "first call", "frontier", "4", "1", "2", "2.00", ""]
    assert len(parts) == 4 and parts[3][-2:] == ["1.00", "10.00"]
    ratios = list(csv.reader(report.tabulate_rows(calls, "ratios", "csv").splitlines()))
    assert ratios == [
        ["device", "algorithm", "Graph, first call", "Graph, later call"],
        ["Test 1", "bfs", "2.00 (2.00)", "2.00 (1.00)"],
    ]
    given = [{**call, "input": "networkx"} for call in calls[:3]]
    assert report.tabulate_rows(given, "ratios", "csv").endswith("\nTest 1,bfs,10.00 (10.00)")
    for table in ("parts", "ratios"):
        with pytest.raises(InputError, match="no row"):
            report.tabulate_rows(ROWS, table, "csv")


def test_csv_holds_plain_numbers_and_quotes_commas() -> None:
    text = report.tabulate_rows([row("a,b", "rem", 0.0125)], "strategies", "csv")
    assert list(csv.reader(text.splitlines())) == [["device", "graph", "rem"], ["Test 1", "a,b", "12.5"]]


def test_latex_is_a_tabular_with_escapes() -> None:
    text = report.tabulate_rows([row("a_b", "rem", 1.5)], "rows", "latex")
    assert text.startswith(r"\begin{tabular}") and text.endswith(r"\end{tabular}")
    assert r"a\_b" in text and "1500" in text and "3000" in text and "750" in text


def test_regrets_divide_the_pick_by_the_best() -> None:
    assert report.regrets(ROWS) == {
        ("Test 1", "road"): ("rem", "afforest", pytest.approx(4)),
        ("Test 1", "rmat"): ("afforest", "rem", pytest.approx(1)),
    }
    text = report.tabulate_rows(ROWS, "regret", "csv")
    assert "Test 1,geometric mean,,,2.00" in text and "Test 1,worst,,,4.00" in text


def test_kernel_times_leave_out_what_has_none() -> None:
    rows = [*ROWS[:2], row("road", "scipy", 0.0001, kind=None, kernel_seconds=None)]
    rows[1] = {**rows[1], "kernel_seconds": 0.003}
    text = report.tabulate_rows(rows, "strategies", "github", "kernel")
    assert "**2** *" in text and " 3 |" in text and "scipy" not in text
    assert report.regrets(rows[:2], "kernel") == {("Test 1", "road"): ("rem", "rem", 1.0)}


def test_written_rows_replace_those_of_the_same_measurement(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.json"
    report.write_rows(path, ROWS)
    report.write_rows(path, [row("rmat", "rem", 7.0), row("grid", "rem", 8.0)])
    seconds = {(r["graph"], r["strategy"]): r["wall_seconds"] for r in report.read_rows(path)}
    assert len(seconds) == len(ROWS) + 1
    report.write_rows(path, [row("grid", "rem", 9.0, platform="Another")])  # the same processor
    assert len(report.read_rows(path)) == len(ROWS) + 2
    assert seconds["rmat", "rem"] == 7.0 and seconds["road", "rem"] == 0.004


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "not JSON"),
        ("[]", "schema"),
        ('{"schema": 99, "rows": []}', "schema"),
        ('{"schema": 1, "rows": [{"benchmark": "connected_components"}]}', "row 0 lacks device, graph"),
    ],
)
def test_a_file_that_holds_no_results_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        report.read_rows(path)


def test_the_command_fills_the_place_in_a_file(tmp_path: Path) -> None:
    results, page = tmp_path / "results.json", tmp_path / "page.md"
    results.write_text(json.dumps({"schema": 1, "rows": ROWS}), encoding="utf-8")
    page.write_text(f"above\n{OPENING}\nold\n{CLOSING}\nbelow\n", encoding="utf-8")
    for _ in range(2):  # the second time changes nothing
        assert main(["report", str(results), "--table", "regret", *INTO, str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"above\n{OPENING}\n| device") and text.endswith(f"{CLOSING}\nbelow\n")
    assert "old" not in text and text.count("geometric mean") == 1


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results, page = tmp_path / "results.json", tmp_path / "page.md"
    old = f"{OPENING}\nold\n{CLOSING}\n"
    page.write_text(old, encoding="utf-8")
    report.write_rows(results, ROWS)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(InputError, match=r"results\.json: cannot be written: No space"):
        report.write_rows(results, [row("grid", "rem", 8.0)])
    assert main(["report", str(results), *INTO, str(page)]) == 4
    assert len(report.read_rows(results)) == len(ROWS) and page.read_text(encoding="utf-8") == old
    assert {path.name for path in tmp_path.iterdir()} == {"results.json", "page.md"}


def test_a_page_without_a_place_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results, page = tmp_path / "results.json", tmp_path / "page.md"
    results.write_text(json.dumps({"schema": 1, "rows": ROWS}), encoding="utf-8")
    page.write_text("no marks", encoding="utf-8")
    assert main(["report", str(results), *INTO, str(page)]) == 4
    assert OPENING in capsys.readouterr().err
    assert main(["report", str(results), "--into", str(page)]) == 4
    assert "--benchmark" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "no marks"
    assert main(["report", str(results), "--benchmark", "sssp"]) == 4


@pytest.mark.parametrize("table", report.TABLES)
def test_all_of_the_projects_own_results_have_tables(
    table: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "benchmarks" / "results")
    files = sorted(os.listdir())
    assert main(["report", *files, "--table", table]) == 0
    captured = capsys.readouterr()
    without_rows = {line.split(":")[1].strip() for line in captured.err.splitlines() if "no times" in line}
    benchmarks = set(report.by_benchmark(row for f in {*files} - without_rows for row in report.read_rows(f)))
    without_calls = {"amd", "first_call", "host_mutations", "io", "primitives", "probe"}
    assert {name.partition("-")[0] for name in without_rows} == without_calls
    n_tables = captured.out.count("### ")
    assert {*MODULES} < benchmarks and n_tables == captured.out.count("\n| device")
    assert n_tables >= (0 if table in ("parts", "ratios") else len(MODULES))  # these are of calls, not of strategies
    assert n_tables + captured.err.count(": left out: ") == len(benchmarks)


@pytest.mark.parametrize(
    ("algorithm", "machines", "options"),
    [("connected_components", ["h200", "pocl"], ["--time", "kernel"]), ("factorization", ["h200"], [])],
)
def test_the_page_of_results_holds_what_the_files_say(
    tmp_path: Path, algorithm: str, machines: list[str], options: list[str]
) -> None:
    page = tmp_path / "results.md"
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    page.write_text(text, encoding="utf-8")
    files = [str(ROOT / "benchmarks" / "results" / f"{algorithm}-{machine}.json") for machine in machines]
    assert main(["report", *files, *options, "--benchmark", algorithm, "--into", str(page)]) == 0
    assert page.read_text(encoding="utf-8") == text
