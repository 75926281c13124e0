"""Where a call runs, and what a session keeps of it: the next call on a graph only runs, and is as right."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np
import pytest
from conftest import printed_by, session_on

import clgraph as cg
from clgraph import generators
from clgraph.algorithms.table import MODULES, find_algorithm, find_function
from clgraph.algorithms.traversal import host as searches
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.stats import FAR_DISTANCE
from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.device.profile import Curve
from clgraph.engine import algorithm as algorithm_module
from clgraph.engine import host as engine
from clgraph.engine.algorithm import Algorithm
from clgraph.errors import DeviceMemoryError, DeviceTimeoutError, GraphError, InputError, UnsupportedStrategyError
from clgraph.generators import random_weights
from clgraph.reference.bfs import bfs_distances
from clgraph.runtime import kept as kept_module
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.graphs.device_graph import DeviceGraph
from clgraph.runtime.kept import Kept
from clgraph.runtime.memory import memory as memory_module
from clgraph.runtime.memory.memory import Memory
from clgraph.runtime.programs.program import Program
from clgraph.runtime.session import Session

ON_GRAPHS = sorted(set(MODULES) - {"factorization"})
ZEROED = {"controls", "versions", "marks", "hits"}  # arrays of recipes that must be zero before the first run
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "bfs": ({"source": 3}, {"source": 3, "max_depth": 4}),
    "sssp": ({"source": 3}, {"source": 3, "predecessors": True}),
    "color": ({}, {"distance": 2}, {"distance": 2, "order": "smallest_last"}, {"order": "smallest_last"}),
    "hash_collisions": ({}, {"distance": 2}),
}


def counted(entry: Algorithm) -> tuple[Algorithm, list[Any]]:
    """Return *entry* with strategies that append each plan that they make to the list."""
    made: list[Any] = []

    def counting(plan: Any) -> Any:
        @wraps(plan)
        def make(*args: Any, **options: Any) -> Any:
            made.append(plan(*args, **options))
            return made[-1]

        return make

    strategies = {name: replace(strategy, plan=counting(strategy.plan)) for name, strategy in entry.strategies.items()}
    return replace(entry, strategies=strategies), made


def poison(plan: Any) -> None:
    """Overwrite what a run may have left; arrays that must be zero before the first run keep what the last one left."""
    for name, array in plan.arrays.items():
        if name not in ZEROED and array.size:
            array.view(dtype=np.uint8).set(np.full(array.nbytes, 0xA5, np.uint8))
    for part in plan.used:
        if hasattr(part, "arrays"):
            poison(part)


@pytest.mark.parametrize("algorithm", ON_GRAPHS)
@pytest.mark.long
def test_a_plan_is_made_once_and_right_in_every_run(session: Session, algorithm: str) -> None:
    """A run gives the same answer whatever its arrays hold before."""
    entry, made = counted(find_algorithm(algorithm))
    graph = generators.random_weights(generators.rmat(8, 6, seed=3), high=9)
    for settings in SETTINGS.get(algorithm, ({},)):
        problem = entry.problem(graph, **settings)
        for name, strategy in entry.strategies.items():
            if strategy.unsupported(session.facts) or strategy.unfit(problem) or strategy.kind == "sequential":
                continue
            made.clear()
            entry.solve(problem, strategy=name, session=session)
            for _ in range(2):
                (plan,) = made
                poison(plan)
                entry.solve(entry.problem(graph, **settings), strategy=name, session=session, verify=True)
            assert len(made) == 1, (name, settings)


ANEW = "hybrid", "half_rounds"
ONCE = {"fill", "find_loops", "find_repeats"}  # kernels that run when a plan is made: zeros, and checks of the graph


@pytest.mark.parametrize("algorithm", ON_GRAPHS)
def test_a_later_call_makes_nothing_anew(session: Session, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later call prices no strategy, allocates and binds nothing, and waits only for the answer.

    Exceptions are ``hybrid``, where METIS or a session of the CPU gets a coarse level anew in each run, and
    ``half_rounds``, whose coarse levels get arrays of their own sizes in each run.
    """
    entry = find_algorithm(algorithm)
    problem = entry.problem(generators.random_weights(generators.grid(9, 11)), **SETTINGS.get(algorithm, ({},))[0])
    strategies = [(name, strategy) for name, strategy in entry.strategies.items() if name not in ANEW]
    runs_here = [k for k, v in strategies if not v.unsupported(session.facts) and not v.unfit(problem)]
    picked = {"auto"} if entry.choose(session, problem).strategy not in ANEW else set()
    first = {name: entry.solve(problem, strategy=name, session=session) for name in (*picked, *runs_here)}

    def refused(*_args: object, **_options: object) -> None:
        raise AssertionError("this was there already")

    for owner, name in ((Memory, "empty"), (Commands, "finish"), (Program, "bind"), (algorithm_module, "choose")):
        monkeypatch.setattr(owner, name, refused)
    for name, before in first.items():
        again = entry.solve(problem, strategy=name, session=session)
        assert again.info.strategy == before.info.strategy
        assert before.info.kernels.keys() - again.info.kernels.keys() <= ONCE


@pytest.mark.parametrize("algorithm", ["bfs", "sssp"])
def test_a_kept_search_takes_other_sources(pocl: Session, algorithm: str) -> None:
    entry, made = counted(find_algorithm(algorithm))
    graph = generators.random_weights(generators.grid(9, 11), high=9)
    for name in (name for name, strategy in entry.strategies.items() if strategy.kind != "sequential"):
        made.clear()
        results = [
            entry.solve(entry.problem(graph, source=source), strategy=name, session=pocl, verify=True)
            for source in (0, 98, [5, 7], [7, 40], 98)
        ]
        assert len(made) == 2, "one for each number of sources"
        assert results[0].distances[0] == 0 and results[1].distances[98] == 0, "a result does not change afterwards"
        assert np.array_equal(results[1].distances, results[4].distances)


def test_settings_options_and_graphs_have_plans_of_their_own(pocl: Session) -> None:
    entry, made = counted(find_algorithm("color"))
    graph = generators.grid(9, 11)
    for seed in (0, 1, 0, 1):
        entry.solve(entry.problem(graph, seed=seed), strategy="hash_repair", session=pocl, verify=True)
    assert len(made) == 2
    entry.solve(entry.problem(graph), strategy="hash_repair", options={"bits": 3}, session=pocl)
    entry.solve(entry.problem(generators.grid(9, 11)), strategy="hash_repair", session=pocl)
    assert len(made) == 4
    components, made = counted(find_algorithm("connected_components"))
    problem = components.problem(graph)
    for options in ({"strides": [2, 4]}, {"strides": (2, 4)}, {"strides": [2, 4]}):
        components.solve(problem, strategy="afforest", options=options, session=pocl)
    assert len(made) == 2
    components.solve(problem, strategy="rem", options={"hook_rounds": 1}, session=pocl)
    with pytest.raises(InputError, match="hook_rounds"):  # though 1.0 == 1
        components.solve(problem, strategy="rem", options={"hook_rounds": 1.0}, session=pocl)


def test_a_call_like_an_earlier_one_chooses_no_more(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, chosen, choose = cg.generators.rmat(9, seed=2), [], Algorithm.choose
    monkeypatch.setattr(Algorithm, "choose", lambda self, *given: chosen.append(given) or choose(self, *given))
    for _ in range(2):
        cg.connected_components(graph, session=pocl)
    assert len(chosen) == 1


def test_choices_for_many_settings_are_not_all_kept(pocl: Session) -> None:
    color, graph = find_algorithm("color"), generators.path(5)
    for seed in range(100):
        color.solve(color.problem(graph, seed=seed), session=pocl)
    assert 0 < len(pocl.kept.choices[graph]) <= 64


def test_a_plan_for_another_profile_is_not_used(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    entry, made = counted(find_algorithm("connected_components"))
    problem = entry.problem(generators.grid(9, 11))
    first = entry.solve(problem, strategy="rem", session=pocl).info.predicted_seconds["rem"]
    slow = replace(pocl.profile, rates=replace(pocl.profile.rates, launch_seconds=1.0))
    monkeypatch.setattr(pocl, "profile", slow)
    second = entry.solve(problem, strategy="rem", session=pocl).info.predicted_seconds["rem"]
    assert len(made) == 2 and second > 1 > first


def test_a_plan_whose_run_failed_is_not_kept(pocl: Session) -> None:
    def fails(problem: object, plan: object) -> None:
        raise DeviceTimeoutError("on purpose")

    entry, made = counted(find_algorithm("connected_components"))
    problem = entry.problem(generators.grid(9, 11))
    with pytest.raises(DeviceTimeoutError):
        replace(entry, answer=fails).solve(problem, strategy="rem", session=pocl)
    entry.solve(problem, strategy="rem", session=pocl, verify=True)
    assert len(made) == 2


def test_distances_of_64_bits_are_right_in_both_calls(pocl: Session) -> None:
    weights = np.full(3, 2**31 - 1, np.int32)
    graph = cg.Graph.from_edges([0, 1, 2], [1, 2, 3], weights)
    first, second = (cg.sssp(graph, 0, strategy="dijkstra", session=pocl, verify=True) for _ in range(2))
    assert first.distances.tolist() == second.distances.tolist() == [0, 2**31 - 1, 2**32 - 2, 3 * (2**31 - 1)]


def test_threads_on_one_graph_do_not_share_a_plan(pocl: Session) -> None:
    graph = generators.grid(30, 40)
    expected = {source: cg.bfs(graph, source, session=pocl).distances for source in (0, 1199)}

    def search(source: int) -> bool:
        found = [cg.bfs(graph, source, session=pocl).distances for _ in range(20)]
        return all(np.array_equal(each, expected[source]) for each in found)

    with ThreadPoolExecutor(2) as threads:
        assert all(threads.map(search, expected))


def test_plans_make_room_where_memory_is_short(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    entry, made = counted(find_algorithm("connected_components"))
    problem = entry.problem(generators.grid(9, 11))
    entry.solve(problem, strategy="rem", session=pocl)
    available = iter([10, 1000])
    monkeypatch.setattr(memory_module, "available_bytes", lambda facts: next(available))
    monkeypatch.setattr(memory_module, "_CHECKED_BYTES", 0)
    pocl.check_memory({"labels": 100})
    monkeypatch.undo()
    entry.solve(problem, session=pocl)
    assert len(made) == 2


def test_arrays_of_a_plan_that_do_not_fit_together_are_refused(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each alone would fit. They are named before one of them is allocated."""
    entry = find_algorithm("minimum_spanning_forest")
    problem = entry.problem(generators.random_weights(generators.grid(9, 11)))
    plan = entry.strategies["edge_list"].plan(pocl, problem)  # the rows are on the device from now on
    sizes = [array.nbytes for array in plan.arrays.values()]
    name = max(plan.arrays, key=lambda name: plan.arrays[name].nbytes)
    monkeypatch.setattr(memory_module, "_CHECKED_BYTES", 0)
    monkeypatch.setattr(memory_module, "available_bytes", lambda facts: sum(sizes) - 1)
    monkeypatch.setattr(pocl.memory, "empty", lambda *_: pytest.fail("memory was asked for"))
    with pytest.raises(DeviceMemoryError, match=f"needs {sum(sizes):,} bytes .*{name} {max(sizes):,}"):
        entry.strategies["edge_list"].plan(pocl, problem)


@pytest.mark.parametrize("algorithm", ["bfs", "partition"])
@pytest.mark.long
def test_a_plan_counts_all_bytes_that_its_first_run_took(pocl: Session, algorithm: str) -> None:
    """Arrays that the first run makes count, too. Later runs take less, but the plan still holds as many bytes."""
    entry, graph, held, taken = find_algorithm(algorithm), generators.grid(60, 60), list[int](), list[int]()
    pocl.kept.forget()
    for _ in range(3):
        before = pocl.memory.allocated_bytes
        entry.solve(entry.problem(graph), strategy="gpu" if algorithm == "partition" else "frontier", session=pocl)
        taken.append(pocl.memory.allocated_bytes - before)
        ((plan, n_bytes),) = pocl.kept._plans.values()
        held.append(n_bytes)
        assert n_bytes == plan.n_bytes >= sum(array.nbytes for array in plan.arrays.values()) > 0
    assert held[0] == held[1] == held[2] <= taken[0] and taken[2] < held[2]


class Fake:
    """A plan, or a graph."""

    released = False

    def release(self) -> None:
        self.released = True


def test_the_longest_unused_plans_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, graph, plans = Kept(8 * 1000), Fake(), [Fake() for _ in range(6)]
    for key in range(3):
        kept.put(graph, key, plans[key], 300)
    assert kept.take(graph, 0) is plans[0] and kept.take(graph, 0) is None, "a running plan is not lent"
    kept.put(graph, 0, plans[0], 300)
    kept.put(graph, 3, plans[3], 300)  # the plans hold 1,200 bytes of 1,000
    assert [plan.released for plan in plans] == [False, True, False, False, False, False]
    kept.put(graph, 4, plans[4], 2000)
    assert all(plan.released for plan in plans[:5]), "one that is too large stays no more than the others"
    monkeypatch.setattr(kept_module, "MAX_PLANS", 2)
    many = [Fake() for _ in range(3)]
    for key, plan in enumerate(many):
        kept.put(graph, key, plan, 0)
    assert [plan.released for plan in many] == [True, False, False]
    kept.put(graph, 2, plans[5], 0)
    assert many[2].released and kept.take(graph, 2) is plans[5], "two threads made it"


def test_plans_go_with_their_graph() -> None:
    kept, graphs, plans = Kept(1 << 20), [Fake(), Fake()], [Fake() for _ in range(3)]
    for graph, key, plan in ((graphs[0], "a", plans[0]), (graphs[1], "a", plans[1]), (graphs[0], "b", plans[2])):
        kept.put(graph, key, plan, 10)
    del graph
    del graphs[0]
    assert [plan.released for plan in plans] == [True, False, True]
    assert kept.take(graphs[0], "a") is plans[1]


FORTY_GRAPHS = """
from first_answer import resident_bytes
from clgraph import bfs, connected_components, generators, minimum_spanning_forest
from clgraph.data.graphs.graph import Graph
from clgraph.runtime.session import Session

session = Session("pocl")
first = generators.random_weights(generators.grid(150, 150), seed=1)
for i in range(40):
    if i == 10:
        before, on_device = resident_bytes("VmRSS"), session.memory._pool.active_bytes
    graph = Graph(first.row_offsets, first.column_indices, first.edge_weights)
    given = graph if i % 2 else graph.to_scipy()
    connected_components(given, strategy="rem", session=session)
    bfs(given, i, strategy="frontier", session=session)
    minimum_spanning_forest(given, strategy="edge_list", session=session)
print((resident_bytes("VmRSS") - before) / first.nbytes, session.memory._pool.active_bytes - on_device)
"""


def test_a_process_does_not_grow_with_the_graphs_that_it_has_solved() -> None:
    grown, grown_on_device = map(float, printed_by(FORTY_GRAPHS).split())
    assert grown < 5 and not grown_on_device  # in sizes of a graph, for thirty graphs


# ---- the strategy host


ALGORITHMS = {"connected_components": {}, "bfs": {"source": 0}, "sssp": {"source": 0}, "minimum_spanning_forest": {}}
every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)


def weighted(graph: Graph) -> Graph:
    return random_weights(graph, low=1, high=9)


@every_algorithm
@pytest.mark.parametrize("make", [lambda: cg.generators.path(50), lambda: cg.generators.rmat(8, 8)])
def test_small_graphs_run_on_the_host(
    session: Session, name: str, make: Callable[[], Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size of the graph decides: no statistics are computed, and nothing reaches the device."""
    graph = weighted(make())
    monkeypatch.setattr(Graph, "stats", property(lambda graph: pytest.fail("statistics were asked for")))
    monkeypatch.setattr(Memory, "empty", lambda *_: pytest.fail("memory was asked for"))
    monkeypatch.setattr(Memory, "upload", lambda *_: pytest.fail("an array was uploaded"))
    info = find_function(name)(graph, **ALGORITHMS[name], session=session, verify=True).info
    assert (info.strategy, info.kind, info.device, info.kernels) == ("host", "sequential", "host", {})
    assert set(info.predicted_seconds) == {"host"} and session.facts.name in info.why
    assert info.seconds.host == info.seconds.total > 0 and info.seconds.kernel == info.seconds.transfer == 0


@every_algorithm
def test_the_host_may_be_forced_and_explained_and_refuses_options(pocl: Session, name: str) -> None:
    graph, function = weighted(cg.generators.grid(9, 9)), find_function(name)
    info = function(graph, **ALGORITHMS[name], strategy="host", session=pocl).info
    assert info.strategy == "host" and info.why == "asked for"
    with pytest.raises(InputError, match=f"{name} has no argument bogus; it has"):
        function(graph, **ALGORITHMS[name], strategy="host", session=pocl, bogus=1)
    choice = cg.explain(name, graph, strategy="host", measure=True, session=pocl)
    assert set(choice.predicted) == set(find_algorithm(name).strategies) and choice.kernels == ()
    assert choice.predicted["host"].parts["host"] == choice.seconds["host"] and not choice.reason
    device = next(key for key in choice.predicted if key != "host")
    assert choice.predicted[device].parts["call"] >= pocl.profile.rates.call_seconds


@every_algorithm
def test_the_rates_decide(pocl: Session, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small graphs go to a device that answers at once where the host is slow, and not to a late device."""
    algorithm, graph = find_algorithm(name), weighted(cg.generators.rmat(10, 8))
    problem, rates = algorithm.problem(graph), pocl.profile.rates
    slow = dict.fromkeys(rates.host_items_per_second, Curve({1: 1e5}))
    prompt = replace(rates, call_seconds=1e-9, read_back_seconds=1e-9, launch_seconds=1e-9, host_items_per_second=slow)
    monkeypatch.setattr(pocl, "profile", replace(pocl.profile, rates=prompt))
    choice = algorithm.choose(pocl, problem)
    assert choice.strategy != "host" and {"host", choice.strategy} <= {*choice.seconds} and not choice.reason
    late = replace(rates, call_seconds=10.0, read_back_seconds=1e-9)
    monkeypatch.setattr(pocl, "profile", replace(pocl.profile, rates=late))
    assert algorithm.choose(pocl, problem).strategy == "host"
    choice = algorithm.choose(pocl, algorithm.problem(weighted(cg.generators.rmat(10, 8))))
    assert choice.strategy == "host" and set(choice.predicted) == {"host"} and choice.reason


def test_a_matrix_pays_for_its_check_on_the_device(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph is checked once for all calls, so the device may win where the host wins for a matrix."""
    algorithm, graph = find_algorithm("connected_components"), cg.generators.path(50_000)
    assert graph.stats.n_vertices == 50_000
    cost = algorithm.choose(pocl, algorithm.problem(graph), "host").seconds["host"]
    rates = replace(pocl.profile.rates, call_seconds=cost / 2, read_back_seconds=0.0)
    monkeypatch.setattr(pocl, "profile", replace(pocl.profile, rates=rates))
    matrix = algorithm.problem(graph.to_scipy())
    for name in ("afforest", "hook_compress"):
        of_graph, of_matrix = (
            algorithm.choose(pocl, problem, name).predicted[name].parts["call"]
            for problem in (algorithm.problem(graph), matrix)
        )
        assert of_graph + 8 * rates.call_seconds < of_matrix
    assert algorithm.choose(pocl, matrix).strategy in ("host", "rem")


def test_few_entries_of_a_matrix_decide(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """If neighbours are near, scipy's search ends before the device has read the matrix."""
    algorithm, graph = find_algorithm("bfs"), cg.generators.grid(300, 450)
    ways = {"scan": Curve({1: 1e10}), "traverse": Curve({300_000: 1e9, 2_000_000: 1e7})}
    rates = replace(pocl.profile.rates, call_seconds=1.5e-4, host_items_per_second=ways)
    monkeypatch.setattr(pocl, "profile", replace(pocl.profile, rates=rates))
    monkeypatch.setattr(
        "clgraph.data.graphs.wrapped.graph_stats", lambda graph: pytest.fail("statistics were computed")
    )
    near, far = graph.to_scipy(), graph.permuted(0).to_scipy()
    assert algorithm.choose(pocl, algorithm.problem(near, source=0)).strategy == "host"
    assert algorithm.choose(pocl, algorithm.problem(far, source=0)).strategy == "frontier"


def test_isolated_vertices_are_no_work_of_searches(pocl: Session) -> None:
    graph = cg.Graph.from_edges(np.arange(999), np.arange(1, 1000), n=100_000)
    assert graph.stats.n_isolated == 99_000
    (items,) = {sum(each.count for each in engine.walked(graph, way).host_items) for way in ("traverse", "heap")}
    assert items == 1000 + graph.n_edges
    assert sum(each.count for each in engine.walked(graph, "union").host_items) == 100_000 + graph.n_edges


def test_only_known_statistics_of_large_graphs_say_how_much_a_search_reaches(pocl: Session) -> None:
    """A price computes no statistics, and a small graph has the same price before and after it is measured."""
    least = FAR_DISTANCE + 1

    def share_of(n: int, *, is_measured: bool) -> float:
        graph = cg.Graph.from_edges(np.arange(0, n - 1, 2), np.arange(1, n, 2), n=n)
        if is_measured:
            assert graph.stats.reached_share < 0.9
        share = engine.met(find_algorithm("bfs").problem(graph, source=0), "traverse")[1]
        assert graph.is_measured is is_measured
        return share

    assert share_of(least - 1, is_measured=True) == share_of(least, is_measured=False) == 1.0
    assert share_of(least, is_measured=True) == pytest.approx(2 / least, rel=0.01)


def test_forests_of_equal_weights_take_the_host_less(pocl: Session) -> None:
    path = cg.generators.path(50_000)
    graphs = path, cg.generators.random_weights(path)
    algorithm = find_algorithm("minimum_spanning_forest")
    equal, others = (algorithm.choose(pocl, algorithm.problem(graph), "host").seconds["host"] for graph in graphs)
    assert equal < 0.5 * others


def test_a_graph_on_the_device_stays_there(pocl: Session) -> None:
    graph = DeviceGraph.from_graph(weighted(cg.generators.path(50)), pocl)
    for name, settings in ALGORITHMS.items():
        assert find_function(name)(graph, **settings).info.strategy != "host"
        assert find_function(name)(graph, **settings, strategy="host", verify=True).info.strategy == "host"
        assert "device" in cg.explain(name, graph).unsupported["host"]


def test_graphs_that_are_too_large_for_scipy_go_to_the_device(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_MAX_INDICES", 100)
    for name, settings in ALGORITHMS.items():
        with pytest.raises(UnsupportedStrategyError, match="scipy takes graphs of less than 100"):
            find_function(name)(cg.generators.path(50), **settings, strategy="host", session=pocl)
        assert find_function(name)(cg.generators.path(50), **settings, session=pocl).info.strategy != "host"


def test_matrices_that_scipy_takes_are_used_as_they_are(pocl: Session) -> None:
    """Others are wide, have no doubles, or room behind the last entry, or repeats that must be summed first."""
    matrix = weighted(cg.generators.grid(5, 5)).to_scipy().astype(np.float64)
    wide, whole, roomy, twice = (matrix.copy() for _ in range(4))
    wide.indices = wide.indices.astype(np.int64)
    whole.data = whole.data.astype(np.int64)
    roomy.indices, roomy.data = np.append(roomy.indices, 99_999), np.append(roomy.data, np.nan)
    twice.indices[1] = twice.indices[0]
    for given in (matrix, wide, whole, roomy, twice):
        graph = wrap_graph(given, weighted=True)
        found = engine.given_matrix(graph)
        assert found is (given if given is matrix else None)
        assert np.array_equal(engine.pattern(graph).indices, graph.column_indices)
    twice.indices[0] = -1
    with pytest.raises(GraphError, match="damaged"):  # Callers get checked arrays only.
        engine.given_matrix(wrap_graph(twice))
    for given in (matrix, wide, whole, roomy):
        assert np.array_equal(
            cg.sssp(given, 3, session=pocl, strategy="host", verify=True).distances,
            cg.sssp(matrix, 3, session=pocl, strategy="frontier").distances,
        )
        assert np.array_equal(
            cg.bfs(given, 3, session=pocl, strategy="host", verify=True).distances,
            cg.bfs(matrix, 3, session=pocl, strategy="frontier").distances,
        )


@pytest.mark.parametrize("n", [1, 2, 900, 3500])
def test_levels_of_long_paths_are_added_up_in_parts(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels are added up in parts, of which each goes on from the one before."""
    monkeypatch.setattr(searches, "_AT_ONCE", 1000)
    graph = cg.generators.path(n)
    for sources in (np.array([0], np.int32), np.array([n - 1, n // 3, n - 1], np.int32)):
        depths, predecessors = searches.levels(engine.pattern(graph), sources)
        assert np.array_equal(depths, bfs_distances(graph, sources))
        assert (predecessors[sources] == searches.NONE_BEFORE).all()


@pytest.mark.parametrize("change", [lambda *a: None, lambda n, i, j, x, b, y: y.__setitem__(i, y[i] + b[j]), "gone"])
def test_a_scipy_that_does_not_add_in_turn_is_not_used(
    pocl: Session, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    """A search tests scipy's product before it relies on it, and auto takes another strategy."""
    from scipy.sparse import _sparsetools

    if change == "gone":
        monkeypatch.delattr(_sparsetools, "coo_matvec")
    else:
        monkeypatch.setattr(_sparsetools, "coo_matvec", change)
    searches._product.cache_clear()
    try:
        assert cg.bfs(cg.generators.path(50), 0, session=pocl, verify=True).info.strategy != "host"
        with pytest.raises(UnsupportedStrategyError, match="this scipy does not add up"):
            cg.sssp(cg.generators.path(50), 0, strategy="host", session=pocl)
    finally:
        searches._product.cache_clear()


def test_auto_takes_another_strategy_where_sums_of_doubles_are_inexact(pocl: Session) -> None:
    """scipy's sums are doubles; where these would not be exact, auto takes another strategy."""
    path = cg.generators.path(3)

    def info(weights: Any, **settings: Any) -> Any:
        graph = Graph(path.row_offsets, path.column_indices, np.array(weights))
        return cg.sssp(graph, 0, session=pocl, verify=True, **settings).info

    third = 2**53 // 3
    assert info([third, third, third, third]).strategy == "host"
    assert info(np.ones(4, np.float32)).strategy == "host"
    for weights, settings, reason in (
        ([third + 1] * 4, {}, "longer than 2"), (np.ones(4, np.float32), {"dtype": "float32"}, "float32"),
    ):  # fmt: skip
        assert info(weights, **settings).strategy != "host"
        with pytest.raises(UnsupportedStrategyError, match=reason):
            info(weights, strategy="host", **settings)


def test_the_host_needs_no_kernels_on_any_device() -> None:
    for algorithm in map(find_algorithm, ALGORITHMS):
        host = algorithm.strategies["host"]
        assert host.kind == "sequential" and host.recipe is None
        assert host.unsupported(session_on("pocl").facts) is None
