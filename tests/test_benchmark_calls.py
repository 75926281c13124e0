"""Times of calls from the user's array to the user's answer, and of new processes."""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bench_csgraph
import bench_end_to_end
import call_parts
import end_to_end_calls
import first_answer
import numpy as np
import pytest
from benchmark_runs import Bench, run_script
from scipy.sparse.csgraph import breadth_first_order, dijkstra

from clgraph import generators
from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.reference.bfs import depths
from clgraph.report import read_rows
from clgraph.runtime.discovery.child import search_path
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
        array = calls.check(graph, found, expected)
        wrong = SimpleNamespace(n_components=1, weight=getattr(found, "weight", 0), edges=array[:-1])
        wrong.labels = wrong.distances = wrong.colors = np.full_like(array, 7)
        with pytest.raises(VerificationError):
            calls.check(graph, wrong, expected)


@pytest.mark.parametrize("make", [generators.grid, generators.uniform_random, generators.rmat])
def test_distances_follow_from_scipys_breadth_first_order(make: Callable[[int, int], Graph]) -> None:
    matrix = make(6, 4).to_scipy().astype(float)
    found = depths(*breadth_first_order(matrix, 1))
    lengths = dijkstra(matrix, indices=1, unweighted=True)
    np.testing.assert_array_equal(found, np.where(np.isfinite(lengths), lengths, -1))


def test_the_parts_of_a_call_are_known_by_name() -> None:
    for file in call_parts.KERNEL_PARTS.values():
        assert call_parts.kernel_names(file)
    with call_parts.watched() as seconds:
        Graph.from_scipy(generators.path(9).to_scipy()).stats.max_degree  # noqa: B018
        assert seconds["check"] > 0 < seconds["statistics"]
    assert "lambda" not in Graph.from_scipy.__qualname__ and not seconds["convert"]


def test_calls_on_small_graphs_that_take_too_long_are_named(pocl: Session) -> None:
    args = argparse.Namespace(repeats=2)
    calls = end_to_end_calls.ALGORITHMS["bfs"]
    row = bench_end_to_end.measure_small(args, pocl, "path 10", calls, generators.path(10))
    assert row["ran"] == "host" and row["n_vertices"] == 10
    assert row["allowed_seconds"] == pytest.approx(1.25 * row["scipy_seconds"] + 2e-4)
    quick, late = {**row, "least_wall_seconds": 0.0}, {**row, "graph": "late", "least_wall_seconds": 1.0}
    assert "none of 1" in bench_end_to_end.table_of_late([quick])
    told = bench_end_to_end.table_of_late([quick, late])
    assert "late" in told and "path 10" not in told and "1 of 2 calls" in told


def test_csgraph_is_timed_beside_scipys(tmp_path: Path) -> None:
    options = ("-d", "pocl", "--repeats", "1", "--graphs", "road", "--edges", "100", "20000", "--json", "rows.json")
    ran = run_script(tmp_path, "bench_csgraph.py", *options)
    assert ran.returncode == 0 and "road 20000: dijkstra, min_only" in ran.stdout, ran.stderr
    rows = read_rows(tmp_path / "rows.json")
    assert len(rows) == 2 * len(bench_csgraph.CALLS) and all(row["verified"] for row in rows)
    assert all(row["scipy_seconds"] > 0 < row["least_wall_seconds"] for row in rows)
    assert {row["ran"] for row in rows if row["n_edges"] < 1000} == {"scipy"}
    assert {row["ran"] for row in rows} > {"scipy"}


def test_an_answer_of_csgraph_that_differs_from_scipys_is_refused() -> None:
    matrix = generators.random_weights(generators.grid(5, 4), seed=1).to_scipy().astype(float)
    for call in bench_csgraph.CALLS.values():
        expected = getattr(bench_csgraph.scipys, call.function)(matrix, **call.arguments(matrix))
        bench_csgraph.check(call.function, matrix, expected, expected)
        wrong: Any = deepcopy(expected)
        if isinstance(wrong, tuple):
            wrong[1][:] = 3
        else:
            np.asarray(getattr(wrong, "data", wrong) if call.function == "minimum_spanning_tree" else wrong)[0] += 1
        with pytest.raises(VerificationError):
            bench_csgraph.check(call.function, matrix, wrong, expected)


def test_new_processes_have_the_caches_that_their_rows_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New ones have no cache, cold ones only the verdicts; of the processes with warm caches the fastest counts."""
    calls, seconds, found = end_to_end_calls.ALGORITHMS["bfs"], iter([9.0, 8.0, 7.0, 1.0]), []

    def answered(command: list[str], env: dict[str, str], **_: Any) -> SimpleNamespace:
        caches = Path(env["CLGRAPH_CACHE_DIR"])
        found.append(sorted(path.name for path in caches.glob("*")))
        for name in ("drivers", "self-tests", "pocl"):
            (caches / name).mkdir(parents=True, exist_ok=True)
        now = time.time()
        return SimpleNamespace(stdout=json.dumps({"began": now, "answered": now + next(seconds), "load_seconds": 0.0}))

    monkeypatch.setattr(first_answer.subprocess, "run", answered)
    args = argparse.Namespace(device="", repeats=2, skip_cold=False, caches=["new", "cold", "warm"])
    rows = dict(bench_end_to_end.cold_processes(args, calls, "Graph", generators.path(3), 0))
    least = [(name, round(row["least_wall_seconds"])) for name, row in rows.items()]
    assert least == [(f"cold process, {name} caches", n) for name, n in (("new", 9), ("cold", 8), ("warm", 1))]
    verdicts, kernels = ["drivers", "self-tests"], ["drivers", "pocl", "self-tests"]
    assert found == [[], verdicts, kernels, kernels]
