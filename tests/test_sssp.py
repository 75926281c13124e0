"""Every strategy of shortest paths on every zoo graph, weight type and device, against the definition and Dijkstra."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import run_at_width
from graphs import GRAPHS, TELLING, WITH_VERTICES, among, chain
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra
from test_bfs import OF_ROUNDS

import clgraph as cg
from clgraph.algorithms.sssp import STRATEGIES, ShortestPaths, as_problem, sssp, strategies
from clgraph.data.graphs.graph import Graph
from clgraph.errors import ClgraphError, DistanceOverflowError, InputError, UnsupportedStrategyError
from clgraph.generators import random_weights
from clgraph.model.cost import estimate
from clgraph.reference.bfs import NO_PREDECESSOR
from clgraph.reference.sssp import check_sssp, dijkstra
from clgraph.runtime.session import Session

DELTAS: list[dict[str, object]] = [{"delta": 1}, {"delta": 1e9}]
OPTIONS = OF_ROUNDS | {"frontier": DELTAS, "delta_stepping": DELTAS}
CASES = [(name, options) for name in STRATEGIES for options in ({}, *OPTIONS.get(name, []))]
INT32, INT64 = np.iinfo(np.int32), np.iinfo(np.int64)
WITH_KERNELS = [case for case in CASES if STRATEGIES[case[0]].kind != "sequential"]
every_case = pytest.mark.parametrize(("strategy", "options"), CASES, ids=str)
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def least_predecessors(graph: Graph, sources: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Return the least vertex from which an entry gives each distance, a lesser one; else the least level by level."""
    rows, columns, none = graph.sources(), graph.column_indices, graph.n_vertices
    is_float = distances.dtype.kind == "f"
    steps = np.ones(graph.n_edges, np.int64) if graph.edge_weights is None else graph.edge_weights
    near, far = distances[rows], distances[columns]
    with np.errstate(over="ignore", invalid="ignore"):
        tight = near + steps == far if is_float else far - near == steps
    tight &= (near >= 0) & (near <= far) & (far < np.inf)
    least = np.full(graph.n_vertices, none)
    np.minimum.at(least, columns[tight & (near < far)], rows[tight & (near < far)])
    least[sources] = none
    found = (least < none) | np.isin(np.arange(graph.n_vertices), sources)
    rows, columns = rows[tight & (near == far)], columns[tight & (near == far)]
    while (following := found[rows] & ~found[columns]).any():
        np.minimum.at(least, columns[following], rows[following])
        found[columns[following]] = True
    return np.where(least == none, NO_PREDECESSOR, least)


def assert_right(
    graph: Graph,
    source: Any,
    session: Session,
    strategy: str,
    *,
    limit: float | None = None,
    dtype: Any = None,
    **options: Any,
) -> ShortestPaths:
    if dtype is None and graph.weight_dtype == np.float32:
        assert_right(graph, source, session, strategy, limit=limit, dtype="float32", **options)
    if reason := STRATEGIES[strategy].unsupported(session.facts):
        pytest.skip(reason)
    if reason := STRATEGIES[strategy].unfit(as_problem(graph, dtype=dtype)):
        with pytest.raises(UnsupportedStrategyError, match=re.escape(reason)):
            sssp(graph, source, strategy=strategy, dtype=dtype, session=session)
        return sssp(graph, source, limit=limit, dtype=dtype, predecessors=True, session=session)
    settings: dict[str, Any] = {"limit": limit, "dtype": dtype}
    result = sssp(graph, source, strategy=strategy, predecessors=True, session=session, **settings, **options)
    distances, predecessors = result
    sources, limit = np.atleast_1d(source), limit.item() if isinstance(limit, np.generic) else limit
    kind = None if dtype is None else np.dtype(dtype)
    expected = dijkstra(graph, sources, limit=math.inf if limit is None else limit, dtype=kind)
    assert distances.dtype == expected.dtype and np.array_equal(distances, expected)
    check_sssp(graph, sources, distances, predecessors, limit=limit, dtype=kind)
    assert np.array_equal(predecessors, least_predecessors(graph, sources, expected))
    assert result.graph is graph and result.sources.dtype == np.int32 and {*result.sources} == {*sources}
    plan = STRATEGIES[strategy].plan(session, as_problem(graph, source=source, **settings), **options)
    for _ in range(2):  # a plan may run again
        plan.run()
        assert np.array_equal(plan.result()[0], expected)
    return result


@pytest.mark.parametrize(
    ("name", "strategy", "options"),
    [(name, *case) for case in CASES for name in (TELLING if case[1] else WITH_VERTICES)], ids=str,
)  # fmt: skip
def test_paths_in_every_small_graph_are_shortest(
    session: Session, name: str, strategy: str, options: dict[str, object]
) -> None:
    graph = GRAPHS[name]()
    last = graph.n_vertices - 1
    assert_right(random_weights(graph, low=0, high=4), 0, session, strategy, **options)
    assert_right(
        random_weights(graph, low=0, dtype=np.float32), [last, last // 2, last, 0], session, strategy, **options
    )
    assert_right(random_weights(graph, high=1000), last // 3, session, strategy, limit=1500, **options)


@every_strategy
@pytest.mark.parametrize("name", WITH_VERTICES)
def test_paths_in_unweighted_graphs_are_shortest(pocl: Session, name: str, strategy: str) -> None:
    graph = GRAPHS[name]()
    assert_right(graph, graph.n_vertices // 2, pocl, strategy)


def often_lowered(n: int) -> Graph:
    near, far = np.triu_indices(n, 1)
    weights = np.where(far == near + 1, 1, far - near + 50 * (n - near))
    return Graph.from_edges(near, far, weights, directed=True)


def with_leaves(graph: Graph) -> Graph:
    """Hang a leaf on each vertex, by an edge so heavy or light that distances are in buckets of all kinds."""
    src, dst, weights = graph.edge_list()
    n, rng = graph.n_vertices, np.random.default_rng(5)
    heavy = np.where(rng.random(n) < 0.5, rng.integers(0, 20, n), rng.integers(10_000, 90_000, n))
    ends = np.append(src, np.arange(n)), np.append(dst, n + np.arange(n))
    return Graph.from_edges(*ends, np.append(weights, heavy), n=2 * n).permuted(4)


SHAPES: dict[str, Callable[[], Graph]] = {
    "scale-free": lambda: random_weights(cg.generators.rmat(12, 16), high=1025),
    "delaunay": lambda: random_weights(cg.generators.delaunay_points(4000), dtype=np.float32),
    "grid": lambda: random_weights(cg.generators.grid(40, 200), high=9),
    "road-like": lambda: random_weights(cg.generators.road_like(9000), high=1025),
    "star": lambda: random_weights(cg.generators.star(20000).permuted(3), high=3),
    "leaves": lambda: with_leaves(random_weights(cg.generators.grid(20, 100), high=2000)),
    "path": lambda: random_weights(cg.generators.path(2000), low=0),
    "path-permuted": lambda: random_weights(cg.generators.path(2000).permuted(1)),
    "dense-ties": lambda: random_weights(cg.generators.uniform_random(700, 60000), high=4),
    "heavy-tailed": lambda: Graph.from_edges(*cg.generators.grid(30, 40).edge_list()[:2], 2 ** (np.arange(2330) % 30)),
    "directed": lambda: random_weights(GRAPHS["directed-scale-free"](), high=1025),
    "many-parts": lambda: random_weights(cg.generators.rmat(10, 8), high=50).expanded(5).permuted(1),
    # Each relaxation in order is undone by a longer and lighter way.
    "detours": lambda: Graph.from_edges(
        np.repeat(np.arange(300), 2), np.ravel([np.arange(1, 301), np.full(300, 301)], "F"),
        np.ravel([np.ones(300, int), 2 * np.arange(300, 0, -1)], "F"), directed=True,
    ),
    # Each vertex lowers the distances of all behind it once more.
    "often-lowered": lambda: often_lowered(300),
}  # fmt: skip


@every_strategy
@pytest.mark.parametrize("name", SHAPES)
def test_paths_in_shapes_that_use_every_branch_are_shortest(session: Session, name: str, strategy: str) -> None:
    """Long rows, many phases and few, light edges only and heavy ones only."""
    assert_right(SHAPES[name](), 1, session, strategy)


@every_case
def test_options_do_not_change_paths(pocl: Session, strategy: str, options: dict[str, object]) -> None:
    for name in ("scale-free", "grid", "detours"):
        assert_right(SHAPES[name](), 1, pocl, strategy, **options)


@pytest.mark.parametrize("strategy", ["frontier", "delta_stepping"])
def test_buckets_grow_alike_in_many_launches(pocl: Session, monkeypatch: pytest.MonkeyPatch, strategy: str) -> None:
    if pocl.facts.dialect.has_grid_barrier:
        pytest.skip("one launch does all")
    for made, delta, least in ((cg.generators.path(2000), 512.0, 1000), (cg.generators.grid(60, 60), 1.0, 50)):
        graph, n_buckets = random_weights(made, low=1, high=1024), []
        for turns in (2**20, 16):
            monkeypatch.setattr(strategies, "_TURNS", turns)
            plan: Any = STRATEGIES[strategy].plan(pocl, as_problem(graph, source=0), delta=delta)
            plan.run()
            n_buckets.append(plan.word("progress[PROGRESS_PILE]"))
        one, many = n_buckets
        assert one > least and abs(many - one) < 0.05 * one  # Queues are released where a launch ends.


def test_dijkstra_goes_on_in_the_next_launch(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "_BUDGET", 100)
    for name in ("scale-free", "grid", "often-lowered"):
        assert_right(SHAPES[name](), 1, pocl, "dijkstra")


WEIGHTS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "int32": lambda rng, m: rng.integers(0, INT32.max, m, np.int32, endpoint=True),
    "int32-limits": among(INT32.max, INT32.max - 1, 0, 1, dtype=np.int32),
    "int64": lambda rng, m: rng.integers(0, 2**55, m),
    "int64-limits": among(2**57, 2**57 - 1, 0, 1, dtype=np.int64),
    "int64-high-words": lambda rng, m: rng.integers(0, 9, m) << 40,
    "int64-small": lambda rng, m: rng.integers(0, 9, m),
    "zeros": among(0, dtype=np.int32),
    "equal": among(7, dtype=np.int32),
    "float32": lambda rng, m: rng.random(m, np.float32),
    "float32-limits": among(np.inf, 3.4e38, 1e38, 1e-45, 1e-38, 0, dtype=np.float32),
    "float32-zeros": among(0.0, -0.0, dtype=np.float32),
    "float32-absorbed": among(2**24, 1, 0.5, 0, dtype=np.float32),
    "float64": lambda rng, m: rng.random(m),
    "float64-close": lambda rng, m: 1 + rng.integers(0, 99, m) * 2.0**-52,
    "float64-limits": among(np.inf, 1.7e308, 1e308, 5e-324, 0),
    "infinite": among(np.inf),
    "infinite-float32": among(np.inf, 1, dtype=np.float32),
}


@every_strategy
@pytest.mark.parametrize("name", WEIGHTS)
def test_paths_are_shortest_for_any_weights(session: Session, name: str, strategy: str) -> None:
    """The graphs have self-loops, and parallel edges of equal and of different weights."""
    rng = np.random.default_rng(3)
    for n_edges, directed in ((100, False), (900, True)):
        src, dst = rng.integers(60, size=(2, n_edges))
        graph = Graph.from_edges(src, dst, WEIGHTS[name](rng, n_edges), n=70, directed=directed)
        assert_right(graph, int(src[0]), session, strategy)


@every_case
def test_float32_weights_are_summed_in_float64(session: Session, strategy: str, options: dict[str, object]) -> None:
    """Distances are scipy's by default; sums of float32, which are 3e-5 off after 3,000 edges, on request."""
    if reason := STRATEGIES[strategy].unsupported(session.facts):
        pytest.skip(reason)
    graph = chain(np.full(3000, 0.1, np.float32))
    expected = scipy_dijkstra(graph.to_scipy(), indices=0)
    for dtype in (None, np.float64, "float64"):
        distances = sssp(graph, 0, strategy=strategy, dtype=dtype, session=session, **options).distances
        assert distances.dtype == np.float64 and np.array_equal(distances, expected)
    if strategy != "host":
        narrow = sssp(graph, 0, strategy=strategy, dtype=np.float32, session=session, **options).distances
        assert np.array_equal(narrow, np.append(np.float32(0), np.cumsum(graph.edge_list()[2])))
        assert abs(narrow[-1] / expected[-1] - 1) > 1e-5


@pytest.mark.parametrize(
    ("weights", "allowed"),
    [
        (None, ["int64"]), (np.int32, ["int64"]), (np.int64, ["int64"]), (np.float64, ["float64"]),
        (np.float32, ["float64", "float32"]),
    ],
)  # fmt: skip
def test_distances_have_the_type_that_is_asked_for(pocl: Session, weights: Any, allowed: list[str]) -> None:
    path = cg.generators.path(10)
    graph = path if weights is None else random_weights(path, dtype=weights)
    assert sssp(graph, 0, session=pocl).distances.dtype == allowed[0]
    for dtype in ("int64", "float64", "float32", "int32", "float16", "no type", 3, [1]):
        if dtype in allowed:
            assert sssp(graph, 0, dtype=dtype, session=pocl, verify=True).distances.dtype == dtype
        else:
            with pytest.raises(InputError, match=f"dtype = .*{dtype}.*; allowed: {' or '.join(allowed)} by"
                               if isinstance(dtype, str) else "dtype"):  # fmt: skip
                sssp(graph, 0, dtype=dtype, session=pocl)


def test_a_device_without_64_bit_floats_leaves_float64_to_the_host(
    pocl: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pocl.commands, "facts", replace(pocl.facts, has_fp64=False))
    for weights in (np.float32, np.float64):
        graph = random_weights(cg.generators.rmat(14, 16), dtype=weights)
        result = sssp(graph, 0, session=pocl)
        assert result.info.strategy == "host" and np.array_equal(result.distances, dijkstra(graph, [0]))
        advice = "; pass dtype='float32'$" if weights is np.float32 else "it has no 64-bit floats$"
        for name in (name for name, _ in WITH_KERNELS):
            with pytest.raises(UnsupportedStrategyError, match=advice):
                sssp(graph, 0, strategy=name, session=pocl)
        with pytest.raises(UnsupportedStrategyError, match=advice):  # the host does not read what is on a device
            sssp(cg.DeviceGraph.from_graph(graph, pocl), 0)
    graph = random_weights(cg.generators.rmat(10), dtype=np.float32)
    assert assert_right(graph, 0, pocl, "frontier", dtype="float32").distances.dtype == np.float32


def test_predictions_see_wider_distances(pocl: Session) -> None:
    graph, facts = random_weights(cg.generators.rmat(12), dtype=np.float32), replace(pocl.facts, is_cpu=False)
    for name, strategy in STRATEGIES.items():
        if name != "host":
            narrow, wide = (
                estimate(strategy.work(as_problem(graph, dtype=dtype), facts), pocl.profile.rates).parts["streaming"]
                for dtype in ("float32", "float64")
            )
            assert narrow < wide, name


@every_case
def test_distances_of_more_than_32_bits_are_exact(session: Session, strategy: str, options: dict[str, object]) -> None:
    graph = chain(np.full(300, INT32.max, np.int32))
    distances, _ = assert_right(graph, 0, session, strategy, **options)
    assert distances.tolist() == [INT32.max * v for v in range(301)]
    loose = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], [INT32.max, INT32.max, 1, 2**31 - 2], directed=True)
    assert_right(loose, 0, session, strategy, **options)
    for last in (2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1):
        graph = chain(np.array([2**30, 2**30, last - 2**31], np.int64) if last >= 2**31 else np.array([last]))
        assert assert_right(graph, 0, session, strategy, **options).distances[-1] == last


@pytest.mark.parametrize(("strategy", "options"), WITH_KERNELS, ids=str)
def test_distances_that_no_int64_holds_are_refused(session: Session, strategy: str, options: dict[str, object]) -> None:
    """The greatest distance is 2**63 - 1; a longer way to what is nearer, or beyond the limit, is no error."""
    graph = chain(np.array([2**62, 2**62 - 1, 0]))
    assert assert_right(graph, 0, session, strategy, **options).distances[-1] == INT64.max
    longer = Graph.from_edges([0, 1, 0, 1], [1, 2, 2, 1], [2**62, INT64.max, 5, INT64.max], directed=True)
    assert assert_right(longer, 0, session, strategy, **options).distances.tolist() == [0, 2**62, 5]
    for weights in ([2**62, 2**62], [1, INT64.max], [INT64.max, 1], [INT64.max] * 5):
        graph = chain(np.array([*weights, 3]), directed=True)
        with pytest.raises(DistanceOverflowError) as caught:
            sssp(graph, 0, strategy=strategy, session=session, **options)
        assert isinstance(caught.value, OverflowError) and isinstance(caught.value, ClgraphError)
        for limit in (2**63, 10**400):  # Both are beyond the greatest distance, so they limit nothing.
            with pytest.raises(DistanceOverflowError):
                sssp(graph, 0, strategy=strategy, limit=limit, session=session, **options)
        assert_right(graph, 0, session, strategy, limit=INT64.max, **options)
        assert_right(graph, len(weights), session, strategy, **options)


@every_strategy
@pytest.mark.long
def test_circles_of_weight_0_have_predecessors(session: Session, strategy: str) -> None:
    """Predecessors on circles of weight 0 lead to a source all the same."""
    ring = np.arange(50)
    circle = Graph.from_edges(ring, (ring + 1) % 50, np.zeros(50, np.int32), n=51)
    assert assert_right(circle, 17, session, strategy).distances.sum() == -1
    assert_right(circle.permuted(1), [3, 30], session, strategy)
    tail = Graph.from_edges([*ring, 50], [*((ring + 1) % 50), 20], np.append(np.zeros(50, int), 7), directed=True)
    assert assert_right(tail, 50, session, strategy).distances.tolist() == [7] * 50 + [0]
    for dtype in (np.int32, np.float32, np.float64):
        mixed = random_weights(cg.generators.rmat(8, 8), high=2, low=0, dtype=np.int32)
        weights = mixed.edge_weights.astype(dtype)
        assert_right(Graph(mixed.row_offsets, mixed.column_indices, weights), 1, session, strategy)


def test_long_ways_of_weight_0_have_predecessors(session: Session) -> None:
    """Kernels follow lists that are short and long, in turn."""
    for weights in (np.zeros(99_999, np.int32), np.append(np.float32(1e9), np.ones(99_998, np.float32))):
        dtype = "float32" if weights.dtype == np.float32 else None  # in float64, 1e9 + 1 is more than 1e9
        result = sssp(chain(weights), 0, strategy="frontier", predecessors=True, dtype=dtype, session=session)
        assert np.array_equal(result.predecessors, np.append(NO_PREDECESSOR, np.arange(99_999)))
    broad = cg.generators.tree(40_000, arity=60)
    ends = (*broad.edge_list()[:2], np.arange(39_000, 42_999), np.arange(39_001, 43_000))
    graph = Graph.from_edges(np.append(*ends[::2]), np.append(*ends[1::2]), np.zeros(43_998, np.int32))
    assert_right(graph.permuted(1), 7, session, "frontier")


def test_leaves_do_not_wait(pocl: Session) -> None:
    """A leaf has its distance once its neighbour has, so the search of a star does not go through their buckets."""
    star = Graph.from_edges(np.zeros(5000, int), np.arange(1, 5001), 2 ** (np.arange(5000) % 30))
    for graph, drops in ((star, 1), (random_weights(cg.generators.grid(9, 9)), 0)):
        for strategy in ("frontier", "delta_stepping", "dijkstra"):
            recipe = STRATEGIES[strategy].recipe(as_problem(graph, source=1), pocl.facts)
            assert recipe.setting().defines["SKIP_LEAVES" if strategy == "dijkstra" else "DROP_LEAVES"] == drops
            assert_right(graph, 1, pocl, strategy)


@every_strategy
def test_a_search_stops_at_the_limit(session: Session, strategy: str) -> None:
    graph = random_weights(cg.generators.grid(40, 50), low=0, high=5)
    farthest = int(dijkstra(graph, [0]).max())
    several = (0, 1, 2.5, np.int64(20), np.float32(3), np.float16(3), 10**12, math.inf)
    for limit in (*several, farthest - 1, farthest, farthest + 0.5):
        assert_right(graph, 0, session, strategy, limit=limit)
    for dtype in (np.float32, np.float64):
        narrow = random_weights(cg.generators.grid(20, 30), low=0, high=5, dtype=dtype)
        for limit in (0, -0.0, 7.5, np.float32(3), float(np.sort(dijkstra(narrow, [0]))[99]), 1e300, math.inf):
            assert_right(narrow, 0, session, strategy, limit=limit)


@pytest.mark.parametrize("strategy", ["frontier", "delta_stepping"])
def test_any_width_of_buckets_gives_the_same_paths(pocl: Session, strategy: str) -> None:
    for dtype in (np.int32, np.float32, np.float64):
        graph = random_weights(cg.generators.grid(9, 30), low=0, high=5, dtype=dtype)
        for delta in (0, 5e-324, np.float32(2), 1e300, 10**300):
            assert_right(graph, 0, pocl, strategy, delta=delta)


@every_strategy
def test_limits_that_no_double_holds_are_exact(session: Session, strategy: str) -> None:
    graph = chain(np.array([2**53, 1, 2**62 - 2**53 - 1, 2**62 - 1]))
    for distance in dijkstra(graph, [0])[1:].tolist():
        for limit in (distance - 1, distance):
            assert_right(graph, 0, session, strategy, limit=limit)


@pytest.mark.parametrize("weight", [-3, -(2**40), -0.5, -1e-45, -math.inf])
def test_negative_weights_are_named(pocl: Session, weight: float) -> None:
    dtype = np.int64 if isinstance(weight, int) else np.float32
    graph = Graph.from_edges([0, 3, 4], [1, 4, 5], np.array([1, weight, 2], dtype), directed=True)
    for strategy in ("auto", *STRATEGIES):
        with pytest.raises(InputError, match=rf"\(3, 4\).*{graph.edge_weights[1]}"):
            sssp(graph, 0, strategy=strategy, session=pocl)
    with pytest.raises(InputError, match=r"\(3, 4\)|\(4, 3\)"):
        sssp(Graph.from_edges([0, 3, 4], [1, 4, 5], np.array([1, weight, 2], dtype)), 0, session=pocl)
    weights = np.append(np.array([1, weight], dtype), np.ones(20000, dtype))  # among which kernels look for it
    path = Graph.from_edges([0, 3, *range(4, 20004)], [1, 4, *range(5, 20005)], weights, directed=True)
    for strategy in ("auto", "dijkstra", "host"):
        with pytest.raises(InputError, match=r"\(3, 4\)"):
            sssp(path, 0, strategy=strategy, session=pocl)


def test_paths_in_a_matrix_are_those_of_scipy(pocl: Session) -> None:
    matrix = sp.random_array((500, 500), density=0.01, rng=np.random.default_rng(1), format="csr")
    result = sssp(matrix, [3, 40], predecessors=True, session=pocl)
    expected = scipy_dijkstra(matrix, indices=[3, 40], min_only=True)
    assert result.graph.directed and np.array_equal(result.distances, expected)
    reached = result.predecessors >= 0
    steps = matrix[result.predecessors[reached], np.flatnonzero(reached)]
    assert np.array_equal(result.distances[result.predecessors[reached]] + steps, result.distances[reached])


def test_nodes_and_weights_of_networkx_are_kept(pocl: Session) -> None:
    graph = nx.Graph()
    graph.add_nodes_from("zyx")
    graph.add_weighted_edges_from([("d", "a", 2), ("a", "b", 1), ("b", "d", 7), ("x", "y", 4)])
    graph["a"]["b"]["cost"] = 5  # the others cost 1
    result = sssp(graph, "d", predecessors=True, session=pocl)
    assert list(graph) == [*"zyxdab"] and result.distances.tolist() == [-1, -1, -1, 0, 2, 3]
    assert result.path_to("b") == ["d", "a", "b"] and result.path_to("d") == ["d"]
    assert sssp(graph, ["x", "b"], predecessors=True, session=pocl).path_to("y") == ["x", "y"]
    assert sssp(graph, "d", weight=None, session=pocl).distances.tolist() == [-1, -1, -1, 0, 1, 1]
    assert sssp(graph, "a", weight="cost", session=pocl).distances.tolist() == [-1, -1, -1, 1, 0, 2]


@pytest.mark.parametrize("width", [8, 64])
def test_paths_are_shortest_at_every_sub_group_width(width: int) -> None:
    on_devices = [name for name, strategy in STRATEGIES.items() if strategy.kind != "sequential"]
    names, kinds = (on_devices, "np.int32, np.float32") if width < 64 else (["delta_stepping"], "np.int32,")
    more = ", cg.generators.path(700), cg.generators.star(5000)" if width < 64 else ""  # more programs
    script = (
        "import clgraph as cg, numpy as np; from clgraph.generators import random_weights;"
        "[cg.sssp(random_weights(g, dtype=t), 3, strategy=k, session=s, verify=True, predecessors=True)"
        f" for k in {names} for g in (cg.generators.rmat(11, 16), cg.generators.delaunay_points(900){more})"
        f" for t in ({kinds})]"
    )
    run_at_width(width, script)
