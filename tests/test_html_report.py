"""The HTML report: its structure, its numbers, and how headless Chromium shows it at two widths."""

import html
import json
import re
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from command_line import (  # pytest finds fixtures by their names in this module
    Cli,
    cli_fixture,  # noqa: F401
    on_pocl_fixture,  # noqa: F401
)
from conftest import ROOT, require_tool

from clgraph.device.facts import DeviceFacts
from clgraph.device.profile_files import generic_profile
from clgraph.errors import ClgraphError
from clgraph.html_report import measured
from clgraph.html_report.elements import MAX_COLUMNS
from clgraph.html_report.page import report_page
from clgraph.html_report.studies import STUDIES
from clgraph.probing import api
from clgraph.report import read_rows
from clgraph.runtime.session import Session

FILES = (
    "splitting", "refine_mesh", "hetero", "minimum_spanning_forest", "multi_device_four", "hash_collisions",
    "factorization", "connected_components",
)  # fmt: skip
PHONE, DESKTOP = 390, 1280
_VOID = {"meta", "link", "br", "line", "polyline", "path", "rect", "circle"}  # These have no closing tag.


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    """The committed rows of all studies, on an H200."""
    return [row for name in FILES for row in read_rows(ROOT / f"benchmarks/results/{name}-h200.json")]


@pytest.fixture(scope="module")
def page(rows: list[dict[str, Any]]) -> str:
    facts = DeviceFacts("Test <1>", vendor="A & B", platform="Platform", global_mem_bytes=3 << 30)
    return report_page(facts, generic_profile(facts), rows, "The rows are from files.")


class Page(HTMLParser):
    """Checks that tags are nested, and collects attributes and the columns of each table."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.columns: list[int] = []
        self.boxed: list[bool] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attributes if name in ("src", "href", "xlink:href")]
        if tag == "table":
            self.columns.append(0)
            self.boxed.append(self.open[-1] == "div")
        self.columns[-1:] = [count + (tag == "th") for count in self.columns[-1:]]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open.pop() == tag


def test_the_page_is_whole_and_refers_to_nothing_outside(page: str) -> None:
    parsed = Page(page)
    assert parsed.open == []
    assert {address[0] for address in parsed.addresses if address != "data:,"} == {"#"}
    assert not re.search(r"@import|url\(|<script", page)
    assert parsed.columns and max(parsed.columns) <= MAX_COLUMNS and all(parsed.boxed)
    assert "Test &lt;1&gt;" in page and "A &amp; B" in page and 'name="viewport"' in page


def test_studies_stand_beside_their_published_figures(rows: list[dict[str, Any]]) -> None:
    tables = {table.title: table.cells(rows) for study in STUDIES for table in study.tables}
    assert all(tables.values())
    saved = next(cells for title, cells in tables.items() if title.startswith("Kernel time saved"))
    assert saved[0] == [
        "bfs",
        "node splitting, best mda",
        "48.8",
        "55.9",
        "94",
        "93",
        "36",
    ]  # as docs/algorithms/bfs.md
    refined = {str(row[0]): row for row in tables["Refining a mesh of 5.6 million triangles to 30 degrees"]}
    assert refined["two_stage_balanced"][1:3] == ["12.1", "72.8"]
    assert not any(table.cells([]) for study in STUDIES for table in study.tables)


def test_every_strategy_is_measured_or_has_a_reason(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(session: Session, algorithm: Any, problem: Any, strategy: str) -> list[float]:
        if strategy == "rem":
            raise ClgraphError("it is broken")
        return [0.25, 0.5, 1.0]

    monkeypatch.setattr(measured, "_call_seconds", refuse)
    rows = {(row["graph"], row["strategy"]): row for row in measured.measured_rows(session, ["connected_components"])}
    graphs = {graph for graph, _ in rows}
    assert len(graphs) == 2 and sum(row["picked"] for row in rows.values()) == 2
    for graph in graphs:
        assert rows[graph, "rem"]["reason"] == "it is broken" and rows[graph, "rem"]["wall_seconds"] is None
        assert rows[graph, "afforest"]["least_wall_seconds"] == 0.25 and rows[graph, "afforest"]["wall_seconds"] == 0.5
        assert rows[graph, "afforest"]["predicted_seconds"] > 0


@pytest.mark.usefixtures("on_pocl")
def test_a_probe_becomes_a_page(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A newcomer measures the device, then writes its page. The trials of this probe are short."""
    tiny = {"long_enough": 1e-6, "items_step": 64, "words_step": 1 << 10, "bytes_step": 64}
    monkeypatch.setattr(api, "QUICK", replace(api.QUICK, **tiny, cpu_scratch_bytes=1 << 20))
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    cli.text("probe")
    path = tmp_path / "device.html"
    assert cli.text("report", "--html", str(path), "-b", "minimum_spanning_forest") == f"{path}\n"
    text = path.read_text(encoding="utf-8")
    assert Page(text).open == [] and "Rates: measured" in text and "edge_list" in text
    assert "folder" in cli.error("report", "--html", str(tmp_path / "none" / "a.html"))
    assert "connected_components" in cli.error("report", "--html", str(path), "-b", "components")
    assert "--html" in cli.error("report") and "--html" in cli.error("report", "-d", "pocl", "rows.json")


def test_chromium_shows_the_page_at_both_widths(page: str, tmp_path: Path) -> None:
    """No error on the console; tables scroll in their own boxes, and the page itself does not scroll sideways."""
    frames = "".join(
        f'<iframe width="{width}" height="800" srcdoc="{html.escape(page)}"></iframe>' for width in (PHONE, DESKTOP)
    )
    script = """<script>addEventListener("load", () => {
      const widths = Array.from(frames).map(one => {
        const boxes = [...one.document.querySelectorAll(".scroll")];
        return [one.innerWidth, one.document.documentElement.scrollWidth, Math.max(...boxes.map(b => b.clientWidth)),
          boxes.filter(b => b.scrollWidth > b.clientWidth).length, boxes.length];
      });
      document.body.replaceChildren(document.createTextNode("widths " + JSON.stringify(widths) + " end"));
    })</script>"""
    around = tmp_path / "around.html"
    around.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body>{frames}{script}', encoding="utf-8")
    command = [
        require_tool("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
        f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", around.as_uri(),
    ]  # fmt: skip
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert not [line for line in shown.stderr.splitlines() if "CONSOLE" in line]
    found = re.search(r"widths (\[.*\]) end", shown.stdout)
    assert found is not None
    phone, desktop = json.loads(found[1])
    for (inner, whole, widest, _, _), width in ((phone, PHONE), (desktop, DESKTOP)):
        assert inner == width and whole <= width and widest <= width
    assert phone[3] > desktop[3]  # On a phone more tables scroll.
