"""Partitions: every variant on every small graph and device, against the definition; levels; what is refused."""

import heapq
import sys
import warnings
from dataclasses import replace
from importlib.machinery import ModuleSpec
from itertools import pairwise
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import run_at_width, session_on
from graphs import UNDIRECTED
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import clgraph as cg
from clgraph.algorithms.partition import ALGORITHM, STRATEGIES, as_problem, hybrid, multilevel, partition, strategies
from clgraph.algorithms.partition.balance import keep_limits, place
from clgraph.algorithms.partition.multilevel import REFINING
from clgraph.algorithms.partition.prices import CPU_MOVED_VERTICES, GPU_MOVED_VERTICES, moved_vertices
from clgraph.algorithms.partition.problem import CONTRACTIONS, EFFORTS, MATCHINGS, REFINEMENTS, whole_of
from clgraph.compat import part_graph
from clgraph.data.graphs.graph import Graph
from clgraph.device.facts import ANY_DEVICE
from clgraph.device.profile_files import generic_profile
from clgraph.errors import InputError, UnsupportedStrategyError, VerificationError
from clgraph.model.strategy import choose
from clgraph.reference.partition import check_partition, partition_quality
from clgraph.runtime.session import Session

GRID = cg.generators.grid(40, 40)
SMALL = {"coarsest": 1, "individuals": 2}  # many levels of a small graph


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels are made once, and not anew within the parts."""
    monkeypatch.setitem(multilevel._CYCLES, "normal", (0, 1 << 16))


def quiet(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return partition(*args, **options)


@pytest.mark.parametrize("name", UNDIRECTED)
def test_zoo(session: Session, name: str) -> None:
    graph = UNDIRECTED[name]()
    for k in (1, 2, 7, 64):
        result = quiet(graph, k, session=session, strategy="gpu", verify=True, **SMALL)
        check_partition(graph, result.parts, k, result.edge_cut, most_weight=None)
        assert result.part_weights.max(initial=0) <= max(1, 1.2 * -(-graph.n_vertices // k) + 1), k


@pytest.mark.parametrize("name", UNDIRECTED)
def test_zoo_of_variants(pocl: Session, name: str) -> None:
    for variants in (
        {"matching": "segmented", "contraction": "sorted", "refinement": "buffered"},
        {"matching": "lock_free", "contraction": "hashed", "refinement": "permutations"},
    ):
        quiet(
            UNDIRECTED[name](), 7, session=pocl, strategy="gpu", drop_light_edges=True, verify=True, **variants, **SMALL
        )


@pytest.mark.parametrize("matching", MATCHINGS)
@pytest.mark.parametrize("refinement", REFINEMENTS)
def test_variants_with_weights(session: Session, matching: str, refinement: str) -> None:
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


def levels_of(session: Session, graph: Graph, *, drop_light_edges: bool = False, **settings):
    """Return the plan of a run, and each level as a scipy matrix with the weights of its vertices and its map."""
    problem = as_problem(graph, n_parts=2, **settings)
    plan = STRATEGIES["gpu"].plan(session, problem, coarsest=1, drop_light_edges=drop_light_edges)
    plan.run()
    program, words = plan.program(REFINING), plan.arrays["levels"].get()
    arena, n_words = plan.arrays["arena"].get(), program.constant("LEVEL_WORDS")
    at = {name: program.constant(f"LEVEL_{name}") for name in (
        "VERTICES", "ENTRIES", "ROWS", "COLUMNS", "EDGE_WEIGHTS", "VERTEX_WEIGHTS", "MAP",
    )}  # fmt: skip
    found = []
    for level in range(len(plan.levels)):
        own = {name: int(words[n_words * level + place]) for name, place in at.items()}
        n, m = own["VERTICES"], own["ENTRIES"]

        def part(name: str, size: int, own=own):
            return arena[own[name] : own[name] + size]

        if level:
            csr = (part("EDGE_WEIGHTS", m), part("COLUMNS", m), part("ROWS", n + 1))
            found.append((csr, part("VERTEX_WEIGHTS", n), part("MAP", n)))
        else:
            weights = np.ones(n, int) if plan.problem.vertex_weights is None else plan.problem.vertex_weights
            entries = np.ones(m, int) if graph.edge_weights is None else graph.edge_weights
            found.append(((entries, graph.column_indices, graph.row_offsets), weights, part("MAP", n)))
    return plan, found


def contraction_of(fine, weights, to, n_coarse: int) -> np.ndarray:
    """Return the matrix of the level on which vertices become *to*."""
    n, kept = weights.size, to >= 0
    onto = csr_array((np.ones(kept.sum(), int), (np.flatnonzero(kept), to[kept])), shape=(n, n_coarse))
    expected = (onto.T @ csr_array(fine, shape=(n, n)) @ onto).toarray()
    np.fill_diagonal(expected, 0)
    return expected


@pytest.mark.parametrize("contraction", CONTRACTIONS)
@pytest.mark.parametrize("matching", MATCHINGS)
@pytest.mark.parametrize("name", ["grid", "scale-free", "star", "duplicates-self-loops", "scattered"])
@pytest.mark.parametrize("cycles", [0, 1])
def test_every_level_is_the_contraction_of_the_one_before(
    session: Session, name: str, matching: str, contraction: str, cycles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(multilevel._CYCLES, "normal", (cycles, 1 << 16))

    graph = UNDIRECTED[name]()
    _, levels = levels_of(session, graph, matching=matching, contraction=contraction)
    if matching == "two_hop":
        assert levels[-1][1].size <= 256 or name == "scale-free" or cycles
    for (fine, weights, to), (coarse, coarse_weights, _) in pairwise(levels):
        n_coarse, kept = coarse_weights.size, to >= 0
        assert (np.diff(fine[2])[~kept] == 0).all()
        sizes = np.bincount(to[kept], minlength=n_coarse)
        assert sizes.min() >= 1 and sizes.max() <= 2  # onto, and a matching
        np.testing.assert_array_equal(np.bincount(to[kept], weights[kept], n_coarse), coarse_weights)
        expected = contraction_of(fine, weights, to, n_coarse)
        found = csr_array(coarse, shape=(n_coarse, n_coarse))
        np.testing.assert_array_equal(found.toarray(), expected)
        assert (found.toarray() == found.toarray().T).all()
        places = np.repeat(np.arange(n_coarse), np.diff(coarse[2])) * n_coarse + coarse[1]
        assert found.nnz == np.unique(places).size and (contraction == "hashed" or (np.diff(places) > 0).all())


def test_claims_in_two_halves_are_the_same(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for has_atomics in (True, False):
        monkeypatch.setattr(pocl.commands, "facts", replace(pocl.facts, has_int64_atomics=has_atomics))
        graph = cg.generators.rmat(9, 6, seed=3)
        found.append(quiet(graph, 4, session=pocl, strategy="gpu", matching="segmented", deterministic=True, **SMALL))
        assert ("break_ties" in found[-1].info.kernels) is not has_atomics
    assert (found[0].parts == found[1].parts).all()


@pytest.mark.parametrize("contraction", CONTRACTIONS)
def test_light_edges_of_coarse_levels_are_dropped(session: Session, contraction: str, once: None) -> None:
    """Weights of vertices and the symmetry are conserved, and what stays has its full weight; the sum is not."""
    graph = cg.generators.rmat(10, 6, seed=2)
    _, levels = levels_of(session, graph, contraction=contraction, drop_light_edges=True)
    n_dropped, most = 0, -(-2 * graph.n_edges // graph.n_vertices)
    for (fine, weights, to), (coarse, coarse_weights, _) in pairwise(levels):
        n, kept = coarse_weights.size, to >= 0
        expected = contraction_of(fine, weights, to, n)
        found = csr_array(coarse, shape=(n, n)).toarray()
        np.testing.assert_array_equal(np.bincount(to[kept], weights[kept], n), coarse_weights)
        assert (found == found.T).all() and (found[found > 0] == expected[found > 0]).all()
        assert coarse[0].size <= 1.2 * most * n
        dropped = expected[(found == 0) & (expected > 0)]
        n_dropped += dropped.size
        if dropped.size:  # the lightest, by powers of two; of the class of the heaviest of them some stay
            assert int(dropped.max()).bit_length() <= int(coarse[0].min()).bit_length()
            assert coarse[0].size >= 0.8 * most * n
    assert n_dropped
    for refinement in REFINEMENTS:
        variants = {"contraction": contraction, "refinement": refinement, "drop_light_edges": True}
        quiet(graph, 8, session=session, strategy="gpu", verify=True, **variants, **SMALL)
    with pytest.raises(InputError, match="drop_light_edges"):
        partition(graph, 2, session=session, strategy="gpu", drop_light_edges=2)


def test_meshes_keep_their_edges(pocl: Session) -> None:
    graph = cg.generators.delaunay_points(2000, seed=2)
    one, other = (quiet(graph, 8, session=pocl, strategy="gpu", drop_light_edges=drops) for drops in (False, True))
    assert (one.parts == other.parts).all()


@pytest.mark.parametrize("matching", ["lock_free", "segmented"])
def test_mates_are_neighbours_and_light(session: Session, matching: str, once: None) -> None:
    graph = cg.generators.delaunay_points(600, seed=2)
    weights = np.random.default_rng(4).integers(1, 9, graph.n_vertices)
    plan, levels = levels_of(session, graph, matching=matching, vertex_weights=weights)
    most = 3 * weights.sum() // (2 * plan.setting.values["coarsest"])
    (_, columns, rows), own, to = levels[0]
    for c in range(levels[1][1].size):
        pair = np.flatnonzero(to == c)
        if pair.size == 2:
            assert pair[1] in columns[rows[pair[0]] : rows[pair[0] + 1]] and own[pair].sum() <= most


def test_segments_leave_nobody_who_has_a_candidate(session: Session, once: None) -> None:
    """Rows are longer and shorter than a sub-group is wide, and a path of rising weights takes several rounds."""
    rising = Graph.from_edges(np.arange(999), np.arange(1, 1000), np.arange(1, 1000))
    doubled = Graph.from_edges(*np.random.default_rng(5).integers(500, size=(2, 2000)), n=500)
    for graph in (cg.generators.rmat(10, 8, seed=4), rising, doubled):
        _, levels = levels_of(session, graph, matching="segmented")
        assert len(levels) > 1
        ((_, columns, rows), weights, to) = levels[0]
        sizes = np.bincount(to[to >= 0])
        alone = np.append(to, -1)[: weights.size] >= 0
        alone[alone] = sizes[to[alone]] == 1
        sources = np.repeat(np.arange(weights.size), np.diff(rows))
        assert not (alone[sources] & alone[columns] & (sources != columns)).any()


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
def test_a_block_that_only_gains_together(pocl: Session, refinement: str) -> None:
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
def test_sub_groups_of_several_lanes(width: int, variant: dict[str, Any]) -> None:
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


def test_hybrid_divides_a_coarse_level_on_the_cpu(session: Session) -> None:
    rng = np.random.default_rng(8)
    weights = rng.integers(1, 5, 1600)
    for move_at in (300, 5000):  # a coarse level, and the graph itself
        result = partition(
            GRID, 8, vertex_weights=weights, session=session, strategy="hybrid", host="cpu", move_at=move_at,
            verify=True,
        )  # fmt: skip
        details = result.info.details
        assert details["moved_to"] == "cpu" and result.imbalance <= 0.03
        assert details["moved_vertices"] == result.levels[-1]["vertices"] <= move_at
        assert len(result.levels) == 1 or result.levels[-2]["vertices"] > move_at
    for graph in (cg.generators.star(400), cg.generators.path(5), Graph.from_edges([], [], n=9)):
        quiet(graph, 8, session=session, strategy="hybrid", host="cpu", verify=True)


def test_hybrid_brings_a_graph_to_the_runtime_that_divides_it(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may live on the device and need no coarsening."""
    other = session_on("intel" if session is session_on("pocl") else "pocl")

    class OfTwoRuntimes(hybrid.Hybrid):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            self._cpu = other

    monkeypatch.setattr("clgraph.algorithms.partition.strategies.Hybrid", OfTwoRuntimes)
    there = cg.DeviceGraph.from_graph(GRID, session)
    result = partition(there, 8, strategy="hybrid", host="cpu", move_at=5000, verify=True)
    assert result.info.details["moved_vertices"] == GRID.n_vertices


def test_beside_a_gpu_only_metis_divides_more_than_the_coarsest_level() -> None:
    gpu = replace(ANY_DEVICE, is_cpu=False)
    assert moved_vertices(gpu, "metis") == GPU_MOVED_VERTICES > 0
    assert moved_vertices(gpu, "cpu") == 0
    assert moved_vertices(ANY_DEVICE, "cpu") == CPU_MOVED_VERTICES


def test_hybrid_asks_metis_for_what_the_problem_says(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    metis = ModuleType("pymetis")
    metis.__spec__ = ModuleSpec("pymetis", None)

    def part_graph(n_parts, *, xadj, adjncy, vweights, eweights, tpwgts, options):
        asked.append((xadj.size - 1, vweights, eweights, tpwgts, options))
        assert eweights is None or eweights.size == adjncy.size
        return 0, (np.arange(xadj.size - 1) // 7 % n_parts).tolist()

    metis.part_graph, metis.Options = part_graph, dict
    monkeypatch.setitem(sys.modules, "pymetis", metis)
    monkeypatch.setattr(hybrid, "has_metis", lambda: True)  # a test before this one may have found none
    for most, moves_all in ((1 << 15, True), (200, False)):
        monkeypatch.setattr(hybrid, "moved_vertices", lambda *_, most=most: most)
        graph = cg.generators.grid(40, 40)
        result = quiet(graph, 4, session=pocl, strategy="hybrid", target_weights=[1, 2, 3, 4], seed=7, verify=True)
        n, vweights, eweights, shares, options = asked[-1]
        assert result.info.details["moved_to"] == "metis" and result.info.details["moved_vertices"] == n
        assert (n == 1600) is moves_all and (vweights is None) is moves_all
        if not moves_all:
            assert vweights.sum() == 1600 and eweights.min() >= 1
        assert shares == pytest.approx([0.1, 0.2, 0.3, 0.4]) and options == {"seed": 7, "ufactor": 30}
    cut = partition_quality(graph, (np.arange(1600) // 7 % 4).astype(np.int32), 4)["edge_cut"]
    result = partition(cg.generators.grid(40, 40), 4, session=pocl, strategy="hybrid", move_at=1600, verify=True)
    assert result.edge_cut < cut  # what METIS gave was refined


def test_hybrid_of_metis_itself(pocl: Session) -> None:
    pytest.importorskip("pymetis")
    result = partition(GRID, 16, session=pocl, strategy="hybrid", host="metis", move_at=500, verify=True)
    assert result.edge_cut <= 290 and result.part_weights.max() <= 103


def test_hybrid_tells_metis_what_edges_weigh(pocl: Session) -> None:
    """Rows of eight; along a row an edge weighs 1, across rows 1,000. A vertex weighs nothing of its own."""
    pytest.importorskip("pymetis")
    vertex = np.arange(256)
    along, across = vertex[vertex % 8 != 7], vertex[:248]
    graph = cg.Graph.from_edges(
        np.r_[along, across], np.r_[along + 1, across + 8], np.repeat([1, 1000], [along.size, across.size]), n=256
    )
    whole = partition(graph, 2, session=pocl, strategy="hybrid", host="metis", move_at=256, refinement="noop")
    assert whole.info.details["moved_vertices"] == 256 and whole.edge_cut == 32


def test_hybrid_refused(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    for options in ({"host": "gpu"}, {"move_at": 0}):
        with pytest.raises(InputError, match=next(iter(options))):
            partition(GRID, 2, session=pocl, strategy="hybrid", **options)
    monkeypatch.setattr(hybrid, "has_metis", lambda: False)
    with pytest.raises(UnsupportedStrategyError, match="pymetis"):
        partition(GRID, 2, session=pocl, strategy="hybrid", host="metis")


def test_isolated_vertices_fill_up(pocl: Session) -> None:
    graph = Graph.from_edges(np.arange(399), np.arange(1, 400), n=1000)
    result = partition(graph, 4, session=pocl, verify=True)
    assert result.part_weights.max() <= 257 and result.edge_cut <= 12


@pytest.mark.parametrize(("given", "wanted"), [([1, 5, 3, 1], [5, 5]), ([4, 3, 2, 1], [5, 5]), (None, [2, 2])])
def test_isolated_vertices_with_weights(given: list[int] | None, wanted: list[int]) -> None:
    """They keep the limits, also where the end of a vertex would not fit into the room that is left."""
    problem = as_problem(Graph.from_edges([], [], n=4), n_parts=2, vertex_weights=given)
    parts, weights = np.full(4, -1, np.int32), np.zeros(2, np.int64)
    place(problem, parts, weights)
    assert weights.tolist() == wanted == np.bincount(parts, given, 2).tolist()


def test_more_parts_than_vertices(pocl: Session) -> None:
    result = quiet(cg.generators.path(5), 12, session=pocl, verify=True)
    assert result.part_weights.max() == 1
    assert quiet(Graph.from_edges([], []), 3, session=pocl).parts.size == 0


def test_most_parts(pocl: Session) -> None:
    result = quiet(GRID, 1024, session=pocl, individuals=1, strategy="gpu", imbalance=0.5, verify=True)
    assert result.part_weights.max() <= 3


def test_arena_grows(pocl: Session) -> None:
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
def test_refused(changes, words) -> None:
    with pytest.raises(InputError, match=words):
        as_problem(GRID, **{"n_parts": 2, **changes})


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_weights_of_vertices_reach_up_to_2_31(pocl: Session, dtype) -> None:
    """In a vertex and in all; sums that wrap around in 64 bits are refused, too."""
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
def test_graphs_that_are_refused(graph: Graph, words: str) -> None:
    with pytest.raises(InputError, match=words):
        as_problem(graph)


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
    for wrong in ({}, {"adjacency": rows, "xadj": [0]}, {"adjacency": rows, "contiguous": True}, {"adjacency": [3]}):
        with pytest.raises(InputError):
            part_graph(2, **wrong)


@pytest.mark.parametrize("form", ["dict", "networkx", "csr", "coo", "bsr", "arrays", "tuples"])
def test_part_graph_takes_whatever_tells_the_neighbours_of_a_vertex(form: str, pocl: Session) -> None:
    graph = cg.generators.grid(6, 6)
    rows = np.split(graph.column_indices, graph.row_offsets[1:-1])
    matrix = graph.to_scipy().astype(float) * -0.5  # what stands in a matrix is no weight
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
    for options, message in (
        ({"contig": True}, r"options\.contig = True"), ({"contig": 1}, r"options\.contig = True"),
        ({"numbering": 1}, r"options\.numbering = 1"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            part_graph(2, [[1], [0]], options=SimpleNamespace(**options), session=pocl)
    with pytest.raises(InputError, match="contiguous = array"):
        part_graph(2, [[1], [0]], contiguous=np.arange(6), session=pocl)
    unset = SimpleNamespace(contig=-1, numbering=-1, seed=-1, ufactor=-1)
    assert part_graph(2, [[1], [0]], options=unset, contiguous=False, session=pocl).edge_cuts == 1


@pytest.mark.parametrize("shares", [[1, 0], [0, 1, 0, 2], [1, 1e-46], [0, 0, 3]])
def test_a_part_without_a_share_stays_empty_by_metis(pocl: Session, shares: list[float]) -> None:
    pytest.importorskip("pymetis")
    result = quiet(GRID, len(shares), strategy="hybrid", host="metis", target_weights=shares, session=pocl, verify=True)
    expected = 1600 * np.array(shares) / sum(shares)
    assert (result.part_weights[np.array(shares) == 0] == 0).all()
    assert (result.part_weights <= 1.03 * expected + 1).all()


def test_a_star_shrinks_by_either_matching(pocl: Session, once: None) -> None:
    for matching in MATCHINGS:
        result = partition(cg.generators.star(40_000), 2, matching=matching, session=pocl, strategy="gpu", verify=True)
        assert result.levels[-1]["vertices"] <= 200 and result.part_weights.max() <= 20_600


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


def test_metis_is_weighed_on_cpus_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """It divides a mesh sooner than a CPU does, but not the same everywhere, and not as well as the most effort."""
    cpu = replace(ANY_DEVICE, is_cpu=True)
    grid = as_problem(cg.generators.grid(200, 200), n_parts=16)
    for installed, device, problem, expected in (
        (True, cpu, grid, "hybrid"), (False, cpu, grid, "gpu"), (True, replace(cpu, is_cpu=False), grid, "gpu"),
        (True, cpu, replace(grid, deterministic=True), "gpu"), (True, cpu, replace(grid, effort="max"), "gpu"),
    ):  # fmt: skip
        monkeypatch.setattr(strategies, "has_metis", lambda installed=installed: installed)
        names, rates = ALGORITHM.contenders(problem, device), generic_profile(device).rates
        assert choose(STRATEGIES, names, "auto", problem, device, rates).strategy == expected


# ---- limits of parts, on every path, whatever the graph, the weights and the number of parts


RNG = np.random.default_rng


def clique(n: int) -> Graph:
    return Graph.from_edges(*np.triu_indices(n, 1))


def complete_bipartite(n: int) -> Graph:
    return Graph.from_edges(np.repeat(np.arange(n // 3), n - n // 3), np.tile(np.arange(n // 3, n), n // 3))


def fit_by_size(weights, limits) -> bool:
    """Return whether the weights fit if each, the greatest first, goes where most room is."""
    heap = [(-limit, part) for part, limit in enumerate(limits.tolist())]
    heapq.heapify(heap)
    for weight in sorted(weights.tolist(), reverse=True):
        room, part = heap[0]
        heapq.heapreplace(heap, (room + weight, part))
    return max(room for room, _ in heap) <= 0


def surely_fit(problem) -> bool:
    if problem.vertex_weights is None:
        return True
    slack = int(problem.limits.sum()) - problem.total_weight
    return problem.heaviest * (problem.n_parts - 1) <= slack or fit_by_size(problem.vertex_weights, problem.limits)


def check_balance(problem, parts, part_weights) -> None:
    """Check the weights of parts; heavy vertices are alone, and each other part keeps the limit of what is left."""
    whole, k = whole_of(problem), whole_of(problem).n_parts
    own = np.ones(parts.size, int) if whole.vertex_weights is None else whole.vertex_weights.astype(int)
    weights = np.bincount(parts, own, k).astype(int)
    assert (weights == part_weights).all()
    limits = whole.limits
    if problem.apart is not None:
        limits = np.zeros(k, int)
        limits[problem.apart.parts] = own[problem.apart.vertices]
        limits[problem.apart.others] = problem.limits
        assert (limits[problem.apart.others] <= whole.limits[problem.apart.others]).all()
    if surely_fit(problem):
        assert (weights <= limits).all(), (weights, limits)
    counts = np.bincount(parts, minlength=k)
    shares = np.full(k, 1 / k) if whole.target_weights is None else whole.target_weights
    may_be_empty = shares * parts.size < 0.5
    if ((counts == 0) & ~may_be_empty).any() and problem.apart is None:
        smallest = limits[(counts == 0) & ~may_be_empty].max()
        assert not ((counts[parts] > 1) & (own <= smallest)).any()


@st.composite
def problems(draw):
    """A graph of up to 60 vertices, its weights and shares, and parts at random, most of them in few parts."""
    n, k = draw(st.integers(1, 60)), draw(st.integers(2, 12))
    rng = RNG(draw(st.integers(0, 2**32 - 1)))
    m = draw(st.integers(0, 4 * n))
    has_weights = draw(st.booleans())
    graph = Graph.from_edges(*rng.integers(n, size=(2, m)), rng.integers(0, 9, m) if has_weights else None, n=n)
    greatest = draw(st.sampled_from([None, 1, 3, 100]))
    shares = rng.random(k) * (rng.random(k) < 0.8) if draw(st.booleans()) else None
    problem = as_problem(
        graph, n_parts=k, imbalance=draw(st.sampled_from([0.0, 0.03, 0.5])),
        vertex_weights=None if greatest is None else rng.integers(0, greatest + 1, n),
        target_weights=None if shares is None or not shares.any() else shares,
    )  # fmt: skip
    parts = rng.integers(rng.integers(1, problem.n_parts + 1), size=n).astype(np.int32)
    return problem, parts


@settings(max_examples=400, deadline=None)
@given(problems())
def test_limits_are_kept_whatever_the_parts_were(given_) -> None:
    problem, parts = given_
    before = partition_quality(problem.graph, parts, problem.n_parts, vertex_weights=problem.vertex_weights)
    weights = before["part_weights"].copy()
    growth = keep_limits(problem, parts, weights)
    cut, given_weights = before["edge_cut"] + growth, {"vertex_weights": problem.vertex_weights}
    check_partition(problem.graph, parts, problem.n_parts, cut, part_weights=weights, **given_weights)
    if problem.apart is None:
        check_balance(problem, parts, weights)
    elif surely_fit(problem):
        assert (weights <= problem.limits).all()
    over = [np.maximum(own - problem.limits, 0).sum() for own in (before["part_weights"], weights)]
    assert over[1] <= over[0]


def test_vertices_go_where_the_cut_loses_least() -> None:
    """A path in two parts of 52 and 48 vertices: the two beside the cut change, and the path is still cut once."""
    problem = as_problem(cg.generators.path(100), n_parts=2, imbalance=0.0)
    parts = np.repeat(np.arange(2, dtype=np.int32), (52, 48))
    weights = np.bincount(parts)
    assert keep_limits(problem, parts, weights) == 0
    assert parts.tolist() == [0] * 50 + [1] * 50 and weights.tolist() == [50, 50]
    kept = parts.copy()
    assert keep_limits(problem, parts, weights) == 0 and (parts == kept).all()


def solve(graph, k: int, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return partition(graph, k, verify=True, **options)


def weights_of(kind: str, n: int, rng) -> np.ndarray | None:
    if kind == "unit":
        return None
    weights = rng.integers(0, 20, n) if kind == "many" else np.ones(n, int)
    if kind == "heavy":
        weights[rng.integers(n, size=3)] = [5 * n, 2 * n, n]
    return weights


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.long
def test_limits_are_kept_on_every_path(session: Session, seed: int) -> None:
    rng = RNG(seed)
    dense = {"clique": lambda: clique(150), "bipartite": lambda: complete_bipartite(200)}
    zoo = {name: make for name, make in UNDIRECTED.items() if name not in ("empty", "one-vertex", "one-self-loop")}
    for name in (*dense, *rng.choice(list(zoo), 3).tolist()):
        graph = {**dense, **zoo}[name]()
        for strategy in ("gpu", "hybrid"):
            kind, k = str(rng.choice(["unit", "many", "heavy"])), int(rng.choice([2, 7, 12, 64]))
            asked = {
                "vertex_weights": weights_of(kind, graph.n_vertices, rng), "imbalance": float(rng.choice([0, 0.03])),
                "target_weights": rng.random(k) if rng.random() < 0.3 else None, "seed": seed,
                "matching": str(rng.choice(MATCHINGS)), "refinement": str(rng.choice(REFINEMENTS)),
                "effort": str(rng.choice(EFFORTS)), "deterministic": bool(rng.random() < 0.5),
            }  # fmt: skip
            options = {"coarsest": 4} if strategy == "gpu" else {"host": "cpu", "move_at": int(rng.choice([60, 1000]))}
            result = solve(graph, k, session=session, strategy=strategy, **asked, **options)
            check_balance(as_problem(graph, n_parts=k, **asked), result.parts, result.part_weights)


@pytest.mark.parametrize(("n", "k"), [(300, 100), (682, 33), (700, 100), (800, 42), (941, 64)])
def test_dense_graphs_are_balanced(session: Session, n: int, k: int) -> None:
    for graph in (clique(n), complete_bipartite(n)):
        result = partition(graph, k, seed=3, session=session, verify=True)
        assert result.part_weights.max() <= max(-(-n // k), int(1.03 * n / k)) and result.part_weights.min() > 0
    cut, parts = part_graph(k, xadj=graph.row_offsets, adjncy=graph.column_indices, session=session)
    check_partition(graph, np.array(parts, np.int32), k, cut, most_weight=max(-(-n // k), int(1.03 * n / k)))


def test_metis_keeps_limits(pocl: Session) -> None:
    pytest.importorskip("pymetis")
    for graph, k in ((clique(300), 100), (complete_bipartite(700), 100), (cg.generators.star(900), 7)):
        result = partition(graph, k, session=pocl, strategy="hybrid", host="metis", move_at=1000, verify=True)
        check_balance(as_problem(graph, n_parts=k), result.parts, result.part_weights)


@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize("strategy", ["gpu", "hybrid"])
def test_heavy_vertices_are_alone_and_no_part_is_empty(session: Session, strategy: str, on_device: bool) -> None:
    graph, weights = cg.generators.grid(20, 20), np.ones(400, int)
    weights[7], weights[300], weights[11] = 1000, 500, 0
    given_graph = cg.DeviceGraph.from_graph(graph, session) if on_device else graph
    options = {"host": "cpu"} if strategy == "hybrid" else {}
    with pytest.warns(RuntimeWarning, match="A vertex weighs 1000"):
        result = partition(
            given_graph, 4, vertex_weights=weights, session=session, strategy=strategy, verify=True, **options
        )
    light = sorted(result.part_weights.tolist())[:2]
    assert sorted(result.part_weights.tolist())[2:] == [500, 1000]
    assert sum(light) == 397 and light[1] <= 204
    assert (result.parts == result.parts[7]).sum() == (result.parts == result.parts[300]).sum() == 1
    assert result.edge_cut <= 40 and result.imbalance == pytest.approx(1000 / 474.25 - 1)
    shares = [0.1, 0.4, 0.3, 0.2]
    result = solve(graph, 4, vertex_weights=weights, target_weights=shares, session=session, strategy=strategy)
    assert result.part_weights[1] == 1000 and result.part_weights[2] == 500
    assert result.part_weights[0] <= 137 and result.part_weights[3] <= 273
    for of_loop in (Graph.from_edges([0, 0, 1], [0, 1, 2], [7, 5, 3], n=6), cg.generators.path(6)):
        result = solve(of_loop, 4, vertex_weights=[90, 40, 1, 1, 1, 1], session=session, strategy=strategy)
        assert sorted(result.part_weights.tolist()) == [2, 2, 40, 90]


def test_the_heaviest_vertex_may_leave_one_part_for_all_others(pocl: Session) -> None:
    result = solve(cg.generators.path(50), 2, vertex_weights=[1000] + [1] * 49, session=pocl)
    assert result.part_weights.tolist() == [1000, 49] and result.edge_cut == 1


def test_limits_fit_32_bits_whatever_the_imbalance(pocl: Session) -> None:
    problem = as_problem(cg.generators.path(50), n_parts=2, vertex_weights=[2**25] * 50, imbalance=1e6)
    assert problem.limits.tolist() == [50 * 2**25] * 2
    assert solve(cg.generators.path(50), 2, vertex_weights=[2**25] * 50, imbalance=1e6, session=pocl).edge_cut <= 1
