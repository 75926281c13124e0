"""Maximal independent sets on every device, against the greedy algorithm in the same order."""

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
from oracles import greedy_independent_set

import clgraph as cg
from clgraph.algorithms.maximal_independent_set.problem import ORDERS
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError, SourceError, VerificationError
from clgraph.reference.maximal_independent_set import check_independent_set
from clgraph.runtime.session import Session


@pytest.mark.parametrize("name", UNDIRECTED)
def test_the_set_is_the_greedy_algorithms(session: Session, name: str) -> None:
    graph = UNDIRECTED[name]()
    for order in ORDERS:
        for seed in (0, 7):
            found = cg.maximal_independent_set(graph, order=order, seed=seed, session=session, verify=True)
            assert found.members.dtype == np.bool_ and found.size == np.count_nonzero(found.members)
            assert np.array_equal(found.members, greedy_independent_set(graph, order, seed))


@pytest.mark.parametrize(
    "make",
    [
        lambda: cg.generators.rmat(11, 16, seed=3),
        lambda: hubs_and_leaves(50, 4000),
        lambda: cg.generators.two_cliques(300, bridge=True),
        lambda: Graph.from_edges(np.repeat(np.arange(900), 2), 900 + np.repeat([0, 1], 900)),
    ],
    ids=["rmat", "hubs", "cliques", "two-hubs"],
)
def test_long_rows_and_many_rounds(session: Session, make: Any) -> None:
    graph = make()
    sizes = {}
    for order in ORDERS:
        expected = greedy_independent_set(graph, order)
        for _ in range(2):  # The second run reuses the plan.
            found = cg.maximal_independent_set(graph, order=order, session=session, verify=True)
            assert np.array_equal(found.members, expected)
        sizes[order] = found.size
    assert sizes["smallest_first"] >= sizes["random"]


@pytest.mark.parametrize("name", ["scale-free", "duplicates-self-loops", "grid"])
def test_the_random_set_is_the_first_color(pocl: Session, name: str) -> None:
    graph = UNDIRECTED[name]()
    for seed in (0, 3):
        found = cg.maximal_independent_set(graph, order="random", seed=seed, session=pocl)
        colors = cg.color(graph, strategy="jones_plassmann", order="random", seed=seed, session=pocl).colors
        assert np.array_equal(found.members, colors == 0)


@given(
    st.integers(1, 40),
    st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=250),
    st.lists(st.integers(0, 39), max_size=3),
)
def test_random_edges_and_vertices_to_include(
    pocl: Session, n: int, edges: list[tuple[int, int]], include: list[int]
) -> None:
    graph = Graph.from_edges(*(np.array(edges, np.int64).reshape(-1, 2) % n).T, n=n)
    wanted = sorted({v % n for v in include})
    inside = graph.to_scipy()[wanted][:, wanted].tocoo()
    if (inside.coords[0] != inside.coords[1]).any():
        with pytest.raises(InputError, match="which are neighbours"):
            cg.maximal_independent_set(graph, include=wanted, session=pocl)
    else:
        found = cg.maximal_independent_set(graph, include=wanted, session=pocl, verify=True)
        assert np.array_equal(found.members, greedy_independent_set(graph, "smallest_first", 0, wanted))


def test_other_kinds_of_graphs(session: Session) -> None:
    graph = cg.generators.rmat(10, 8)
    expected = greedy_independent_set(graph, "smallest_first")
    weighted = sp.csr_array(graph.to_scipy(), dtype=np.float64)
    weighted.data[:] = np.arange(weighted.nnz)  # The pattern is symmetric, though the weights are not.
    both_ways = Graph(graph.row_offsets, graph.column_indices, directed=True)
    named = nx.relabel_nodes(graph.to_networkx(), str)
    on_device = cg.DeviceGraph.from_graph(graph, session)
    for data in (with_unsorted_rows(graph), with_wide_offsets(graph), weighted, both_ways, named, on_device):
        assert np.array_equal(cg.maximal_independent_set(data, session=session).members, expected)


def test_bad_arguments_are_refused(session: Session) -> None:
    graph = Graph([0, 1, 3, 4], [1, 0, 2, 1], ids=["a", "b", "c"])
    assert cg.maximal_independent_set(graph, include=["b"], session=session).vertices.tolist() == ["b"]
    assert cg.maximal_independent_set(graph, include={"a"}, session=session).to_dict()["member"].tolist() == [1, 0, 1]
    for include, pair in ((["a", "b"], "'a' and 'b'"), (np.array(["c", "b"], object), "'b' and 'c'")):
        with pytest.raises(InputError, match=f"include has {pair}, which are neighbours"):
            cg.maximal_independent_set(graph, include=include, session=session)
    with pytest.raises(SourceError, match="'d' is not among the ids"):
        cg.maximal_independent_set(graph, include=["d"], session=session)
    for wrong in ("a", 5):
        with pytest.raises(InputError, match="include = "):
            cg.maximal_independent_set(graph, include=wrong, session=session)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="order = 'largest_first'; allowed: 'smallest_first', 'random'"):
        cg.maximal_independent_set(graph, order="largest_first", session=session)
    with pytest.raises(InputError, match="has no reverse; the graph must be symmetric"):
        cg.maximal_independent_set(DIRECTED["directed-random"](), session=session)


def test_the_check_refuses_other_sets() -> None:
    graph = cg.generators.path(5)
    check_independent_set(graph, np.array([True, False, True, False, True]), np.array([2]))
    for members, why in (
        ([True, True, False, False, True], "joins two members"),
        ([True, False, False, False, True], "vertex 2 is not in the set"),
        ([False, True, False, True, False], "vertex 2 must be in the set"),
    ):
        with pytest.raises(VerificationError, match=why):
            check_independent_set(graph, np.array(members), np.array([2]))
    with pytest.raises(VerificationError, match="needed: bool"):
        check_independent_set(graph, np.ones(5, np.int8))


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_sets_are_right_at_every_sub_group_width(width: int) -> None:
    run_at_width(
        width,
        "import clgraph as cg, numpy as np; from oracles import greedy_independent_set as greedy;"
        "from dataclasses import replace; s.commands.facts = replace(s.facts, is_cpu=False);"
        "graphs = cg.generators.rmat(9, 16), cg.generators.star(3000), cg.generators.two_cliques(90);"
        "assert all(np.array_equal(cg.maximal_independent_set(g, order=o, session=s).members, greedy(g, o))"
        " for g in graphs for o in ('smallest_first', 'random'))",
    )
