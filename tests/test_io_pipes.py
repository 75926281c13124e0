"""Graphs and ratings from pipes and standard input."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from clgraph.errors import GraphFileError, GraphFileWarning
from clgraph.io import read
from clgraph.io.ratings import read_ratings

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")


def fed(path: Path, data: bytes) -> threading.Thread:
    """Make a named pipe, and start a thread that writes *data* to it."""
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(data,))
    writer.start()
    return writer


def test_a_pipe_is_read_as_the_file_is(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = "".join(f"{a} {b} {w}\n" for a, b, w in rng.integers(0, 5000, (60_000, 3)))  # more than a pipe holds
    file, pipe = tmp_path / "edges.txt", tmp_path / "pipe"
    file.write_text(lines)
    writer = fed(pipe, lines.encode())
    found, wanted = read(pipe, base=0, cache=True), read(file, base=0)
    writer.join()
    for name in ("row_offsets", "column_indices", "edge_weights"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


def test_errors_and_warnings_name_the_pipe(tmp_path: Path) -> None:
    writer = fed(tmp_path / "one", b"0 1\n1 x\n")
    with pytest.raises(GraphFileError, match=rf"^{tmp_path}/one, line 2: '1 x'"):
        read(tmp_path / "one")
    writer.join()
    writer = fed(tmp_path / "two", b"3 7 881250949\n4 1 881250950\n")
    with pytest.warns(GraphFileWarning, match=f"^{tmp_path}/two"):
        assert read_ratings(tmp_path / "two").n_ratings == 2
    writer.join()


@pytest.mark.parametrize("dash", ["-", "/dev/stdin"])
def test_a_dash_is_standard_input(dash: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clgraph", "connected_components", dash, "--ids", "names", "-o", "-"],
        input="ann bob\ncid dan\n", env={**os.environ, "CLGRAPH_DEVICE": "pocl", "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["ann", "0", "bob", "0", "cid", "1", "dan", "1"]
