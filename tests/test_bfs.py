"""Every strategy of breadth-first search on every zoo graph and device, against the definition."""

import time
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import run_at_width
from graphs import GRAPHS, TELLING, WITH_VERTICES
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import breadth_first_order

import clgraph as cg
from clgraph.algorithms.bfs import ALGORITHM, BFS, STRATEGIES, as_problem, bfs, levels, prices
from clgraph.data.graph import Graph
from clgraph.device.profile import Curve, load_profile
from clgraph.errors import InputError, SourceError
from clgraph.model.cost import estimate
from clgraph.model.strategy import priced
from clgraph.reference.bfs import NO_PREDECESSOR, bfs_distances, check_bfs
from clgraph.runtime.session import Session

OPTIONS: dict[str, list[dict[str, object]]] = {
    "topology_driven": [{"atomic": True, "balance": True}],
    "node_splitting": [{"mda": 3}, {"mda": "histogram", "atomic": True}],
    "child_launch": [{"threshold": 3, "balance": True}, {"threshold": 5, "atomic": True}],
    "direction_optimizing": [{"alpha": 2**20, "beta": 2**20}, {"beta": 1}],
}
CASES = [(name, options) for name in STRATEGIES for options in ({}, *OPTIONS.get(name, []))]
every_case = pytest.mark.parametrize(("strategy", "options"), CASES, ids=str)
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def assert_right(
    graph: Graph, source: Any, session: Session, strategy: str, *, max_depth: int | None = None, **options: Any
) -> BFS:
    result = bfs(graph, source, strategy=strategy, max_depth=max_depth, session=session, **options)
    distances, predecessors = result
    sources = np.atleast_1d(source)
    expected = bfs_distances(graph, sources)
    if max_depth is not None:
        expected[expected > max_depth] = -1
    assert np.array_equal(distances, expected)
    check_bfs(graph, sources, distances, predecessors, max_depth=max_depth)
    assert result.graph is graph and result.sources.dtype == np.int32 and {*result.sources} == {*sources}
    plan = STRATEGIES[strategy].plan(session, as_problem(graph, source=source, max_depth=max_depth), **options)
    for _ in range(2):  # a plan may run again
        plan.run()
        distances, predecessors = plan.result()
        assert np.array_equal(distances, expected)
        check_bfs(graph, sources, distances, predecessors, max_depth=max_depth)
    return result


@pytest.mark.parametrize(
    ("name", "strategy", "options"),
    [(name, *case) for case in CASES for name in (TELLING if case[1] else WITH_VERTICES)], ids=str,
)  # fmt: skip
def test_zoo(session: Session, name: str, strategy: str, options: dict[str, object]) -> None:
    graph = GRAPHS[name]()
    last = graph.n_vertices - 1
    assert_right(graph, 0, session, strategy, **options)
    assert_right(graph, [last, last // 2, last, 0], session, strategy, **options)
    assert_right(graph, last // 3, session, strategy, max_depth=2, **options)


@every_case
def test_shapes_that_use_every_branch(session: Session, strategy: str, options: dict[str, object]) -> None:
    """Long rows, large frontiers, many levels, a giant frontier behind a small one."""
    for graph, source in (
        (cg.generators.rmat(13, 16), 7), (cg.generators.uniform_random(20000, 90000), 3),
        (cg.generators.delaunay_points(5000), 0), (cg.generators.grid(70, 300), 0),
        (cg.generators.road_like(20000), 0), (cg.generators.star(20000).permuted(3), 5),
        (cg.generators.tree(20000, arity=40), 19999), (cg.generators.path(3000).permuted(1), 0),
        (cg.generators.rmat(11, 8).expanded(5).permuted(2), [3, 9]),
        (Graph.from_edges(cg.generators.rmat(12, 8).sources(), cg.generators.rmat(12, 8).column_indices[::-1],
                          n=1 << 12, directed=True), 1),
    ):  # fmt: skip
        assert_right(graph, source, session, strategy, **options)


@pytest.mark.parametrize("few_rows", [0, 20])
def test_levels_by_all_and_by_one_work_item(pocl: Session, few_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a CPU of many cores, or a GPU on which work-groups may not wait for each other."""
    monkeypatch.setattr(levels, "_FEW_UNITS", 0)
    monkeypatch.setattr(levels, "_FEW_ROWS", few_rows)
    monkeypatch.setattr(levels, "_BUDGET", 100)
    for graph, source in ((cg.generators.rmat(11, 16), 7), (cg.generators.grid(50, 60), 0), (GRAPHS["star"](), 5)):
        for strategy in ("frontier", "direction_optimizing"):
            for max_depth in (None, 4):
                assert_right(graph, source, pocl, strategy, max_depth=max_depth)


@pytest.mark.parametrize("n_units", [1, 2, 4])
def test_groups_that_search_together(session: Session, n_units: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of CPUs with few cores, in one launch and in many."""
    if not session.facts.is_cpu:
        pytest.skip("one launch does it all there")
    monkeypatch.setattr(session, "facts", replace(session.facts, compute_units=n_units))
    for budget in (levels._BUDGET, 5000):
        monkeypatch.setattr(levels, "_BUDGET", budget)
        for graph in (cg.generators.rmat(12, 16), cg.generators.grid(150, 160), cg.generators.road_like(5000)):
            for strategy in ("frontier", "direction_optimizing"):
                assert_right(graph, [7, 900], session, strategy)


@every_strategy
def test_path_of_100_000_vertices(pocl: Session, strategy: str) -> None:
    graph = cg.generators.path(100_000)
    distances, predecessors = bfs(graph, 0, strategy=strategy, session=pocl)
    assert np.array_equal(distances, np.arange(100_000))
    assert predecessors[0] == NO_PREDECESSOR and np.array_equal(predecessors[1:], np.arange(99_999))


@every_strategy
def test_star(session: Session, strategy: str) -> None:
    graph = cg.generators.star(70_000)
    assert assert_right(graph, 0, session, strategy).distances.sum() == 69_999
    assert assert_right(graph, 69_999, session, strategy).distances.sum() == 1 + 2 * 69_998


PARALLEL = Graph.from_edges([0, 0, 0, 1, 1, 2, 4], [0, 1, 1, 2, 2, 2, 4], n=6)
ONE_WAY = Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 0], directed=True)
SMALL = {
    "isolated source": (Graph.from_edges([0, 1], [1, 2], n=5), 4, [-1, -1, -1, -1, 0]),
    "one vertex": (Graph.from_edges([], [], n=1), 0, [0]),
    "parallel edges": (PARALLEL, 0, [0, 1, 2, -1, -1, -1]),
    "self-loop": (PARALLEL, 4, [-1, -1, -1, -1, 0, -1]),
    "forwards": (ONE_WAY, 0, [0, 1, 2, -1]),
    "into a circle": (ONE_WAY, 3, [1, 2, 3, 0]),
    "weights that do not matter": (Graph.from_edges([0, 1, 0], [1, 2, 2], [1.0, -5.0, np.inf]), 0, [0, 1, 1]),
}


@every_strategy
@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(session: Session, name: str, strategy: str) -> None:
    graph, source, distances = SMALL[name]
    assert assert_right(graph, source, session, strategy).distances.tolist() == distances


@every_strategy
def test_sources(session: Session, strategy: str) -> None:
    graph = cg.generators.path(1000)
    assert assert_right(graph, [0, 999], session, strategy).distances.max() == 499
    assert assert_right(graph, [500, 500, 500], session, strategy).distances.max() == 500
    assert not assert_right(graph, np.arange(1000), session, strategy).distances.any()
    for source in (np.int64(3), np.uint8(3), np.array(3), (3,), np.array([3], np.uint16), range(3, 4)):
        assert bfs(graph, source, strategy=strategy, session=session).distances[0] == 3


@every_strategy
def test_max_depth(session: Session, strategy: str) -> None:
    graph = cg.generators.grid(40, 50)
    for max_depth in (0, 1, 2, 17, 87, 88, 89, 10**9, 2**40, np.uint64(2**64 - 1)):
        result = assert_right(graph, 0, session, strategy, max_depth=max_depth)
        assert result.distances.max() == min(max_depth, 88)


@given(
    n=st.integers(1, 80), edges=st.lists(st.tuples(st.integers(0, 79), st.integers(0, 79)), max_size=160),
    directed=st.booleans(), case=st.sampled_from(CASES), max_depth=st.none() | st.integers(0, 9),
    sources=st.lists(st.integers(0, 79), min_size=1, max_size=4),
)  # fmt: skip
@settings(max_examples=60)
def test_random_graphs(
    n: int,
    edges: list[tuple[int, int]],
    directed: bool,
    case: tuple[str, dict[str, object]],
    max_depth: int | None,
    sources: list[int],
    pocl: Session,
) -> None:
    pairs = np.array(edges, np.int64).reshape(-1, 2) % n
    graph = Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n, directed=directed)
    assert_right(graph, [s % n for s in sources], pocl, case[0], max_depth=max_depth, **case[1])


def test_scipy(pocl: Session) -> None:
    matrix = sp.random_array((500, 500), density=0.01, rng=np.random.default_rng(1), format="csr")
    result = bfs(matrix, 3, session=pocl)
    order, predecessors = breadth_first_order(matrix, 3)
    assert result.graph.directed and np.array_equal(np.flatnonzero(result.distances >= 0), np.sort(order))
    assert np.array_equal(predecessors == NO_PREDECESSOR, result.predecessors == NO_PREDECESSOR)
    reached = result.predecessors >= 0
    assert matrix[result.predecessors[reached], np.flatnonzero(reached)].all()


def test_networkx(pocl: Session) -> None:
    graph = nx.Graph([("d", "a"), ("a", "b"), ("b", "d"), ("x", "y"), ("b", "e")])
    result = bfs(graph, "d", session=pocl)
    lengths = nx.single_source_shortest_path_length(graph, "d")
    assert [lengths.get(node, -1) for node in graph] == result.distances.tolist()
    assert result.path_to("e") == ["d", "b", "e"] and result.path_to("d") == ["d"]
    assert bfs(graph, ["x", "e"], session=pocl).path_to("b") == ["e", "b"]
    assert bfs(nx.DiGraph([(5, 3), (3, 9)]), 5, session=pocl).path_to(9) == [5, 3, 9]
    assert bfs(nx.grid_2d_graph(3, 4), (1, 2), session=pocl).distances.max() == 3


@pytest.mark.parametrize("source", [5, -1, [0, 5], 2**31, 2**40, -(2**40), [2, 1, -3]])
def test_sources_out_of_range(pocl: Session, source: Any) -> None:
    graph = cg.generators.path(5)
    worst = next(s for s in np.atleast_1d(source) if not 0 <= s < 5)
    with pytest.raises(SourceError, match=rf"(?<!\d){worst}(?!\d)") as caught:
        bfs(graph, source, session=pocl)
    assert isinstance(caught.value, IndexError) and isinstance(caught.value, InputError)
    assert bfs(graph, 4, session=pocl).distances.tolist() == [4, 3, 2, 1, 0]


def test_unknown_labels(pocl: Session) -> None:
    graph = nx.Graph([("a", "b"), ("b", "c")])
    for source, name in (("q", "q"), (["a", "zz"], "zz"), (0, "0"), (["a", 7], "7")):
        with pytest.raises(SourceError, match=name):
            bfs(graph, source, session=pocl)
    numbered = Graph.from_edges([10, 20, 1], [20, 30, 20], labels="auto")
    assert bfs(numbered, 20, session=pocl).distances.tolist() == [1, 1, 0, 1]
    for unknown in (0, 2, 25):
        with pytest.raises(SourceError, match=str(unknown)):
            bfs(numbered, unknown, session=pocl)


def test_what_is_no_id(pocl: Session) -> None:
    """A bool is none, though it equals an integer, but for a vertex of that name; nor is what has no hash."""
    numbers, labels = cg.generators.path(3), Graph.from_edges([0, 1], [1, 2], labels="auto")
    for graph in (numbers, labels):
        for source in (True, [0, True], np.bool_(True), np.array([True]), [[1]], {1}):
            with pytest.raises(SourceError, match=r"True|1"):
                bfs(graph, source, session=pocl)
    assert bfs(nx.Graph([(True, "a"), ("a", 0)]), True, session=pocl).path_to(0) == [True, "a", 0]


def test_many_labelled_sources(pocl: Session) -> None:
    """The labels are looked through once, not for each source."""
    path = cg.generators.path(60_000)
    labels = [f"v{i}" for i in range(60_000)]
    graph = Graph(path.row_offsets, path.column_indices, labels=labels)
    start = time.process_time()
    result = bfs(graph, labels[::2], session=pocl)
    assert result.distances.sum() == 30_000 and result.sources.tolist() == [*range(0, 60_000, 2)]
    assert [result.path_to(v)[-1] for v in labels[::30]] == labels[::30]
    assert time.process_time() - start < 10  # 60,000² / 2 comparisons take a minute


def test_no_vertices(pocl: Session) -> None:
    for name in ("empty", "directed-empty"):
        with pytest.raises(SourceError, match="0"):
            bfs(GRAPHS[name](), 0, session=pocl)


def test_slower_cores_change_the_pick(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, shipped, picks = as_problem(cg.generators.grid(300, 300)), load_profile(pocl.facts, measured=False), []
    monkeypatch.setattr(pocl, "facts", replace(pocl.facts, compute_units=2))
    for factor in (1, 10):
        loads = Curve({x: factor * seconds for x, seconds in shipped.rates.dependent_load_seconds.items()})
        rates = replace(shipped.rates, dependent_load_seconds=loads)
        monkeypatch.setattr(pocl, "profile", replace(shipped, rates=rates))
        picks.append(ALGORITHM.choose(pocl, problem).strategy)
    assert picks == ["frontier", "host"]


def fragments() -> Graph:
    """A ring of 16,384 vertices, and 10,000 paths of eight after it."""
    ring = np.arange(16_384)
    paths = 16_384 + np.arange(80_000).reshape(10_000, 8)
    ends = np.concatenate([np.roll(ring, 1), paths[:, 1:].ravel()])
    return Graph.from_edges(np.concatenate([ring, paths[:, :-1].ravel()]), ends, n=96_384)


def test_searches_that_end_soon_are_told_apart(pocl: Session) -> None:
    """In fragments the host looks at what is around the source, and prices follow what it meets."""
    graph = fragments()
    asked = [as_problem(graph, source=source) for source in (0, 50_000, [50_000, 50_001, 90_000])]
    assert [problem.n_met for problem in asked] == [None] * 3  # nobody has measured the graph
    assert graph.stats.reached_share < 0.9
    asked = [as_problem(graph, source=source) for source in (0, 50_000, [50_000, 50_001, 90_000])]
    assert [problem.n_met for problem in asked] == [None, 8, 16]
    assert asked[0].stats == graph.stats and asked[1].stats.reached_share == pytest.approx(8 / 96_384)
    assert asked[1].stats.estimated_depth <= 8
    for name in ("host", "frontier"):
        many, few = (priced(STRATEGIES[name], problem, pocl.facts, pocl.profile.rates) for problem in asked[:2])
        assert sum(few.parts.values()) < sum(many.parts.values())
    assert asked[0].settings != asked[1].settings
    on_device = cg.DeviceGraph.from_graph(graph, pocl).as_graph()
    assert as_problem(on_device, source=50_000).n_met is None  # its rows are not on the host


def test_answers_of_sources_in_small_and_large_components(session: Session) -> None:
    graph = fragments()
    for source in (50_000, 0, 96_383, 7, 50_000):
        assert bfs(graph, source, session=session, verify=True).distances[source] == 0


def test_one_work_group_looks_at_the_rows_of_hubs(pocl: Session) -> None:
    """Of two hubs one may be looked at in vain, bottom-up; the only hub of a star is met first."""
    n, gpu = 3000, replace(pocl.facts, is_cpu=False, compute_units=100)
    hubs = Graph.from_edges(np.repeat([0, 1], n), 2 + np.tile(np.arange(n), 2))
    loads = [
        prices.direction_optimizing(as_problem(graph), gpu).chains[0].loads for graph in (hubs, cg.generators.star(n))
    ]
    assert loads == [pytest.approx(4.0 * n / 2048), 0.0]


def test_random_numbers_make_deep_searches_longer(pocl: Session) -> None:
    """A core guesses whether an entry leads to a vertex that was met, and waits for the next vertex of a path."""
    rates = pocl.profile.rates
    for graph in (cg.generators.grid(300, 300), cg.generators.path(90_000)):
        near, far = (estimate(prices.frontier(as_problem(g), pocl.facts), rates) for g in (graph, graph.permuted(0)))
        assert far.seconds > 1.3 * near.seconds


def test_searches_that_stay_top_down_have_no_other_direction(pocl: Session) -> None:
    """It would be the same search, for which a matrix must be found to be symmetric; it runs if it is named."""
    deep, shallow = cg.generators.grid(300, 300), cg.generators.rmat(15, 8)
    assert "direction_optimizing" in cg.explain("bfs", shallow, session=pocl).contenders
    assert "direction_optimizing" not in cg.explain("bfs", deep, session=pocl).contenders
    assert "direction_optimizing" in cg.explain("bfs", deep, strategy="frontier", session=pocl).predicted
    assert_right(deep, 5, pocl, "direction_optimizing")


def far_hubs() -> Graph:
    """Return a graph that is met in few levels, and behind it hubs whose rows work-groups look at together."""
    core, n_leaves, hubs = cg.generators.rmat(10, 16), 17_000, 1 << 10
    src, dst, _ = core.edge_list()
    ways = np.array([[0, hubs], [hubs, hubs + 1], [hubs + 1, hubs + 2], [hubs + 2, hubs + 3]]).T
    leaves = hubs + 4 + np.arange(n_leaves)
    stars = [[np.full(n_leaves, hub), leaves] for hub in (hubs + 2, hubs + 3)]
    src, dst = np.concatenate([[src, dst], ways, *stars], axis=1)
    return Graph.from_edges(src, dst, duplicates="first")


@pytest.mark.parametrize("source", [0, -1])
def test_hubs_far_from_the_source(session: Session, source: int) -> None:
    """Searches bottom-up look at long rows, of which no neighbour is in the frontier yet, one, or nearly all."""
    graph = far_hubs()
    for options in ({"alpha": 2**20, "beta": 2**20}, {}):
        assert_right(graph, source % graph.n_vertices, session, "direction_optimizing", **options)


@pytest.mark.parametrize("width", [8, 64])
def test_sub_group_widths(width: int) -> None:
    names = [*STRATEGIES] if width < 64 else ["direction_optimizing"]  # the others take long to compile, too
    script = (
        "import clgraph as cg; from test_bfs import far_hubs;"
        "cg.bfs(far_hubs(), 0, strategy='direction_optimizing', alpha=2**20, beta=2**20, session=s, verify=True);"
        f"[cg.bfs(g, v, strategy=k, session=s, verify=True) for k in {names}"
        " for g in (cg.generators.rmat(11, 16), cg.generators.star(5000), cg.generators.path(700),"
        " cg.generators.delaunay_points(900)) for v in (0, [3, 600])]"
    )
    run_at_width(width, script)
