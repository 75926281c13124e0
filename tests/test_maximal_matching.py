"""Maximal matchings on every device, against the greedy algorithm that takes the heaviest edges first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import run_at_width
from graphs import DIRECTED, UNDIRECTED, among, chain, hubs_and_leaves, with_unsorted_rows, with_wide_offsets
from hypothesis import given
from hypothesis import strategies as st
from oracles import greedy_matching

import clgraph as cg
from clgraph.algorithms.maximal_matching import strategies
from clgraph.data.graphs.graph import Graph
from clgraph.errors import GraphError, InputError, VerificationError
from clgraph.generators import random_weights
from clgraph.reference.maximal_matching import check_matching
from clgraph.runtime.session import Session

WEIGHTS = {
    "int32": among(-3, 0, 0, 1, 2**31 - 1, -(2**31), dtype=np.int32),
    "int64": among(-3, 0, 7, 2**40, 2**40 + 1, dtype=np.int64),
    "float32": among(-1.5, -0.0, 0.0, 1e-3, 2.5, np.inf, dtype=np.float32),
    "float64": among(-1.5, -0.0, 0.0, 1e-3, 1e-3 + 1e-12, -np.inf),
}


def check(graph: Graph, session: Session, **settings: Any) -> cg.Matching:
    """Match by the device, compare with the greedy algorithm, and return the matching."""
    found = cg.maximal_matching(graph, session=session, verify=True, **settings)
    weights = graph.edge_weights if settings.get("weight", "weight") else None
    assert found.mates.dtype == np.int32 and found.n_matched == np.count_nonzero(found.mates >= 0) // 2
    assert np.array_equal(found.mates, greedy_matching(graph, weights, settings.get("seed", 0)))
    assert len(found.edges) == found.n_matched and np.array_equal(found.mates[found.edges[:, 0]], found.edges[:, 1])
    return found


@pytest.mark.parametrize("name", UNDIRECTED)
def test_the_matching_is_the_greedy_algorithms(session: Session, name: str) -> None:
    graph = UNDIRECTED[name]()
    for seed in (0, 7):
        assert check(graph, session, seed=seed).weight == check(graph, session, seed=seed, weight=None).n_matched


@pytest.mark.parametrize("kind", WEIGHTS)
def test_heavy_edges_come_first(session: Session, kind: str) -> None:
    ends, rng = cg.generators.rmat(9, 8, seed=2).edge_list()[:2], np.random.default_rng(1)
    graph = Graph.from_edges(*ends, WEIGHTS[kind](rng, ends[0].size))
    assert graph.weight_dtype == kind
    found = check(graph, session)
    dense = dict(zip(zip(graph.sources().tolist(), graph.column_indices.tolist(), strict=True),
                     graph.edge_weights.tolist(), strict=True))  # fmt: skip
    total = sum(dense[u, v] for u, v in found.edges.tolist())
    assert found.weight == pytest.approx(total, nan_ok=True) and type(found.weight) is type(total)


@pytest.mark.parametrize(
    "make",
    [
        lambda: random_weights(cg.generators.rmat(11, 16, seed=3)),
        lambda: hubs_and_leaves(50, 4000),
        lambda: cg.generators.star(5000),
        lambda: cg.generators.two_cliques(150, bridge=True),
        lambda: chain(np.arange(400)),  # Each edge waits for the next one.
    ],
    ids=["rmat", "hubs", "star", "cliques", "chain"],
)
def test_long_rows_and_many_rounds(session: Session, make: Any) -> None:
    graph = make()
    for _ in range(2):  # The second run reuses the plan.
        check(graph, session)


@given(
    st.integers(1, 30), st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29), st.integers(-2, 3)), max_size=150)
)
def test_random_edges(pocl: Session, n: int, edges: list[tuple[int, int, int]]) -> None:
    u, v, weights = np.array(edges, np.int64).reshape(-1, 3).T
    graph = Graph.from_edges(u % n, v % n, weights, n=n)  # It has self-loops and parallel edges.
    check(graph, pocl)
    check(graph, pocl, weight=None)


def test_other_kinds_of_graphs(session: Session) -> None:
    graph = random_weights(cg.generators.rmat(9, 8))
    expected = greedy_matching(graph, graph.edge_weights)
    both_ways = Graph(graph.row_offsets, graph.column_indices, graph.edge_weights, directed=True)
    named = nx.relabel_nodes(graph.to_networkx(), str)
    on_device = cg.DeviceGraph.from_graph(graph, session)
    for data in (with_unsorted_rows(graph), with_wide_offsets(graph), graph.to_scipy(), both_ways, named, on_device):
        found = cg.maximal_matching(data, session=session)
        assert np.array_equal(found.mates, expected) and found.weight == graph.edge_weights[
            [np.flatnonzero(graph.column_indices[a:b] == mate)[0] + a
             for v, mate in found.edges.tolist() for a, b in [graph.row_offsets[v : v + 2]]]
        ].sum()  # fmt: skip


def test_work_groups_choose_for_long_rows(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch as on a GPU: other groups, teams and tries."""
    monkeypatch.setattr(strategies, "_LONG_ROW", 40)
    monkeypatch.setattr(session.commands, "facts", replace(session.facts, is_cpu=False))
    for graph in (random_weights(cg.generators.rmat(10, 16)), hubs_and_leaves(5, 900), cg.generators.star(500)):
        assert check(graph, session).info.details["long_rows"]


def test_names_and_columns(pocl: Session) -> None:
    graph = Graph([0, 2, 4, 6], [1, 2, 0, 2, 0, 1], [1, 5, 1, 2, 5, 2], ids=["a", "b", "c"])
    found = cg.maximal_matching(graph, session=pocl)
    assert found.to_dict()["mate"].tolist() == ["c", None, "a"] and found.weight == 5
    n_matched, mates = found
    assert n_matched == 1 and mates.tolist() == [2, -1, 0]
    assert found.to_networkx().nodes["a"] == {"mate": "c"}


def test_bad_arguments_are_refused(session: Session) -> None:
    for make in (DIRECTED["directed-random"], lambda: chain(np.ones(5), directed=True)):
        with pytest.raises(InputError, match=r"symmetric|the graph is directed"):
            cg.maximal_matching(make(), session=session)
    lopsided = sp.csr_array(np.array([[0, 1.0], [2.0, 0]]))
    with pytest.raises(InputError, match="not each entry has a reverse of the same weight"):
        cg.maximal_matching(lopsided, session=session)
    assert cg.maximal_matching(lopsided, weight=None, session=session).n_matched == 1
    with pytest.raises(GraphError, match="NaN"):
        cg.maximal_matching(sp.csr_array(np.array([[0, np.nan], [np.nan, 0]])), session=session)


def test_the_check_refuses_other_matchings() -> None:
    graph = chain(np.array([1, 3, 2, 1]))
    good = np.array([-1, 2, 1, 4, 3], np.int32)
    check_matching(graph, good)
    for mates, why in (
        ([1, 0, 3, 2, -1], r"edge \(1, 2\) has no matched end of as much weight"),
        ([-1, 2, 1, -1, -1], r"edge \(3, 4\)"),
        ([-1, 2, 3, 4, 3], "whose mate is"),
        ([3, -1, -1, 0, -1], "but no edge to it"),
        ([0, 2, 1, 4, 3], "has the mate 0"),
        ([9, 2, 1, 4, 3], "has the mate 9"),
    ):
        with pytest.raises(VerificationError, match=why):
            check_matching(graph, np.array(mates, np.int32))
    check_matching(graph, np.array([1, 0, 3, 2, -1], np.int32), weighted=False)
    with pytest.raises(VerificationError, match="needed: int32"):
        check_matching(graph, good.astype(np.int64))


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_matchings_are_right_at_every_sub_group_width(width: int) -> None:
    run_at_width(
        width,
        "import clgraph as cg, numpy as np; from oracles import greedy_matching as greedy;"
        "from clgraph.algorithms.maximal_matching import strategies; from dataclasses import replace;"
        "strategies._LONG_ROW = 40; s.commands.facts = replace(s.facts, is_cpu=False);"
        "graphs = *map(cg.generators.random_weights, (cg.generators.rmat(8, 16), cg.generators.grid(20, 30))),"
        " cg.generators.star(3000), cg.generators.two_cliques(40);"
        "assert all(np.array_equal(cg.maximal_matching(g, session=s).mates, greedy(g, g.edge_weights))"
        " for g in graphs)",
    )
