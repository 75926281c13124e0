"""The benchmarks from the user's array to the user's answer, and of first calls in new processes."""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bench_end_to_end
import bench_first_call
import bench_small_inputs
import end_to_end_calls
import first_answer
import numpy as np
import pytest
from scipy.sparse.csgraph import breadth_first_order, dijkstra
from test_benchmarks import Bench

from clgraph import generators
from clgraph.data.graph import Graph
from clgraph.errors import VerificationError
from clgraph.report import read_rows
from clgraph.runtime.child import search_path
from clgraph.runtime.session import Session


def test_calls_are_timed_from_the_array_to_the_answer(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "end_to_end", "0 1, 1 2, 2 0, 1 1, 2 3, 4 5")
    measured = bench.measure("--algorithms", "bfs", "--skip-cold")
    assert measured.returncode == 0 and "scipy / ours" in measured.stdout, measured.stderr
    rows = {row["strategy"]: row for row in read_rows(bench.results)}
    calls = {f"{one}, {call}" for one in ("scipy", "Graph", "networkx") for call in ("first call", "later call")}
    assert {*rows} == calls | {"scipy", "networkx"} and {row["graph"] for row in rows.values()} == {
        f"{bench.graph}: bfs"
    }
    for row in (rows[call] for call in calls):
        parts = ("check", "convert", "statistics", "upload", "kernel", "read", "compile", "python")
        assert all(row[f"{part}_seconds"] >= 0 for part in parts) and row["verified"]
        assert 0 < row["python_seconds"] <= row["least_wall_seconds"] <= row["wall_seconds"]
        assert row["networkx_seconds"] == rows["networkx"]["least_wall_seconds"] > 0 < row["scipy_seconds"]
    assert rows["networkx, later call"]["convert_seconds"] > 0 == rows["Graph, later call"]["statistics_seconds"]


def test_a_new_process_tells_when_it_answered_and_how_much_it_took(tmp_path: Path) -> None:
    graph, file = generators.grid(9, 9), tmp_path / "graph.npz"
    np.savez(file, row_offsets=graph.row_offsets, column_indices=graph.column_indices)
    command = [sys.executable, first_answer.__file__, "color", "networkx", str(file), "0", "pocl"]
    environment = {**os.environ, "PYTHONPATH": search_path()}
    started = time.time()
    found = json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    assert started < found["answered"] < time.time() and 0 < found["load_seconds"] < time.time() - started
    assert 0 <= found["peak_bytes"] < 1 << 28 and found["ran"]


def test_an_answer_that_differs_from_scipys_is_refused(pocl: Session) -> None:
    graph = generators.random_weights(generators.grid(5, 4), seed=1)
    matrix = graph.to_scipy().astype(float)
    for calls in end_to_end_calls.ALGORITHMS.values():
        expected = None if calls.scipy is None else calls.scipy(matrix, 3)
        found = calls.ours(graph, 3, pocl)
        array = calls.check(graph, 3, found, expected)
        wrong = SimpleNamespace(n_components=1, weight=getattr(found, "weight", 0), edges=array[:-1])
        wrong.labels = wrong.distances = wrong.colors = np.full_like(array, 7)
        with pytest.raises(VerificationError):
            calls.check(graph, 3, wrong, expected)


@pytest.mark.parametrize("make", [generators.grid, generators.uniform_random, generators.rmat])
def test_distances_of_scipys_breadth_first_order(make: Callable[[int, int], Graph]) -> None:
    matrix = make(6, 4).to_scipy().astype(float)
    found = end_to_end_calls.distances(matrix.shape[0], *breadth_first_order(matrix, 1))
    lengths = dijkstra(matrix, indices=1, unweighted=True)
    np.testing.assert_array_equal(found, np.where(np.isfinite(lengths), lengths, -1))


def test_the_parts_of_a_call_are_known_by_name() -> None:
    for file in bench_end_to_end.KERNEL_PARTS.values():
        assert bench_end_to_end.kernel_names(file)
    with bench_end_to_end.watched() as seconds:
        Graph.from_scipy(generators.path(9).to_scipy()).stats.max_degree  # noqa: B018
        assert seconds["check"] > 0 < seconds["statistics"]
    assert "lambda" not in Graph.from_scipy.__qualname__ and not seconds["convert"]


def test_calls_on_small_graphs_that_take_too_long_are_named(pocl: Session) -> None:
    args = argparse.Namespace(repeats=2)
    row = bench_small_inputs.measure(args, pocl, "path 10", end_to_end_calls.ALGORITHMS["bfs"], generators.path(10))
    assert row["ran"] == "host" and row["n_vertices"] == 10
    assert row["allowed_seconds"] == pytest.approx(1.25 * row["scipy_seconds"] + 2e-4)
    quick, late = {**row, "least_wall_seconds": 0.0}, {**row, "graph": "late", "least_wall_seconds": 1.0}
    assert "none of 1" in bench_small_inputs.table([quick])
    told = bench_small_inputs.table([quick, late])
    assert "late" in told and "path 10" not in told and "1 of 2 calls" in told


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
