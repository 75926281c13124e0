"""Graphs on a device: made of host graphs and of arrays that kernels wrote, checked there, and taken by algorithms."""

import gc
import pickle
import weakref
from functools import partial

import numpy as np
import pytest
from conftest import session_on
from graphs import GRAPHS, hubs_and_leaves, same

import clgraph as cg
from clgraph import DeviceGraph, Graph, generators
from clgraph.algorithms.table import MODULES, find_algorithm, find_function
from clgraph.data.graphs.stats import GraphStats
from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.errors import GraphError, InputError
from clgraph.primitives.scan import Scan
from clgraph.runtime.graphs.admission import admit
from clgraph.runtime.graphs.device_graph import GraphOnDevice, device_graph
from clgraph.runtime.graphs.weight_range import weight_range
from clgraph.runtime.session import Session, as_session


def uploaded(session: Session, graph: Graph, *, room: int = 0, offsets: type = np.int32) -> DeviceGraph:
    """Return *graph* as kernels might have made it: in arrays with *room* for more."""
    arrays = [np.append(graph.row_offsets, np.full(room, 7)).astype(offsets)]
    arrays.append(np.append(graph.column_indices, np.full(room, -5)).astype(np.int32))
    if graph.edge_weights is not None:
        arrays.append(np.append(graph.edge_weights, np.zeros(room)).astype(graph.edge_weights.dtype))
    return DeviceGraph.from_arrays(
        session, *map(session.upload, arrays), directed=graph.directed, n_vertices=graph.n_vertices
    )


def weighted(dtype: type, directed: bool = False) -> Graph:
    src, dst = np.random.default_rng(0).integers(200, size=(2, 900))
    weights = np.random.default_rng(1).integers(1, 50, 900).astype(dtype)
    return Graph.from_edges(src, dst, weights, directed=directed)


# ---- made and checked


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("offsets", [np.int32, np.int64])
def test_arrays_of_kernels_become_a_graph(session, name, offsets):
    graph = GRAPHS[name]()
    made = uploaded(session, graph, room=3000, offsets=offsets)
    assert (made.n_vertices, made.n_edges) == (graph.n_vertices, graph.n_edges)
    assert made.has_sorted_rows == graph.has_sorted_rows
    assert same(made.to_graph(), graph) and made.to_graph() is made.to_graph()


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_weights_of_every_type_are_kept(session, dtype):
    graph = weighted(dtype)
    made = uploaded(session, graph)
    assert made.edge_weights.dtype == dtype and same(made.to_graph(), graph)
    assert made.nbytes == graph.nbytes
    vertices = session.upload(np.arange(200, dtype=dtype))
    born = DeviceGraph.from_arrays(session, made.row_offsets, made.column_indices, None, vertices, directed=True)
    assert born.vertex_weights.get().tolist() == list(range(200)) and born.edge_weights is None


def test_counts_may_be_on_the_device(session):
    """Row offsets are a scan of degrees, as a kernel makes them; how many rows there are is known to the device."""
    degrees, columns = session.upload(np.array([2, 1, 1, 9, 9], np.int32)), session.zeros(64, np.int32)
    columns.set([1, 2, 0, 0])
    offsets, n = session.empty(6, np.int32), session.upload(np.array([3], np.uint32))
    Scan(session, degrees, offsets).run()
    made = DeviceGraph.from_arrays(session, offsets, columns, directed=False, n_vertices=n)
    assert (made.n_vertices, made.n_edges, made.has_sorted_rows) == (3, 4, True)
    assert cg.connected_components(made).n_components == 1


OFFSETS, COLUMNS = np.arange(5001), np.arange(5000)


def spoiled(array, at, value):
    array = array.astype(np.int32)
    array[at] = value
    return array


@pytest.mark.parametrize(
    ("offsets", "columns", "message"),
    [
        (spoiled(OFFSETS, 4999, 3), COLUMNS, r"row_offsets\[4999\] = 3 is below row_offsets\[4998\] = 4998"),
        (spoiled(OFFSETS, 1024, 9), COLUMNS, r"row_offsets\[1024\] = 9 is below row_offsets\[1023\] = 1023"),
        (spoiled(OFFSETS, 1023, 9), COLUMNS, r"row_offsets\[1023\] = 9 is below row_offsets\[1022\] = 1022"),
        (spoiled(OFFSETS, 0, -2), COLUMNS, "row_offsets starts at -2"),
        (spoiled(OFFSETS, 17, -2**31), COLUMNS, r"row_offsets\[17\] = -2147483648 is below"),
        (spoiled(OFFSETS, 17, 2**31 - 1), COLUMNS, r"row_offsets\[18\] = 18 is below row_offsets\[17\] = 2147483647"),
        (spoiled(OFFSETS, 5000, 5001), COLUMNS, "ends at 5001; the other arrays have room for 5000"),
        (spoiled(OFFSETS, 5000, 2**31 - 1), COLUMNS, "ends at 2147483647; the other arrays have room for 5000"),
        (OFFSETS, spoiled(COLUMNS, 4999, 5000), r"column_indices\[4999\] = 5000 is not a vertex; allowed: 0 to 4999"),
        (OFFSETS, spoiled(COLUMNS, [2048, 2047], [-1, 2**30]), r"column_indices\[2047\] = 1073741824 is not a vertex"),
        (OFFSETS[:0], COLUMNS, "row_offsets has 0 elements"),
        (np.zeros(1), COLUMNS, None),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(session, offsets, columns, message):
    arrays = [session.upload(array.astype(np.int32)) for array in (offsets, columns)]
    if message is None:
        assert DeviceGraph.from_arrays(session, *arrays, directed=True).n_edges == 0
        return
    with pytest.raises(GraphError, match=message):
        DeviceGraph.from_arrays(session, *arrays, directed=True)


def test_wrong_types_and_sizes_are_refused(session):
    offsets, columns = session.upload(OFFSETS.astype(np.int32)), session.upload(COLUMNS.astype(np.int32))
    words, short = session.zeros(5000, np.uint32), session.zeros(4999, np.float32)
    for arguments, message in [
        ((columns, words), "column_indices of uint32"), ((words, columns), "row_offsets is of uint32"),
        ((offsets, columns, words), "edge_weights is of uint32"),
        ((offsets, columns, None, words), "vertex_weights is of uint32"),
        ((offsets, columns, short), "room for 4999"), ((offsets, columns, None, short), "vertex_weights has 4999"),
    ]:  # fmt: skip
        with pytest.raises(GraphError, match=message):
            DeviceGraph.from_arrays(session, *arguments, directed=True)
    for arguments, message in [
        ((OFFSETS, columns), "row_offsets = array"),
        ((offsets, None), "column_indices = None; allowed: a DeviceArray"),
        ((offsets, columns, [1.0]), r"edge_weights = \[1.0\]"),
    ]:
        with pytest.raises(InputError, match=message):
            DeviceGraph.from_arrays(session, *arguments, directed=True)
    with pytest.raises(InputError, match="n_vertices = 5001"):
        DeviceGraph.from_arrays(session, offsets, columns, directed=True, n_vertices=5001)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_that_are_no_numbers_are_named(session, dtype):
    offsets, columns = session.upload(OFFSETS.astype(np.int32)), session.upload(COLUMNS.astype(np.int32))
    weights = np.ones(5000, dtype)
    weights[:4] = np.inf, -np.inf, -0.0, np.finfo(dtype).max
    DeviceGraph.from_arrays(session, offsets, columns, session.upload(weights), directed=True)
    weights[[4000, 3333]] = -np.nan, np.nan
    with pytest.raises(GraphError, match="weight 3333 is NaN"):
        DeviceGraph.from_arrays(session, offsets, columns, session.upload(weights), directed=True)


def test_rows_that_are_not_sorted_are_found(session):
    rng = np.random.default_rng(5)
    for seed in range(20):
        graph = generators.uniform_random(300, 900, seed=seed)
        columns = graph.column_indices.copy()
        if seed % 2:
            row = rng.choice(np.flatnonzero(graph.degrees > 1))
            at = int(graph.row_offsets[row])
            columns[[at, at + 1]] = columns[[at + 1, at]]
        expected = Graph(graph.row_offsets, columns, directed=True)
        assert uploaded(session, expected).has_sorted_rows == expected.has_sorted_rows


# ---- what a host graph becomes


def test_a_host_graph_and_back(session):
    graph = Graph.from_edges(["a", "b", "c"], ["b", "c", "a"], [1.5, 2.5, 3.5], ids="auto")
    made = DeviceGraph.from_graph(graph, session)
    assert made.to_graph() is graph and DeviceGraph.from_graph(graph, session) is made
    assert made.edge_weights.get().tolist() == graph.edge_weights.tolist() and made.stats is graph.stats
    assert repr(made) == "DeviceGraph(n_vertices=3, n_edges=6, undirected, float64 weights)"
    copy = pickle.loads(pickle.dumps(made.as_graph()))
    assert type(copy) is Graph and same(copy, graph)
    rows, columns, weights = graph.row_offsets.copy(), graph.column_indices.copy(), graph.edge_weights.copy()
    del graph, copy
    gc.collect()
    back = made.to_graph()
    assert same(back, Graph(rows, columns, weights)) and back.ids.tolist() == ["a", "b", "c"]


def test_anything_that_is_a_graph_becomes_one_on_a_device(session):
    graph = generators.grid(10, 10)
    made = DeviceGraph.from_graph(graph.to_scipy(), session)
    assert same(made.to_graph(), graph)
    assert DeviceGraph.from_graph(made) is made and DeviceGraph.from_graph(made.as_graph()) is made
    with pytest.raises(InputError, match=r"is not a graph; clgraph\.read"):
        DeviceGraph.from_graph("grid", session)


@pytest.mark.parametrize("offsets", [np.int32, np.int64])
def test_arrays_are_read_back_only_when_they_are_used(session, offsets):
    made = uploaded(session, generators.grid(30, 30), offsets=offsets)
    problem = made.as_graph()
    assert (problem.n_vertices, problem.n_edges, problem.weight_dtype) == (900, made.n_edges, None)
    assert problem.has_sorted_rows and not problem.directed and problem.nbytes == made.nbytes
    cg.connected_components(made)
    cg.minimum_spanning_forest(made)
    assert not {"row_offsets", "column_indices"} & problem.__dict__.keys()
    assert problem.degrees.sum() == made.n_edges and "column_indices" not in problem.__dict__
    assert problem.row_offsets.dtype == np.int32 and made.as_graph().row_offsets is problem.row_offsets
    with pytest.raises(ValueError, match="read-only"):
        problem.row_offsets[0] = 1


@pytest.mark.parametrize("algorithm", ["connected_components", "minimum_spanning_forest", "bfs", "sssp", "color"])
def test_no_array_of_a_large_graph_is_looked_at_on_the_host(session, algorithm):
    """The first time nor later: kernels make what the user gets and what plans need, but for a few samples."""
    graph = generators.random_weights(generators.road_like(20000), dtype=np.float64)
    made, expected = uploaded(session, graph), graph.weight_range
    options = {"bfs": {"source": 0}, "sssp": {"source": 0, "strategy": "frontier", "delta": 1.0}}.get(algorithm, {})
    for _ in range(2):
        getattr(cg, algorithm)(made, **options)
        known = vars(made.as_graph())
        assert not {"row_offsets", "column_indices", "edge_weights", "degrees"} & known.keys()
    if algorithm == "sssp":
        assert known["weight_range"] == expected


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_kernels_find_the_range_of_many_weights(session, dtype):
    rng, pairs = np.random.default_rng(3), np.arange(20000)
    for drawn in (rng.normal(size=20000), rng.random(20000), -1 - rng.random(20000), np.zeros(20000)):
        weights = (1e6 * drawn).astype(dtype)
        graph = cg.Graph.from_edges(pairs, pairs + 1, weights, directed=True)
        assert weight_range(session, graph) == (weights.min(), weights.max())
        assert {type(each) for each in graph.weight_range} == {dtype} and "weight_range" in vars(graph)


def test_kernels_look_for_the_range_of_a_large_graph_alone(session):
    """Kernels skip a known range, one that a check has found, and graphs of few or no weights."""
    pairs, weights = np.arange(20000), np.random.default_rng(4).integers(-9, 99, 20000)
    large = Graph.from_edges(pairs, pairs + 1, weights, directed=True)
    wrapped = wrap_graph(large.to_scipy(), weighted=True)
    admit(session, wrapped)
    few, none = (Graph.from_edges(pairs[:m], pairs[:m] + 1, weights[:m], n=n) for m, n in ((9, 10), (0, 30000)))
    for graph, expected, on_device in (
        (large, (-9, 98), True), (large, (-9, 98), False), (wrapped, (-9, 98), False),
        (generators.path(20000), (1, 1), False), (few, (weights[:9].min(), weights[:9].max()), False),
        (none, (1, 1), False),
    ):  # fmt: skip
        with session.measure() as recorder:
            assert weight_range(session, graph) == expected
        assert bool(recorder.kernel_events) == on_device


@pytest.mark.usefixtures("no_collection")
def test_memory_is_free_once_the_last_reference_is_gone(session):
    made = uploaded(session, weighted(np.int32, directed=True))
    for find in (cg.connected_components, cg.minimum_spanning_forest, partial(cg.bfs, source=0)):
        find(made)
    cg.bfs(made, 0, strategy="direction_optimizing")
    gone = weakref.ref(made)
    del made
    assert gone() is None


# ---- statistics

SAMPLED = {
    "mean_log2_neighbor_distance": 0.15,
    "far_neighbor_share": 0.02,
    "first_hook_tree_share": 0.02,
    "first_hook_giant_share": 0.1,
}


def differences(found: GraphStats, expected: GraphStats) -> dict[str, tuple[object, object]]:
    """Return what differs by more than sampling does."""
    return {
        name: (value, getattr(expected, name))
        for name, value in vars(found).items()
        if value != pytest.approx(getattr(expected, name), rel=1e-9, abs=SAMPLED.get(name, 1e-9))
    }


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("offsets", [np.int32, np.int64])
def test_statistics_of_small_graphs_are_those_of_the_host(session, name, offsets):
    graph = GRAPHS[name]()
    found = uploaded(session, graph, offsets=offsets).stats
    few = graph.n_vertices <= 256 and not graph.stats.n_isolated  # both climb from all of them
    ignored = set() if few else {"first_hook_depth"}
    if graph.stats.first_hook_tree_share < 0.01:
        ignored.add("first_hook_giant_share")  # 1 if no root is in a sample of vertices
    assert not differences(found, graph.stats).keys() - ignored - {"reached_share"}
    assert found.reached_share == pytest.approx(graph.stats.reached_share, abs=0.01)  # Kernels sample the rows of hubs.
    assert found.mean_log2_neighbor_distance == pytest.approx(graph.stats.mean_log2_neighbor_distance, abs=1e-4)


LARGE = {
    "grid": lambda: generators.grid(400, 400),
    "grid-permuted": lambda: generators.grid(400, 400).permuted(0),
    "rmat": lambda: generators.rmat(16, 8, seed=1),
    "uniform": lambda: generators.uniform_random(100_000, 400_000, seed=2),
    "road": lambda: generators.road_like(200, seed=3),
    "star": lambda: generators.star(200_001),
    "path": lambda: generators.path(30_000),
    "hubs-and-leaves": lambda: hubs_and_leaves(200, 1 << 15),
}


@pytest.mark.parametrize("name", LARGE)
def test_statistics_of_large_graphs_are_near_those_of_the_host(session, name):
    graph = LARGE[name]()
    found, expected = uploaded(session, graph).stats, graph.stats
    ignored = {"first_hook_depth"}
    if expected.first_hook_tree_share < 0.01:
        ignored.add("first_hook_giant_share")
    assert not differences(found, expected).keys() - ignored
    assert found.first_hook_depth == pytest.approx(expected.first_hook_depth, rel=0.15, abs=0.5)


def test_the_device_tells_trees_of_few_hubs_apart(session):
    n = 1 << 19
    graph = Graph.from_edges(np.arange(16, n), np.random.default_rng(0).integers(0, 16, n - 16), n=n)
    found = uploaded(session, graph).stats
    assert found.first_hook_tree_share < 1e-3 and found.first_hook_giant_share < 0.2


def test_statistics_bring_nothing_else_to_the_host(session):
    made = uploaded(session, generators.grid(100, 100))
    with session.measure() as recorder:
        assert made.stats is made.as_graph().stats
    assert len(recorder.transfer_events) == 1 and "_on_host" not in vars(made)
    assert {"measure_rows", "measure_reach"} <= recorder.kernels().keys()


# ---- algorithms take them


OF_WEIGHTS = [(dtype, directed) for dtype in (np.int32, np.int64, np.float32, np.float64) for directed in (False, True)]


@pytest.mark.parametrize("given", [*GRAPHS, *OF_WEIGHTS], ids=str)
def test_answers_for_a_device_graph_are_those_for_its_graph(session, given):
    graph = GRAPHS[given]() if isinstance(given, str) else weighted(*given)
    made = uploaded(session, graph)
    n_components, labels = cg.connected_components(made, verify=True)
    expected = cg.connected_components(graph, session=session)
    assert n_components == expected.n_components and np.array_equal(labels, expected.labels)
    forest, other = cg.minimum_spanning_forest(made, verify=True), cg.minimum_spanning_forest(graph, session=session)
    assert forest.info.device == session.facts.name and forest.weight == other.weight
    assert not isinstance(given, str) or np.array_equal(forest.edges, other.edges)
    for search in (cg.bfs, cg.sssp) if graph.n_vertices else ():
        found = search(made, 0, verify=True).distances
        assert np.array_equal(found, search(graph, 0, session=session).distances)


@pytest.mark.parametrize("name", sorted(set(MODULES) - {"factorization"}))
def test_more_vertices_than_kernels_take_are_refused(monkeypatch, name):
    monkeypatch.setattr("clgraph.data.graphs.graph_arrays.MAX_KERNEL_VERTICES", 9)
    find_algorithm(name).problem(generators.path(9))
    fewer = dict.fromkeys(("color", "maximal_independent_set", "minimum_spanning_forest"), 2**32 - 2**12)
    fewer |= {"communities": 2**30, "partition": 2**31 - 1}
    entries = f" and {fewer[name]} entries" if name in fewer else ""
    with pytest.raises(InputError, match=f"10 vertices and 18 entries; .* at most 9 vertices{entries}$"):
        find_algorithm(name).problem(generators.path(10))


# test_graph_algorithms.py runs every strategy of these on int64 offsets.
WIDE_ELSEWHERE = {"bfs", "color", "connected_components", "minimum_spanning_forest", "sssp"}


@pytest.mark.long
def test_wide_offsets_of_few_entries_are_read(session):
    """A kernel may have written int64 offsets where a host graph has int32."""
    made = uploaded(session, generators.rmat(8, 8, seed=1), offsets=np.int64)
    for name in sorted(set(MODULES) - {"factorization"}):
        settings = {"bfs": {"source": 0}, "sssp": {"source": 0}, "partition": {"n_parts": 4}}.get(name, {})
        problem = find_algorithm(name).problem(made, **settings)
        fit = [
            strategy for strategy, entry in find_algorithm(name).strategies.items()
            if entry.unsupported(session.facts) is None and entry.unfit(problem) is None
        ]  # fmt: skip
        for strategy in fit[:1] if name in WIDE_ELSEWHERE else fit:
            find_function(name)(made, **settings, strategy=strategy, verify=True)
    for strategy in find_algorithm("hash_collisions").strategies:
        cg.hash_collisions(made, distance=2, strategy=strategy, distinct="sort", tile=600, verify=True)


def test_a_device_graph_is_coloured(session):
    graph = generators.grid(30, 30)
    made = uploaded(session, graph)
    for strategy in ("jones_plassmann", "speculative"):
        cg.color(made, strategy=strategy, verify=True)
    assert cg.color(made, distance=2, verify=True).n_colors >= 5
    assert cg.color_columns(made, verify=True).n_colors >= 4


def test_unsorted_rows_are_sorted_where_the_graph_lives(session):
    """At distance 2 only the pattern counts: the parallel edges have no sum."""
    weights = np.full(8, 2**62)
    weights[[3, 7]] = 1
    graph = Graph([0, 3, 7, 8], [1, 1, 1, 2, 0, 0, 0, 1], weights)
    made, entry = uploaded(Session(session.device), graph), find_algorithm("hash_collisions")
    assert as_session(None, entry.problem(made, distance=2).graph) is made.session
    for each in (made, graph):
        where = made.session
        cg.hash_collisions(each, distance=2, session=where, verify=True)
        assert cg.color(each, distance=2, session=where, verify=True).n_colors == 3
        assert cg.count_conflicts(each, [0, 1, 0], distance=2, session=where) == 1


def test_conflicts_are_counted_where_the_graph_lives(session):
    graph = generators.grid(9, 9)
    made, colors = uploaded(Session(session.device), graph), np.arange(81) % 4
    for settings in ({}, {"distance": 2}, {"distance": 2, "bipartite": True}):
        assert cg.count_conflicts(made, colors, **settings) == cg.count_conflicts(
            graph, colors, session=session, **settings
        )


def test_a_device_graph_runs_where_it_lives(session):
    made = uploaded(session, generators.grid(10, 10))
    other = Session(session.device)
    assert cg.connected_components(made).info.device == session.facts.name
    explained, on_host = (cg.explain("connected_components", each, session=session) for each in (made, made.to_graph()))
    assert explained.unsupported["host"] == "the graph is on the device" and "host" in on_host.predicted
    assert explained.predicted.keys() == on_host.predicted.keys() - {"host"}
    for name, estimate in explained.predicted.items():  # the same to rounding: samples are summed in another order
        assert estimate.seconds == pytest.approx(on_host.predicted[name].seconds, rel=1e-6)
    with pytest.raises(InputError, match=r"the graph is on Session\(.*to_graph\(\)"):
        cg.connected_components(made, session=other)
    assert cg.connected_components(made.to_graph(), session=other).n_components == 1
    with pytest.raises(InputError, match="row_offsets is on"):
        DeviceGraph.from_arrays(other, made.row_offsets, made.column_indices, directed=False)
    assert isinstance(made.as_graph(), GraphOnDevice) and device_graph(session, made.as_graph()) is made


def test_arrays_of_pyopencl_are_used_where_they_are() -> None:
    import pyopencl as cl
    import pyopencl.array

    context = cl.Context([session_on("pocl").queue.device])
    queue = cl.CommandQueue(context)
    session = Session(queue)
    host = cg.generators.random_weights(cg.generators.grid(40, 40), high=9)
    offsets, columns, weights = (
        cl.array.to_device(queue, np.append(np.zeros(32, array.dtype), array))[32:]  # each begins inside its buffer
        for array in (host.row_offsets, host.column_indices, host.edge_weights)
    )
    graph = DeviceGraph.from_arrays(session, offsets, columns, weights, directed=False)
    assert cg.sssp(graph, 0).distances.tolist() == cg.sssp(host, 0, session="pocl").distances.tolist()
    weights.fill(1)
    queue.finish()
    assert graph.edge_weights.get().tolist() == [1] * host.n_edges  # no copy
    del graph
    gc.collect()
    assert columns.get().tolist() == host.column_indices.tolist()
    with pytest.raises(InputError, match=r"row_offsets is in another OpenCL context; .*Session\(queue\)"):
        DeviceGraph.from_arrays(session_on("pocl"), offsets, columns, directed=False)
    with pytest.raises(InputError, match=r"column_indices has shape \(2, 3\)"):
        DeviceGraph.from_arrays(session, offsets, cl.array.zeros(queue, (2, 3), np.int32), directed=False)
