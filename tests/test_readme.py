"""What README.md and the pages for users tell must be so: command lines, figures, links, names, and the demo."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, session_on

from clgraph.algorithms.table import MODULES, find_algorithm
from clgraph.cli.main import build_parser

README, COMMANDS, STRATEGY_TABLES, RESULTS = (
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "docs/command_line.md", "docs/strategies.md", "docs/results.md")
)


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_every_command_line_parses() -> None:
    lines = [line for page in (README, COMMANDS) for block in blocks(page, "sh") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("clgraph ")] + re.findall(r"`(clgraph explain .*?)`", README)
    assert len(commands) >= 10
    parser = build_parser()
    for line in commands:
        parser.parse_args(shlex.split(line, comments=True)[1:])


def test_the_times_in_the_readme_are_those_of_the_results() -> None:
    def times(page: str) -> dict[str, list[str]]:
        lines = [[cell.strip() for cell in line.split("|")] for line in page.splitlines() if line.startswith("|")]
        head = next(line for line in lines if "R-MAT 22" in line)
        places = [head.index(graph) for graph in ("R-MAT 22", "Delaunay", "road-like")]
        pages = [(re.search(r"algorithms/(\w+)\.md", cells[1]), cells) for cells in lines]
        return {page[1]: [cells[place] for place in places] for page, cells in pages if page}

    assert times(README) == times(RESULTS) and len(times(README)) == 5


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), ROOT / "cl" / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    links = [(page, link) for page, text in texts.items() for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert len(links) >= 20
    for page, link in links:
        path, _, anchor = link.partition("#")
        if "://" not in link:
            target = page.parent / path if path else page
            assert target.exists(), f"{page} links to {link}"
            assert not anchor or anchor in anchors(target), f"{page} links to {link}"


def test_kernels_and_modules_that_pages_name_are_there() -> None:
    """CONTRIBUTING.md may name others, which its readers write."""
    there = [f"/{path.relative_to(ROOT)}" for folder in ("cl", "clgraph", "tests", "benchmarks", "tools")
             for path in (ROOT / folder).rglob("*")]  # fmt: skip
    for page in [ROOT / "README.md", ROOT / "cl" / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for name in set(re.findall(r"[\w./]*\w\.(?:cl|h|py)\b", page.read_text(encoding="utf-8"))):
            assert any(path.endswith(f"/{name}") for path in there), f"{page} names {name}"


@pytest.mark.parametrize("algorithm", sorted(MODULES))
def test_the_table_names_every_strategy(algorithm: str) -> None:
    strategies = find_algorithm(algorithm).strategies
    _, _, table = STRATEGY_TABLES.partition(f"| strategy of `{algorithm}` |")
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", table.partition("\n\n")[0], re.MULTILINE)
    assert rows == [(name, strategy.kind) for name, strategy in strategies.items()]


def test_the_demo_shows_every_strategy_on_a_file(tmp_path: Path) -> None:
    from clgraph.algorithms.components import STRATEGIES

    session_on("pocl")
    graph = tmp_path / "graph.txt"
    graph.write_text("".join(f"{v} {v + 1}\n" for v in range(3000)), encoding="utf-8")
    command = [sys.executable, str(ROOT / "tools" / "demo.py"), "-d", "pocl"]
    shown = subprocess.run([*command, str(graph)], capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert re.search("n_vertices +3,001", shown.stdout) and "every result was checked" in shown.stdout
    assert all(f" {name} " in shown.stdout for name in STRATEGIES)
    missing = subprocess.run([*command, "absent.mtx"], capture_output=True, text=True, check=False)
    assert missing.returncode == 4 and "absent.mtx" in missing.stderr


def test_scripts_with_an_interpreter_in_their_first_line_can_be_run() -> None:
    for path in [*(ROOT / "tools").iterdir(), *(ROOT / "benchmarks").glob("*.py")]:
        if path.is_file():
            assert path.read_bytes().startswith(b"#!") == os.access(path, os.X_OK), path


@pytest.mark.parametrize("script", ["tools/demo", "tools/test", ".ci/run", "tools/environment.sh"])
def test_a_shell_script_parses(script: str) -> None:
    subprocess.run(["bash", "-n", str(ROOT / script)], check=True)
    assert os.access(ROOT / script, os.X_OK) == (not script.endswith(".sh"))
