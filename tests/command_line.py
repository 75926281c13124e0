"""The ``clgraph`` command in this process, and a graph file for it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import session_on

from clgraph.cli.main import main

# Two triangles, one vertex pair and an isolated vertex; ids as a user would give them.
EDGES = "# two triangles and a pair\n# Nodes: 9 Edges: 7\n0 1\n1 2\n2 0\n3 4\n4 5\n5 3\n7 8\n"


@pytest.fixture(name="graph_file")
def graph_file_fixture(tmp_path: Path) -> str:
    path = tmp_path / "graph.txt"
    path.write_text(EDGES, encoding="utf-8")
    return str(path)


@dataclass
class Cli:
    """The command line in this process."""

    capsys: pytest.CaptureFixture[str]

    def text(self, *arguments: str, code: int = 0) -> str:
        """Return what it prints to stdout."""
        assert main(arguments) == code
        return self.capsys.readouterr().out

    def document(self, *arguments: str) -> Any:
        return json.loads(self.text(*arguments, "--json"))

    def error(self, *arguments: str, code: int = 4) -> str:
        """Return what it prints to stderr, also where that is a warning."""
        assert main(arguments) == code
        return self.capsys.readouterr().err


@pytest.fixture(name="cli")
def cli_fixture(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


@pytest.fixture(name="on_pocl")
def on_pocl_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    session_on("pocl")
    monkeypatch.setenv("CLGRAPH_DEVICE", "pocl")
