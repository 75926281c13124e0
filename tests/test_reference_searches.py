"""Oracles of searches and shortest paths, and wrong distances and parents that their checks find."""

import math
from collections import deque
from typing import Any

import numpy as np
import pytest
from graphs import GRAPHS, WITH_VERTICES
from hypothesis import given
from hypothesis import strategies as st

from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.generators import path, random_weights, rmat
from clgraph.reference import entries
from clgraph.reference.bfs import NO_PREDECESSOR, bfs_distances, check_bfs
from clgraph.reference.sssp import check_sssp, dijkstra

INT64 = np.iinfo(np.int64)

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
def test_searches_of_small_graphs_are_those_of_the_plain_oracle(name: str) -> None:
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
def test_paths_of_any_weights_are_those_of_the_plain_oracle(weights: np.ndarray) -> None:
    graph = Graph.from_edges([0, 1, 2, 0, 3, 1], [1, 2, 3, 2, 4, 4], weights, n=6)
    for dtype in {np.dtype(np.float64), weights.dtype} - {np.dtype(np.int32), np.dtype(np.int64)}:
        for sources in ([0], [1], [2], [3], [4], [5], [0, 5]):
            assert_paths_right(graph, sources, dtype)


def test_a_distance_that_no_int64_holds_is_refused() -> None:
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
def test_random_searches_are_those_of_the_plain_oracle(
    n: int, edges: list[tuple[int, int, int]], directed: bool, sources: list[int]
) -> None:
    triples = np.array(edges, np.int64).reshape(-1, 3)
    graph = Graph.from_edges(triples[:, 0] % n, triples[:, 1] % n, triples[:, 2], n=n, directed=directed)
    assert_paths_right(graph, [s % n for s in sources])


def test_long_paths_are_searched_to_their_ends() -> None:
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
    """1 + 2**-24 + 2**-24 is 1 in float32, and exact in float64."""
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


def test_a_limit_that_float32_lacks_is_kept_exactly() -> None:
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
