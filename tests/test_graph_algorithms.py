"""What algorithms on graphs have in common, each with its table of strategies."""

import math
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import test_bfs
import test_connected_components
import test_minimum_spanning_forest
import test_sssp
from graphs import GRAPHS, chain, with_unsorted_rows, with_wide_offsets
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_faults import changed, numbered, of_both, of_edges, planted, same

import clgraph as cg
from clgraph.algorithms.table import find_algorithm
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.vertex_hashes import HASHES
from clgraph.errors import ClgraphError, InputError, SourceError, UnsupportedStrategyError, VerificationError
from clgraph.generators import random_weights
from clgraph.reference.bfs import NO_PREDECESSOR, bfs_distances
from clgraph.reference.sssp import dijkstra
from clgraph.runtime.session import Session

USUAL = {
    "connected_components": "rem", "minimum_spanning_forest": "edge_list", "bfs": "frontier", "sssp": "frontier",
    "color": "speculative", "hash_collisions": "row_per_item",
}  # fmt: skip
TESTS: dict[str, Any] = {
    "connected_components": test_connected_components, "minimum_spanning_forest": test_minimum_spanning_forest,
    "bfs": test_bfs, "sssp": test_sssp,
}  # fmt: skip
CASES = [(name, strategy) for name in TESTS for strategy in find_algorithm(name).strategies]
ORACLES: dict[str, Callable[..., Any]] = {"bfs": bfs_distances, "sssp": dijkstra}
every_algorithm = pytest.mark.parametrize("name", USUAL)
every_search = pytest.mark.parametrize("name", ORACLES)
every_case = pytest.mark.parametrize(("name", "strategy"), CASES)
every_way_to_search = pytest.mark.parametrize(("name", "strategy"), [case for case in CASES if case[0] in ORACLES])


def called(name: str, graph: Any, **options: Any) -> Any:
    """Call the function *name* on *graph*; searches begin at vertex 1."""
    source = {"source": 1} if name in ORACLES else {}
    predecessors = {"predecessors": True} if name == "sssp" else {}
    return getattr(cg, name)(graph, **{**source, **predecessors, **options})


@pytest.mark.parametrize(("name", "strategy"), USUAL.items())
def test_info_tells_strategy_and_seconds(pocl: Session, name: str, strategy: str) -> None:
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
def test_what_is_no_graph_is_refused(pocl: Session, name: str) -> None:
    with pytest.raises(InputError):
        called(name, [1, 2, 3], session=pocl)


BAD_ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "connected_components": [
        {"hook_rounds": 1}, {"strategy": "rem", "hook_rounds": 2}, {"strategy": "rem", "strides": (4,)},
        {"strategy": "afforest", "strides": (0,)}, {"strategy": "afforest", "hook_steps": 1.5},
        {"strategy": "afforest", "skip_giant": "no"},
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
    "color": [
        *({"distance": distance} for distance in (3, np.array([1, 2]))), {"by": "edge"},
        *({"order": order} for order in ("smallest_first", np.array(["natural", "random"]))),
        *({"seed": seed} for seed in (-1, 0.5)), {"strategy": "speculative", "by": "row"},
        {"strategy": "speculative", "by": "edge", "distance": 2}, {"strategy": "jones_plassmann", "by": "edge"},
        *({"strategy": "hash_repair", **wrong} for wrong in ({"bits": 17}, {"bits": 0}, {"hash": "md5"})),
    ],
    "hash_collisions": [
        *({"distance": distance} for distance in (3, np.array([1, 2]), "2")), {"tile": 100},
        *({"hashes": hashes} for hashes in (0, len(HASHES) + 1, 1.5, "murmur3", [], ["murmur3", "md5"], ["gray"] * 2)),
        *({"bit_widths": widths} for widths in ([], [0, 1], [32], [3, 2], [2, 2], [1.5])),
        *({"strategy": "persistent", "tile": tile} for tile in (1, 2**40, "large")),
        {"strategy": "row_per_item", "layout": "padded"}, {"strategy": "row_per_sub_group", "tile": 1},
        *({"strategy": "row_per_sub_group", "distance": 2, **wrong}
          for wrong in ({"tile": 2**40, "layout": "padded"}, {"layout": "bogus"})),
        *({"strategy": "row_per_item", "distance": 2, "distinct": "bitmap", **wrong}
          for wrong in ({"distinct": "bogus"}, {"layout": "padded"}, {"bit_widths": [31]})),
    ],
}  # fmt: skip
UNSUPPORTED = [("color", {"strategy": "best_of_orders", "order": "natural"}),
               *((name, {"strategy": "bogus"}) for name in USUAL)]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [*((name, each, InputError) for name, several in BAD_ARGUMENTS.items() for each in several),
     *((name, {"strategy": strategy, "bogus": 1}, InputError) for name, strategy in CASES),
     *((*each, UnsupportedStrategyError) for each in UNSUPPORTED)], ids=str,
)  # fmt: skip
def test_bad_arguments_are_refused_and_change_nothing(
    pocl: Session, name: str, arguments: dict[str, Any], error: type[Exception]
) -> None:
    graph = cg.generators.path(10)
    with pytest.raises(error) as caught:
        called(name, graph, **{"session": pocl, **arguments})
    assert isinstance(caught.value, ClgraphError)
    called(name, graph, session=pocl, verify=True)


def unusual_rows() -> list[Graph]:
    """Return a graph with unsorted rows, and two with the int64 offsets of 2**31 entries and more."""
    usual = random_weights(cg.generators.rmat(9, 8), high=9)
    directed = random_weights(GRAPHS["directed-scale-free"](), high=9)
    return [with_unsorted_rows(usual), with_wide_offsets(usual), with_wide_offsets(directed)]


@pytest.mark.parametrize(
    ("name", "strategy", "options"),
    [*((*case, {}) for case in CASES), ("minimum_spanning_forest", "segmented", {"merge": "transactional"}),
     ("minimum_spanning_forest", "edge_list", {"light_edges": 0.5})], ids=str,
)  # fmt: skip
@pytest.mark.long
def test_unsorted_rows_and_int64_offsets_are_read_right(
    session: Session, name: str, strategy: str, options: dict[str, Any]
) -> None:
    if reason := find_algorithm(name).strategies[strategy].unsupported(session.facts):
        pytest.skip(reason)
    unsorted, *wide = unusual_rows()
    assert not unsorted.has_sorted_rows and all(graph.row_offsets.dtype == np.int64 for graph in wide)
    for graph in (unsorted, *wide):
        called(name, graph, strategy=strategy, session=session, verify=True, **options)


CYCLE = random_weights(cg.generators.cycle(50), high=5)
EDGES = np.flatnonzero(CYCLE.sources() < CYCLE.column_indices)
WRONG_WAYS = [of_both(changed(25, by=1), same), of_both(same, changed(3, to=7))]
FAULTS: dict[str, list[Callable[[Any], Any]]] = {
    "connected_components": [numbered(changed(25, to=1), 2)],
    # Of a cycle each edge but one is in the forest.
    "minimum_spanning_forest": [
        of_edges(lambda edges: edges[1:]),
        of_edges(lambda edges: np.setdiff1d(EDGES, edges[:1])),
    ],
    "bfs": WRONG_WAYS,
    "sssp": WRONG_WAYS,
    "color": [lambda _found: (1, np.zeros(50, np.int32))],
}


@pytest.mark.parametrize(("name", "strategy"), [*CASES, ("color", "speculative")])
def test_verify_finds_a_wrong_answer(pocl: Session, monkeypatch: pytest.MonkeyPatch, name: str, strategy: str) -> None:
    table = find_algorithm(name).strategies
    right = table[strategy]
    called(name, CYCLE, strategy=strategy, session=pocl, verify=True)
    for fault in FAULTS[name]:
        monkeypatch.setitem(table, strategy, planted(right, "result", fault))
        with pytest.raises(VerificationError):
            called(name, CYCLE, strategy=strategy, session=pocl, verify=True)


@every_search
def test_plans_of_one_graph_have_sources_of_their_own(pocl: Session, name: str) -> None:
    """Plans of one graph do not share their sources."""
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
def test_path_to_leads_from_a_source_by_edges(session: Session, name: str) -> None:
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


PARALLEL = Graph.from_edges([0, 0, 0, 1, 1, 2, 4], [0, 1, 1, 2, 2, 2, 4], [0, 5, 3, 4, 9, 0, 1], n=6)
ONE_WAY = Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 0], [1.5, 2.0, 4.0, 1.0], directed=True)
LONE = {dtype: Graph.from_edges([0, 1], [1, 2], np.array([3, 4], dtype), n=5) for dtype in ("int32", "float32")}
# The graph, the source, the numbers of edges to all vertices, and the lengths.
SMALL: dict[str, tuple[Graph, int, list[int], list[float]]] = {
    "isolated source": (LONE["int32"], 4, [-1, -1, -1, -1, 0], [-1, -1, -1, -1, 0]),
    "isolated source, floats": (LONE["float32"], 4, [-1, -1, -1, -1, 0], [math.inf] * 4 + [0]),
    **{
        f"one vertex, {dtype}": (Graph.from_edges([], [], dtype and np.zeros(0, dtype), n=1), 0, [0], [0])
        for dtype in (None, "int32", "float64")
    },
    "parallel edges": (PARALLEL, 0, [0, 1, 2, -1, -1, -1], [0, 3, 7, -1, -1, -1]),
    "self-loop": (PARALLEL, 4, [-1, -1, -1, -1, 0, -1], [-1, -1, -1, -1, 0, -1]),
    "forwards": (ONE_WAY, 0, [0, 1, 2, -1], [0, 1.5, 3.5, math.inf]),
    "into a circle": (ONE_WAY, 3, [1, 2, 3, 0], [1, 2.5, 4.5, 0]),
}


@every_way_to_search
@pytest.mark.parametrize("small", SMALL)
def test_small_graphs_have_the_distances_by_hand(session: Session, small: str, name: str, strategy: str) -> None:
    """To breadth-first search weights do not matter."""
    graph, source, hops, lengths = SMALL[small]
    if name == "bfs":
        for weights in (None, np.full(graph.n_edges, -np.inf)):
            other = Graph(graph.row_offsets, graph.column_indices, weights, directed=graph.directed)
            assert test_bfs.assert_right(other, source, session, strategy).distances.tolist() == hops
    else:
        assert test_sssp.assert_right(graph, source, session, strategy).distances.tolist() == lengths


@every_way_to_search
def test_a_path_of_100_000_vertices_is_searched_to_its_end(pocl: Session, name: str, strategy: str) -> None:
    weights = np.ones(99_999, int) if name == "bfs" else np.random.default_rng(1).integers(0, 2**20, 99_999)
    distances, predecessors = getattr(cg, name)(chain(weights), 0, strategy=strategy, session=pocl)
    assert np.array_equal(distances, np.append(0, np.cumsum(weights)))
    assert predecessors is None if name == "sssp" else np.array_equal(predecessors, [NO_PREDECESSOR, *range(99_999)])


@every_way_to_search
def test_a_star_is_searched_from_its_centre_and_a_leaf(session: Session, name: str, strategy: str) -> None:
    graph = random_weights(cg.generators.star(70_000), high=99)
    for source, hops in ((0, 69_999), (69_999, 1 + 2 * 69_998)):
        found = TESTS[name].assert_right(graph, source, session, strategy).distances
        assert name == "sssp" or found.sum() == hops


@every_way_to_search
def test_the_nearest_of_several_sources_counts(session: Session, name: str, strategy: str) -> None:
    graph, step = chain(np.full(999, 3)), 1 if name == "bfs" else 3
    for sources, farthest in (([0, 999], 499), ([500, 500, 500], 500), (np.arange(1000), 0)):
        found = TESTS[name].assert_right(graph, sources, session, strategy).distances
        assert found.max() == farthest * step
    for source in (np.int64(3), np.uint8(3), np.array(3), (3,), np.array([3], np.uint16), range(3, 4)):
        assert getattr(cg, name)(graph, source, strategy=strategy, session=session).distances[0] == 3 * step


DRAWN: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "connected_components": {},
    "minimum_spanning_forest": {"maximum": st.booleans()},
    "bfs": {"max_depth": st.none() | st.integers(0, 9)},
    "sssp": {"limit": st.none() | st.integers(0, 9)},
}


@pytest.mark.parametrize("name", TESTS)
@given(
    n=st.integers(1, 80), edges=st.lists(st.tuples(*[st.integers(0, 79)] * 2, st.integers(0, 3)), max_size=160),
    directed=st.booleans(), dtype=st.sampled_from([np.int32, np.int64, np.float32, np.float64]), data=st.data(),
)  # fmt: skip
@settings(max_examples=60)
@pytest.mark.long
def test_answers_on_random_graphs_are_right(
    name: str, n: int, edges: list[tuple[int, int, int]], directed: bool, dtype: type, data: Any, pocl: Session
) -> None:
    triples = np.array(edges, np.int32).reshape(-1, 3)
    weights = None if name in ("connected_components", "bfs") else (triples[:, 2] - (name not in ORACLES)).astype(dtype)
    graph = Graph.from_edges(triples[:, 0] % n, triples[:, 1] % n, weights, n=n, directed=directed)
    strategy, options = data.draw(st.sampled_from(TESTS[name].CASES))
    asked = {setting: data.draw(values) for setting, values in DRAWN[name].items()}
    sources = [data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4))] if name in ORACLES else []
    TESTS[name].assert_right(graph, *sources, pocl, strategy, **asked, **options)


@pytest.mark.parametrize("factor", [1e-320, 1e-300, 1e300, 2e307])
def test_weights_of_any_size_are_answered_without_warnings(pocl: Session, factor: float) -> None:
    rng = np.random.default_rng(5)
    u, v = rng.integers(0, 40, (2, 160))
    graph = Graph.from_edges(u, v, factor * rng.integers(1, 9, u.size), n=40)
    run: dict[str, Any] = {"session": pocl, "verify": True}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cg.sssp(graph, 0, **run)
        cg.minimum_spanning_forest(graph, **run)
        cg.maximal_matching(graph, **run)
        cg.communities(graph, **run)
