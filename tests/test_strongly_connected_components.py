"""Every strategy of strongly connected components on every zoo graph and device, against the definition and scipy."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import run_at_width
from graphs import GRAPHS
from hypothesis import given
from hypothesis import strategies as st

import clgraph as cg
from clgraph.algorithms.strongly_connected_components import STRATEGIES, as_problem, strongly_connected_components
from clgraph.algorithms.strongly_connected_components.host import numbered
from clgraph.algorithms.strongly_connected_components.plan import StrongPlan
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError, VerificationError
from clgraph.reference.strongly_connected_components import check_strong_components
from clgraph.reference.strongly_connected_components import strongly_connected_components as smallest_of_components
from clgraph.runtime.session import Session

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "forward_backward": [{"rounds": k} for k in (1, 3)],
    "min_propagation": [],
    "depth_first": [],
    "host": [],
}
CASES = [(name, {}) for name in STRATEGIES] + [(name, o) for name in STRATEGIES for o in OPTIONS[name]]


def expected(graph: Graph) -> tuple[int, np.ndarray]:
    smallest = smallest_of_components(graph)
    is_first = smallest == np.arange(graph.n_vertices)
    return int(is_first.sum()), (np.cumsum(is_first) - 1)[smallest].astype(np.int32)


def assert_right(graph: Graph, session: Session, strategy: str, **options: Any) -> None:
    if reason := STRATEGIES[strategy].unsupported(session.facts):
        pytest.skip(reason)
    n_components, labels = expected(graph)
    plan = STRATEGIES[strategy].plan(session, as_problem(graph), **options)
    for _ in range(2):  # a plan may run again
        plan.run()
        found, numbers = plan.result()
        assert found == n_components and np.array_equal(numbers, labels)
    result = strongly_connected_components(graph, strategy=strategy, session=session, verify=True, **options)
    assert result.n_components == n_components and np.array_equal(result.labels, labels)
    assert result.labels.dtype == np.int32


def strategies_of(session: Session) -> list[str]:
    return [name for name, strategy in STRATEGIES.items() if strategy.unsupported(session.facts) is None]


def random_digraph(n: int, m: int, seed: int) -> Graph:
    return Graph.from_edges(*np.random.default_rng(seed).integers(n, size=(2, m)), n=n, directed=True)


def swept(width: int, height: int, share: float, *, numbering: str = "natural") -> Graph:
    """Return a grid whose edges lead right and down; a *share* of them also lead back."""
    at = np.arange(width * height).reshape(height, width)
    u, v = np.append(at[:, :-1], at[:-1]), np.append(at[:, 1:], at[1:])
    rng = np.random.default_rng(width)
    back = rng.random(u.size) < share
    u, v = np.append(u, v[back]), np.append(v, u[back])
    if numbering == "reversed":
        u, v = at.size - 1 - u, at.size - 1 - v
    if numbering == "random":
        order = rng.permutation(at.size)
        u, v = order[u], order[v]
    return Graph.from_edges(u, v, n=at.size, directed=True)


def nested_path(n: int) -> Graph:
    """Return a path whose numbers fall to its middle and then rise: each filter by these numbers finds its two ends."""
    order = np.append(np.arange(n - 1, -1, -2), np.arange(n % 2, n, 2))
    return Graph.from_edges(order[:-1], order[1:], n=n, directed=True)


@pytest.mark.parametrize(("strategy", "options"), CASES, ids=lambda value: str(value))
@pytest.mark.parametrize("name", GRAPHS)
def test_components_of_every_small_graph_are_right(
    session: Session, name: str, strategy: str, options: dict[str, Any]
) -> None:
    assert_right(GRAPHS[name](), session, strategy, **options)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_components_of_shapes_that_use_every_branch_are_right(session: Session, strategy: str) -> None:
    """A giant, long rows, sweeps of meshes in every numbering, one long cycle, many cycles."""
    hubs = np.append(np.repeat([3, 7], 5000), np.arange(5000)), np.append(np.tile(np.arange(5000), 2), np.full(5000, 7))
    cycles = np.arange(6000)
    for graph in (
        random_digraph(3000, 20_000, 1), random_digraph(5000, 6000, 2), Graph.from_edges(*hubs, directed=True),
        *(swept(70, 50, 0.02, numbering=numbering) for numbering in ("natural", "reversed", "random")),
        Graph.from_edges(cycles, np.roll(cycles, -1), directed=True).permuted(4),
        Graph.from_edges(cycles, np.where(cycles % 6 == 5, cycles - 5, cycles + 1), directed=True).permuted(5),
    ):  # fmt: skip
        assert_right(graph, session, strategy)


def test_the_number_of_filters_does_not_depend_on_the_numbering(session: Session) -> None:
    """By the numbers of the vertices alone, this path would take 500 filters."""
    plan: StrongPlan = STRATEGIES["min_propagation"].plan(session, as_problem(nested_path(1000)))
    plan.run()
    assert plan.result()[0] == 1000 and plan.details["filters"] < 40


def test_a_search_that_is_cut_off_leaves_the_rest_to_the_propagation(session: Session) -> None:
    cycle = Graph.from_edges(np.arange(300), np.roll(np.arange(300), -1), directed=True)
    result = strongly_connected_components(cycle, strategy="forward_backward", rounds=20, session=session)
    assert result.n_components == 1 and result.info.details["search_rounds"] == 20
    assert result.info.details["filters"] >= 1


@pytest.mark.parametrize("strategy", ["forward_backward", "min_propagation"])
def test_rows_in_pieces_give_the_same_components(session: Session, strategy: str, monkeypatch: Any) -> None:
    """Lists of edges and pieces are for rows of any length; on devices of one lane a row stays whole."""
    monkeypatch.setattr("clgraph.algorithms.strongly_connected_components.strategies._LONG_ROW", 20)
    assert_right(random_digraph(400, 20_000, 6), session, strategy)
    u, v = np.random.default_rng(3).integers(500, size=(2, 9000))
    assert_right(Graph.from_edges(u**2 // 500, v, n=500, directed=True), session, strategy)


@given(st.integers(1, 40), st.integers(0, 120), st.integers(0, 10**6), st.sampled_from(CASES))
def test_random_graphs(pocl: Session, n: int, m: int, seed: int, case: tuple[str, dict[str, Any]]) -> None:
    strategy, options = case
    graph = random_digraph(n, m, seed)
    found = strongly_connected_components(graph, strategy=strategy, session=pocl, **options)
    n_components, labels = expected(graph)
    assert found.n_components == n_components and np.array_equal(found.labels, labels)


def test_matrices_and_graphs_of_networkx(session: Session) -> None:
    digraph = nx.gnp_random_graph(400, 0.004, seed=2, directed=True)
    sets = {frozenset(each) for each in nx.strongly_connected_components(digraph)}
    matrix = nx.to_scipy_sparse_array(digraph, dtype=np.float64)
    for data in (digraph, matrix, sp.csr_matrix(matrix)):
        for strategy in strategies_of(session):
            found = strongly_connected_components(data, strategy=strategy, session=session, verify=True)
            assert {frozenset(np.flatnonzero(found.labels == k).tolist()) for k in range(found.n_components)} == sets
    named = strongly_connected_components(nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")]), session=session)
    assert named.to_dict()["component"].tolist() == [0, 0, 1]


def test_answers_stay_on_the_device(session: Session) -> None:
    graph = random_digraph(2000, 5000, 9)
    n_components, labels = expected(graph)
    for strategy in set(strategies_of(session)) - {"host"}:
        there = strongly_connected_components(graph, strategy=strategy, session=session, output="device")
        assert there.n_components == n_components and np.array_equal(there.get().labels, labels)
    empty = Graph.from_edges([], [], directed=True)
    assert strongly_connected_components(empty, session=session, output="device").get().labels.size == 0


def test_condensation_is_the_graph_of_the_components(session: Session) -> None:
    for graph in (random_digraph(300, 500, 3), swept(20, 20, 0.1), Graph.from_edges([], [], n=3, directed=True)):
        found = strongly_connected_components(graph, session=session)
        rows, columns = found.labels[graph.sources()], found.labels[graph.column_indices]
        expected = {(u, v) for u, v in zip(rows.tolist(), columns.tolist(), strict=True) if u != v}
        for dag in (cg.condensation(graph, found), cg.condensation(graph, session=session, verify=True)):
            assert dag.directed and dag.n_vertices == found.n_components and dag.edge_weights is None
            assert [*zip(dag.sources().tolist(), dag.column_indices.tolist(), strict=True)] == sorted(expected)
            assert nx.is_directed_acyclic_graph(dag.to_networkx())
    with pytest.raises(InputError, match="components are of 3 vertices, and the graph has 4"):
        cg.condensation(Graph.from_edges([], [], n=4, directed=True), found)


@pytest.mark.parametrize("width", [8, 32])
def test_components_are_right_at_every_sub_group_width(width: int) -> None:
    script = (
        "import clgraph as cg; from clgraph.algorithms.strongly_connected_components import STRATEGIES;"
        "import numpy as np; u, v = np.random.default_rng(1).integers(3000, size=(2, 9000));"
        "u = np.append(u, np.zeros(3000, int)); v = np.append(v, np.arange(3000));"
        "g = cg.Graph.from_edges(u, v, n=3000, directed=True);"
        "[cg.strongly_connected_components(g, strategy=k, session=s, verify=True) for k in STRATEGIES]"
    )
    run_at_width(width, script, optimised=width < 32)


def test_bad_arguments_are_refused(pocl: Session) -> None:
    graph = random_digraph(9, 20, 1)
    with pytest.raises(InputError, match="rounds = 0; allowed: 1 to 1048576"):
        strongly_connected_components(graph, strategy="forward_backward", rounds=0, session=pocl)
    with pytest.raises(InputError, match="graph"):
        strongly_connected_components("no graph", session=pocl)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 0, 0, 0, 1], "vertex 3 does not reach vertex 0 within its component 0"),
        ([0, 1, 2, 3, 4], "the components 0 and 1 reach each other"),
        ([1, 1, 1, 0, 2], "not numbered 0, 1, … by their smallest"),
        ([0, 0, 0, 1, 1], "vertex 4 is not reached from vertex 3 within its component 1"),
    ],
)
def test_wrong_components_are_found(labels: list[int], message: str) -> None:
    graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], n=5, directed=True)
    check_strong_components(graph, 3, np.array([0, 0, 0, 1, 2], np.int32))
    with pytest.raises(VerificationError, match=message):
        check_strong_components(graph, len(set(labels)), np.array(labels, np.int32))


def test_numbers_follow_the_smallest_vertices() -> None:
    assert numbered(np.array([2, 0, 2, 1, 0], np.int32), 3).tolist() == [0, 1, 0, 2, 1]


def test_the_pick_is_sequential_for_meshes_and_small_graphs(pocl: Session) -> None:
    assert cg.strongly_connected_components(random_digraph(50, 90, 1)).info.strategy == "host"
    assert strongly_connected_components(swept(300, 300, 0.01), session=pocl).info.strategy == "depth_first"
    assert strongly_connected_components(random_digraph(60_000, 900_000, 1), session=pocl).info.strategy != "host"
