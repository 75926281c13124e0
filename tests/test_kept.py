"""What a session keeps of a call: the next call on the same graph only runs it, and its answer is as right."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np
import pytest
from conftest import printed_by

import clgraph as cg
from clgraph import generators
from clgraph.algorithms.table import MODULES, find_algorithm
from clgraph.engine import algorithm as algorithm_module
from clgraph.engine.algorithm import Algorithm
from clgraph.errors import DeviceMemoryError, DeviceTimeoutError, InputError
from clgraph.runtime import kept as kept_module
from clgraph.runtime import session as session_module
from clgraph.runtime.kept import Kept
from clgraph.runtime.program import Program
from clgraph.runtime.session import Session

ON_GRAPHS = sorted(set(MODULES) - {"factorization"})
ZEROED = {"controls", "versions"}  # arrays of recipes that must be zero before the first run
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
def test_a_plan_is_made_once_and_right_in_every_run(session: Session, algorithm: str) -> None:
    """What a run finds in its arrays does not matter to it."""
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


@pytest.mark.parametrize("algorithm", ON_GRAPHS)
def test_a_later_call_makes_nothing_anew(session: Session, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It prices no strategy, allocates and binds nothing, and waits for nothing but what it reads.

    But for ``hybrid``: METIS or a session of the CPU gets a coarse level anew in each run.
    """
    entry = find_algorithm(algorithm)
    problem = entry.problem(generators.random_weights(generators.grid(9, 11)), **SETTINGS.get(algorithm, ({},))[0])
    strategies = [(name, strategy) for name, strategy in entry.strategies.items() if name != "hybrid"]
    runs_here = [name for name, strategy in strategies if not strategy.unsupported(session.facts)]
    first = {name: entry.solve(problem, strategy=name, session=session) for name in ("auto", *runs_here)}

    def refused(*_args: object, **_options: object) -> None:
        raise AssertionError("this was there already")

    for owner, name in ((Session, "empty"), (Session, "finish"), (Program, "bind"), (algorithm_module, "choose")):
        monkeypatch.setattr(owner, name, refused)
    for name, before in first.items():
        again = entry.solve(problem, strategy=name, session=session)
        assert again.info.strategy == before.info.strategy
        assert before.info.kernels.keys() - again.info.kernels.keys() <= {"fill"}, "zeros before the first run"


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


def test_distances_of_64_bits_are_found_at_once_the_second_time(pocl: Session) -> None:
    weights = np.full(3, 2**31 - 1, np.int32)
    graph = cg.Graph.from_edges([0, 1, 2], [1, 2, 3], weights)
    first, second = (cg.sssp(graph, 0, strategy="dijkstra", session=pocl, verify=True) for _ in range(2))
    assert first.distances.tolist() == second.distances.tolist() == [0, 2**31 - 1, 2**32 - 2, 3 * (2**31 - 1)]
    assert [result.info.kernels["search"][0] for result in (first, second)] == [2, 1]


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
    monkeypatch.setattr(session_module, "available_bytes", lambda facts: next(available))
    monkeypatch.setattr(session_module, "_CHECKED_BYTES", 0)
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
    monkeypatch.setattr(session_module, "_CHECKED_BYTES", 0)
    monkeypatch.setattr(session_module, "available_bytes", lambda facts: sum(sizes) - 1)
    monkeypatch.setattr(pocl, "empty", lambda *_: pytest.fail("memory was asked for"))
    with pytest.raises(DeviceMemoryError, match=f"needs {sum(sizes):,} bytes .*{name} {max(sizes):,}"):
        entry.strategies["edge_list"].plan(pocl, problem)


@pytest.mark.parametrize("algorithm", ["bfs", "partition"])
def test_a_plan_counts_all_bytes_that_its_first_run_took(pocl: Session, algorithm: str) -> None:
    """Also what it makes while it runs; later runs take less, but it still holds as many."""
    entry, graph, held, taken = find_algorithm(algorithm), generators.grid(60, 60), list[int](), list[int]()
    pocl.kept.forget()
    for _ in range(3):
        before = pocl.allocated_bytes
        entry.solve(entry.problem(graph), strategy="gpu" if algorithm == "partition" else "frontier", session=pocl)
        taken.append(pocl.allocated_bytes - before)
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
    assert kept.take(graph, 0) is plans[0] and kept.take(graph, 0) is None, "one that runs is nobody else's"
    kept.put(graph, 0, plans[0], 300)
    kept.put(graph, 3, plans[3], 300)  # the plans hold 1,200 bytes of 1,000
    assert [plan.released for plan in plans] == [False, True, False, False, False, False]
    kept.put(graph, 4, plans[4], 2000)
    assert all(plan.released for plan in plans[:5]), "one that is too large stays no more than the others"
    monkeypatch.setattr(kept_module, "MOST_PLANS", 2)
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
from clgraph.data.graph import Graph
from clgraph.runtime.session import Session

session = Session("pocl")
first = generators.random_weights(generators.grid(150, 150), seed=1)
for i in range(40):
    if i == 10:
        before, on_device = resident_bytes("VmRSS"), session._pool.active_bytes
    graph = Graph(first.row_offsets, first.column_indices, first.edge_weights)
    given = graph if i % 2 else graph.to_scipy()
    connected_components(given, strategy="rem", session=session)
    bfs(given, i, strategy="frontier", session=session)
    minimum_spanning_forest(given, strategy="edge_list", session=session)
print((resident_bytes("VmRSS") - before) / first.nbytes, session._pool.active_bytes - on_device)
"""


def test_a_process_does_not_grow_with_the_graphs_that_it_has_solved() -> None:
    grown, grown_on_device = map(float, printed_by(FORTY_GRAPHS).split())
    assert grown < 5 and not grown_on_device  # of the thirty graphs
