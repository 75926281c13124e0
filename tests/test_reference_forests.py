"""Kruskal's oracle of spanning forests against a plain one, and wrong edges that its check finds."""

from typing import Any

import numpy as np
import pytest
from graphs import UNDIRECTED
from hypothesis import given
from hypothesis import strategies as st

from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.generators import path, random_weights, rmat
from clgraph.reference.minimum_spanning_forest import check_mst, kruskal

INT64 = np.iinfo(np.int64)

SORTED = [name for name in UNDIRECTED if name != "unsorted-rows"]


# Entries in the rows of their lesser ends: 0 (0, 1) of weight 3, 1 and 2 (0, 2) of weight 1, 3 (0, 3) of weight 5,
# 5 (1, 2) of weight 2, 6 (1, 3) of weight 5, 12 (4, 5) of weight 7; and 14, a self-loop.
FAULTY = Graph.from_edges([0, 0, 0, 1, 0, 1, 4, 5], [1, 2, 2, 2, 3, 3, 5, 5], [3, 1, 1, 2, 5, 5, 7, 0], n=7)


def plain_kruskal(graph: Graph, maximum: bool = False) -> list[int]:
    """Kruskal's algorithm in the words of the textbook."""
    parents, chosen = list(range(graph.n_vertices)), []
    rows, columns = graph.sources().tolist(), graph.column_indices.tolist()
    weights = [1] * len(rows) if graph.edge_weights is None else graph.edge_weights.tolist()

    def find(v: int) -> int:
        while parents[v] != v:
            v = parents[v]
        return v

    for at in sorted(range(len(rows)), key=lambda at: (-weights[at] if maximum else weights[at], at)):
        u, v = find(rows[at]), find(columns[at])
        if rows[at] < columns[at] and u != v:
            parents[max(u, v)] = min(u, v)
            chosen.append(at)
    return sorted(chosen)


def assert_forest_right(graph: Graph) -> None:
    for maximum in (False, True):
        edges = kruskal(graph, maximum=maximum)
        assert edges.dtype == np.int64 and edges.tolist() == plain_kruskal(graph, maximum)
        check_mst(graph, edges, maximum=maximum, n_cuts=3)


@pytest.mark.parametrize("name", SORTED)
def test_forests_of_small_graphs_are_those_of_a_plain_kruskal(name: str) -> None:
    graph = UNDIRECTED[name]()
    for weighted in (
        graph, random_weights(graph, low=0, high=3), random_weights(graph, low=-2.0, high=2.0, dtype=np.float64)
    ):  # fmt: skip
        assert_forest_right(weighted)


@pytest.mark.parametrize(
    "weights",
    [
        np.array([INT64.min, INT64.max, INT64.min + 1, INT64.max - 1, 0, INT64.min]),
        np.array([1.0, 1 + 2**-52, 1, 1 + 2**-51, 1, 1]),
        np.array([np.inf, -np.inf, 0, np.inf, -np.inf, 1]),
        np.array([0.0, -0.0, -0.0, 0.0, 0.0, -0.0], np.float32),
        np.array([-1, -2, -3, -3, -2, -1], np.int32),
    ],
    ids=str,
)
def test_weights_of_any_type_are_summed_right(weights: np.ndarray) -> None:
    src, dst = np.triu_indices(4, 1)
    assert_forest_right(Graph.from_edges(src, dst, weights))
    assert_forest_right(Graph.from_edges(dst, src, weights[::-1], n=9).permuted(3))


def test_of_parallel_edges_one_counts_and_no_self_loop() -> None:
    graph = Graph.from_edges([0, 1, 0, 1, 1, 2, 2], [1, 0, 1, 1, 2, 1, 2], [4, 2, 2, -9, 1, 1, -9], n=4)
    assert kruskal(graph).tolist() == [1, 7]
    assert kruskal(graph, maximum=True).tolist() == [0, 7]
    assert_forest_right(graph)


@given(
    n=st.integers(1, 12),
    edges=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(-2, 2)), max_size=50),
)
def test_random_forests_are_those_of_a_plain_kruskal(n: int, edges: list[tuple[int, int, int]]) -> None:
    triples = np.array(edges, np.int64).reshape(-1, 3)
    assert_forest_right(Graph.from_edges(triples[:, 0] % n, triples[:, 1] % n, triples[:, 2], n=n))


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (np.array([1, 3, 5, 12], np.int32), r"edges are int32 \(4,\); needed: int64"),
        (np.array([[1, 3, 5, 12]]), r"edges are int64 \(1, 4\)"),
        ([1, 3, 5, -12], "edge -12 is not an entry from 0 to 14"),
        ([1, 3, 5, 15], "edge 15 is not an entry from 0 to 14"),
        ([3, 1, 5, 12], "edge 3 comes before edge 1; edges must ascend"),
        ([1, 3, 3, 12], "edge 3 comes before edge 3; edges must ascend"),
        ([1, 4, 5, 12], r"edge 4 \(1, 0\) of weight 3 is not in the row of the lesser of two ends"),
        ([1, 3, 5, 14], r"edge 14 \(5, 5\) of weight 0 is not in the row of the lesser of two ends"),
        ([0, 1, 5, 12], "4 edges join 7 vertices to 4 trees: there is a cycle"),
        ([1, 2, 5, 12], "4 edges join 7 vertices to 4 trees: there is a cycle"),
        ([1, 3, 5], r"entry 12 \(4, 5\) of weight 7 joins two trees of the forest"),
        ([], r"entry 0 \(0, 1\) of weight 3 joins two trees of the forest"),
        ([0, 1, 3, 12], r"entry 5 \(1, 2\) of weight 2 crosses the cut of edge 0 \(0, 1\) of weight 3 and precedes it"),
        ([1, 5, 6, 12], r"entry 3 \(0, 3\) of weight 5 crosses the cut of edge 6 \(1, 3\) of weight 5 and precedes it"),
        ([2, 3, 5, 12], r"entry 1 \(0, 2\) of weight 1 crosses the cut of edge 2 \(0, 2\) of weight 1 and precedes it"),
    ],
)
def test_check_finds_each_kind_of_wrong_edge(edges: Any, message: str) -> None:
    with pytest.raises(VerificationError, match=message):
        check_mst(FAULTY, edges if isinstance(edges, np.ndarray) else np.array(edges, np.int64))


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([0, 1, 3, 12], "weight 1 of the forest in ascending order is 3; Kruskal's algorithm finds 2"),
        ([1, 5, 6, 12], r"edge 1 is 5 \(1, 2\) of weight 2; Kruskal's algorithm finds 3 \(0, 3\) of weight 5"),
        ([2, 3, 5, 12], r"edge 0 is 2 \(0, 2\) of weight 1; Kruskal's algorithm finds 1 \(0, 2\) of weight 1"),
    ],
)
def test_check_compares_with_kruskal(edges: list[int], message: str) -> None:
    with pytest.raises(VerificationError, match=message):
        check_mst(FAULTY, np.array(edges), n_cuts=0)


def test_check_knows_which_forest_is_asked_for() -> None:
    minimum, maximum = kruskal(FAULTY), kruskal(FAULTY, maximum=True)
    assert minimum.tolist() == [1, 3, 5, 12] and maximum.tolist() == [3, 5, 6, 12]
    for edges, other in ((minimum, True), (maximum, False)):
        check_mst(FAULTY, edges, maximum=not other)
        for n_cuts in (0, 8):
            with pytest.raises(VerificationError):
                check_mst(FAULTY, edges, maximum=other, n_cuts=n_cuts)


def test_an_unweighted_forest_is_checked() -> None:
    triangle = Graph.from_edges([0, 0, 1], [1, 2, 2])
    check_mst(triangle, np.array([0, 1]))
    with pytest.raises(VerificationError, match=r"entry 0 \(0, 1\) crosses the cut of edge"):
        check_mst(triangle, np.array([1, 3]))


def test_every_replaced_edge_is_found() -> None:
    graph = random_weights(rmat(5, 4), high=6)
    edges, rows = kruskal(graph), graph.sources()
    outside = np.setdiff1d(np.flatnonzero(rows < graph.column_indices), edges)
    kinds = {"there is a cycle", "and precedes it", "in ascending order"}
    found: set[str] = set()
    for at in range(edges.size):
        for other in outside[::7]:
            wrong = np.sort(np.append(np.delete(edges, at), other))
            for n_cuts in (0, edges.size):
                with pytest.raises(VerificationError) as caught:
                    check_mst(graph, wrong, n_cuts=n_cuts)
                found.update(kind for kind in kinds if kind in str(caught.value))
    assert found == kinds


def test_every_missing_edge_is_found() -> None:
    chain = path(40)
    edges = kruskal(chain)
    for at in range(39):
        with pytest.raises(VerificationError, match=rf"entry {edges[at]} \({at}, {at + 1}\) joins two trees"):
            check_mst(chain, np.delete(edges, at))
