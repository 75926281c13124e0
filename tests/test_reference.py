"""Oracles and checks of the algorithms, against the words of the textbook, and faults that the checks must find."""

import dataclasses
import math
from collections import deque
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS, UNDIRECTED, WITH_VERTICES
from hypothesis import given
from hypothesis import strategies as st
from oracles import check_supersteps, sgd_sweep

from clgraph.data.graphs.graph import Graph
from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.data.ratings.generators import planted_ratings
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import VerificationError
from clgraph.generators import path, random_weights, rmat, two_cliques
from clgraph.reference import connected_components as components
from clgraph.reference import entries
from clgraph.reference.bfs import NO_PREDECESSOR, bfs_distances, check_bfs
from clgraph.reference.factorization import check_factorization, rmse
from clgraph.reference.minimum_spanning_forest import check_mst, kruskal
from clgraph.reference.refine_mesh import check_delaunay, segment_chains
from clgraph.reference.sssp import check_sssp, dijkstra


@pytest.mark.parametrize("name", GRAPHS)
def test_oracle_agrees_with_networkx_and_passes_its_check(name: str) -> None:
    graph = GRAPHS[name]()
    labels = components.connected_components(graph)
    expected = np.full(graph.n_vertices, -1)
    find = nx.weakly_connected_components if graph.directed else nx.connected_components
    for members in find(graph.to_networkx()):
        expected[list(members)] = min(members)
    np.testing.assert_array_equal(labels, expected)
    assert labels.dtype == np.int32
    components.check_components(graph, labels)


def test_weights_do_not_matter() -> None:
    graph = Graph.from_edges([0, 1, 1], [1, 0, 2], [5, -5, 0], directed=True)
    assert components.connected_components(graph).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(5, np.int32), r"int32 \(5,\); needed: int32 \(6,\)"),
        (np.zeros(6, np.int64), "labels are int64"),
        (np.array([0, 0, 0, 3, 3, -1], np.int32), "label -1 of vertex 5"),
        (np.array([0, 0, 0, 3, 3, 9], np.int32), "label 9 of vertex 5 is not a vertex from 0 to 5"),
        (np.array([1, 1, 1, 3, 3, 3], np.int32), "label 1 of vertex 0 is not a vertex from 0 to 0"),
        (np.array([0, 0, 1, 3, 3, 3], np.int32), "label 1 of vertex 2 is not its own representative"),
        (np.array([0, 0, 2, 3, 3, 3], np.int32), r"entry \(0, 2\) joins the labels 0 and 2"),
        (np.zeros(6, np.int32), "1 distinct labels, but 2 components"),
    ],
)
def test_check_finds_each_kind_of_wrong_label(labels: np.ndarray, message: str) -> None:
    with pytest.raises(VerificationError, match=message):
        components.check_components(two_cliques(3), labels)


def test_check_sees_every_entry_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "_CHUNK", 7)
    graph = Graph.from_edges([*range(30), *[40] * 20], [*range(1, 31), *range(41, 61)], n=70)
    components.check_components(graph, components.connected_components(graph))
    for cut in range(1, 100, 9):
        chain = path(100)
        labels = np.where(np.arange(100) < cut, 0, cut).astype(np.int32)
        with pytest.raises(VerificationError, match=rf"entry \({cut - 1}, {cut}\)"):
            components.check_components(chain, labels)


# ---- spanning forests


SORTED = [name for name in UNDIRECTED if name != "unsorted-rows"]
INT64 = np.iinfo(np.int64)

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
def test_forests_of_the_zoo(name: str) -> None:
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
def test_weights_of_forests(weights: np.ndarray) -> None:
    src, dst = np.triu_indices(4, 1)
    assert_forest_right(Graph.from_edges(src, dst, weights))
    assert_forest_right(Graph.from_edges(dst, src, weights[::-1], n=9).permuted(3))


def test_parallel_edges_and_self_loops() -> None:
    graph = Graph.from_edges([0, 1, 0, 1, 1, 2, 2], [1, 0, 1, 1, 2, 1, 2], [4, 2, 2, -9, 1, 1, -9], n=4)
    assert kruskal(graph).tolist() == [1, 7]
    assert kruskal(graph, maximum=True).tolist() == [0, 7]
    assert_forest_right(graph)


@given(
    n=st.integers(1, 12),
    edges=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(-2, 2)), max_size=50),
)
def test_random_forests(n: int, edges: list[tuple[int, int, int]]) -> None:
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


def test_check_of_an_unweighted_graph() -> None:
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


# ---- searches and shortest paths


INT32 = np.iinfo(np.int32)


def relaxed(graph: Graph, sources: list[int], dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Relax the entries of a queue of vertices until nothing changes; sums of floats are of *dtype*."""
    weights = graph.edge_weights
    is_float = weights is not None and weights.dtype.kind == "f"
    weights = weights.astype(dtype) if is_float else weights
    steps = [1] * graph.n_edges if weights is None else list(weights) if is_float else weights.tolist()
    best, parents, queue = dict.fromkeys(sources, 0), dict[int, int](), deque(sources)
    while queue:
        u = queue.popleft()
        for at in range(graph.row_offsets[u], graph.row_offsets[u + 1]):
            v, total = int(graph.column_indices[at]), best[u] + steps[at]
            if total < best.get(v, math.inf):
                best[v], parents[v] = total, u
                queue.append(v)
    distances = np.full(graph.n_vertices, np.inf if is_float else -1, dtype if is_float else np.int64)
    predecessors = np.full(graph.n_vertices, NO_PREDECESSOR, np.int32)
    distances[list(best)] = list(best.values())
    predecessors[list(parents)] = list(parents.values())
    return distances, predecessors


def assert_paths_right(graph: Graph, sources: list[int], dtype: Any = np.float64) -> None:
    distances, predecessors = relaxed(graph, sources, dtype)
    found = dijkstra(graph, sources, dtype=dtype)
    assert found.dtype == distances.dtype and np.array_equal(found, distances)
    check_sssp(graph, sources, found, dtype=dtype)
    check_sssp(graph, sources, found, predecessors, dtype=dtype)
    unreached = np.inf if found.dtype.kind == "f" else -1
    for limit in (0, np.sort(found[found != unreached])[found.size // 3 :: 40].max(initial=0), math.inf):
        near = found <= limit
        nearer = np.where(near, predecessors, NO_PREDECESSOR).astype(np.int32)
        limited = dijkstra(graph, sources, limit=limit, dtype=dtype)
        assert limited.dtype == found.dtype and np.array_equal(limited, np.where(near, found, unreached))
        check_sssp(graph, sources, limited, nearer, limit=limit, dtype=dtype)
    steps, predecessors = relaxed(Graph(graph.row_offsets, graph.column_indices, directed=True), sources)
    depths = bfs_distances(graph, sources)
    assert depths.dtype == np.int32 and np.array_equal(depths, steps)
    check_bfs(graph, sources, depths, predecessors)
    for max_depth in (0, 1, depths.max() // 2, graph.n_vertices):
        far = depths > max_depth
        nearer = np.where(far, NO_PREDECESSOR, predecessors).astype(np.int32)
        check_bfs(graph, sources, np.where(far, -1, depths).astype(np.int32), nearer, max_depth=max_depth)


@pytest.mark.parametrize("name", WITH_VERTICES)
def test_searches_of_the_zoo(name: str) -> None:
    graph = GRAPHS[name]()
    last = graph.n_vertices - 1
    for sources in ([0], [last], [last, last // 2, last, 0]):
        assert_paths_right(graph, sources)
    assert_paths_right(random_weights(graph, low=0, high=3), [0, last])
    for dtype in (np.float32, np.float64):
        assert_paths_right(random_weights(graph, low=0, dtype=np.float32), [last // 2], dtype)
    assert_paths_right(random_weights(graph, low=0, dtype=np.float64), [last // 3])


@pytest.mark.parametrize(
    "weights",
    [
        np.full(6, INT32.max, np.int32), np.full(6, 2**60), np.array([2**53, 1, 0, 2**53 + 1, 1, 2**53 - 1]),
        np.array([INT64.max, INT64.max - 1, 1, 1, 0, 1]), np.array([1e308, 1e308, 0, 5e-324, np.inf, 1]),
        np.array([1, 2**-24, 2**-24, 3e38, 3e38, np.inf], np.float32), np.zeros(6, np.int32), np.zeros(6),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:overflow encountered in scalar add:RuntimeWarning")
def test_weights_of_paths(weights: np.ndarray) -> None:
    graph = Graph.from_edges([0, 1, 2, 0, 3, 1], [1, 2, 3, 2, 4, 4], weights, n=6)
    for dtype in {np.dtype(np.float64), weights.dtype} - {np.dtype(np.int32), np.dtype(np.int64)}:
        for sources in ([0], [1], [2], [3], [4], [5], [0, 5]):
            assert_paths_right(graph, sources, dtype)


def test_a_distance_that_no_int64_holds() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], [INT64.max, 1], directed=True)
    with pytest.raises(OverflowError):
        dijkstra(graph, [0])
    for last in (-1, INT64.max):
        with pytest.raises(VerificationError, match=r"entry \(1, 2\) of weight 1|no path of length"):
            check_sssp(graph, [0], np.array([0, INT64.max, last]))
    assert dijkstra(graph, [0], limit=INT64.max).tolist() == [0, INT64.max, -1]
    check_sssp(graph, [0], np.array([0, INT64.max, -1]), limit=INT64.max)


@given(
    n=st.integers(1, 12),
    edges=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(0, 2)), max_size=40),
    directed=st.booleans(), sources=st.lists(st.integers(0, 11), min_size=1, max_size=3),
)  # fmt: skip
def test_random_searches(n: int, edges: list[tuple[int, int, int]], directed: bool, sources: list[int]) -> None:
    triples = np.array(edges, np.int64).reshape(-1, 3)
    graph = Graph.from_edges(triples[:, 0] % n, triples[:, 1] % n, triples[:, 2], n=n, directed=directed)
    assert_paths_right(graph, [s % n for s in sources])


def test_long_paths() -> None:
    """Predecessors of many levels, and entries whose only support are others of weight 0."""
    chain = path(50_000)
    chain = Graph(chain.row_offsets, chain.column_indices, np.zeros(chain.n_edges, np.int32))
    depths = bfs_distances(chain, [7])
    assert np.array_equal(depths, abs(np.arange(50_000) - 7))
    predecessors = np.arange(50_000, dtype=np.int32) + np.sign(7 - np.arange(50_000, dtype=np.int32))
    predecessors[7] = NO_PREDECESSOR
    check_bfs(chain, [7], depths, predecessors)
    check_sssp(chain, [7], np.zeros(50_000, np.int64), predecessors)


# Entries (0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 0), (6, 5); 7 has none.
STEPS = Graph.from_edges([0, 0, 1, 2, 3, 4, 6], [1, 2, 3, 3, 4, 0, 5], n=8, directed=True)
DEPTHS, PARENTS = [0, 1, 1, 2, 3, -1, -1, -1], [-9999, 0, 0, 2, 3, -9999, -9999, -9999]


def planted(values: list[int], faults: dict[int, int]) -> np.ndarray:
    return np.array([faults.get(v, value) for v, value in enumerate(values)], np.int32)


@pytest.mark.parametrize(
    ("depths", "parents", "message"),
    [
        ({5: -2}, {}, "distance -2 of vertex 5 is not from -1 to 8"),
        ({4: 9}, {}, "distance 9 of vertex 4 is not from -1 to 8"),
        ({0: 1}, {}, "vertex 0, a source, has distance 1"),
        ({0: -1}, {}, "vertex 0, a source, has distance -1"),
        ({7: 0}, {}, "vertex 7, no source, has distance 0"),
        ({}, {0: 4}, "predecessor 4 of vertex 0 is not -9999, none"),
        ({}, {7: 0}, "predecessor 0 of vertex 7 is not -9999, none"),
        ({}, {3: -9999}, "predecessor -9999 of vertex 3 is not from 0 to 7"),
        ({}, {3: 8}, "predecessor 8 of vertex 3 is not from 0 to 7"),
        ({}, {4: 2}, "predecessor 2 of vertex 4 has distance 1, the vertex 3; not one less"),
        ({}, {3: 4}, "predecessor 4 of vertex 3 has distance 3, the vertex 2; not one less"),
        ({4: 2}, {}, "predecessor 3 of vertex 4 has distance 2, the vertex 2; not one less"),
        ({4: 2}, {4: 1}, "predecessor 1 of vertex 4 has no entry to it"),
        ({5: 1}, {5: 0}, "predecessor 0 of vertex 5 has no entry to it"),
        ({5: 1, 6: 2}, {5: 0, 6: 5}, "no entry to it"),
        ({3: 3, 4: 4}, {3: 2}, "predecessor 2 of vertex 3 has distance 1, the vertex 3"),
        ({2: 3, 3: 3}, {2: 4}, "predecessor 4 of vertex 2 has distance 3"),
        ({2: 4}, {2: 4, 3: 1}, r"entry \(0, 2\) leads from distance 0 to distance 4"),
        ({4: -1}, {4: -9999}, r"entry \(3, 4\) leads from distance 2 to an unreached vertex"),
        (dict.fromkeys(range(1, 5), -1), dict.fromkeys(range(1, 5), -9999), r"entry \(0, 1\) leads from distance 0"),
    ],
)
def test_check_of_searches_finds_each_fault(depths: dict[int, int], parents: dict[int, int], message: str) -> None:
    check_bfs(STEPS, [0], planted(DEPTHS, {}), planted(PARENTS, {}))
    with pytest.raises(VerificationError, match=message):
        check_bfs(STEPS, [0], planted(DEPTHS, depths), planted(PARENTS, parents))


def test_check_of_searches_knows_sources_and_depth() -> None:
    depths, parents = planted(DEPTHS, {}), planted(PARENTS, {})
    with pytest.raises(VerificationError, match="vertex 7, a source, has distance -1"):
        check_bfs(STEPS, [0, 7], depths, parents)
    with pytest.raises(VerificationError, match="vertex 0, no source, has distance 0"):
        check_bfs(STEPS, [7], depths, parents)
    with pytest.raises(VerificationError, match="distance 3 of vertex 4 is not from -1 to 2"):
        check_bfs(STEPS, [0], depths, parents, max_depth=2)
    depths, parents = planted(DEPTHS, {4: -1}), planted(PARENTS, {4: -9999})
    check_bfs(STEPS, [0], depths, parents, max_depth=2)
    with pytest.raises(VerificationError, match=r"entry \(3, 4\) leads from distance 2 to an unreached vertex"):
        check_bfs(STEPS, [0], depths, parents, max_depth=3)
    for wrong in (depths.astype(np.int64), depths[:-1]):
        with pytest.raises(VerificationError, match="distances are int"):
            check_bfs(STEPS, [0], wrong, parents)
    with pytest.raises(VerificationError, match=r"predecessors are int64 \(8,\); needed: int32"):
        check_bfs(STEPS, [0], depths, parents.astype(np.int64))


# (0, 1) weighs 2, (0, 2) 5, (1, 2) 3, (2, 3) and (3, 2) 0, (3, 4) 4, (5, 6) and (6, 5) 0, (4, 7) 1.
ROADS = Graph.from_edges(
    [0, 0, 1, 2, 3, 3, 5, 6, 4], [1, 2, 2, 3, 2, 4, 6, 5, 7], [2, 5, 3, 0, 0, 4, 0, 0, 1], n=8, directed=True
)
LENGTHS, NEARER = [0, 2, 5, 5, 9, -1, -1, 10], [-9999, 0, 1, 2, 3, -9999, -9999, 4]


@pytest.mark.parametrize(
    ("lengths", "parents", "message"),
    [
        ({5: -2}, {}, "distance -2 of vertex 5 is not a length"),
        ({0: 1}, {}, "distance 1 of vertex 0 is not 0, of a source"),
        ({0: -1}, {}, "distance -1 of vertex 0 is not 0, of a source"),
        ({4: 10, 7: 11}, {}, r"entry \(3, 4\) of weight 4 leads from distance 5 to distance 10"),
        ({4: -1, 7: -1}, {4: -9999, 7: -9999}, r"entry \(3, 4\) of weight 4 leads from distance 5 to an unreached"),
        ({7: 9}, {}, "no path of length 9 leads to vertex 7"),
        ({1: 1}, {}, r"entry \(1, 2\) of weight 3 leads from distance 1 to distance 5"),
        ({1: 1, 2: 4, 3: 4, 4: 8, 7: 9}, {}, "no path of length 1 leads to vertex 1"),
        ({2: 4, 3: 4, 4: 8, 7: 9}, {}, "no path of length 4 leads to vertex 2"),
        ({2: 4, 3: 4, 4: 8, 7: 9}, {2: 3}, "no path of length 4 leads to vertex 2"),
        ({5: 0, 6: 0}, {5: 6, 6: 5}, "no path of length 0 leads to vertex 5"),
        ({5: 3, 6: 3}, {5: 6, 6: 5}, "no path of length 3 leads to vertex 5"),
        ({}, {0: 1}, "predecessor 1 of vertex 0 is not -9999, none"),
        ({}, {6: 5}, "predecessor 5 of vertex 6 is not -9999, none"),
        ({}, {7: -9999}, "predecessor -9999 of vertex 7 is not from 0 to 7"),
        ({}, {7: 8}, "predecessor 8 of vertex 7 is not from 0 to 7"),
        ({}, {7: 3}, "no entry from predecessor 3 to vertex 7 gives 10"),
        ({}, {4: 7}, "no entry from predecessor 7 to vertex 4 gives 9"),
        ({}, {2: 3}, "the predecessors of vertex 2 lead to no source"),
        ({}, {2: 3, 3: 2}, "the predecessors of vertex 2 lead to no source"),
    ],
)
def test_check_of_paths_finds_each_fault(lengths: dict[int, int], parents: dict[int, int], message: str) -> None:
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        graph = Graph(ROADS.row_offsets, ROADS.column_indices, ROADS.edge_weights.astype(dtype), directed=True)
        kind = np.dtype(dtype if np.dtype(dtype).kind == "f" else np.int64)

        def of_type(faults: dict[int, int], kind: Any = kind) -> np.ndarray:
            values = planted(LENGTHS, faults).astype(kind)
            if kind.kind == "f":
                values[values == -1] = np.inf
            return values

        check_sssp(graph, [0], of_type({}), planted(NEARER, {}), dtype=kind)
        check_sssp(graph, [0], of_type({}), planted(NEARER, {2: 0}), dtype=kind)
        text = message.replace("distance -1 of", "distance inf of") if kind.kind == "f" else message
        text = text if kind.kind == "i" else text.replace("distance -2 of vertex 5", r"distance -2.0 of vertex 5")
        with pytest.raises(VerificationError) as caught:
            check_sssp(graph, [0], of_type(lengths), planted(NEARER, parents), dtype=kind)
        assert _pattern(text) in _pattern(str(caught.value))


def _pattern(text: str) -> str:
    return text.replace("\\", "").replace(".0", "")


def test_check_of_paths_knows_sources_and_limit() -> None:
    lengths, parents = planted(LENGTHS, {}).astype(np.int64), planted(NEARER, {})
    with pytest.raises(VerificationError, match="distance -1 of vertex 5 is not 0, of a source"):
        check_sssp(ROADS, [0, 5], lengths)
    with pytest.raises(VerificationError, match=r"distance 10 of vertex 7 is not up to 9\.5"):
        check_sssp(ROADS, [0], lengths, parents, limit=9.5)
    lengths[7], parents[7] = -1, NO_PREDECESSOR
    check_sssp(ROADS, [0], lengths, parents, limit=9.5)
    for limit in (10, None, math.inf):
        with pytest.raises(VerificationError, match=r"entry \(4, 7\) of weight 1 leads from distance 9 to an"):
            check_sssp(ROADS, [0], lengths, parents, limit=limit)
    for wrong in (lengths.astype(np.int32), lengths.astype(np.float64), lengths[1:]):
        with pytest.raises(VerificationError, match="distances are"):
            check_sssp(ROADS, [0], wrong)
    with pytest.raises(VerificationError, match="predecessors are int64"):
        check_sssp(ROADS, [0], lengths, parents.astype(np.int64), limit=9.5)


def test_floats_are_compared_exactly() -> None:
    """Of 1 + 2**-24 + 2**-24, float32 keeps 1, and float64 all."""
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([1, 2**-24, 2**-24], np.float32), directed=True)
    check_sssp(graph, [0], np.array([0, 1, 1, 1], np.float32), dtype=np.float32)
    check_sssp(graph, [0], np.array([0, 1, 1 + 2**-24, 1 + 2**-23]))
    for wrong in ([0, 1, 1, 1 + 2**-23], [0, 1, 1, 1 - 2**-24], [0, 1, 1, np.inf], [0, 1, 1, np.nan], [0, 1, 1, -1]):
        with pytest.raises(VerificationError):
            check_sssp(graph, [0], np.array(wrong, np.float32), dtype=np.float32)
    narrow = np.array([0, 1, 1, 1], np.float32)
    wide = narrow.astype(np.float64)
    for distances, dtype in ((wide, np.float64), (narrow, np.float64), (wide, np.float32)):
        with pytest.raises(VerificationError):
            check_sssp(graph, [0], distances, dtype=dtype)


def test_a_limit_that_float32_lacks() -> None:
    graph = Graph.from_edges([0], [1], np.array([0.1], np.float32))
    for limit, last in ((0.1, np.inf), (np.nextafter(0.1, 1), np.inf), (float(np.float32(0.1)), 0.1), (0.2, 0.1)):
        distances = dijkstra(graph, [0], limit=limit, dtype=np.float32)
        assert distances[1] == np.float32(last)
        check_sssp(graph, [0], distances, limit=limit, dtype=np.float32)
        wrong = np.array([0, 0.1 if last > 1 else np.inf], np.float32)
        with pytest.raises(VerificationError):
            check_sssp(graph, [0], wrong, limit=limit, dtype=np.float32)


def test_checks_see_every_entry_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "_CHUNK", 7)
    for graph in (random_weights(rmat(6, 4), high=5), random_weights(GRAPHS["directed-scale-free"](), low=0, high=5)):
        sources = [int(graph.degrees.argmax())]
        assert_paths_right(graph, sources)
        distances, parents = relaxed(graph, sources)
        depths, _ = relaxed(Graph(graph.row_offsets, graph.column_indices, directed=True), sources)
        for v in np.flatnonzero(distances > 0)[::5]:
            for other in (distances[v] - 1, distances[v] + 1):
                wrong = distances.copy()
                wrong[v] = other
                with pytest.raises(VerificationError):
                    check_sssp(graph, sources, wrong)
                wrong = depths.astype(np.int32)
                wrong[v] += other - distances[v]
                with pytest.raises(VerificationError):
                    check_bfs(graph, sources, wrong, parents)


# ---- triangulations


RING = [[0, 1], [1, 2], [2, 3], [3, 0]]


@pytest.fixture(scope="module")
def mesh():
    """A square with random points, and one that is divided by a segment."""
    points = np.concatenate([[[0, 0], [1, 0], [1, 1], [0, 1]], np.random.default_rng(0).uniform(0.1, 0.9, (40, 2))])
    return PlanarGraph.from_arrays(points, [*RING, [0, 2]]).triangulate()


def flipped(mesh, *, segments=False):
    """Return the mesh with an edge flipped that is no segment, or that is one, whose place the new edge takes."""
    fixed = set(map(tuple, np.sort(mesh.segments, axis=1).tolist()))
    for t, i in zip(*np.nonzero(mesh.neighbors >= 0), strict=True):
        u = mesh.neighbors[t, i]
        a, b, c = np.roll(mesh.triangles[t], -i)
        d = next(v for v in mesh.triangles[u] if v not in (b, c))
        if ((min(b, c), max(b, c)) in fixed) != segments:
            continue
        triangles = mesh.triangles.copy()
        triangles[t], triangles[u] = (a, b, d), (d, c, a)
        kept = mesh.segments[~(np.sort(mesh.segments) == sorted((b, c))).all(axis=1)]
        try:
            return TriangleMesh.from_arrays(mesh.points, triangles, [*kept, (a, d)] if segments else kept)
        except ValueError:  # the edges of this quadrangle cannot be exchanged
            continue
    raise AssertionError("no edge can be flipped")


def refined(mesh):
    """Return the mesh with a point in the middle of the longest segment, which is a segment of one triangle."""
    middle = mesh.points[[0, 1]].mean(axis=0)
    n = mesh.n_points
    parts = [edge for edge in mesh.segments.tolist() if sorted(edge) != [0, 1]] + [[0, n], [n, 1]]
    return PlanarGraph.from_arrays(np.concatenate([mesh.points, [middle]]), parts).triangulate()


def test_a_right_mesh_passes(mesh):
    check_delaunay(mesh, original=mesh)
    check_delaunay(refined(mesh), original=mesh)


def test_chains_join_the_parts_of_segments(mesh):
    chains = segment_chains(refined(mesh), mesh.n_points)
    assert chains.whole.tolist() == sorted(np.sort(mesh.segments, axis=1).tolist())
    assert chains.ends[mesh.n_points].tolist() == [0, 1]
    assert (chains.ends[: mesh.n_points] == -1).all()


def moved(mesh, point, place):
    points = mesh.points.copy()
    points[point] = place
    return dataclasses.replace(mesh, points=points)


def swapped(values):
    values = values.copy()
    values[[0, 1]] = values[[1, 0]]
    return values


def equal_points(_mesh):
    """Two triangles far from each other in links, with a corner of each in the same place."""
    points = [[0, 0], [1, 0], [0, 1], [0, 0], [-1, 0], [0, -1]]
    return TriangleMesh.from_arrays(points, [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize(("plant", "match"), [
    (equal_points, "points 0 and 3 are equal"),
    (flipped, "not Delaunay"),
    (lambda m: dataclasses.replace(m, triangles=m.triangles[:, ::-1]), "counter-clockwise"),
    (lambda m: dataclasses.replace(m, triangles=m.triangles + 1), "corners of triangles"),
    (lambda m: dataclasses.replace(m, neighbors=swapped(m.neighbors)), "has neighbours"),
    (lambda m: dataclasses.replace(m, triangles=m.triangles[[0, *range(m.n_triangles - 1)]]), "same side"),
    (lambda m: dataclasses.replace(m, segments=m.segments[1:]), "boundary"),
    (lambda m: dataclasses.replace(m, segments=m.segments[[0, *range(len(m.segments))]]), "twice"),
    (lambda m: dataclasses.replace(m, segments=np.append(m.segments, [[0, 1], [1, 3]], axis=0)[-1:]), "no edge"),
    (lambda m: dataclasses.replace(m, segments=m.segments[:0]), "boundary"),
    (lambda m: dataclasses.replace(m, points=np.append(m.points, [[9, 9]], axis=0)), "in no triangle"),
])  # fmt: skip
def test_a_wrong_mesh_is_found(mesh, plant, match):
    planted = plant(mesh)
    with pytest.raises(VerificationError, match=match):
        check_delaunay(planted, original=mesh)


def test_what_refines_nothing_is_found(mesh):
    more = refined(mesh)
    n = mesh.n_points
    half = PlanarGraph.from_arrays(mesh.points, [[0, 1], [1, 2], [2, 0]]).triangulate(keep_points=True)
    inner = next(v for v in more.triangles[(more.triangles == n).any(axis=1)].ravel() if 3 < v < n)
    for planted, match in (
        (flipped(mesh, segments=True), "not unions|not Delaunay"),
        (moved(more, n, [0.5, 1e-9]), "off its segment|not Delaunay"),
        (moved(mesh, 5, mesh.points[5] + 1e-9), "first"),
        (half, "the area"),
        (dataclasses.replace(more, segments=np.append(more.segments, [[n, inner]], axis=0)), "on 3 segments"),
    ):
        with pytest.raises(VerificationError, match=match):
            check_delaunay(planted, original=mesh, unused_points=True)


def test_bounds_and_holes(mesh):
    areas = mesh.areas()
    check_delaunay(mesh, max_area=areas.max(), min_angle=mesh.quality().min_angle)
    for bound in ({"max_area": areas.max() * 0.99}, {"min_angle": mesh.quality().min_angle + 0.01}):
        with pytest.raises(VerificationError, match=r"too large|angle below"):
            check_delaunay(mesh, **bound)
    capped = dataclasses.replace(mesh, max_areas=np.where(np.arange(mesh.n_triangles) == 7, areas / 2, np.inf))
    with pytest.raises(VerificationError, match="too large: 7"):
        check_delaunay(capped, original=mesh)
    with pytest.raises(VerificationError, match="in the hole"):
        check_delaunay(mesh, holes=[[0.501, 0.502]])


def test_sharp_input_angles_are_excused():
    """Between two segments at 5 degrees no triangle can be better; one at a blunt corner could."""
    sharp = PlanarGraph.from_arrays(
        [[0, 0], [1, 0], [np.cos(0.087), np.sin(0.087)]], [[0, 1], [0, 2], [1, 2]]
    ).triangulate()
    check_delaunay(sharp, original=sharp, min_angle=20)
    flat = PlanarGraph.from_arrays([[0, 0], [1, 0], [0.5, 0.05]], [[0, 1]]).triangulate(convex_hull=True)
    check_delaunay(flat, original=flat, min_angle=5)
    blunt = PlanarGraph.from_arrays([[0, 0], [1, 0], [1, 0.05], [0, 0.05]], [[0, 1]]).triangulate(convex_hull=True)
    with pytest.raises(VerificationError, match="angle below"):
        check_delaunay(blunt, original=blunt, min_angle=5)


# ---- factorisation


RATINGS = planted_ratings(12, 9, 60, rank=2, seed=1)
OPTIONS = {"learning_rate": 0.05, "regularization": 0.1, "mean": 0.25}


def new_model(*, biases: bool = True, dtype: Any = np.float64) -> list[Any]:
    rng = np.random.default_rng(2)
    shapes = [(12, 3), (9, 3), *([(12,), (9,)] if biases else [])]
    return [rng.normal(0, 0.3, shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("biases", [False, True])
def test_a_step_goes_down_the_gradient(biases: bool) -> None:
    model, k, h = new_model(biases=biases), 17, 1e-6
    user, item, value = (getattr(RATINGS, name)[k] for name in ("users", "items", "values"))

    def loss(arrays: list[Any]) -> float:
        mine = [array[vertex] for array, vertex in zip(arrays, (user, item, user, item), strict=False)]
        error = value - OPTIONS["mean"] - mine[0] @ mine[1] - sum(mine[2:])
        return float(0.5 * (error**2 + OPTIONS["regularization"] * sum(np.sum(x**2) for x in mine)))

    stepped = sgd_sweep(RATINGS, model, [k], **OPTIONS)
    for position, (before, after) in enumerate(zip(model, stepped, strict=False)):
        for index in np.ndindex(before.shape):
            shifted = [[array.copy() for array in model] for _ in range(2)]
            for sign, arrays in zip((1, -1), shifted, strict=True):
                arrays[position][index] += sign * h
            gradient = (loss(shifted[0]) - loss(shifted[1])) / (2 * h)
            assert after[index] - before[index] == pytest.approx(-OPTIONS["learning_rate"] * gradient, abs=1e-9)


def test_order_matters_only_between_ratings_that_share_a_vertex() -> None:
    # By user then item, and by item then user: any two ratings of one vertex stand in the same order.
    by_user = sgd_sweep(RATINGS, new_model(), range(60), **OPTIONS)
    by_item = sgd_sweep(RATINGS, new_model(), RATINGS.item_order, **OPTIONS)
    backwards = sgd_sweep(RATINGS, new_model(), range(59, -1, -1), **OPTIONS)
    for first, second, other in zip(by_user, by_item, backwards, strict=True):
        assert first is not None and np.array_equal(first, second) and not np.array_equal(first, other)


def test_sweeps_find_a_planted_matrix() -> None:
    ratings = planted_ratings(60, 50, 2000, rank=2, noise=0.05, seed=3)
    rng = np.random.default_rng(4)
    model: Any = [rng.normal(0, 0.3, (n, 2)).astype(np.float32) for n in ratings.shape]
    for _ in range(40):
        model = sgd_sweep(
            ratings, model, rng.permutation(ratings.n_ratings), learning_rate=0.05, regularization=0.0, mean=0.0
        )
    assert model[0].dtype == np.float32 and model[2] is None
    assert rmse(ratings, model, 0.0) < 0.06


def test_the_error_of_a_matrix_by_hand() -> None:
    ratings = Ratings.from_triples([0, 1], [0, 0], [1.0, 4.0])
    model = [np.array([[1.0], [2.0]]), np.array([[1.0]]), np.array([0.0, 0.5]), np.array([0.25])]
    # Predictions: 1 + 1 + 0.25 = 2.25 and 1 + 2 + 0.5 + 0.25 = 3.75.
    assert rmse(ratings, model, 1.0) == pytest.approx(np.sqrt((1.25**2 + 0.25**2) / 2))
    assert np.isnan(rmse(Ratings.from_triples([], [], []), [np.zeros((0, 1)), np.zeros((0, 1))], 0.0))


def sweep() -> tuple[np.ndarray, np.ndarray]:
    """Return a right order of steps, by diagonals, and where the supersteps begin."""
    diagonal = (RATINGS.items - RATINGS.users) % 12
    order = np.argsort(diagonal, kind="stable")
    return order, np.searchsorted(diagonal[order], np.arange(13))


def test_a_right_run_passes() -> None:
    check_supersteps(RATINGS, *sweep())
    check_factorization(RATINGS, new_model())


def test_wrong_supersteps_are_found() -> None:
    order, offsets = sweep()
    repeated = order.copy()
    repeated[3] = repeated[4]
    for wrong, message in (
        ((repeated, offsets), "permutation"),
        ((order, np.delete(offsets, 4)), r"superstep \d+ has two ratings of (user|item) \d+"),
        ((order, offsets[:-1]), "supersteps from 0 to"),
    ):
        with pytest.raises(VerificationError, match=message):
            check_supersteps(RATINGS, *wrong)


def test_wrong_factors_are_found() -> None:
    model = new_model()
    model[3][7] = np.nan
    with pytest.raises(VerificationError, match="item biases: row 7 is not finite"):
        check_factorization(RATINGS, model)
    with pytest.raises(VerificationError, match="12 user factors; needed: 13"):
        check_factorization(replace(RATINGS, n_users=13), model)
