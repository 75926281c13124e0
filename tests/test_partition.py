"""Partitions: every variant on every small graph and device; refinement; arguments, and what is refused."""

from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from conftest import run_at_width, session_on
from graphs import UNDIRECTED
from partition_runs import (
    GRID,
    SMALL,
    once_fixture,  # noqa: F401
    quiet,
)

import clgraph as cg
from clgraph.algorithms.partition import STRATEGIES, as_problem, multilevel, partition
from clgraph.algorithms.partition.balance import place
from clgraph.algorithms.partition.multilevel import REFINING
from clgraph.algorithms.partition.problem import MATCHINGS, REFINEMENTS
from clgraph.compat import part_graph
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError, VerificationError
from clgraph.reference.partition import check_partition, partition_quality
from clgraph.runtime.session import Session


@pytest.mark.parametrize("name", UNDIRECTED)
def test_partitions_of_every_small_graph_are_valid(session: Session, name: str) -> None:
    graph = UNDIRECTED[name]()
    for k in (1, 2, 7, 64):
        result = quiet(graph, k, session=session, strategy="gpu", verify=True, **SMALL)
        check_partition(graph, result.parts, k, result.edge_cut, most_weight=None)
        assert result.part_weights.max(initial=0) <= max(1, 1.2 * -(-graph.n_vertices // k) + 1), k


@pytest.mark.parametrize("name", UNDIRECTED)
def test_every_variant_divides_small_graphs(pocl: Session, name: str) -> None:
    for variants in (
        {"matching": "segmented", "contraction": "sorted", "refinement": "buffered"},
        {"matching": "lock_free", "contraction": "hashed", "refinement": "permutations"},
    ):
        quiet(
            UNDIRECTED[name](), 7, session=pocl, strategy="gpu", drop_light_edges=True, verify=True, **variants, **SMALL
        )


@pytest.mark.parametrize("matching", MATCHINGS)
@pytest.mark.parametrize("refinement", REFINEMENTS)
def test_every_variant_heeds_weights(session: Session, matching: str, refinement: str) -> None:
    rng = np.random.default_rng(3)
    src, dst = rng.integers(900, size=(2, 4000))
    graph = Graph.from_edges(src, dst, rng.integers(0, 100, src.size).astype(np.int32), n=1000)
    weights = rng.integers(0, 9, 1000)
    shares = rng.random(9) + 0.5
    result = quiet(
        graph, 9, session=session, strategy="gpu", vertex_weights=weights, target_weights=shares, matching=matching,
        refinement=refinement, verify=True, **SMALL,
    )  # fmt: skip
    if refinement != "noop":
        problem = as_problem(graph, n_parts=9, vertex_weights=weights, target_weights=shares)
        assert (result.part_weights <= problem.limits).all()


def test_quality_is_that_of_meshes(session: Session) -> None:
    result = partition(GRID, 16, session=session, strategy="gpu", verify=True)
    assert result.edge_cut <= 280  # 240 is the least: squares of 10 by 10
    assert result.part_weights.max() <= 103 and result.part_weights.sum() == 1600
    assert result.levels[0]["vertices"] == 1600 and len(result.levels) > 1
    assert result.levels[0]["cut"] == result.edge_cut
    assert 0 < sum(level.get("coarsening_seconds", 0) for level in result.levels) < result.info.seconds.total
    assert result.info.details["arena_bytes"] > 4 * 1600
    worse = partition(GRID, 16, session=session, strategy="gpu", refinement="noop", imbalance=1.0)
    assert worse.edge_cut >= result.edge_cut


@pytest.mark.long
def test_children_only_take_the_place_of_worse_parents(session: Session) -> None:
    """All individuals begin alike, whatever the effort; crossing must not make any of them worse, and some better."""
    isolated = Graph.from_edges(*np.divmod(np.flatnonzero(GRID.to_scipy().toarray().ravel()), 1600), n=1610)
    for graph in (GRID, isolated):
        found = {}
        for effort in ("normal", "max"):
            problem = as_problem(graph, n_parts=13, effort=effort, deterministic=True)
            plan = STRATEGIES["gpu"].plan(session, problem, individuals=5)
            plan.run()
            parts, cut, _weights = plan.result()
            check_partition(graph, parts, 13, cut, most_weight=problem.limits.max())
            found[effort] = plan.arrays["parent_scores"].get()
            assert cut <= int(found[effort].min() & 0xFFFFFFFF)
        assert (found["max"] <= found["normal"]).all() and (found["max"] < found["normal"]).any()


@pytest.mark.parametrize("refinement", [name for name in REFINEMENTS if name != "noop"])
def test_refinement_keeps_the_balance_that_it_has(session: Session, refinement: str) -> None:
    for seed in range(3):
        found = partition(
            GRID, 8, imbalance=0.0, seed=seed, session=session, strategy="gpu", refinement=refinement, verify=True
        )
        assert found.part_weights.max() == 200


@pytest.mark.parametrize("refinement", ["buffered", "permutations"])
def test_requests_better_the_cut_and_are_the_same_everywhere(refinement: str) -> None:
    graph = cg.generators.delaunay_points(3000, seed=3)
    found = [
        quiet(graph, 16, strategy="gpu", refinement=refinement, deterministic=True, session=session_on(name))
        for name in ("pocl", "intel")
    ]
    assert (found[0].parts == found[1].parts).all() and found[0].imbalance <= 0.03
    worse = quiet(graph, 16, strategy="gpu", refinement="noop", deterministic=True, imbalance=1.0, session="pocl")
    assert found[0].edge_cut < worse.edge_cut


@pytest.mark.parametrize("refinement", ["buffered", "permutations"])
def test_a_block_that_only_gains_together_moves_by_permutations(pocl: Session, refinement: str) -> None:
    """Three vertices of a triangle are tied to another part: each alone loses if it moves there, and all gain."""
    triangle, left, right = [(0, 1), (1, 2), (2, 0)], range(3, 13), range(13, 23)
    edges = [*triangle, *((0, v) for v in (13, 14)), (1, 15), (2, 16)]
    edges += [(u, v) for block in (left, right) for u in block for v in block if u < v]
    graph = Graph.from_edges(*np.array([*edges, (0, 3)]).T, np.array([3] * 3 + [1] * (len(edges) - 2)))
    parts = np.array([0] * 13 + [1] * 10, np.int32)
    moved = np.array([1] * 3 + [0] * 10 + [1] * 10, np.int32)
    cuts = [partition_quality(graph, of, 2)["edge_cut"] for of in (parts, moved)]
    assert cuts == [4, 1]
    assert refined_from(pocl, graph, parts, refinement=refinement, imbalance=0.2) == cuts[refinement == "permutations"]


def refined_from(session: Session, graph: Graph, parts, **settings) -> int:
    """Return the cut that refinement of level 0 leaves of *parts*."""
    plan = STRATEGIES["gpu"].plan(session, as_problem(graph, n_parts=int(parts.max()) + 1, **settings), coarsest=1000)
    run, constant = plan.used[0], plan.program(REFINING).constant

    def given() -> int:
        run.plan.arrays["work"].set(parts, offset=constant("BEST") * plan.setting.values["room"])
        weights = np.bincount(parts).astype(np.int32)
        plan.scope["parts_work"].set(weights, offset=constant("BEST_SIZES") * weights.size)
        return 0

    run._partition_coarsest = given
    plan.run()
    return plan.result()[1]


def test_same_parts_in_every_run_and_on_every_device() -> None:
    graphs = [GRID, cg.generators.rmat(10, 8, seed=7)]
    for graph in graphs:
        found = [
            quiet(graph, 8, deterministic=True, session=session_on(name), seed=5).parts
            for name in ("pocl", "pocl", "intel")
        ]
        assert (found[0] == found[1]).all() and (found[0] == found[2]).all()
    one, other = (quiet(graphs[1], 8, session=session_on("pocl"), seed=seed).parts for seed in (6, 7))
    assert (one != other).any()


@pytest.mark.parametrize(("width", "variant"), [
    (8, {}), (16, {}), (16, {"matching": "segmented", "contraction": "sorted"}), (8, {"refinement": "buffered"}),
    (8, {"matching": "segmented", "refinement": "permutations", "drop_light_edges": True}),
])  # fmt: skip
def test_sub_groups_of_several_lanes_divide_right(width: int, variant: dict[str, Any]) -> None:
    """They divide graphs, and find the parts that other widths do where these are to be the same."""
    run_at_width(
        width,
        f"options = dict(strategy='gpu', coarsest=1, individuals=2, verify=True, **{variant})"
        + """
import warnings
warnings.simplefilter("ignore")
import clgraph as cg
from graphs import UNDIRECTED
for name in ("grid", "scale-free", "star"):
    graph = UNDIRECTED[name]()
    cg.partition(graph, 5, session=s, **options)
    one, other = (cg.partition(graph, 5, session=on, deterministic=True, **options).parts for on in (s, "pocl"))
    assert (one == other).all(), name
""",
    )


def test_isolated_vertices_fill_up(pocl: Session) -> None:
    graph = Graph.from_edges(np.arange(399), np.arange(1, 400), n=1000)
    result = partition(graph, 4, session=pocl, verify=True)
    assert result.part_weights.max() <= 257 and result.edge_cut <= 12


@pytest.mark.parametrize(("given", "wanted"), [([1, 5, 3, 1], [5, 5]), ([4, 3, 2, 1], [5, 5]), (None, [2, 2])])
def test_isolated_vertices_fill_up_by_weight(given: list[int] | None, wanted: list[int]) -> None:
    """They keep the limits, also where the end of a vertex would not fit into the room that is left."""
    problem = as_problem(Graph.from_edges([], [], n=4), n_parts=2, vertex_weights=given)
    parts, weights = np.full(4, -1, np.int32), np.zeros(2, np.int64)
    place(problem, parts, weights)
    assert weights.tolist() == wanted == np.bincount(parts, given, 2).tolist()


def test_there_may_be_more_parts_than_vertices(pocl: Session) -> None:
    result = quiet(cg.generators.path(5), 12, session=pocl, verify=True)
    assert result.part_weights.max() == 1
    assert quiet(Graph.from_edges([], []), 3, session=pocl).parts.size == 0


def test_a_graph_is_divided_into_1024_parts(pocl: Session) -> None:
    result = quiet(GRID, 1024, session=pocl, individuals=1, strategy="gpu", imbalance=0.5, verify=True)
    assert result.part_weights.max() <= 3


def test_the_arena_grows_where_levels_need_more(pocl: Session) -> None:
    """The levels of a graph that hardly loses edges need more room than is expected."""
    graph = cg.generators.uniform_random(3000, 60000, seed=3)
    plan = STRATEGIES["gpu"].plan(pocl, as_problem(graph, n_parts=2), coarsest=1)
    before = plan.arrays["arena"].size
    for _ in range(2):
        plan.run()
        parts, cut, _weights = plan.result()
        check_partition(graph, parts, 2, cut)
    assert plan.arrays["arena"].size > before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_parts": 0}, "n_parts"), ({"n_parts": 1025}, "n_parts"), ({"imbalance": -1}, "imbalance"),
        ({"vertex_weights": [1]}, "vertex_weights"), ({"vertex_weights": np.full(1600, -1)}, "vertex_weights"),
        ({"vertex_weights": np.full(1600, 2**30)}, "sum"), ({"vertex_weights": np.ones(1600)}, "integers"),
        ({"target_weights": [1, 2, 3]}, "target_weights"), ({"target_weights": [0, 0]}, "not all 0"),
        ({"matching": "none"}, "matching"), ({"refinement": "fm"}, "refinement"), ({"effort": "most"}, "effort"),
        ({"deterministic": 1}, "determ"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(changes, words) -> None:
    with pytest.raises(InputError, match=words):
        as_problem(GRID, **{"n_parts": 2, **changes})


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_weights_of_vertices_reach_up_to_2_31(pocl: Session, dtype) -> None:
    """The limit holds for a vertex and for the sum; sums that wrap around in 64 bits are refused, too."""
    for weights, limits in (
        ([2**31 - 1, 0, 0, 0], [0, 2**31 - 1]), ([2**31 - 4, 1, 1, 1], [3, 2**31 - 4]),
        ([2**30, 2**30 - 1, 0, 0], [2**30 - 1, 2**30]),
    ):  # fmt: skip
        given = np.array(weights, dtype)
        result = quiet(cg.generators.grid(2, 2), 2, vertex_weights=given, session=pocl, verify=True)
        assert sorted(result.part_weights.tolist()) == limits
    for weights, words in (
        ([0, 2**31, 0, 0], r"vertex_weights\[1\]"),
        ([2**62] * 4, r"vertex_weights\[0\]"),
        ([2**31 - 1, 1, 0, 0], "sum to 2147483648"),
    ):
        with pytest.raises(InputError, match=words):
            as_problem(cg.generators.grid(2, 2), vertex_weights=np.array(weights, dtype))


def test_weights_of_edges_reach_up_to_2_30() -> None:
    as_problem(Graph.from_edges(np.arange(3), np.arange(1, 4), np.array([2**30 - 2, 1, 1])))


@pytest.mark.parametrize(("graph", "words"), [
    (Graph.from_edges(np.arange(3), np.arange(1, 4), np.array([2**30 - 1, 1, 1])), "together"),
    (Graph.from_edges([0], [1], np.array([2**31 - 1])), "together"),
    (Graph.from_edges([0], [1], np.array([0.5])), "edge_weights"),
    (Graph.from_edges([0], [1], np.array([-1])), "edge_weights"),
    (Graph.from_edges([0], [1], directed=True), "reverse"),
    (Graph.from_edges([0, 1], [1, 0], [1, 2], directed=True), "both ways"),
])  # fmt: skip
def test_asymmetric_graphs_and_weights_out_of_range_are_refused(graph: Graph, words: str) -> None:
    with pytest.raises(InputError, match=words):
        as_problem(graph)


def test_weights_of_networkx_count_unless_they_are_to_be_ignored(pocl: Session) -> None:
    club = nx.karate_club_graph()
    for weight in ("weight", None):
        found = partition(club, 2, weight=weight, session=pocl, verify=True)
        first = np.flatnonzero(found.parts == 0).tolist()
        assert found.edge_cut == nx.cut_size(club, first, weight=weight)
        assert partition_quality(club, found.parts, 2, weight=weight)["edge_cut"] == found.edge_cut
    device = cg.DeviceGraph.from_graph(Graph.from_networkx(club, "weight"), pocl)
    assert partition(device, 2, weight=None, verify=True).edge_cut == found.edge_cut
    nx.set_edge_attributes(club, 0.5, "weight")
    with pytest.raises(InputError, match=r"edge_weights are float64.*weight=None"):
        partition(club, 2)


def test_check_finds_what_is_wrong() -> None:
    parts = np.repeat(np.arange(4, dtype=np.int32), 400)
    cut = partition_quality(GRID, parts, 4)["edge_cut"]
    assert cut == 120
    check_partition(GRID, parts, 4, cut, part_weights=np.full(4, 400), most_weight=400)
    for wrong in (
        {"edge_cut": cut + 1}, {"n_parts": 3}, {"part_weights": np.array([1, 2, 3, 4])}, {"most_weight": 399},
        {"parts": parts[:-1]}, {"parts": parts - 1},
    ):  # fmt: skip
        with pytest.raises(VerificationError):
            check_partition(GRID, **{"parts": parts, "n_parts": 4, "edge_cut": cut, **wrong})


def test_quality_counts_border_and_communication() -> None:
    ring = cg.Graph.from_edges(np.arange(9), (np.arange(9) + 1) % 9, np.full(9, 2.7))
    halves = np.arange(9) // 5
    with pytest.raises(InputError, match="edge_weights are float64; needed: integers, or ignore them: weight=None"):
        partition_quality(ring, halves, 2)
    assert partition_quality(ring, halves, 2, weight=None)["edge_cut"] == 2
    quality = partition_quality(cg.generators.path(4), np.array([0, 0, 1, 2], np.int32), 3)
    assert (quality["edge_cut"], quality["n_border"], quality["communication"]) == (2, 3, 4)
    assert quality["part_weights"].tolist() == [2, 1, 1] and quality["imbalance"] == pytest.approx(0.5)


def test_part_graph_has_the_signature_of_pymetis(pocl: Session) -> None:
    cut, parts = part_graph(4, xadj=GRID.row_offsets, adjncy=GRID.column_indices, vweights=[2] * 1600, session=pocl)
    check_partition(GRID, np.array(parts, np.int32), 4, cut, most_weight=412)
    rows = [row.tolist() for row in np.split(GRID.column_indices, GRID.row_offsets[1:-1])]
    assert part_graph(4, rows, session=pocl).edge_cuts == part_graph(
        4, xadj=GRID.row_offsets, adjncy=GRID.column_indices, eweights=[1] * GRID.n_edges, session=pocl
    ).edge_cuts  # fmt: skip
    for wrong in ({}, {"adjacency": rows, "xadj": [0]}, {"adjacency": [3]}):
        with pytest.raises(InputError):
            part_graph(2, **wrong)


@pytest.mark.parametrize("form", ["dict", "networkx", "csr", "coo", "bsr", "arrays", "tuples"])
def test_part_graph_takes_whatever_tells_the_neighbours_of_a_vertex(form: str, pocl: Session) -> None:
    graph = cg.generators.grid(6, 6)
    rows = np.split(graph.column_indices, graph.row_offsets[1:-1])
    matrix = graph.to_scipy().astype(float) * -0.5  # Entries of a matrix are no weights.
    adjacency: Any = {
        "dict": dict(reversed([*enumerate(row.tolist() for row in rows)])), "networkx": graph.to_networkx(),
        "csr": matrix, "coo": matrix.tocoo(), "bsr": matrix.tobsr((4, 4)), "arrays": rows,
        "tuples": tuple(tuple(row.tolist()) for row in rows),
    }[form]  # fmt: skip
    expected = part_graph(3, xadj=graph.row_offsets, adjncy=graph.column_indices, session=pocl)
    assert part_graph(3, adjacency, session=pocl) == expected
    assert expected.edge_cuts == partition_quality(graph, np.array(expected.vertex_part, np.int32), 3)["edge_cut"]


def test_part_graph_refuses_what_it_would_read_wrongly(pocl: Session) -> None:
    damaged = cg.generators.path(6).to_scipy()
    damaged.indices = damaged.indices.astype(np.int64) + 2**32
    for adjacency, message in (
        (damaged, r"damaged: column_indices\[0\] = 4294967297"), (damaged.tocsr()[:2], "damaged|square"),
        ({1: [2], 2: [1]}, "KeyError"), ([[1.5], [0]], "float64"), ([[1], [0], 3], "TypeError"), (3, "TypeError"),
        ([[1], []], "no reverse"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            part_graph(2, adjacency, session=pocl)
    with pytest.raises(InputError, match=r"options\.numbering = 1"):
        part_graph(2, [[1], [0]], options=SimpleNamespace(numbering=1), session=pocl)
    with pytest.raises(InputError, match="contiguous = array"):
        part_graph(2, [[1], [0]], contiguous=np.arange(6), session=pocl)
    unset = SimpleNamespace(contig=-1, numbering=-1, seed=-1, ufactor=-1)
    assert part_graph(2, [[1], [0]], options=unset, contiguous=False, session=pocl).edge_cuts == 1


@pytest.mark.parametrize("effort", ["normal", "max"])
def test_levels_made_anew_within_the_parts_better_the_cut(
    pocl: Session, effort: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, cuts = cg.generators.random_geometric(8000, 14, seed=1), []
    for cycles in (0, 3):
        monkeypatch.setitem(multilevel._CYCLES, effort, (cycles, 1 << 16))
        results = [
            partition(graph, 32, effort=effort, seed=seed, session=pocl, strategy="gpu", individuals=4, verify=True)
            for seed in range(3)
        ]
        assert max(result.imbalance for result in results) <= 0.03
        cuts.append(sum(result.edge_cut for result in results))
    assert cuts[1] < cuts[0]


def test_coarse_vertices_stay_of_one_size(pocl: Session, once: None) -> None:
    """Heavy edges alone spread the weights twice as far; the numbers of the vertices do not matter."""
    for graph in (cg.generators.grid(96, 130), cg.generators.grid(96, 130).permuted(1)):
        problem = as_problem(graph, n_parts=8)
        plan = STRATEGIES["gpu"].plan(pocl, problem)
        plan.run()
        run, words = plan.used[0], plan.arrays["levels"].get().reshape(-1, plan.used[0]._words)
        constant = plan.program(REFINING).constant
        for level in range(4, 7):
            first, n = (int(words[level][constant(f"LEVEL_{name}")]) for name in ("VERTEX_WEIGHTS", "VERTICES"))
            weights = plan.arrays["arena"].get(first, first + n)
            assert n == run.levels[level]["vertices"] and weights.sum() == 96 * 130
            assert weights.std() < 0.3 * weights.mean()
        plan.release()
