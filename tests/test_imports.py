"""What importing clgraph, and asking its command for help, must not load."""

import json
import subprocess
import sys

import pytest
from conftest import ROOT

HEAVY = {
    "numpy",
    "scipy",
    "pyopencl",
    "rich",
    "tabulate",
    "networkx",
    "pyarrow",
    "matplotlib",
    "asyncio",
    "dask",
    "distributed",
}


def loaded_by(code: str) -> set[str]:
    """Return the top-level modules of a fresh interpreter that ran *code*."""
    report = "import json, sys; print('\\n' + json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    child = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(json.loads(child.stdout.splitlines()[-1]))


HELP = """from clgraph.cli.main import main
try:
    main({})
except SystemExit as stop:
    assert stop.code == 0"""


@pytest.mark.parametrize(
    "code", ["import clgraph", *map(HELP.format, (["--help"], ["bfs", "--help"], ["--version"], ["report", "--help"]))]
)
def test_import_and_help_load_nothing_heavy(code: str) -> None:
    assert loaded_by(code) & HEAVY == set()


def test_data_and_model_do_not_load_opencl() -> None:
    loaded = loaded_by("import clgraph.io, clgraph.generators, clgraph.model.strategy, clgraph.report")
    assert "numpy" in loaded  # the measurement sees imports
    assert "pyopencl" not in loaded


def test_every_public_name_exists() -> None:
    import clgraph

    missing = [name for name in clgraph.__all__ if not hasattr(clgraph, name)]
    assert missing == []
