"""The harness that times plans, the store of its graphs, and the scripts that users run."""

import importlib
import os
import shutil
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import bench_factorization
import bench_generators
import harness
import inputs
import limited
import numpy as np
import picks
import pytest
import unseen
from benchmark_runs import Bench, run_script
from conftest import ROOT, session_on
from test_processes import name_of

from clgraph import generators
from clgraph.algorithms import factorization
from clgraph.algorithms.color import STRATEGIES as COLORINGS
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.schedules.locked import edge_locked
from clgraph.algorithms.minimum_spanning_forest import STRATEGIES as FORESTS
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.stats import GraphStats
from clgraph.data.ratings.ratings import Ratings
from clgraph.device.facts import DeviceFacts
from clgraph.errors import InputError, VerificationError
from clgraph.model.cost import Atomics, Chain, Gathers, HostItems, Work
from clgraph.model.strategy import Choice, Strategy, choose
from clgraph.report import read_rows
from clgraph.runtime.graphs.device_graph import GraphOnDevice
from clgraph.runtime.session import Session


class FillPlan:
    """A plan of one kernel that counts its runs."""

    def __init__(self, session: Session, graph: Graph) -> None:
        n = 1 << 16
        self.labels = session.empty(n, np.int32)
        self.n_runs = 0
        program = session.program("primitives/fill.cl", {"T": "int"})
        self._launch = program.bind("iota", n, n=n, out=self.labels)

    def run(self) -> None:
        self.n_runs += 1
        self._launch()

    def release(self) -> None:
        """Hold nothing."""


def strategy(launches: int) -> Strategy:
    def work(_stats: GraphStats, _facts: DeviceFacts) -> Work:
        return Work(launches=launches)

    return Strategy("online", FillPlan, work)


STRATEGIES = {"slow": strategy(10), "quick": strategy(1)}


def choice_for(session: Session, graph: Graph) -> Choice:
    return choose(STRATEGIES, STRATEGIES, "auto", graph, session.facts, session.profile.rates)


def test_a_plan_is_warmed_up_then_timed(session: Session) -> None:
    plan = FillPlan(session, generators.path(3))
    timing = harness.time_run(session, plan.run)
    assert timing.repeats == 7 and plan.n_runs == timing.repeats + harness.WARM_UPS
    assert 0 < timing.least_kernel_seconds <= timing.kernel_seconds <= timing.wall_seconds
    assert timing.least_wall_seconds <= timing.wall_seconds < 5


def test_a_slow_plan_is_repeated_less(pocl: Session) -> None:
    plan = FillPlan(pocl, generators.path(3))

    def slow() -> None:
        time.sleep(0.05)
        plan.run()

    timing = harness.time_run(pocl, slow, repeats=50, budget_seconds=0.2)
    assert 1 <= timing.repeats <= 4 and timing.wall_seconds >= 0.05
    assert harness.time_run(pocl, slow, repeats=3, budget_seconds=0).repeats == 1


def test_rows_say_what_was_measured(pocl: Session) -> None:
    graph, checked = generators.path(3), list[Any]()
    choice = choice_for(pocl, graph)
    timed = harness.time_strategies(pocl, graph, STRATEGIES, choice, checked.append)
    rows = harness.described(timed, "connected_components", "path", graph)
    assert [(row["strategy"], row["picked"]) for row in rows] == [("quick", True), ("slow", False)]
    assert all(plan.n_runs > 7 for plan in checked) and len(checked) == 2
    assert rows[1]["predicted_seconds"] == pytest.approx(10 * rows[0]["predicted_seconds"])
    assert rows[0] | {"n_vertices": 3, "n_edges": 4, "graph": "path", "verified": True} == rows[0]
    only = harness.time_strategies(pocl, graph, STRATEGIES, choice, checked.append, names=["slow"])
    assert [row["strategy"] for row in only] == ["slow"]


def test_a_wrong_result_of_a_timed_run_makes_no_row(pocl: Session) -> None:
    def refuse(plan: FillPlan) -> None:
        assert plan.n_runs > harness.WARM_UPS + harness.REPEATS
        raise VerificationError("wrong")

    graph = generators.path(3)
    with pytest.raises(VerificationError, match="quick: wrong"):
        harness.time_strategies(pocl, graph, STRATEGIES, choice_for(pocl, graph), refuse)


def test_provenance_names_device_and_commit(pocl: Session) -> None:
    origin = harness.provenance(pocl)
    assert origin["device"] == pocl.facts.name and origin["driver"] == pocl.facts.driver_version
    assert origin["commit"] and origin["date"].count("-") == 2


def test_a_graph_is_generated_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    calls = []

    def generate() -> Graph:
        calls.append(1)
        return generators.rmat(8, 4)

    monkeypatch.setitem(inputs.GENERATED, "mine", generate)
    first, second = inputs.load("mine"), inputs.load("mine")
    assert len(calls) == 1 and second.stats == first.stats
    np.testing.assert_array_equal(first.column_indices, second.column_indices)


def test_graphs_are_prepared_in_other_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    inputs.prepare(["path-18", "star-18"], workers=2)
    assert sorted(path.name.split("-18")[0] for path in tmp_path.glob("graphs/*.npz")) == ["path", "star"]
    assert inputs.load("star-18").stats.max_degree == (1 << 18) - 1


def test_graphs_are_made_on_the_device_that_is_measured(
    pocl: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(inputs.GENERATED, "mine", partial(generators.rmat, 8, 4))
    for load in (inputs.load, inputs.undirected, partial(inputs.weighted, high=9)):
        made, wanted = load("mine", session=pocl), load("mine")
        assert isinstance(made, GraphOnDevice) and not isinstance(wanted, GraphOnDevice)
        np.testing.assert_array_equal(made.column_indices, wanted.column_indices)
    names = "mine", "road-like", "delaunay", "rmat-1M-8M", "shell-14", "road-NY"
    assert [inputs.is_born(name) for name in names] == [True, True, False, False, False, False]
    child = run_script(
        tmp_path, "bench_connected_components.py", "-d", "pocl", "--graphs", "star-18", "--repeats", "1",
        "--strategies", "auto", "--on-device",
    )  # fmt: skip
    assert child.returncode == 0 and "star-18" in child.stdout, child.stderr
    assert not list(tmp_path.glob("graphs/star-18*"))


def test_generators_are_timed_and_compared(pocl: Session) -> None:
    options: dict[str, Any] = {"repeats": 1, "budget_seconds": 1, "with_host": True}
    for name, make in bench_generators.makers(2000).items():
        device, host = bench_generators.measure(pocl, name, make, **options)
        assert (device["strategy"], host["strategy"]) == ("device", "host") and device["verified"]
        assert 0 < device["kernel_seconds"] <= device["wall_seconds"] and device["n_edges"] == host["n_edges"] > 500
    assert "M entries/s" in harness.table_of([device, host], bench_generators.COLUMNS)
    others = {pocl: generators.cycle(1000, session=pocl), None: generators.path(1000)}
    with pytest.raises(VerificationError, match="wrong: row_offsets on the device are others"):
        bench_generators.measure(pocl, "wrong", others.__getitem__, **options)


def test_files_are_read_and_unknown_names_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("0 1\n1 2\n", encoding="utf-8")
    assert inputs.load(str(path)).n_vertices == 3
    with pytest.raises(InputError, match="rmat-22"):
        inputs.load("nonsense")
    with pytest.raises(InputError, match="nonsense"):  # before anything is generated
        inputs.prepare(["rmat-22", "nonsense"])


def test_the_scripts_run_as_a_user_runs_them(tmp_path: Path) -> None:
    Bench(tmp_path, "connected_components", "0 1, 1 2, 4 5").rows(says="kernel ms")
    model = Bench(tmp_path, "cost_model", "0 1, 1 2, 4 5")
    model.rows("--algorithms", "connected_components", says="share of oracle")
    again = model.run("--results", str(model.results))
    assert again.returncode == 0 and again.stdout.count("geometric mean") == 1


def test_unseen_inputs_are_of_many_kinds_that_no_other_input_has() -> None:
    for what in unseen.Kinds._fields:
        tables = [getattr(half, what) for half in unseen.HALVES.values()]
        assert len({kind for table in tables for kind in table}) == sum(map(len, tables))
    graphs = [kind for half in unseen.HALVES.values() for kind in half.graphs]
    assert not {*graphs} & {*inputs.GENERATED} and len(unseen.JUDGE) >= 20 and len(unseen.TUNE) >= 20
    shapes = set()
    for kind in (*unseen.TUNE, *unseen.JUDGE):
        graph, again, other = (unseen.load("graphs", kind, 3000, seed) for seed in (0, 0, 1))
        assert np.array_equal(graph.column_indices, again.column_indices) and graph.weight_dtype == np.int32, kind
        assert 100 < graph.n_vertices <= 6100 and 2000 < graph.n_edges < 100_000, kind
        assert not (graph.sources() == graph.column_indices).any() and np.unique(graph.edge_weights).size >= 1, kind
        assert not np.array_equal(graph.edge_weights, other.edge_weights) or (graph.edge_weights == 1).all(), kind
        shapes.add((graph.n_edges, graph.stats.max_degree, graph.stats.estimated_depth))
    assert len(shapes) == len(unseen.TUNE) + len(unseen.JUDGE)
    for kind in (*unseen.TUNE_RATINGS, *unseen.JUDGE_RATINGS):
        ratings = unseen.load("ratings", kind, 500)
        assert 0 < ratings.n_users <= 500 and ratings.n_ratings > 500, kind
        assert np.unique(ratings.users.astype(np.int64) * ratings.n_items + ratings.items).size == ratings.n_ratings


def test_the_quality_of_picks_is_told() -> None:
    row = {"benchmark": "bfs", "device": "d", "platform": "p", "kind": "online", "wall_seconds": 1.0}
    times = {"a": {"x": (1.0, 1.0), "y": (2.0, 2.0)}, "b": {"x": (4.0, 3.0), "y": (2.0, 6.0)}}  # predicted, measured
    rows = [
        {**row, "graph": graph, "strategy": name, "picked": name == picked, "predicted_seconds": predicted,
         "least_wall_seconds": measured}
        for graph, picked in (("a", "x"), ("b", "y")) for name, (predicted, measured) in times[graph].items()
    ]  # fmt: skip
    line = picks.quality(rows).splitlines()[-1]
    shown = [cell.strip() for cell in line.strip("|").split("|")]
    assert shown == ["bfs", "d", "2", "1.414", "2.00 (b)", "1.414", "0.750", "50%", "100%", "0.82 (0.33 … 1.33)"]
    called = [{**each, "least_call_seconds": 9.0, "call_seconds": 9.5, "predicted_call_seconds": 8.0} for each in rows]
    line = picks.quality(called).splitlines()[-1]
    assert [cell.strip() for cell in line.strip("|").split("|")][3:6] == ["1.000", "1.00 (a)", "1.414"]
    assert picks.as_one_run(called[0])["predicted_seconds"] == 8.0
    learning = {"preparation_seconds": 5.0, "predicted_preparation_seconds": 7.0, "benchmark": "factorization"}
    assert picks.as_one_run({**rows[0], **learning})["least_wall_seconds"] == 25.0
    assert picks.as_one_run({**rows[0], **learning})["predicted_seconds"] == 27.0
    assert not picks.as_one_run({**rows[0], **learning, "strategy": "hogwild"})["kind"]
    rows[2] |= {"cut": True}
    assert "> 2.00 (b)" not in picks.quality(rows)
    rows[3] |= {"cut": True, "wall_seconds": 6.0}
    assert "> 2.00 (b)" in picks.quality(rows)
    assert picks.late(rows).splitlines()[-1] == "bfs, b: y was cut off after 6 s"


def test_picks_that_other_rates_change_are_told() -> None:
    def rows(picks: dict[str, str], first: float) -> list[dict[str, Any]]:
        return [
            {"benchmark": "bfs", "graph": graph, "strategy": name, "picked": name == pick, "least_wall_seconds": time}
            for graph, pick in picks.items() for name, time in (("x", first), ("y", 2.0))
        ]  # fmt: skip

    # Times are the least of both files: x takes 1 second.
    shown = picks.changed(rows({"a": "x", "b": "x"}, 4.0), rows({"a": "x", "b": "y", "c": "y"}, 1.0))
    assert [line.split("|")[2:5] for line in shown.splitlines()[2:-2]] == [[" b       ", " y             ", " x     "]]
    assert shown.splitlines()[-1] == "bfs: pick / best 1.414 before, 1.000 now, 2 inputs"


def _pid(made: int) -> tuple[int, int]:
    return made, os.getpid()


def _wait(_made: int, seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def test_a_call_that_takes_too_long_is_killed_with_its_process() -> None:
    with limited.LimitedCalls(int, "7") as calls:
        assert not calls.is_running
        made, first = calls(_pid)
        assert made == 7 and first != os.getpid() and calls(_pid, limit_seconds=60)[1] == first
        assert calls(_wait, 0.01, limit_seconds=60) == 0.01
        with pytest.raises(TypeError):
            calls(_wait, "long")
        with pytest.raises(limited.LimitError):
            calls(_wait, 600.0, limit_seconds=0.2)
        assert not calls.is_running and calls(_pid)[1] != first


def test_checkouts_are_timed_in_turns(tmp_path: Path) -> None:
    """The other one is a copy of this one that calls a strategy by another name, so each row shows whose it is."""
    other = tmp_path / "other"
    shutil.copytree(ROOT / "clgraph", other / "clgraph", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "cl", other / "cl")
    table = other / "clgraph" / "algorithms" / "connected_components" / "strategies.py"
    table.write_text(table.read_text(encoding="utf-8").replace('"host"', '"before"'), encoding="utf-8")
    bench = Bench(tmp_path, "checkouts", "0 1, 1 2, 4 5")
    options = ("--turns", "1", "--algorithms", "connected_components")
    rows = bench.rows("--other", str(other), *options, says="kernels before, ms")
    picked = {row["strategy"]: row["picked_strategy"] for row in rows}
    assert picked == {"connected_components, this checkout": "host", "connected_components, other checkout": "before"}
    refused = bench.measure("--other", str(tmp_path))
    assert refused.returncode == 4 and "no clgraph" in refused.stderr


def test_spanning_forests_are_timed_and_checked(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "minimum_spanning_forest", "0 1, 1 2, 2 0, 4 5")
    rows = bench.rows("--scipy", "--networkx", "--check-limit", "0")
    names = [row["strategy"] for row in rows]
    others = {"scipy", "scipy, upper half", "networkx"}
    assert {*FORESTS, "segmented, transactional", *others} >= {*names} > others
    assert len({row["total_weight"] for row in rows}) == 1 and sum(row.get("picked", False) for row in rows) == 1
    judged = bench.run("--results", str(bench.results), name="cost_model")
    assert judged.stdout.startswith("minimum_spanning_forest:")
    ours = [row for row in rows if "edges_sha256" in row]
    assert not any(row["verified"] for row in ours)
    assert all((row["numbering_seconds"] > 0) == (row["kind"] != "sequential") for row in ours)
    bench.check_against_the_reference(len(ours), ours[0], edges_sha256="0" * 16)


def test_splitting_is_timed_and_drawn(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "splitting", ", ".join(f"{u} {u // 9}" for u in range(1, 80)))
    done = bench.measure("--plot", str(tmp_path), "--seconds", "600")
    assert done.returncode == 0 and "% improvement" in done.stdout and "no time left" not in done.stdout, done.stderr
    rows = read_rows(bench.results)
    assert {row["benchmark"] for row in rows} == {"bfs_splitting", "sssp_splitting"}
    assert {row["mda"] for row in rows if "mda" in row} >= {4, 8, 10}
    assert all((tmp_path / f"{name}-graph.txt.png").stat().st_size > 5000 for name in ("bfs", "sssp"))


def test_several_devices_are_timed_and_drawn(tmp_path: Path) -> None:
    """The full run needs several GPUs, so this trial has a process for each CPU runtime."""
    devices = [name_of(session_on(name)) for name in ("pocl", "intel")]
    options = ["--devices", *devices, "--any", "--small", "--json", "rows.json", "--plot", "rows.png"]
    done = run_script(tmp_path, "bench_several_gpus.py", *options)
    assert done.returncode == 0, done.stderr
    rows = read_rows(tmp_path / "rows.json")
    # Loads, whose arrays are new or shared, are also divided in equal shares.
    loads = [row for row in rows if row["benchmark"] == "several_gpus_loads"]
    assert len({row["case"] for row in loads}) == 2 * 9 and len(loads) == 3 * 2 * 9
    # Beside four runs of components, a forest, and trainings of three ranks.
    assert len({row["case"] for row in rows}) == 4 + 1 + 2 * 9 + 3 and len(rows) - len(loads) == 2 * (4 + 1 + 3)
    assert all(row["model_seconds"] > 0 and min(row["links"].values()) > 0 for row in rows)
    assert (tmp_path / "rows.png").stat().st_size > 10_000


def test_colorings_are_timed_and_checked(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "color", "0 1, 1 2, 2 0, 1 1, 2 3, 4 5")
    rows = {row["strategy"]: row for row in bench.rows("--networkx")}
    assert set(rows) == {*COLORINGS, "networkx"}
    assert rows["jones_plassmann"]["n_colors"] == rows["networkx"]["n_colors"] == 3
    assert all(row["verified"] for name, row in rows.items() if name != "networkx")
    refused = bench.measure("--strategies", "speculative, columns")
    assert refused.returncode == 4 and "does not colour" in refused.stderr
    strategies = ("hash_repair, columns", "speculative, balanced", "auto")
    measured = bench.rows("--distance", "2", "--strategies", *strategies, says="")
    others = {row["strategy"]: row for row in measured if row["graph"].endswith(", distance 2")}
    assert {*others} == {"best_of_two", "speculative, balanced", "hash_repair, columns"}
    assert all(row["verified"] and (row["kind"] == "") == (", " in name) for name, row in others.items())


def test_hash_collisions_are_timed_beside_a_proper_coloring(tmp_path: Path) -> None:
    bench, plots = Bench(tmp_path, "hash_collisions", "0 1, 1 2, 2 0, 1 1, 2 3, 4 5, 5 4, 5 5"), tmp_path / "plots"
    rows = bench.rows("--strategies", "row_per_sub_group", "--plot", str(plots), says="proper colouring")
    assert [row["proper_colors"] for row in rows] == [3, 4] and len(list(plots.iterdir())) == 2
    assert all(row["verified"] and len(row["best"]) == 10 and row["reduce_seconds"] >= 0 for row in rows)
    bench.check_against_the_reference(2, rows[1], table_sha256="0" * 16)


@pytest.mark.parametrize("name", ["bfs", "sssp"])
def test_searches_are_timed_and_checked(tmp_path: Path, name: str) -> None:
    strategies = importlib.import_module(f"clgraph.algorithms.{name}").STRATEGIES
    bench = Bench(tmp_path, name, "0 1, 1 2, 2 0, 1 1, 2 3, 4 5")
    rows = bench.rows("--scipy")
    assert {row["strategy"] for row in rows} == {*strategies, "scipy"}
    ours = [row for row in rows if row["strategy"] != "scipy"]
    assert all(row["verified"] for row in ours)
    depth = 2 if name == "bfs" else ours[0]["depth"]
    assert {(row["source"], row["reached"], row["depth"]) for row in ours} == {(3, 4, depth)}
    unchecked = bench.rows("--scipy", "--strategies", "auto", "--check-limit", "0", says="")
    assert sum(row.get("verified") is False for row in unchecked) == 1
    assert bench.run("--results", str(bench.results), name="cost_model").stdout.startswith(f"{name}:")
    bench.check_against_the_reference(len(strategies), ours[0], depth=99)


def test_searches_start_where_degrees_say(tmp_path: Path) -> None:
    star = generators.star(9).permuted(1)
    centre = int(star.degrees.argmax())
    for name in ("rmat-22", "web-NotreDame", str(tmp_path / "web-Stanford.txt.gz"), "rmat-1M-8M"):
        assert inputs.source(name, star) == centre != 0
    for name in ("grid-4096", "road-NY", str(tmp_path / "graph.txt")):
        assert inputs.source(name, star) == 4


def test_directed_inputs_are_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(inputs.GENERATED, "oriented", lambda: inputs._oriented(generators.rmat(8, 4)))
    monkeypatch.setitem(inputs.GENERATED, "power-law", lambda: inputs._power_law(500, 3000, 40, 90))
    whole = generators.rmat(8, 4)
    first, second = inputs.load("oriented"), inputs.load("oriented")
    assert first.directed and second.directed and 2 * first.n_edges == whole.n_edges
    np.testing.assert_array_equal(first.column_indices, second.column_indices)
    np.testing.assert_array_equal(inputs.weighted("oriented").column_indices, whole.column_indices)
    power_law = inputs.load("power-law")
    assert power_law.directed and power_law.n_edges == 3000 and power_law.degrees.max() == 40
    weighted = inputs.weighted("power-law", high=1024, directed=True)
    assert weighted.directed and weighted.n_edges == 3000
    assert 1 <= weighted.edge_weights.min() < 20 and 1000 < weighted.edge_weights.max() <= 1024


def test_weights_lie_in_the_range_that_results_name(tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("# Directed graph\n0 1\n1 0\n2 1\n", encoding="utf-8")
    graph = inputs.weighted(str(path))
    assert not graph.directed and graph.n_edges == 4 and graph.has_sorted_rows
    weights = inputs.weighted("rmat-16").edge_weights
    assert weights is not None and weights.dtype == np.int32 and 1 <= weights.min() < 100
    assert 2**20 - 100 < weights.max() <= 2**20


def _factorization_row(graph: str, strategy: str, wall: float, preparation: float, **marks: bool) -> dict[str, Any]:
    times = {"wall_seconds": wall, "preparation_seconds": preparation}
    about = {"device": "d", "platform": "p", "kind": "online", "graph": graph, "strategy": strategy}
    return {**about, **times, "picked": False, "picked_once": False, **marks}


def test_the_regret_of_a_factorisation_counts_preprocessing() -> None:
    """Over one sweep the quick preparation wins, over twenty the quick sweep; the racy strategy does not count."""
    slow = [name for name in factorization.STRATEGIES if name not in ("edge_locked", "block_grid", "hogwild")]
    rows = [
        _factorization_row("STACK", "edge_locked", 1.0, 0.0, picked=True),
        _factorization_row("STACK", "block_grid", 0.5, 2.0, picked_once=True),
        _factorization_row("STACK", "hogwild", 0.1, 0.0),
        *(_factorization_row("STACK", name, 9.0, 9.0) for name in slow),
    ]
    lines = [[cell.strip() for cell in line.split("|")[2:-1]] for line in bench_factorization.regret(rows).splitlines()]
    over_twenty = lines.index(["STACK", "edge_locked", "block_grid", "1.67"])
    assert over_twenty < lines.index(["STACK", "block_grid", "edge_locked", "2.50"])
    assert not bench_factorization.regret(rows[:2])  # not all strategies: no verdict


def test_sweeps_are_normalised_to_edge_locking() -> None:
    rows = [
        _factorization_row(graph, name, wall, 0.0)
        for graph, name, wall in (
            ("STACK", "edge_locked", 2.0), ("STACK", "hybrid_locked", 1.0), ("POKEC/4", "edge_locked", 1.0),
            ("POKEC/4", "hybrid_locked", 0.125), ("CAL", "edge_locked", 1.0), ("CAL", "hybrid_locked", 2.0),
        )
    ]  # fmt: skip
    text = bench_factorization.normalised(rows)
    means = [line.split("|")[-2].strip() for line in text.splitlines() if "geometric mean" in line]
    assert means == ["0.25", "2"]
    assert "4.00 times as fast as edge_locked on power-law" in text and "0.50 times" in text
    assert "geometric mean" not in bench_factorization.normalised(rows[1:2])  # nothing to normalise to


def test_lost_steps_are_found(session: Session) -> None:
    """Nothing is lost of a sweep; of a plan that leaves out one rating, one step; and steps are by the right rows."""
    ratings = generators.planted_ratings(60, 40, 500, rank=2, noise=0.1)
    for name in ("edge_locked", "block_grid"):
        assert bench_factorization.lost_share(session, ratings, name, 16, "float32") == 0.0

    def shorter(on: Session, given: factorization.FactorizationProblem) -> FactorizationPlan:
        all_, n = given.ratings, given.n - 1
        kept = Ratings(all_.users[:n], all_.items[:n], all_.values[:n], *all_.shape)
        plan: FactorizationPlan = factorization.STRATEGIES["hogwild"].plan(on, replace(given, ratings=kept))
        return plan

    class Wrong(FactorizationPlan):
        def sweep(self) -> None:
            super().sweep()
            rows = self.model.get()
            self.model.set(rows._replace(item_factors=1.001 * rows.item_factors))

    def wrong(on: Session, given: factorization.FactorizationProblem) -> FactorizationPlan:
        return Wrong(on, given, edge_locked(given, on.facts))

    def share(plan: Any) -> float:
        known = factorization.STRATEGIES["edge_locked"]
        plans = {**factorization.STRATEGIES, "edge_locked": replace(known, plan=plan)}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bench_factorization, "STRATEGIES", plans)
            return bench_factorization.lost_share(session, ratings, "edge_locked", 16, "float32")

    assert share(shorter) > 0.0
    with pytest.raises(VerificationError, match="rows of the other side"):
        share(wrong)


def test_works_add_up_and_scale() -> None:
    """No part of a work is lost, nor taken for another: each has its own number."""
    loads = {
        "gathers": Gathers(1, 9),
        "chains": Chain(2, 9),
        "atomics": Atomics(3, 9),
        "host_items": HostItems(4, 9, ""),
    }
    numbers = {name: float(k) for k, name in enumerate(Work.__slots__, 1) if name not in loads}
    whole = Work(**numbers, **{name: (load,) for name, load in loads.items()})
    twice = {name: 2 * number for name, number in numbers.items()}
    assert whole + whole == Work(**twice, **{name: (load,) * 2 for name, load in loads.items()})
    thrice = whole.times(3)
    assert {name: getattr(thrice, name) for name in numbers} == {name: 3 * number for name, number in numbers.items()}
    for name, load in loads.items():
        (item,) = getattr(thrice, name)
        assert getattr(item, item.__slots__[0]) == 3 * getattr(load, load.__slots__[0])
        assert [getattr(item, slot) for slot in item.__slots__[1:]] == [
            getattr(load, slot) for slot in load.__slots__[1:]
        ]


def test_functions_of_networkx_are_timed_and_compared(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    child = run_script(
        tmp_path, "bench_networkx.py", "-d", "pocl", "--edges", "60", "--functions", "bfs_edges", "eccentricity",
        "--repeats", "1", "--json", str(file),
    )  # fmt: skip
    assert child.returncode == 0 and "times networkx" in child.stdout, child.stderr
    rows = [(row["function"], row["strategy"], row.get("verified")) for row in read_rows(file)]
    ours = [(name, f"clgraph, {call}", True) for name in ("bfs_edges", "eccentricity") for call in ("fresh", "kept")]
    assert {*ours} < {*rows} and ("convert_from_nx", "conversion", None) in rows and len(rows) == 7
