"""Core numbers on every device, against the definition and networkx, on graphs of every kind."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import run_at_width
from graphs import DIRECTED, UNDIRECTED, hubs_and_leaves, with_unsorted_rows, with_wide_offsets
from hypothesis import given
from hypothesis import strategies as st

import clgraph as cg
from clgraph.algorithms.cores.strategies import STRATEGIES
from clgraph.data.graphs.graph import Graph
from clgraph.errors import GraphError, InputError, VerificationError
from clgraph.generators import random_weights
from clgraph.reference.cores import check_core_numbers
from clgraph.runtime.session import Session

OPTIONS: dict[str, list[dict[str, Any]]] = {"peel": [], "buckets": []}


def strategies_of(session: Session) -> list[str]:
    return [name for name, strategy in STRATEGIES.items() if strategy.unsupported(session.facts) is None]


def simple(graph: Graph) -> Graph:
    """Return *graph* without self-loops and parallel edges."""
    return Graph.from_edges(*graph.edge_list()[:2], n=graph.n_vertices, duplicates="first", self_loops="drop")


def expected_cores(graph: Graph) -> list[int]:
    return list(nx.core_number(graph.to_networkx()).values())


@pytest.mark.parametrize("name", UNDIRECTED)
def test_every_strategy_finds_networkx_core_numbers(session: Session, name: str) -> None:
    graph = simple(UNDIRECTED[name]())
    for strategy in strategies_of(session):
        found = cg.core_numbers(graph, strategy=strategy, session=session, verify=True)
        assert found.cores.dtype == np.int32 and found.cores.tolist() == expected_cores(graph)
        assert found.degeneracy == max(expected_cores(graph), default=0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: cg.generators.rmat(11, 16, seed=3),
        lambda: hubs_and_leaves(50, 4000),
        lambda: cg.generators.star(5000),
        lambda: Graph.from_edges(*np.triu_indices(300, 1)),
        lambda: cg.generators.grid(40, 60),
        lambda: cg.generators.path(3000),
    ],
    ids=["rmat", "hubs", "star", "clique", "grid", "path"],
)
def test_long_rows_and_many_waves(session: Session, make: Any) -> None:
    graph = make()
    for strategy in strategies_of(session):
        for _ in range(2):  # The second run reuses the plan.
            found = cg.core_numbers(graph, strategy=strategy, session=session, verify=True)
            assert found.cores.tolist() == expected_cores(graph)


@given(st.integers(1, 40), st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=250))
def test_random_edges(pocl: Session, n: int, edges: list[tuple[int, int]]) -> None:
    graph = simple(Graph.from_edges(*(np.array(edges, np.int64).reshape(-1, 2) % n).T, n=n))
    for strategy in strategies_of(pocl):
        found = cg.core_numbers(graph, strategy=strategy, session=pocl, verify=True)
        assert found.cores.tolist() == expected_cores(graph)


def test_other_kinds_of_graphs(session: Session) -> None:
    graph = cg.generators.rmat(10, 8)
    expected = expected_cores(graph)
    weighted = sp.csr_array(graph.to_scipy(), dtype=np.float64)
    weighted.data[:] = np.arange(weighted.nnz)  # The pattern is symmetric, though the weights are not.
    named = nx.relabel_nodes(graph.to_networkx(), str)
    for data in (
        with_unsorted_rows(graph), with_wide_offsets(graph), weighted, named, cg.DeviceGraph.from_graph(graph, session),
    ):  # fmt: skip
        for strategy in strategies_of(session):
            assert cg.core_numbers(data, strategy=strategy, session=session).cores.tolist() == expected


def test_graphs_that_are_not_simple_are_refused(session: Session) -> None:
    loops = Graph.from_edges([0, 1, 5, 6], [1, 2, 5, 0], n=7)
    repeats = Graph.from_edges([0, 1, 4, 4, 0], [1, 2, 5, 5, 2], n=7)
    boundary = Graph.from_edges([0, 1], [2, 2])  # Rows 0 and 1 have the same column, but no row has it twice.
    for strategy in strategies_of(session):
        run = {"strategy": strategy, "session": session}
        for graph in (loops, with_unsorted_rows(loops)):
            with pytest.raises(GraphError, match="vertex 5 has a self-loop; core numbers take simple graphs"):
                cg.core_numbers(graph, **run)
        for graph in (repeats, with_unsorted_rows(repeats)):
            with pytest.raises(GraphError, match=r"vertex [45] has parallel edges"):
                cg.core_numbers(graph, **run)
        assert cg.core_numbers(boundary, **run).cores.tolist() == [1, 1, 1]
        named = Graph.from_edges([0, 1], [1, 1])
        with pytest.raises(GraphError, match="vertex 'b' has a self-loop"):
            cg.core_numbers(Graph(named.row_offsets, named.column_indices, ids=["a", "b"]), **run)
    for make in DIRECTED.values():
        with pytest.raises(InputError, match="the graph is directed; core numbers are of undirected graphs"):
            cg.core_numbers(make(), session=session)


def test_k_core_is_the_induced_subgraph(pocl: Session) -> None:
    graph = random_weights(cg.generators.rmat(9, 8, seed=2))
    whole = graph.to_networkx()
    for k in (0, 1, 5, None, 10_000):
        core = cg.k_core(graph, k, session=pocl)
        expected = nx.k_core(whole, k)
        assert set(core.ids.tolist()) == set(expected) and nx.utils.graphs_equal(core.to_networkx(), expected)
        least = cg.core_numbers(graph, session=pocl).degeneracy if k is None else k
        assert core.degrees.min(initial=10_000) >= least
    assert cg.k_core(nx.relabel_nodes(nx.path_graph(4), str), 1, session=pocl).ids.tolist() == ["0", "1", "2", "3"]
    assert cg.k_core(Graph.from_edges([], []), session=pocl).n_vertices == 0
    for k in (-1, 1.5, "2"):
        with pytest.raises(InputError, match="k = "):
            cg.k_core(graph, k, session=pocl)  # type: ignore[arg-type]


def test_results_have_columns(pocl: Session) -> None:
    named = Graph([0, 2, 4, 6], [1, 2, 0, 2, 0, 1], ids=["a", "b", "c"])
    found = cg.core_numbers(named, session=pocl)
    assert found.to_dict()["core"].tolist() == [2, 2, 2] and found.to_networkx().nodes["a"] == {"core": 2}
    degeneracy, cores = found
    assert degeneracy == 2 and cores.size == 3


def test_the_check_refuses_other_numbers() -> None:
    graph = cg.generators.rmat(8, 8)
    cores = np.array(expected_cores(graph), np.int32)
    check_core_numbers(graph, cores)
    top = int(cores.argmax())
    high, low, lower, negative = (cores.copy() for _ in range(4))
    high[top] += 1
    low[top] -= 1
    lower[cores == cores.max()] -= 1
    negative[0] = -1
    for wrong, why in (
        (high, "neighbours in that core"), (low, "core number"), (lower, "is in the"), (negative, "core number -1"),
        (cores.astype(np.int64), "needed: int32"),
    ):  # fmt: skip
        with pytest.raises(VerificationError, match=why):
            check_core_numbers(graph, wrong)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_core_numbers_are_right_at_every_sub_group_width(width: int) -> None:
    run_at_width(
        width,
        "import clgraph as cg;"
        "[cg.core_numbers(g, strategy='peel', session=s, verify=True)"
        " for g in (cg.generators.rmat(9, 16), cg.generators.star(3000), cg.generators.grid(9, 40))]",
    )
