"""Every strategy of minimum spanning forests on every zoo graph and device, against the definition and Kruskal."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import run_at_width
from graphs import GRAPHS, among, chain
from scipy.sparse.csgraph import minimum_spanning_tree

import clgraph as cg
from clgraph.algorithms.minimum_spanning_forest import (
    STRATEGIES,
    SpanningForest,
    as_problem,
    minimum_spanning_forest,
    strategies,
)
from clgraph.algorithms.minimum_spanning_forest.plan import total_weight
from clgraph.data.graphs.graph import Graph
from clgraph.errors import DeviceTimeoutError
from clgraph.generators import random_weights
from clgraph.reference.minimum_spanning_forest import check_mst, kruskal
from clgraph.runtime.driver.failure import STATUS_TIMEOUT
from clgraph.runtime.session import Session

OPTIONS: dict[str, list[dict[str, object]]] = {
    "segmented": [{}, {"merge": "transactional"}],
    "edge_list": [{"light_edges": 0}, {"light_edges": 0.5}],
    "two_pass": [{"light_edges": 0}, {"light_edges": 0.5}],
    "host": [{}],
}
CASES = [(name, options) for name in STRATEGIES for options in OPTIONS[name]]
INT32, INT64 = np.iinfo(np.int32), np.iinfo(np.int64)
WITH_KERNELS = [case for case in CASES if STRATEGIES[case[0]].kind != "sequential"]
every_case = pytest.mark.parametrize(("strategy", "options"), CASES, ids=str)
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def undirected(graph: Graph) -> Graph:
    """The graph whose forest is asked for: sorted rows, no directions."""
    if not graph.directed and graph.has_sorted_rows:
        return graph
    return Graph.from_edges(*graph.edge_list(), n=graph.n_vertices)


def assert_right(
    graph: Graph, session: Session, strategy: str, *, maximum: bool = False, **options: Any
) -> SpanningForest:
    forest = minimum_spanning_forest(graph, strategy=strategy, maximum=maximum, session=session, **options)
    weight, edges = forest
    check_mst(forest.graph, edges, maximum=maximum, n_cuts=2)
    assert np.array_equal(forest.sources, forest.graph.sources()[edges])
    assert np.array_equal(forest.targets, forest.graph.column_indices[edges])
    expected = undirected(graph)
    if expected is graph:
        assert forest.graph is graph
    least = edges if forest.graph is expected else kruskal(expected, maximum=maximum)
    if expected.edge_weights is None:
        assert forest.weights is None and type(weight) is int and weight == least.size
    else:
        assert forest.weights is not None and forest.weights.dtype == expected.edge_weights.dtype
        assert np.array_equal(np.sort(forest.weights), np.sort(expected.edge_weights[least]))
        if expected.edge_weights.dtype.kind == "i":
            assert type(weight) is int and weight == sum(forest.weights.tolist())
        else:
            total = forest.weights.sum(dtype=np.float64)
            assert type(weight) is float and np.isclose(weight, total, rtol=1e-14, atol=1e-12, equal_nan=True)
        assert weight == total_weight(forest.weights) or np.isnan(weight)
    plan = STRATEGIES[strategy].plan(session, as_problem(forest.graph, maximum=maximum), **options)
    for _ in range(2):  # a plan may run again
        plan.run()
        assert np.array_equal(plan.result().edges, edges)
    return forest


@every_case
@pytest.mark.parametrize("name", GRAPHS)
def test_forests_of_every_small_graph_are_minimal(
    session: Session, name: str, strategy: str, options: dict[str, object]
) -> None:
    graph = GRAPHS[name]()
    assert_right(random_weights(graph, low=0, high=3), session, strategy, **options)
    assert_right(random_weights(graph, low=-1, dtype=np.float32), session, strategy, maximum=True, **options)


@every_strategy
@pytest.mark.parametrize("name", GRAPHS)
def test_forests_of_unweighted_graphs_span(pocl: Session, name: str, strategy: str) -> None:
    graph = GRAPHS[name]()
    assert_right(graph, pocl, strategy)


SHAPES: dict[str, Callable[[], Graph]] = {
    "scale-free": lambda: random_weights(cg.generators.rmat(13, 16)),
    "delaunay": lambda: random_weights(cg.generators.delaunay_points(5000), dtype=np.float32),
    "grid": lambda: random_weights(cg.generators.grid(70, 300), high=9),
    "road-like": lambda: random_weights(cg.generators.road_like(20000)),
    "star": lambda: random_weights(cg.generators.star(20000).permuted(3), high=3),
    "increasing-path": lambda: chain(np.arange(9999)),
    "increasing-path-permuted": lambda: chain(np.arange(9999)).permuted(1),
    "decreasing-path": lambda: chain(-np.arange(9999)),
    "alternating-path": lambda: chain(np.arange(9999) % 2).permuted(2),
    "equal-path": lambda: chain(np.ones(9999, np.float32)).permuted(4),
    "dense": lambda: random_weights(cg.generators.uniform_random(700, 60000), high=2**20),
    "dense-ties": lambda: random_weights(cg.generators.uniform_random(700, 60000), high=4),
    "expanded": lambda: random_weights(cg.generators.rmat(10, 8), high=50).expanded(5).permuted(1),
    "many-trees": lambda: random_weights(cg.generators.uniform_random(20000, 9000), dtype=np.float64),
}


@every_case
@pytest.mark.parametrize("name", SHAPES)
def test_forests_of_shapes_that_use_every_branch_are_minimal(
    session: Session, name: str, strategy: str, options: dict[str, object]
) -> None:
    """Long rows, long chains of hooks, few rounds and many, edges enough to filter, no giant tree."""
    assert_right(SHAPES[name](), session, strategy, **options)


def spread(low: int, high: int) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda rng, m: rng.integers(low, high, m, endpoint=True)


WEIGHTS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "int32": lambda rng, m: rng.integers(INT32.min, INT32.max, m, np.int32, endpoint=True),
    "int32-limits": among(INT32.min, INT32.max, -1, 0, 1, dtype=np.int32),
    "int64": spread(INT64.min, INT64.max),
    "int64-limits": among(INT64.min, INT64.max, INT64.max - 1, -1, 0, 1, dtype=np.int64),
    "int64-high-words": lambda rng, m: rng.integers(-3, 3, m) << 40,
    "int64-low-words": lambda rng, m: (5 << 40) + rng.integers(-3, 3, m) * 2**31,
    "int64-32-bits": among(-5, -1, 0, 1, 2**31, 2**32 - 6, dtype=np.int64),
    "int64-33-bits": among(0, 1, 2**31, 2**32, 2**32 + 1, dtype=np.int64),
    "float32": lambda rng, m: rng.normal(size=m).astype(np.float32),
    "float32-limits": among(np.inf, -np.inf, 3.4e38, -3.4e38, 1e-45, -1e-45, 0, dtype=np.float32),
    "float32-zeros": among(0.0, -0.0, dtype=np.float32),
    "float64": lambda rng, m: rng.normal(size=m),
    "float64-close": lambda rng, m: 1 + rng.integers(0, 99, m) * 2.0**-52,
    "float64-limits": among(np.inf, -np.inf, 1e308, -1e308, 5e-324, -5e-324, 0),
    "float64-zeros": among(0.0, -0.0, -5e-324),
    # As keys of 32 bits: doubles that are floats, or are denormal, rounded, too great or too small as floats.
    "float64-floats": among(1.0, -2.0, 0.0, -0.0, np.inf, -np.inf, 3.4e38, 1.5, 2.0**-126, -(2.0**-126), 2.0**127),
    "float64-denormal-floats": among(1e-40, 1.0, 0.0),
    "float64-no-floats": among(0.1, 0.2, 0.15),
    "float64-great": among(2.0**128, 1.0),
    "float64-small": among(2.0**-127, 2.0**-128),
    "int64-all-bits": among(0, 2**32, -(2**63), 2**63 - 1, dtype=np.int64),
    "negative": spread(-9, -5),
    "equal": among(-7.5, dtype=np.float32),
    "infinite": among(np.inf),
}


@every_case
@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered in reduce:RuntimeWarning")
def test_forests_are_minimal_for_any_weights(
    session: Session, name: str, strategy: str, options: dict[str, object]
) -> None:
    """The graph has self-loops, and parallel edges of equal and of different weights."""
    rng = np.random.default_rng(3)
    src, dst = rng.integers(60, size=(2, 900))
    graph = Graph.from_edges(src, dst, WEIGHTS[name](rng, 900), n=70)
    for maximum in (False, True):
        assert_right(graph, session, strategy, maximum=maximum, **options)


@pytest.mark.parametrize("dtype", [None, np.int32, np.int64, np.float32, np.float64])
def test_kernels_make_the_answer(session: Session, monkeypatch: pytest.MonkeyPatch, dtype: Any) -> None:
    """Kernels also find the ends of a matrix's edges. The host gives the same answer."""
    rng = np.random.default_rng(5)
    edges, n = rng.integers(20000, size=(2, 30000)), 23000  # many vertices have no edge
    drawn = rng.standard_normal(30000) * (1e12 if dtype is np.int64 else 1e6)
    weights = None if dtype is None else drawn.astype(dtype)
    graph = Graph.from_edges(*edges, weights, n=n, duplicates="min", self_loops="drop")
    with monkeypatch.context() as patch:
        patch.setattr("clgraph.algorithms.minimum_spanning_forest.total_weight", None)
        patch.setattr(np, "searchsorted", None)
        by_graph, by_matrix = (
            minimum_spanning_forest(given, strategy="edge_list", session=session) for given in (graph, graph.to_scipy())
        )
        ends = by_matrix.sources, by_matrix.targets, by_matrix.weights
    assert np.array_equal(by_graph.edges, kruskal(graph)) and np.array_equal(by_matrix.edges, by_graph.edges)
    for found, expected in zip(ends, (by_graph.sources, by_graph.targets, by_graph.weights), strict=True):
        assert np.array_equal(found, expected) and getattr(found, "dtype", None) == getattr(expected, "dtype", None)
    on_host = minimum_spanning_forest(graph, strategy="host", session=session)
    assert by_graph.weight == by_matrix.weight == on_host.weight and type(by_graph.weight) is type(on_host.weight)


@pytest.mark.parametrize("light_edges", [1e-9, 1, 10, 1e9])
@pytest.mark.parametrize("strategy", ["edge_list", "two_pass"])
def test_any_share_of_light_edges_gives_the_forest(session: Session, strategy: str, light_edges: float) -> None:
    """None of the edges is light, some are, all are."""
    graph = random_weights(cg.generators.uniform_random(300, 4000), high=9)
    for maximum in (False, True):
        assert_right(graph, session, strategy, maximum=maximum, light_edges=light_edges)


def test_edges_come_at_once_where_ties_leave_few_trees(pocl: Session) -> None:
    def light_edges(graph: Graph, *, maximum: bool = False, whole: bool = True) -> float:
        return strategies.default_light_edges(as_problem(graph, maximum=maximum), pocl.facts, whole=whole)

    rows = np.arange(900)
    near = Graph.from_edges(np.tile(rows, 6), np.concatenate([(rows + k) % 900 for k in range(1, 7)]))
    assert near.stats.mean_degree == 12
    assert light_edges(near) == 0 < light_edges(near, whole=False) == light_edges(near, maximum=True)
    assert light_edges(random_weights(near, high=10**6)) > 0
    assert light_edges(cg.generators.uniform_random(900, 6000)) > 0
    assert_right(near, pocl, "edge_list")


def as_on_gpus(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one work-group, which no barrier keeps waiting, make all rounds in one launch."""
    dialect = replace(session.facts.dialect, has_grid_barrier=True)
    monkeypatch.setattr(session.commands, "facts", replace(session.facts, dialect=dialect, compute_units=1))
    monkeypatch.setattr(strategies, "_RESIDENT_GROUPS", 1)


@pytest.mark.parametrize("climb_limit", [8, 1024])
@pytest.mark.parametrize("strategy", ["edge_list", "two_pass"])
@pytest.mark.long
def test_all_rounds_may_be_in_one_launch(
    pocl: Session, monkeypatch: pytest.MonkeyPatch, strategy: str, climb_limit: int
) -> None:
    """Rounds run as on GPUs; some climbs meet their limit."""
    as_on_gpus(pocl, monkeypatch)
    monkeypatch.setattr(strategies, "_CLIMB_LIMIT", climb_limit)
    steps = np.arange(1, 16000)
    levels = np.sum([steps % k == 0 for k in (2, 40, 800)], 0)  # in each round chains of twenty
    for graph in (
        chain(-np.arange(3000)), chain(np.arange(3000)).permuted(1), chain(levels * 10**6 - steps),
        random_weights(cg.generators.rmat(9, 16), high=9), random_weights(cg.generators.road_like(3000), high=9),
        Graph.from_edges([], [], np.zeros(0, np.int32), n=3),
    ):  # fmt: skip
        for light_edges in (0, 0.5):
            assert_right(graph, pocl, strategy, light_edges=light_edges)


@every_case
def test_of_parallel_edges_the_lightest_counts(session: Session, strategy: str, options: dict[str, object]) -> None:
    graph = Graph.from_edges([0, 1, 0, 1, 1, 2, 2], [1, 0, 1, 1, 2, 1, 2], [4, 2, 2, -9, 1, 1, -9], n=4)
    forest = assert_right(graph, session, strategy, **options)
    assert forest.edges.tolist() == [1, 7] and forest.weight == 3
    forest = assert_right(graph, session, strategy, maximum=True, **options)
    assert forest.edges.tolist() == [0, 7] and forest.weight == 5


@every_strategy
def test_graphs_of_at_most_one_edge_have_forests(session: Session, strategy: str) -> None:
    for n in (0, 1, 5):
        for weights in (None, np.zeros(0, np.int32), np.zeros(0, np.float64)):
            forest = assert_right(Graph.from_edges([], [], weights, n=n), session, strategy)
            assert forest.weight == 0 and forest.edges.shape == (0,) and forest.edges.dtype == np.int64
    loop = assert_right(Graph.from_edges([0, 0], [0, 0], [3, -1]), session, strategy)
    assert loop.weight == 0 and not loop.edges.size
    edge = assert_right(Graph.from_edges([1], [0], [-3]), session, strategy)
    assert edge.weight == -3 and edge.edges.tolist() == [0]


@every_strategy
def test_of_opposite_entries_the_lesser_counts(session: Session, strategy: str) -> None:
    """The lesser of two opposite entries counts, or the greater for the maximum."""
    graph = Graph.from_edges([0, 1, 1, 2, 3], [1, 0, 2, 1, 3], [5, 2, 3, 9, 0], directed=True)
    forest = assert_right(graph, session, strategy)
    assert forest.weight == 5 and forest.weights is not None and forest.weights.tolist() == [2, 3]
    assert not forest.graph.directed and forest.graph.n_vertices == 4
    assert assert_right(graph, session, strategy, maximum=True).weight == 14


def test_forests_of_a_matrix_are_those_of_scipy(pocl: Session) -> None:
    full = random_weights(cg.generators.rmat(8, 8), dtype=np.float64).to_scipy()
    for matrix in (sp.triu(full), sp.tril(full), full):
        forest = minimum_spanning_forest(matrix, session=pocl)
        expected = minimum_spanning_tree(sp.triu(full).tocsr())
        tree = forest.to_scipy()
        assert isinstance(tree, sp.csr_array) and tree.shape == full.shape and tree.dtype == np.float64
        assert abs(tree - expected).nnz == 0
        assert forest.weight == forest.weights.sum() == pytest.approx(expected.sum())


def test_zero_weights_stay(pocl: Session) -> None:
    forest = minimum_spanning_forest(Graph.from_edges([2, 1, 0], [1, 0, 2], [0, 0, 0], n=4), session=pocl)
    tree = forest.to_scipy()
    assert forest.weight == 0 and tree.shape == (4, 4) and tree.nnz == 2
    assert tree.tocoo().row.tolist() == [0, 0] and tree.tocoo().col.tolist() == [1, 2]
    assert sorted(forest.to_networkx().edges(data="weight")) == [(0, 1, 0), (0, 2, 0)]


def test_forests_of_networkx_have_its_nodes(pocl: Session) -> None:
    edges = [("d", "a", 2.5), ("a", "b", 1.5), ("b", "d", -1.0), ("x", "y", 4.0)]
    graph = nx.Graph()
    graph.add_nodes_from("zyx")
    graph.add_weighted_edges_from(edges)
    forest = minimum_spanning_forest(graph, session=pocl)
    tree = forest.to_networkx()
    assert type(tree) is nx.Graph and list(tree.nodes) == list(graph.nodes) and forest.weight == 4.5
    expected = nx.minimum_spanning_tree(graph)
    assert nx.utils.edges_equal(tree.edges(data=True), expected.edges(data=True))
    directed = nx.DiGraph()
    directed.add_nodes_from("zyx")
    directed.add_weighted_edges_from([*edges, ("y", "x", 5.0)])
    tree = minimum_spanning_forest(directed, session=pocl).to_networkx()
    assert list(tree.nodes) == list(graph.nodes)
    assert nx.utils.edges_equal(tree.edges(data=True), expected.edges(data=True))
    unweighted = minimum_spanning_forest(graph, weight=None, session=pocl)
    assert unweighted.weight == 3 and all(not data for *_, data in unweighted.to_networkx().edges(data=True))
    graph["a"]["b"]["cost"] = -2  # the others cost 1
    assert minimum_spanning_forest(graph, weight="cost", session=pocl).weight == 0


def test_a_forest_is_shown_as_edges_graph_and_matrix(pocl: Session) -> None:
    graph = Graph.from_edges([3, 2, 1, 0], [2, 1, 0, 3], [4, 7, 7, 7], n=5)
    forest = minimum_spanning_forest(graph, session=pocl)
    weight, edges = forest
    assert weight == forest.weight == 18 and edges is forest.edges and forest.graph is graph
    assert forest.sources.dtype == forest.targets.dtype == np.int32
    assert forest.sources.tolist() == [0, 0, 2] and forest.targets.tolist() == [1, 3, 3]
    assert forest.weights.tolist() == [7, 7, 4]
    assert np.array_equal(graph.sources()[edges], forest.sources)
    assert np.array_equal(graph.column_indices[edges], forest.targets)
    tree = forest.to_graph()
    assert tree.n_vertices == 5 and [array.tolist() for array in tree.edge_list()] == [[0, 0, 2], [1, 3, 3], [7, 7, 4]]
    unweighted = minimum_spanning_forest(Graph.from_edges([3, 2], [2, 1]), session=pocl)
    assert unweighted.weights is None and unweighted.to_scipy().dtype == bool
    assert unweighted.to_scipy().toarray().nonzero()[1].tolist() == [2, 3]


@every_strategy
def test_total_is_exact(session: Session, strategy: str) -> None:
    great = assert_right(chain(2**62 - np.arange(50)), session, strategy).weight
    assert great == 50 * 2**62 - 1225 > INT64.max
    assert assert_right(chain(np.full(9, INT64.min)), session, strategy).weight == 9 * INT64.min
    assert assert_right(chain(np.full(9, INT32.max, np.int32)), session, strategy).weight == 9 * INT32.max
    weights = np.random.default_rng(1).normal(size=999)
    assert assert_right(chain(weights), session, strategy).weight == weights.sum()
    narrow = weights.astype(np.float32)
    assert assert_right(chain(narrow), session, strategy).weight == narrow.sum(dtype=np.float64)


@pytest.mark.parametrize("width", [8, *(pytest.param(width, marks=pytest.mark.slow) for width in (16, 32)), 64])
def test_forests_are_minimal_at_every_sub_group_width(width: int) -> None:
    cases = [case for case in CASES if width < 64 or case[0] != "two_pass"]  # takes long to compile
    steps = (
        {} if width < 64 else {"minimum_spanning_forest/edge_list.cl": {"STEPS": 1, "BATCH": 1}}
    )  # so does what is unrolled
    script = (
        "import clgraph as cg; from dataclasses import replace; from clgraph.generators import random_weights;"
        f"s.profile = replace(s.profile, tuning={{**s.profile.tuning, **{steps}}});"
        "[cg.minimum_spanning_forest(random_weights(g, high=9), strategy=k, session=s, verify=True, **o)"
        f" for k, o in {cases} for g in (cg.generators.rmat(11, 16), cg.generators.star(5000),"
        " cg.generators.path(700), cg.generators.delaunay_points(900))]"
    )
    run_at_width(width, script)


@pytest.mark.parametrize(("strategy", "options"), WITH_KERNELS, ids=str)
def test_rounds_that_do_not_end_are_reported(
    pocl: Session, monkeypatch: pytest.MonkeyPatch, strategy: str, options: dict[str, object]
) -> None:
    plan = STRATEGIES[strategy].plan(pocl, as_problem(chain(np.arange(99) % 7).permuted(1)), **options)
    plan.run()
    assert plan.rounds[-1] > 1
    monkeypatch.setattr(strategies, "_MAX_ROUNDS", 1)
    plan = STRATEGIES[strategy].plan(pocl, as_problem(chain(np.arange(99) % 7).permuted(1)), **options)
    with pytest.raises(DeviceTimeoutError, match="1 rounds of minimum_spanning_forest/"):
        plan.run()


@pytest.mark.parametrize("strategy", ["edge_list", "two_pass"])  # work-groups of the other one do not wait
def test_a_wait_that_ran_out_is_reported(pocl: Session, monkeypatch: pytest.MonkeyPatch, strategy: str) -> None:
    as_on_gpus(pocl, monkeypatch)
    for control in (0, 1):
        plan = STRATEGIES[strategy].plan(pocl, as_problem(chain(np.arange(8))), light_edges=0.5)
        plan.run()
        assert not plan.rounds, "one launch makes all rounds"
        first, words, status = map(
            plan.program("minimum_spanning_forest/edge_list.cl").constant,
            ("STATE_CONTROLS", "STATE_CONTROL_WORDS", "GRID_STATUS"),
        )
        at = first + control * words + status
        plan.arrays["state"].fill(STATUS_TIMEOUT, at, at + 1)
        with pytest.raises(DeviceTimeoutError):
            plan.result()
