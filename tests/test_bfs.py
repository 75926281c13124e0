"""Every strategy of breadth-first search against the definition; splitting of vertices, child launches and balance."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import intel_session, run_at_width
from graphs import GRAPHS, TELLING, WITH_VERTICES, with_wide_offsets
from scipy.sparse.csgraph import breadth_first_order

import clgraph as cg
from clgraph.algorithms.bfs import ALGORITHM, BFS, STRATEGIES, as_problem, bfs, prices, queued, strategies
from clgraph.algorithms.bfs.load_balance import plot_balance, profile_balance
from clgraph.algorithms.sssp import ALGORITHM as SSSP
from clgraph.algorithms.sssp import sssp
from clgraph.algorithms.traversal import queues
from clgraph.algorithms.traversal.plan import SearchPlan
from clgraph.algorithms.traversal.prices import model_mda
from clgraph.algorithms.traversal.strategies import histogram_mda
from clgraph.cli.main import main
from clgraph.data.graphs.graph import Graph
from clgraph.device.profile import Curve
from clgraph.device.profile_files import load_profile
from clgraph.errors import InputError, SourceError
from clgraph.generators import random_weights
from clgraph.model.cost import estimate
from clgraph.model.strategy import priced
from clgraph.reference.bfs import NO_PREDECESSOR, bfs_distances, check_bfs
from clgraph.reference.sssp import check_sssp
from clgraph.runtime.session import Session

OF_ROUNDS: dict[str, list[dict[str, object]]] = {
    "topology_driven": [{"atomic": True, "balance": True}],
    "node_splitting": [{"mda": 3}, {"mda": "histogram", "atomic": True}],
    "child_launch": [{"threshold": 3, "balance": True}, {"threshold": 5, "atomic": True}],
}
OPTIONS = OF_ROUNDS | {
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
def test_every_small_graph_is_searched_right(
    session: Session, name: str, strategy: str, options: dict[str, object]
) -> None:
    graph = GRAPHS[name]()
    last = graph.n_vertices - 1
    assert_right(graph, 0, session, strategy, **options)
    assert_right(graph, [last, last // 2, last, 0], session, strategy, **options)
    assert_right(graph, last // 3, session, strategy, max_depth=2, **options)


@every_case
def test_searches_of_shapes_that_use_every_branch_are_right(
    session: Session, strategy: str, options: dict[str, object]
) -> None:
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


@pytest.mark.parametrize("most_alone", [0, 20])
def test_wide_levels_are_expanded_by_all_cores(pocl: Session, most_alone: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search as on a CPU of many cores."""
    monkeypatch.setattr(queues, "_FEW_UNITS", 0)
    monkeypatch.setattr(queued, "_MAX_ALONE", most_alone)
    monkeypatch.setattr(queued, "_BUDGET", 100)
    for graph, source in ((cg.generators.rmat(11, 16), 7), (cg.generators.grid(50, 60), 0), (GRAPHS["star"](), 5)):
        for strategy in ("frontier", "direction_optimizing"):
            for max_depth in (None, 4):
                assert_right(graph, source, pocl, strategy, max_depth=max_depth)


@pytest.mark.parametrize("strategy", ["frontier", "direction_optimizing"])
def test_levels_are_right_in_launches_of_their_own(
    pocl: Session, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Search as on a GPU without a barrier between work-groups."""
    monkeypatch.setattr(strategies, "has_queues", lambda _facts: False)
    for graph, source in ((cg.generators.rmat(11, 16), 7), (cg.generators.grid(50, 60), 0), (GRAPHS["star"](), 5)):
        for max_depth in (None, 4):
            assert_right(graph, [source], pocl, strategy, max_depth=max_depth)


@pytest.mark.parametrize("n_units", [1, 2, 4])
def test_groups_that_search_together_are_right(session: Session, n_units: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """CPUs with few cores search in one launch or in many."""
    if not session.facts.is_cpu:
        pytest.skip("one launch does it all there")
    monkeypatch.setattr(session.commands, "facts", replace(session.facts, compute_units=n_units))
    for budget in (queued._BUDGET, 5000):
        monkeypatch.setattr(queued, "_BUDGET", budget)
        for graph in (cg.generators.rmat(12, 16), cg.generators.grid(150, 160), cg.generators.road_like(5000)):
            for strategy in ("frontier", "direction_optimizing"):
                assert_right(graph, [7, 900], session, strategy)


@every_strategy
def test_a_search_stops_at_max_depth(session: Session, strategy: str) -> None:
    graph = cg.generators.grid(40, 50)
    for max_depth in (0, 1, 2, 17, 87, 88, 89, 10**9, 2**40, np.uint64(2**64 - 1)):
        result = assert_right(graph, 0, session, strategy, max_depth=max_depth)
        assert result.distances.max() == min(max_depth, 88)


def test_a_matrix_is_searched_as_by_scipy(pocl: Session) -> None:
    matrix = sp.random_array((500, 500), density=0.01, rng=np.random.default_rng(1), format="csr")
    result = bfs(matrix, 3, session=pocl)
    order, predecessors = breadth_first_order(matrix, 3)
    assert result.graph.directed and np.array_equal(np.flatnonzero(result.distances >= 0), np.sort(order))
    assert np.array_equal(predecessors == NO_PREDECESSOR, result.predecessors == NO_PREDECESSOR)
    reached = result.predecessors >= 0
    assert matrix[result.predecessors[reached], np.flatnonzero(reached)].all()


def test_nodes_of_networkx_are_sources_and_steps_of_paths(pocl: Session) -> None:
    graph = nx.Graph([("d", "a"), ("a", "b"), ("b", "d"), ("x", "y"), ("b", "e")])
    result = bfs(graph, "d", session=pocl)
    lengths = nx.single_source_shortest_path_length(graph, "d")
    assert [lengths.get(node, -1) for node in graph] == result.distances.tolist()
    assert result.path_to("e") == ["d", "b", "e"] and result.path_to("d") == ["d"]
    assert bfs(graph, ["x", "e"], session=pocl).path_to("b") == ["e", "b"]
    assert bfs(nx.DiGraph([(5, 3), (3, 9)]), 5, session=pocl).path_to(9) == [5, 3, 9]
    assert bfs(nx.grid_2d_graph(3, 4), (1, 2), session=pocl).distances.max() == 3


@pytest.mark.parametrize("source", [5, -1, [0, 5], 2**31, 2**40, -(2**40), [2, 1, -3]])
def test_sources_out_of_range_are_named(pocl: Session, source: Any) -> None:
    graph = cg.generators.path(5)
    worst = next(s for s in np.atleast_1d(source) if not 0 <= s < 5)
    with pytest.raises(SourceError, match=rf"(?<!\d){worst}(?!\d)") as caught:
        bfs(graph, source, session=pocl)
    assert isinstance(caught.value, IndexError) and isinstance(caught.value, InputError)
    assert bfs(graph, 4, session=pocl).distances.tolist() == [4, 3, 2, 1, 0]


def test_unknown_labels_are_named(pocl: Session) -> None:
    graph = nx.Graph([("a", "b"), ("b", "c")])
    for source, name in (("q", "q"), (["a", "zz"], "zz"), (0, "0"), (["a", 7], "7")):
        with pytest.raises(SourceError, match=name):
            bfs(graph, source, session=pocl)
    numbered = Graph.from_edges([10, 20, 1], [20, 30, 20], ids="auto")
    assert bfs(numbered, 20, session=pocl).distances.tolist() == [1, 1, 0, 1]
    for unknown in (0, 2, 25):
        with pytest.raises(SourceError, match=str(unknown)):
            bfs(numbered, unknown, session=pocl)


def test_a_bool_or_a_list_is_no_id(pocl: Session) -> None:
    """A bool is none, though it equals an integer, but for a vertex of that name; nor is what has no hash."""
    numbers, named = cg.generators.path(3), Graph.from_edges([0, 1], [1, 2], ids="auto")
    for graph in (numbers, named):
        for source in (True, [0, True], np.bool_(True), np.array([True]), [[1]], {1}):
            with pytest.raises(SourceError, match=r"True|1"):
                bfs(graph, source, session=pocl)
    assert bfs(nx.Graph([(True, "a"), ("a", 0)]), True, session=pocl).path_to(0) == [True, "a", 0]


def test_many_labelled_sources_are_found_in_one_pass(pocl: Session) -> None:
    """The ids are looked through once, not for each source."""
    path = cg.generators.path(60_000)
    ids = [f"v{i}" for i in range(60_000)]
    graph = Graph(path.row_offsets, path.column_indices, ids=ids)
    start = time.process_time()
    result = bfs(graph, ids[::2], session=pocl)
    assert result.distances.sum() == 30_000 and result.sources.tolist() == [*range(0, 60_000, 2)]
    assert [result.path_to(v)[-1] for v in ids[::30]] == ids[::30]
    assert time.process_time() - start < 10  # 60,000² / 2 comparisons take a minute


def test_a_graph_without_vertices_has_no_source(pocl: Session) -> None:
    for name in ("empty", "directed-empty"):
        with pytest.raises(SourceError, match="0"):
            bfs(GRAPHS[name](), 0, session=pocl)


def test_slower_cores_change_the_pick(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, shipped, picks = as_problem(cg.generators.grid(300, 300)), load_profile(pocl.facts, measured=False), []
    monkeypatch.setattr(pocl.commands, "facts", replace(pocl.facts, compute_units=2))
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
    """In fragmented graphs the host measures the component of the source, and prices follow its size."""
    graph = fragments()
    asked = [as_problem(graph, source=source) for source in (0, 50_000, [50_000, 50_001, 90_000])]
    assert [problem.n_met for problem in asked] == [None] * 3  # The graph is not measured yet.
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


def test_sources_in_small_and_large_components_are_at_distance_0(session: Session) -> None:
    graph = fragments()
    for source in (50_000, 0, 96_383, 7, 50_000):
        assert bfs(graph, source, session=session, verify=True).distances[source] == 0


def test_one_work_group_looks_at_the_rows_of_hubs(pocl: Session) -> None:
    """Bottom-up, a group may read the row of one of two hubs in vain; the only hub of a star is met first."""
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
    """The other direction would be the same search, after a costly check of symmetry. It runs if it is named."""
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
def test_hubs_far_from_the_source_are_reached(session: Session, source: int) -> None:
    """Searches bottom-up look at long rows, of which no neighbour is in the frontier yet, one, or nearly all."""
    graph = far_hubs()
    for options in ({"alpha": 2**20, "beta": 2**20}, {}):
        assert_right(graph, source % graph.n_vertices, session, "direction_optimizing", **options)


@pytest.mark.parametrize("width", [8, 64])
def test_searches_are_right_at_every_sub_group_width(width: int) -> None:
    names = [*STRATEGIES] if width < 64 else ["direction_optimizing"]  # the others take long to compile, too
    script = (
        "import clgraph as cg; from test_bfs import far_hubs; from clgraph.algorithms.bfs import strategies;"
        "strategies.has_queues = lambda facts: False;"  # else a CPU has kernels of their own, without sub-groups
        "cg.bfs(far_hubs(), 0, strategy='direction_optimizing', alpha=2**20, beta=2**20, session=s, verify=True);"
        f"[cg.bfs(g, v, strategy=k, session=s, verify=True) for k in {names}"
        " for g in (cg.generators.rmat(11, 16), cg.generators.star(5000), cg.generators.path(700),"
        " cg.generators.delaunay_points(900)) for v in (0, [3, 600])]"
    )
    run_at_width(width, script)


# ---- rounds over parts of rows, of both searches


def graphs() -> list[Graph]:
    return [
        cg.generators.rmat(10, 16), cg.generators.star(5000), cg.generators.path(100), Graph.from_edges([], [], n=3),
        with_wide_offsets(cg.generators.rmat(9, 8)), Graph.from_edges([0] * 9, [0] * 9, directed=True),
    ]  # fmt: skip


def split(session: Session, graph: Graph, **options: Any) -> SearchPlan:
    plan = STRATEGIES["node_splitting"].plan(session, as_problem(graph), **options)
    plan.run()
    assert isinstance(plan, SearchPlan)
    return plan


@pytest.mark.parametrize("mda", [1, 3, 8, 1000])
def test_parts_cover_each_row_once(session: Session, mda: int) -> None:
    for graph in graphs():
        plan = split(session, graph, mda=mda)
        begin, end, parent = (plan.arrays[f"part_{name}"].get() for name in ("begin", "end", "parent"))
        n, degrees = graph.n_vertices, graph.degrees.astype(np.int64)
        assert begin.dtype == graph.row_offsets.dtype
        assert plan.details["n_extra"] == parent.size - n == np.maximum(0, -(-degrees // mda) - 1).sum()
        sizes = end - begin
        assert sizes.max(initial=0) <= mda and np.array_equal(np.bincount(parent, sizes, n), degrees)
        assert np.array_equal(np.unique(parent), np.arange(n)) and (np.diff(parent) >= 0).all()
        assert np.array_equal(begin, np.append(0, end[:-1]))
        counts = np.bincount(parent)
        first = np.cumsum(counts) - counts
        assert (np.maximum.reduceat(sizes, first) - np.minimum.reduceat(sizes, first) <= 1).all()


def test_the_fullest_bucket_of_degrees_gives_the_mda(pocl: Session) -> None:
    for graph in graphs():
        degrees = graph.degrees
        width = degrees.max() / 10
        bucket = np.minimum((degrees / width).astype(int), 9) if width else np.zeros(degrees.size, int)
        fullest = np.bincount(bucket).argmax()
        expected = max(1, int(degrees[bucket == fullest].max()))
        assert histogram_mda(degrees) == expected == split(pocl, graph, mda="histogram").details["mda"]
    assert histogram_mda(np.empty(0, np.int64)) == 1
    assert histogram_mda(np.array([0, 1, 2, 3, 3, 10])) == 3
    assert histogram_mda(np.array([10, 10, 10, 1])) == 10


def test_the_cost_model_gives_an_mda_between_its_limits(pocl: Session) -> None:
    rates, facts = pocl.profile.rates, pocl.facts
    skewed, even = cg.generators.rmat(12, 16), cg.generators.grid(60, 60)
    assert model_mda(even.stats, facts, rates, 4) == 4
    mda = model_mda(skewed.stats, facts, rates, 4)
    assert 4 <= mda <= skewed.stats.max_degree and split(pocl, skewed).details["mda"] == mda
    assert model_mda(cg.generators.star(10).stats, facts, rates, 4) >= 1


@pytest.mark.parametrize(
    ("strategy", "option", "value"),
    [*(("node_splitting", "mda", value) for value in (0, -1, 2.5, "most", None, 2**31)),
     *(("child_launch", "threshold", value) for value in (0, -1, 2.5, "most"))],
)  # fmt: skip
def test_bad_lengths_of_rows_are_refused(pocl: Session, strategy: str, option: str, value: Any) -> None:
    with pytest.raises(InputError, match=option):
        bfs(cg.generators.path(9), 0, strategy=strategy, session=pocl, **{option: value})


def test_children_follow_their_parents(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel gives children the values of their parents; without it their edges stay unseen. Atomics need none."""
    graph = cg.generators.star(300)
    with_copies = bfs(graph, 7, strategy="node_splitting", mda=4, session=session)
    without = bfs(graph, 7, strategy="node_splitting", mda=4, atomic=True, session=session)
    assert "child_update" in with_copies.info.kernels and "child_update" not in without.info.kernels
    assert np.array_equal(with_copies.distances, without.distances)
    plan = STRATEGIES["node_splitting"].plan(session, as_problem(graph, source=7), mda=4)
    rounds = plan.used[1]
    monkeypatch.setattr(rounds, "_launches", rounds._launches[1:])
    plan.run()
    distances = plan.result()[0]
    assert np.count_nonzero(distances >= 0) == 2 + 299 // 75  # the source, its neighbour, and what that one kept


@pytest.mark.parametrize("strategy", OF_ROUNDS)
def test_balance_counts_all_edges_that_are_reached(session: Session, strategy: str) -> None:
    """In the last round every reached vertex looks at its edges."""
    options = {"node_splitting": {"mda": 8}, "child_launch": {"threshold": 8}}.get(strategy, {})
    graph = random_weights(cg.generators.rmat(12, 8), high=9)
    for search in (bfs, sssp):
        result = search(graph, 5, strategy=strategy, balance=True, session=session, **options)
        rows = result.info.balance
        assert [row.round for row in rows] == list(range(1, result.info.details["rounds"] + 1))
        assert rows[-1].edges == graph.degrees[result.distances >= 0].sum()
        for row in rows:
            assert row.least <= row.mean <= row.most and row.mean * row.groups == pytest.approx(row.edges)
    assert search(graph, 5, strategy=strategy, session=session).info.balance is None
    for table, problem in ((STRATEGIES, as_problem(graph)), (SSSP.strategies, SSSP.problem(graph))):
        plan = table[strategy].plan(session, problem, balance=True, **options)
        plan.run()
        assert plan.group_edges.sum() == max(row.edges for row in plan.balance)


def test_splitting_evens_the_work(pocl: Session) -> None:
    graph = cg.generators.star(100_000)
    before, after = (
        bfs(graph, 0, strategy="node_splitting", mda=mda, balance=True, session=pocl).info.balance[-1]
        for mda in (10**6, 16)
    )
    assert before.edges == after.edges and after.most < before.most / 20


def test_rounds_end_with_one_that_changes_nothing(session: Session) -> None:
    """The last one changes nothing; atomics lose no lowering."""
    for options in ({}, {"atomic": True}):
        path = bfs(cg.generators.path(500).permuted(1), 0, strategy="topology_driven", session=session, **options)
        assert 2 <= path.info.details["rounds"] <= 501
    nothing = bfs(Graph.from_edges([0], [1], n=3), 2, strategy="topology_driven", session=session)
    assert nothing.info.details["rounds"] == 1


def test_the_device_launches_children_where_it_can() -> None:
    """Intel's driver launches kernels from the device; elsewhere the host launches them."""
    session = intel_session()
    assert session.commands.has_device_queue
    info = bfs(cg.generators.star(3000), 4, strategy="child_launch", session=session, verify=True).info
    assert info.details["launched_by"] == "device" and "relax_pieces" not in info.kernels


def test_the_host_launches_children_elsewhere(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not session.commands.has_device_queue or session.facts.dialect.standard == "CL3.0"
    monkeypatch.setitem(vars(session.commands), "has_device_queue", False)
    graph = random_weights(cg.generators.rmat(13, 16), dtype=np.float32)
    for threshold in (1, 40, None):
        info = bfs(graph, 5, strategy="child_launch", threshold=threshold, session=session, verify=True).info
        assert info.details["launched_by"] == "host" and "relax_pieces" in info.kernels
        paths = sssp(graph, 5, strategy="child_launch", threshold=threshold, balance=True, session=session)
        check_sssp(graph, [5], paths.distances)
        assert paths.info.balance[-1].edges == graph.degrees[np.isfinite(paths.distances)].sum()


def test_what_the_device_queue_cannot_take_is_done_at_once() -> None:
    """The search has far more children than any device queue holds."""
    session = intel_session()
    graph = cg.generators.uniform_random(30_000, 200_000)
    result = bfs(graph, 0, strategy="child_launch", threshold=1, session=session)
    assert result.info.details["launched_by"] == "device"
    assert np.array_equal(result.distances, bfs_distances(graph, [0]))


def test_a_balance_profile_is_measured_and_drawn(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = cg.generators.rmat(13, 8)
    profile = profile_balance(session, as_problem(graph, source=5), mda=16)
    assert profile.mda == 16 and profile.parts.max() <= 16 and profile.parts.sum() == profile.degrees.sum()
    assert profile.before[-1].edges == profile.after[-1].edges
    assert profile.groups_after.max() < profile.groups_before.max()
    for suffix in ("png", "svg"):
        plot_balance(profile, tmp_path / f"balance.{suffix}", "R-MAT 13")
        assert (tmp_path / f"balance.{suffix}").stat().st_size > 5000
    with pytest.raises(InputError, match="bogus"):
        plot_balance(profile, tmp_path / "balance.bogus", "R-MAT 13")
    drawn: list[Any] = []
    with monkeypatch.context() as context:
        context.setattr("matplotlib.figure.Figure.savefig", lambda figure, path: drawn.append(figure))
        plot_balance(profile, tmp_path / "balance.png", "R-MAT 13")
    *_, before, after = drawn[0].axes
    assert drawn[0].get_suptitle().startswith("R-MAT 13: ") and after.get_xticklabels()[3].get_text() == "4 to 7"
    for axes, sizes in ((before, profile.degrees), (after, profile.parts)):
        assert axes.patches[3].get_height() == np.count_nonzero((sizes >= 4) & (sizes <= 7)) > 0
        assert sum(bar.get_height() for bar in axes.patches) == sizes.size
    alone = profile_balance(session, as_problem(Graph.from_edges([], [], n=1)))
    plot_balance(alone, tmp_path / "alone.png", "alone")


def test_the_command_prints_and_draws_a_balance_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, picture = tmp_path / "graph.txt", tmp_path / "balance.png"
    path.write_text("".join(f"{u} {u // 3}\n" for u in range(1, 500)))
    options = ["bfs", str(path), "--source", "0", "-d", "pocl", "--profile-balance"]
    assert main([*options, "--plot", str(picture)]) == 0
    text = capsys.readouterr().out
    assert "before splitting" in text and "most / mean" in text and picture.stat().st_size > 5000
    assert main([*options, "--json"]) == 0
    balance = json.loads(capsys.readouterr().out)["balance_profile"]
    assert balance["mda"] >= 1 and balance["before"][-1]["edges"] == balance["after"][-1]["edges"]
    assert main(["bfs", str(path), "--source", "0", "-d", "pocl", "--plot", str(picture)]) == 4
    assert "--profile-balance" in capsys.readouterr().err
    assert main(["bfs", str(path), "--source", "0", "-d", "pocl", "-s", "node_splitting"]) == 0
    assert "n_extra" in capsys.readouterr().out
