"""What components, spanning forests, searches and shortest paths have in common, each with its table of strategies."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from graphs import GRAPHS, with_unsorted_rows, with_wide_offsets

import clgraph as cg
from clgraph.algorithms.mst.plan import Told
from clgraph.algorithms.table import find_algorithm
from clgraph.data.graph import Graph
from clgraph.errors import ClgraphError, InputError, SourceError, UnsupportedStrategyError, VerificationError
from clgraph.generators import random_weights
from clgraph.reference.bfs import bfs_distances
from clgraph.reference.sssp import dijkstra
from clgraph.runtime.session import Session

USUAL = {"connected_components": "rem", "minimum_spanning_forest": "edge_list", "bfs": "frontier", "sssp": "frontier"}
CASES = [(name, strategy) for name in USUAL for strategy in find_algorithm(name).strategies]
ORACLES: dict[str, Callable[..., Any]] = {"bfs": bfs_distances, "sssp": dijkstra}
every_algorithm = pytest.mark.parametrize("name", USUAL)
every_search = pytest.mark.parametrize("name", ORACLES)
every_case = pytest.mark.parametrize(("name", "strategy"), CASES)


def called(name: str, graph: Any, **options: Any) -> Any:
    """Call the function *name* on *graph*; searches begin at vertex 1."""
    given = {"source": 1, **({"predecessors": True} if name == "sssp" else {})} if name in ORACLES else {}
    return getattr(cg, name)(graph, **{**given, **options})


@pytest.mark.parametrize(("name", "strategy"), USUAL.items())
def test_info(pocl: Session, name: str, strategy: str) -> None:
    info = called(name, random_weights(cg.generators.rmat(10)), strategy=strategy, session=pocl, verify=True).info
    assert info.strategy == strategy and info.kind == "online" and set(info.predicted_seconds) == {strategy}
    seconds = info.seconds
    assert 0 < seconds.kernel <= seconds.total and seconds.host >= 0
    assert sum(s for _, s in info.kernels.values()) == pytest.approx(seconds.kernel)


@every_algorithm
def test_auto_is_the_fastest_prediction(pocl: Session, name: str) -> None:
    choice = cg.explain(name, random_weights(cg.generators.rmat(10)), session=pocl)
    assert choice.requested == "auto" and choice.strategy == min(choice.contenders, key=choice.seconds.__getitem__)


@every_algorithm
def test_bad_graph(pocl: Session, name: str) -> None:
    with pytest.raises(InputError):
        called(name, [1, 2, 3], session=pocl)


BAD_ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "connected_components": [
        {"hook_rounds": 1}, {"strategy": "rem", "hook_rounds": 2}, {"strategy": "rem", "strides": (4,)},
        {"strategy": "afforest", "strides": (0,)}, {"strategy": "afforest", "hook_steps": 1.5},
    ],
    "minimum_spanning_forest": [
        {"merge": "min_hook"}, {"light_edges": 1}, {"strategy": "segmented", "merge": "bogus"},
        {"strategy": "segmented", "merge": None}, {"strategy": "segmented", "light_edges": 1},
        {"strategy": "edge_list", "merge": "min_hook"}, {"strategy": "two_pass", "hook_rounds": 1},
        *({"strategy": name, "light_edges": value} for name in ("edge_list", "two_pass")
          for value in (-1, -0.5, math.nan, math.inf, "many", [1])),
    ],
    "bfs": [
        *({"source": source} for source in ([], np.zeros(0, int), 1.5, None, "3", [[1, 2], [3, 4]])),
        *({"max_depth": depth} for depth in (-1, 2.5, "many")), {"bogus": 1},
        {"strategy": "frontier", "alpha": 3},  # it always goes top-down
        {"strategy": "topology_driven", "levels": False},
    ],
    "sssp": [
        *({"source": source} for source in ([], 1.5)), *({"limit": limit} for limit in (-1, -0.5, math.nan, "far")),
        {"bogus": 1}, {"strategy": "frontier", "light_first": True},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments"),
    [*((name, each) for name, several in BAD_ARGUMENTS.items() for each in several),
     *((name, {"strategy": strategy, "bogus": 1}) for name, strategy in CASES),
     *((name, {"strategy": "bogus"}) for name in USUAL)], ids=str,
)  # fmt: skip
def test_bad_arguments(pocl: Session, name: str, arguments: dict[str, Any]) -> None:
    graph, is_known = cg.generators.path(10), arguments.get("strategy") != "bogus"
    with pytest.raises(InputError if is_known else UnsupportedStrategyError) as caught:
        called(name, graph, **{"session": pocl, **arguments})
    assert isinstance(caught.value, ClgraphError)
    called(name, graph, session=pocl, verify=True)


def unusual_rows() -> list[Graph]:
    """Return graphs whose rows are not sorted, or whose offsets are those of graphs from 2**31 entries on."""
    usual = random_weights(cg.generators.rmat(9, 8), high=9)
    directed = random_weights(GRAPHS["directed-scale-free"](), high=9)
    return [with_unsorted_rows(usual), with_wide_offsets(usual), with_wide_offsets(directed)]


@pytest.mark.parametrize(
    ("name", "strategy", "options"),
    [*((*case, {}) for case in CASES), ("minimum_spanning_forest", "segmented", {"merge": "transactional"}),
     ("minimum_spanning_forest", "edge_list", {"light_edges": 0.5})], ids=str,
)  # fmt: skip
def test_unsorted_rows_and_int64_offsets(session: Session, name: str, strategy: str, options: dict[str, Any]) -> None:
    if reason := find_algorithm(name).strategies[strategy].unsupported(session.facts):
        pytest.skip(reason)
    unsorted, *wide = unusual_rows()
    assert not unsorted.has_sorted_rows and all(graph.row_offsets.dtype == np.int64 for graph in wide)
    for graph in (unsorted, *wide):
        called(name, graph, strategy=strategy, session=session, verify=True, **options)


def one_label_more(found: Any, _graph: Graph) -> Any:
    labels = found[1].copy()
    labels[25] = 1
    return 2, labels


def one_edge_less(found: Any, _graph: Graph) -> Any:
    return Told(found.edges[1:], None, {})


def another_edge(found: Any, graph: Graph) -> Any:
    """Of a cycle each edge but one is in the forest."""
    every = np.flatnonzero(graph.sources() < graph.column_indices)
    return Told(np.setdiff1d(every, found.edges[:1]), None, {})


def another_distance(found: Any, _graph: Graph) -> Any:
    distances = found[0].copy()
    distances[25] += 1
    return distances, found[1]


def another_predecessor(found: Any, _graph: Graph) -> Any:
    predecessors = found[1].copy()
    predecessors[3] = 7
    return found[0], predecessors


FAULTS: dict[str, tuple[Callable[[Any, Graph], Any], ...]] = {
    "connected_components": (one_label_more,),
    "minimum_spanning_forest": (one_edge_less, another_edge),
    "bfs": (another_distance, another_predecessor),
    "sssp": (another_distance, another_predecessor),
}


@every_case
def test_verify_finds_a_wrong_answer(pocl: Session, monkeypatch: pytest.MonkeyPatch, name: str, strategy: str) -> None:
    graph, table = random_weights(cg.generators.cycle(50), high=5), find_algorithm(name).strategies
    right = table[strategy]
    called(name, graph, strategy=strategy, session=pocl, verify=True)
    for fault in FAULTS[name]:

        def plan(*args: Any, fault: Any = fault, **options: Any) -> Any:
            planned = right.plan(*args, **options)
            result = planned.result
            planned.result = lambda: fault(result(), graph)
            return planned

        monkeypatch.setitem(table, strategy, replace(right, plan=plan))
        with pytest.raises(VerificationError):
            called(name, graph, strategy=strategy, session=pocl, verify=True)


@every_search
def test_plans_of_one_graph(pocl: Session, name: str) -> None:
    """Their sources are their own."""
    graph, algorithm = random_weights(cg.generators.grid(20, 30)), find_algorithm(name)
    for strategy in algorithm.strategies.values():
        first, second = (strategy.plan(pocl, algorithm.problem(graph, source=s)) for s in (0, 599))
        for plan, source in ((first, 0), (second, 599), (first, 0)):
            plan.run()
            assert np.array_equal(plan.result()[0], ORACLES[name](graph, [source]))


@every_search
def test_a_plan_starts_from_the_largest_degree(pocl: Session, name: str) -> None:
    graph, algorithm = random_weights(cg.generators.star(50).permuted(1)), find_algorithm(name)
    for strategy in algorithm.strategies.values():
        plan = strategy.plan(pocl, algorithm.problem(graph))
        plan.run()
        assert plan.result()[0][graph.degrees.argmax()] == 0


@every_search
def test_path_to(session: Session, name: str) -> None:
    graph = random_weights(cg.generators.grid(9, 11), low=0, high=3).permuted(1)
    result = called(name, graph, source=[4, 50], session=session)
    weights = graph.edge_weights.tolist() if name == "sssp" else [1] * graph.n_edges
    lengths = dict(zip(zip(graph.sources().tolist(), graph.column_indices.tolist(), strict=True), weights, strict=True))
    for v in range(graph.n_vertices):
        path = result.path_to(v)
        assert path[0] in (4, 50) and path[-1] == v
        assert sum(lengths[edge] for edge in pairwise(path)) == result.distances[v]
    with pytest.raises(SourceError, match="99"):
        result.path_to(99)
    farthest = {"max_depth": 0} if name == "bfs" else {"limit": 0}
    assert called(name, graph, source=4, session=session, **farthest).path_to(50) == []
    with pytest.raises(InputError, match="predecessors"):
        cg.sssp(graph, 0, session=session).path_to(3)
