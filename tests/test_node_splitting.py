"""Splitting of vertices, child launches, rounds, and the spread of work that they are there for."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, intel_session
from graphs import with_wide_offsets

import clgraph as cg
from clgraph.algorithms.bfs import STRATEGIES, as_problem, bfs
from clgraph.algorithms.bfs.load_balance import plot_balance, profile_balance
from clgraph.algorithms.sssp import ALGORITHM as SSSP
from clgraph.algorithms.sssp import sssp
from clgraph.algorithms.traversal.plan import SearchPlan
from clgraph.algorithms.traversal.prices import model_mda
from clgraph.algorithms.traversal.strategies import histogram_mda
from clgraph.cli.main import main
from clgraph.data.graph import Graph
from clgraph.errors import InputError
from clgraph.generators import random_weights
from clgraph.reference.bfs import bfs_distances
from clgraph.reference.sssp import check_sssp
from clgraph.report import read_rows
from clgraph.runtime.session import Session

ROUNDS = ("topology_driven", "node_splitting", "child_launch")


def graphs() -> list[Graph]:
    return [
        cg.generators.rmat(10, 16), cg.generators.star(5000), cg.generators.path(100), Graph.from_edges([], [], n=3),
        with_wide_offsets(cg.generators.rmat(9, 8)), Graph.from_edges([0] * 9, [0] * 9, directed=True),
    ]  # fmt: skip


def split(session: Session, graph: Graph, **options: Any) -> SearchPlan:
    plan = STRATEGIES["node_splitting"].plan(session, as_problem(graph), **options)
    plan.run()
    assert isinstance(plan, SearchPlan)
    return plan


@pytest.mark.parametrize("mda", [1, 3, 8, 1000])
def test_parts_cover_each_row_once(session: Session, mda: int) -> None:
    for graph in graphs():
        plan = split(session, graph, mda=mda)
        begin, end, parent = (plan.arrays[f"part_{name}"].get() for name in ("begin", "end", "parent"))
        n, degrees = graph.n_vertices, graph.degrees.astype(np.int64)
        assert begin.dtype == graph.row_offsets.dtype
        assert plan.details["n_extra"] == parent.size - n == np.maximum(0, -(-degrees // mda) - 1).sum()
        sizes = end - begin
        assert sizes.max(initial=0) <= mda and np.array_equal(np.bincount(parent, sizes, n), degrees)
        assert np.array_equal(np.unique(parent), np.arange(n)) and (np.diff(parent) >= 0).all()
        assert np.array_equal(begin, np.append(0, end[:-1]))
        counts = np.bincount(parent)
        first = np.cumsum(counts) - counts
        assert (np.maximum.reduceat(sizes, first) - np.minimum.reduceat(sizes, first) <= 1).all()


def test_mda_by_histogram(pocl: Session) -> None:
    for graph in graphs():
        degrees = graph.degrees
        width = degrees.max() / 10
        bucket = np.minimum((degrees / width).astype(int), 9) if width else np.zeros(degrees.size, int)
        fullest = np.bincount(bucket).argmax()
        expected = max(1, int(degrees[bucket == fullest].max()))
        assert histogram_mda(degrees) == expected == split(pocl, graph, mda="histogram").details["mda"]
    assert histogram_mda(np.empty(0, np.int64)) == 1
    assert histogram_mda(np.array([0, 1, 2, 3, 3, 10])) == 3
    assert histogram_mda(np.array([10, 10, 10, 1])) == 10


def test_mda_by_the_cost_model(pocl: Session) -> None:
    rates, facts = pocl.profile.rates, pocl.facts
    skewed, even = cg.generators.rmat(12, 16), cg.generators.grid(60, 60)
    assert model_mda(even.stats, facts, rates, 4) == 4
    mda = model_mda(skewed.stats, facts, rates, 4)
    assert 4 <= mda <= skewed.stats.max_degree and split(pocl, skewed).details["mda"] == mda
    assert model_mda(cg.generators.star(10).stats, facts, rates, 4) >= 1


@pytest.mark.parametrize(
    ("strategy", "option", "value"),
    [*(("node_splitting", "mda", value) for value in (0, -1, 2.5, "most", None, 2**31)),
     *(("child_launch", "threshold", value) for value in (0, -1, 2.5, "most"))],
)  # fmt: skip
def test_bad_lengths_of_rows(pocl: Session, strategy: str, option: str, value: Any) -> None:
    with pytest.raises(InputError, match=option):
        bfs(cg.generators.path(9), 0, strategy=strategy, session=pocl, **{option: value})


def test_children_follow_their_parents(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without atomics by a kernel, without which their edges stay unseen; with atomics by themselves."""
    graph = cg.generators.star(300)
    with_copies = bfs(graph, 7, strategy="node_splitting", mda=4, session=session)
    without = bfs(graph, 7, strategy="node_splitting", mda=4, atomic=True, session=session)
    assert "child_update" in with_copies.info.kernels and "child_update" not in without.info.kernels
    assert np.array_equal(with_copies.distances, without.distances)
    plan = STRATEGIES["node_splitting"].plan(session, as_problem(graph, source=7), mda=4)
    rounds = plan.used[1]
    monkeypatch.setattr(rounds, "_launches", rounds._launches[1:])
    plan.run()
    distances = plan.result()[0]
    assert np.count_nonzero(distances >= 0) == 2 + 299 // 75  # the source, its neighbour, and what that one kept


@pytest.mark.parametrize("strategy", ROUNDS)
def test_balance(session: Session, strategy: str) -> None:
    """In the last round all that is reached looks at its edges."""
    options = {"node_splitting": {"mda": 8}, "child_launch": {"threshold": 8}}.get(strategy, {})
    graph = random_weights(cg.generators.rmat(12, 8), high=9)
    for search in (bfs, sssp):
        result = search(graph, 5, strategy=strategy, balance=True, session=session, **options)
        rows = result.info.balance
        assert [row.round for row in rows] == list(range(1, result.info.details["rounds"] + 1))
        assert rows[-1].edges == graph.degrees[result.distances >= 0].sum()
        for row in rows:
            assert row.least <= row.mean <= row.most and row.mean * row.groups == pytest.approx(row.edges)
    assert search(graph, 5, strategy=strategy, session=session).info.balance is None
    for table, problem in ((STRATEGIES, as_problem(graph)), (SSSP.strategies, SSSP.problem(graph))):
        plan = table[strategy].plan(session, problem, balance=True, **options)
        plan.run()
        assert plan.group_edges.sum() == max(row.edges for row in plan.balance)


def test_splitting_evens_the_work(pocl: Session) -> None:
    graph = cg.generators.star(100_000)
    before, after = (
        bfs(graph, 0, strategy="node_splitting", mda=mda, balance=True, session=pocl).info.balance[-1]
        for mda in (10**6, 16)
    )
    assert before.edges == after.edges and after.most < before.most / 20


def test_rounds(session: Session) -> None:
    """The last one changes nothing; atomics lose no lowering."""
    for options in ({}, {"atomic": True}):
        path = bfs(cg.generators.path(500).permuted(1), 0, strategy="topology_driven", session=session, **options)
        assert 2 <= path.info.details["rounds"] <= 501
    nothing = bfs(Graph.from_edges([0], [1], n=3), 2, strategy="topology_driven", session=session)
    assert nothing.info.details["rounds"] == 1


def test_children_from_the_device() -> None:
    """Where the driver can; elsewhere the host launches them."""
    session = intel_session()
    assert session.has_device_queue
    info = bfs(cg.generators.star(3000), 4, strategy="child_launch", session=session, verify=True).info
    assert info.details["launched_by"] == "device" and "relax_pieces" not in info.kernels


def test_children_from_the_host(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not session.has_device_queue or session.facts.dialect.standard == "CL3.0"
    monkeypatch.setitem(vars(session), "has_device_queue", False)
    graph = random_weights(cg.generators.rmat(13, 16), dtype=np.float32)
    for threshold in (1, 40, None):
        info = bfs(graph, 5, strategy="child_launch", threshold=threshold, session=session, verify=True).info
        assert info.details["launched_by"] == "host" and "relax_pieces" in info.kernels
        paths = sssp(graph, 5, strategy="child_launch", threshold=threshold, balance=True, session=session)
        check_sssp(graph, [5], paths.distances)
        assert paths.info.balance[-1].edges == graph.degrees[np.isfinite(paths.distances)].sum()


def test_what_the_device_queue_cannot_take_is_done_at_once() -> None:
    """Far more children than a queue holds anywhere."""
    session = intel_session()
    graph = cg.generators.uniform_random(30_000, 200_000)
    result = bfs(graph, 0, strategy="child_launch", threshold=1, session=session)
    assert result.info.details["launched_by"] == "device"
    assert np.array_equal(result.distances, bfs_distances(graph, [0]))


def test_profile(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = cg.generators.rmat(13, 8)
    profile = profile_balance(session, as_problem(graph, source=5), mda=16)
    assert profile.mda == 16 and profile.parts.max() <= 16 and profile.parts.sum() == profile.degrees.sum()
    assert profile.before[-1].edges == profile.after[-1].edges
    assert profile.groups_after.max() < profile.groups_before.max()
    for suffix in ("png", "svg"):
        plot_balance(profile, tmp_path / f"balance.{suffix}", "R-MAT 13")
        assert (tmp_path / f"balance.{suffix}").stat().st_size > 5000
    with pytest.raises(InputError, match="bogus"):
        plot_balance(profile, tmp_path / "balance.bogus", "R-MAT 13")
    drawn: list[Any] = []
    with monkeypatch.context() as context:
        context.setattr("matplotlib.figure.Figure.savefig", lambda figure, path: drawn.append(figure))
        plot_balance(profile, tmp_path / "balance.png", "R-MAT 13")
    *_, before, after = drawn[0].axes
    assert drawn[0].get_suptitle().startswith("R-MAT 13: ") and after.get_xticklabels()[3].get_text() == "4 to 7"
    for axes, sizes in ((before, profile.degrees), (after, profile.parts)):
        assert axes.patches[3].get_height() == np.count_nonzero((sizes >= 4) & (sizes <= 7)) > 0
        assert sum(bar.get_height() for bar in axes.patches) == sizes.size
    alone = profile_balance(session, as_problem(Graph.from_edges([], [], n=1)))
    plot_balance(alone, tmp_path / "alone.png", "alone")


def test_profile_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, picture = tmp_path / "graph.txt", tmp_path / "balance.png"
    path.write_text("".join(f"{u} {u // 3}\n" for u in range(1, 500)))
    options = ["bfs", str(path), "--source", "0", "-d", "pocl", "--profile-balance"]
    assert main([*options, "--plot", str(picture)]) == 0
    text = capsys.readouterr().out
    assert "before splitting" in text and "most / mean" in text and picture.stat().st_size > 5000
    assert main([*options, "--json"]) == 0
    balance = json.loads(capsys.readouterr().out)["balance_profile"]
    assert balance["mda"] >= 1 and balance["before"][-1]["edges"] == balance["after"][-1]["edges"]
    assert main(["bfs", str(path), "--source", "0", "-d", "pocl", "--plot", str(picture)]) == 4
    assert "--profile-balance" in capsys.readouterr().err
    assert main(["bfs", str(path), "--source", "0", "-d", "pocl", "-s", "node_splitting"]) == 0
    assert "n_extra" in capsys.readouterr().out


def test_benchmark(tmp_path: Path) -> None:
    graph, results = tmp_path / "graph.txt", tmp_path / "results.json"
    graph.write_text("".join(f"{u} {u // 9}\n" for u in range(1, 80)))
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "bench_splitting.py"), "-d", "pocl", "--graphs", str(graph),
         "--plot", str(tmp_path), "--json", str(results), "--repeats", "1", "--seconds", "600"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "% improvement" in done.stdout and "no time left" not in done.stdout, done.stderr
    rows = read_rows(results)
    assert {row["benchmark"] for row in rows} == {"bfs_splitting", "sssp_splitting"}
    assert {row["mda"] for row in rows if "mda" in row} >= {4, 8, 10}
    assert all((tmp_path / f"{name}-graph.txt.png").stat().st_size > 5000 for name in ("bfs", "sssp"))
