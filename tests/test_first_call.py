"""The benchmark of first calls gives its processes the caches that its rows tell."""

from pathlib import Path
from typing import Any

import bench_first_call
import pytest


def test_first_calls_have_the_caches_that_their_rows_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the processes with warm caches the fastest counts; new ones have no cache, cold ones only the verdicts."""
    seconds, found = iter([9.0, 8.0, 7.0, 2.0, 1.0, 6.0, 3.0, 4.0]), []

    def answered(call: str, file: Path, device: str, folder: Path) -> dict[str, Any]:
        found.append(sorted(path.name for path in folder.glob("clgraph/*")))
        for name in ("drivers", "self-tests", "pocl"):
            (folder / "clgraph" / name).mkdir(parents=True, exist_ok=True)
        return {"total_seconds": next(seconds)}

    monkeypatch.setattr(bench_first_call, "answered", answered)
    rows = bench_first_call.measure(tmp_path, "", 5, ["bfs", "sssp"], 2)
    told = [(row["algorithm"], row["caches"], row["total_seconds"]) for row in rows]
    assert told == [
        ("bfs", "new", 8.0), ("bfs", "cold", 7.0), ("bfs", "warm", 1.0), ("sssp", "cold", 6.0), ("sssp", "warm", 3.0)
    ]  # fmt: skip
    verdicts, kernels = ["drivers", "self-tests"], ["drivers", "pocl", "self-tests"]
    assert found[1:] == [[], verdicts, kernels, kernels, verdicts, kernels, kernels]
