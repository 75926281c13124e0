"""What README.md shows must work: its Python, its command lines, and the demo."""
from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, session_on

from clgraph.algorithms.explain import ALGORITHMS
from clgraph.cli.main import build_parser

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_python_example_runs(tmp_path: Path) -> None:
    session_on("pocl")
    example, *others = blocks("python")
    child = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    first, *_, last = child.stdout.splitlines()
    assert first.split()[0] == last  # as many components with the forced strategy
    child = subprocess.run(
        [sys.executable, "-c", "\n".join(["import clgraph as cg", *others])], cwd=tmp_path,
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "CLGRAPH_DEVICE": "pocl"},
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    assert 0.5 < float(child.stdout.split()[-1]) < 0.75  # the noise is 0.5


def test_every_command_line_parses() -> None:
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("clgraph ")]
    assert len(lines) >= 10
    parser = build_parser()
    for line in lines:
        parser.parse_args(shlex.split(line, comments=True)[1:])


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


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_the_table_names_every_strategy(algorithm: str) -> None:
    strategies = importlib.import_module(ALGORITHMS[algorithm].module).STRATEGIES
    _, _, table = README.partition(f"| strategy of `{algorithm}` |")
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
    assert "3,001 vertices" in shown.stdout and shown.stdout.count("-> ") == 2
    assert all(f" {name} " in shown.stdout for name in STRATEGIES)
    missing = subprocess.run([*command, "absent.mtx"], capture_output=True, text=True, check=False)
    assert missing.returncode == 4 and "absent.mtx" in missing.stderr


@pytest.mark.parametrize("script", ["tools/demo", "tools/test", ".ci/run", "tools/environment.sh"])
def test_a_shell_script_parses(script: str) -> None:
    subprocess.run(["bash", "-n", str(ROOT / script)], check=True)
    assert os.access(ROOT / script, os.X_OK) == (not script.endswith(".sh"))
