"""The strategy ``host``: when it is picked, what it tells, and the inputs on which scipy's own answer would differ."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import session_on

import clgraph as cg
from clgraph.algorithms.table import find_algorithm, find_function
from clgraph.algorithms.traversal import host as searches
from clgraph.data.graph import Graph
from clgraph.data.stats import FAR_DISTANCE
from clgraph.data.wrapped import wrap_graph
from clgraph.device.profile import Curve
from clgraph.engine import host as engine
from clgraph.errors import GraphError, InputError, UnsupportedStrategyError
from clgraph.generators import random_weights
from clgraph.reference.bfs import bfs_distances
from clgraph.runtime.device_graph import DeviceGraph
from clgraph.runtime.session import Session

ALGORITHMS = {"connected_components": {}, "bfs": {"source": 0}, "sssp": {"source": 0}, "minimum_spanning_forest": {}}
every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)


def weighted(graph: Graph) -> Graph:
    return random_weights(graph, low=1, high=9)


@every_algorithm
def test_small_graphs_run_on_the_host(session: Session, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of the graph but its size, and nothing reaches the device."""
    graph = weighted(cg.generators.path(50))
    monkeypatch.setattr(Graph, "stats", property(lambda graph: pytest.fail("statistics were asked for")))
    monkeypatch.setattr(Session, "empty", lambda *_: pytest.fail("memory was asked for"))
    monkeypatch.setattr(Session, "upload", lambda *_: pytest.fail("an array was uploaded"))
    info = find_function(name)(graph, **ALGORITHMS[name], session=session, verify=True).info
    assert (info.strategy, info.kind, info.device, info.kernels) == ("host", "sequential", "host", {})
    assert set(info.predicted_seconds) == {"host"} and session.facts.name in info.why
    assert info.seconds.host == info.seconds.total > 0 and info.seconds.kernel == info.seconds.transfer == 0


@every_algorithm
def test_it_is_forced_explained_and_refuses_options(pocl: Session, name: str) -> None:
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
    """A device that answers at once gets small graphs, too, where the host is slow; one that is late gets none."""
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
    """Where neighbours are near, scipy's search ends before the device has read the matrix."""
    algorithm, graph = find_algorithm("bfs"), cg.generators.grid(300, 450)
    ways = {"scan": Curve({1: 1e10}), "traverse": Curve({300_000: 1e9, 2_000_000: 1e7})}
    rates = replace(pocl.profile.rates, call_seconds=1.5e-4, host_items_per_second=ways)
    monkeypatch.setattr(pocl, "profile", replace(pocl.profile, rates=rates))
    monkeypatch.setattr("clgraph.data.wrapped.graph_stats", lambda graph: pytest.fail("statistics were computed"))
    near, far = graph.to_scipy(), graph.permuted(0).to_scipy()
    assert algorithm.choose(pocl, algorithm.problem(near, source=0)).strategy == "host"
    assert algorithm.choose(pocl, algorithm.problem(far, source=0)).strategy == "frontier"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_small_graph_goes_to_the_host_without_statistics(
    pocl: Session, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    algorithm, graph = find_algorithm(name), weighted(cg.generators.rmat(8, 8))
    problem = algorithm.problem(graph)
    monkeypatch.setattr(Graph, "stats", property(lambda graph: pytest.fail("statistics were computed")))
    monkeypatch.setattr(Graph, "is_measured", False)
    assert algorithm.choose(pocl, problem).strategy == "host"


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


def test_graphs_that_are_too_large_for_scipy(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_MOST_INDICES", 100)
    for name, settings in ALGORITHMS.items():
        with pytest.raises(UnsupportedStrategyError, match="scipy takes graphs of less than 100"):
            find_function(name)(cg.generators.path(50), **settings, strategy="host", session=pocl)
        assert find_function(name)(cg.generators.path(50), **settings, session=pocl).info.strategy != "host"


def test_matrices_that_scipy_takes_as_they_are(pocl: Session) -> None:
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
    with pytest.raises(GraphError, match="damaged"):  # nobody gets what is unchecked
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
def test_levels_of_long_paths(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels are added up in parts, of which each goes on from the one before."""
    monkeypatch.setattr(searches, "_AT_ONCE", 1000)
    graph = cg.generators.path(n)
    for sources in (np.array([0], np.int32), np.array([n - 1, n // 3, n - 1], np.int32)):
        depths, predecessors = searches.levels(engine.pattern(graph), sources)
        assert np.array_equal(depths, bfs_distances(graph, sources))
        assert (predecessors[sources] == searches.NONE_BEFORE).all()


@pytest.mark.parametrize("change", [lambda *a: None, lambda n, i, j, x, b, y: y.__setitem__(i, y[i] + b[j]), "gone"])
def test_a_scipy_that_does_not_add_in_turn(pocl: Session, monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Its product is found out before a search counts on it, and auto takes another strategy."""
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


def test_refused_weights(pocl: Session) -> None:
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


def test_it_needs_no_kernels_on_any_device() -> None:
    for algorithm in map(find_algorithm, ALGORITHMS):
        host = algorithm.strategies["host"]
        assert host.kind == "sequential" and host.recipe is None
        assert host.unsupported(session_on("pocl").facts) is None
