"""Triangles on every device, against the definition and networkx, on graphs of every kind."""

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
from clgraph.algorithms.triangles import host
from clgraph.algorithms.triangles.strategies import STRATEGIES
from clgraph.data.graphs.graph import Graph
from clgraph.errors import HostMemoryError, InputError, VerificationError
from clgraph.reference import triangles as reference
from clgraph.reference.triangles import check_triangles, simple_matrix, triangles_at
from clgraph.runtime.session import Session

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "tables": [{"short_row": 1}, {"short_row": 2**31 - 1}],
    "marks": [],
    "merge": [],
    "host": [],
}
SMALL_TABLES = {"TEAM_SLOTS": 8, "LONG_SLOTS": 32}


def runs_of(session: Session) -> list[dict[str, Any]]:
    """Return the strategies that the session's device can run, each with its options."""
    names = [name for name, strategy in STRATEGIES.items() if strategy.unsupported(session.facts) is None]
    return [{"strategy": name, **options} for name in names for options in ({}, *OPTIONS[name])]


def counted(graph: Graph) -> tuple[int, list[int]]:
    """Return the number of triangles, and the triangles at each vertex, by the trace of the matrix's cube."""
    matrix = simple_matrix(graph).astype(np.int64)
    counts = np.asarray((matrix @ matrix).multiply(matrix).sum(axis=1)).ravel() // 2
    return int(counts.sum()) // 3, counts.tolist()


@pytest.mark.parametrize("name", UNDIRECTED)
def test_every_strategy_counts_each_triangle_once(session: Session, name: str) -> None:
    graph = UNDIRECTED[name]()
    expected = counted(graph)
    for run in runs_of(session):
        found = cg.triangles(graph, session=session, verify=True, **run)
        assert (found.n_triangles, found.counts.tolist()) == expected
        assert found.counts.dtype == np.int64 and found.degrees.dtype == np.int32


@pytest.mark.parametrize("seed", range(3))
def test_networkx_agrees(session: Session, seed: int) -> None:
    graph = nx.gnp_random_graph(80, 0.15, seed=seed)
    graph.add_edges_from([(3, 3), (200, 201), (202, 202)])
    graph.add_node(300)
    for run in runs_of(session):
        found = cg.triangles(graph, session=session, **run)
        assert found.counts.tolist() == list(nx.triangles(graph).values())
        np.testing.assert_allclose(found.clustering, list(nx.clustering(graph).values()))
        assert found.transitivity == pytest.approx(nx.transitivity(graph))
        assert found.average_clustering == pytest.approx(nx.average_clustering(graph))


def test_parallel_edges_count_as_one(session: Session) -> None:
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 0), (2, 0), (2, 2), (2, 2), (2, 3)])
    for run in runs_of(session):
        found = cg.triangles(graph, session=session, verify=True, **run)
        assert found.counts.tolist() == list(nx.triangles(graph).values()) == [1, 1, 1, 0]
        assert found.degrees.tolist() == [2, 2, 3, 1] and found.transitivity == 0.6


@pytest.mark.parametrize("n", [3, 64, 270])
def test_a_clique_has_all_triangles(session: Session, n: int) -> None:
    for run in runs_of(session):
        found = cg.triangles(cg.generators.two_cliques(n), session=session, verify=True, **run)
        assert found.n_triangles == 2 * (n * (n - 1) * (n - 2) // 6)
    clique = Graph.from_edges(*np.triu_indices(n, 1))
    for run in runs_of(session):
        found = cg.triangles(clique, session=session, **run)
        assert (found.counts == (n - 1) * (n - 2) // 2).all() and found.transitivity == 1


def test_rows_longer_than_a_table_are_cut_in_pieces(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("triangles/orient.cl", "triangles/count.cl"):
        monkeypatch.setitem(session.profile.tuning, file, SMALL_TABLES)
    for graph in (Graph.from_edges(*np.triu_indices(75, 1)), cg.generators.rmat(10, 16), hubs_and_leaves(40, 900)):
        expected = counted(graph)
        for short_row in (1, 3, 20):
            found = cg.triangles(graph, session=session, strategy="tables", short_row=short_row, verify=True)
            assert (found.n_triangles, found.counts.tolist()) == expected


def test_a_giant_hub_needs_little_memory(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A product of matrices with an entry for each two neighbours of the hub would have 27 GB."""
    leaves = np.arange(1, 60_000)
    star = Graph.from_edges(np.r_[np.zeros_like(leaves), 1], np.r_[leaves, 2])
    for strategy in ("host", "auto"):
        assert cg.triangles(star, session=pocl, strategy=strategy, verify=True).n_triangles == 1
    monkeypatch.setattr(host, "_BYTES_PER_PRODUCT", 1 << 50)
    with pytest.raises(HostMemoryError, match="paths of two edges needs"):
        cg.triangles(star, session=pocl, strategy="host")


@given(st.integers(1, 40), st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=250))
def test_random_edges(pocl: Session, n: int, edges: list[tuple[int, int]]) -> None:
    ends = np.array(edges, np.int64).reshape(-1, 2) % n
    graph = Graph.from_edges(*ends.T, n=n)
    for run in runs_of(pocl):
        found = cg.triangles(graph, session=pocl, **run)
        assert (found.n_triangles, found.counts.tolist()) == counted(graph)


def test_other_kinds_of_graphs(session: Session) -> None:
    graph = cg.generators.rmat(11, 8)
    expected = cg.triangles(graph, strategy="host")
    weighted = sp.csr_array(graph.to_scipy(), dtype=np.float64)
    weighted.data[:] = np.arange(weighted.nnz)  # The pattern is symmetric, though the weights are not.
    given = (with_unsorted_rows(graph), with_wide_offsets(graph), weighted, cg.DeviceGraph.from_graph(graph, session))
    for data in given:
        for run in runs_of(session):
            if isinstance(data, cg.DeviceGraph) and run["strategy"] == "host":
                continue
            found = cg.triangles(data, session=session, **run)
            assert found.n_triangles == expected.n_triangles and np.array_equal(found.counts, expected.counts)
            assert np.array_equal(found.degrees, expected.degrees)


def test_a_plan_runs_again(session: Session) -> None:
    graph = cg.generators.rmat(9, 8)
    for run in runs_of(session):
        first, second = (cg.triangles(graph, session=session, **run) for _ in range(2))
        assert np.array_equal(first.counts, second.counts) and first.n_triangles == second.n_triangles > 0


def test_bad_arguments_are_refused(pocl: Session) -> None:
    for data in (*(make() for make in DIRECTED.values()), nx.DiGraph([(0, 1)]), sp.csr_array(np.triu(np.ones((3, 3))))):
        for strategy in ("tables", "marks", "merge", "host"):
            with pytest.raises(InputError, match="the graph is directed; triangles are counted in undirected graphs"):
                cg.triangles(data, session=pocl, strategy=strategy)
    for short_row in (0, 2**31, "1"):
        with pytest.raises(InputError, match="short_row"):
            cg.triangles(cg.generators.path(3), session=pocl, strategy="tables", short_row=short_row)


def test_results_have_columns() -> None:
    named = Graph([0, 2, 4, 6], [1, 2, 0, 2, 0, 1], ids=["a", "b", "c"])
    found = cg.triangles(named)
    columns = found.to_dict()
    assert columns["vertex"].tolist() == ["a", "b", "c"] and columns["triangles"].tolist() == [1, 1, 1]
    assert found.to_networkx().nodes["a"] == {"triangles": 1}
    n_triangles, counts = found
    assert n_triangles == 1 and counts.sum() == 3
    assert np.isnan(cg.triangles(Graph.from_edges([], [])).average_clustering)


def test_the_check_refuses_other_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = cg.generators.rmat(8, 8)
    found = cg.triangles(graph, strategy="host")
    moved, degrees = found.counts.copy(), found.degrees.copy()
    top = int(moved.argmax())
    moved[top] -= 1
    moved[top - 1] += 1
    degrees[5] += 1
    wrong = [
        (found.n_triangles, moved, found.degrees, "triangles; by definition"),
        (found.n_triangles + 1, found.counts, found.degrees, "not three times"),
        (found.n_triangles, found.counts, degrees, "vertex 5 has degree"),
        (found.n_triangles, found.counts.astype(np.int32), found.degrees, "needed: int64"),
    ]
    for n_triangles, counts, of, why in wrong:
        with pytest.raises(VerificationError, match=why):
            check_triangles(graph, n_triangles, counts, of)
    monkeypatch.setattr(reference, "_MAX_PATHS", 50_000)  # A sample of vertices finds it, too.
    check_triangles(graph, found.n_triangles, found.counts, found.degrees)
    with pytest.raises(VerificationError, match="by definition"):
        check_triangles(graph, found.n_triangles, moved, found.degrees)


def test_the_definition_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = simple_matrix(Graph.from_edges([0, 0, 1, 2, 2, 3], [1, 2, 2, 3, 2, 0]))
    assert triangles_at(matrix, np.arange(4)).tolist() == [2, 1, 2, 1]
    monkeypatch.setattr(reference, "_PATHS_AT_ONCE", 3)
    assert triangles_at(matrix, np.array([3, 0, 2])).tolist() == [1, 2, 2]


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_counts_are_right_at_every_sub_group_width(width: int) -> None:
    run_at_width(
        width,
        "import clgraph as cg;"
        "[s.profile.tuning.update({f'triangles/{f}.cl': t for f in ('orient', 'count')}) or"
        " cg.triangles(g, strategy='tables', session=s, verify=True, short_row=k)"
        " for g in (cg.generators.rmat(9, 16), cg.generators.two_cliques(150), cg.generators.star(3000))"
        " for k in (1, 32) for t in ({}, {'TEAM_SLOTS': 8, 'LONG_SLOTS': 32})]",
    )
