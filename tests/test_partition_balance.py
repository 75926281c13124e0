"""Limits of parts on every path, for any graph, weights and number of parts."""

import heapq

import numpy as np
import pytest
from graphs import UNDIRECTED
from hypothesis import given, settings
from hypothesis import strategies as st
from partition_runs import quiet

import clgraph as cg
from clgraph.algorithms.partition import as_problem, partition
from clgraph.algorithms.partition.balance import keep_limits
from clgraph.algorithms.partition.problem import EFFORTS, MATCHINGS, REFINEMENTS, whole_of
from clgraph.compat import part_graph
from clgraph.data.graphs.graph import Graph
from clgraph.reference.partition import check_partition, partition_quality
from clgraph.runtime.session import Session

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
            result = quiet(graph, k, session=session, verify=True, strategy=strategy, **asked, **options)
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
    result = quiet(
        graph, 4, vertex_weights=weights, target_weights=shares, session=session, verify=True, strategy=strategy
    )
    assert result.part_weights[1] == 1000 and result.part_weights[2] == 500
    assert result.part_weights[0] <= 137 and result.part_weights[3] <= 273
    for of_loop in (Graph.from_edges([0, 0, 1], [0, 1, 2], [7, 5, 3], n=6), cg.generators.path(6)):
        result = quiet(of_loop, 4, vertex_weights=[90, 40, 1, 1, 1, 1], session=session, verify=True, strategy=strategy)
        assert sorted(result.part_weights.tolist()) == [2, 2, 40, 90]


def test_the_heaviest_vertex_may_leave_one_part_for_all_others(pocl: Session) -> None:
    result = quiet(cg.generators.path(50), 2, vertex_weights=[1000] + [1] * 49, session=pocl, verify=True)
    assert result.part_weights.tolist() == [1000, 49] and result.edge_cut == 1


def test_limits_fit_32_bits_whatever_the_imbalance(pocl: Session) -> None:
    problem = as_problem(cg.generators.path(50), n_parts=2, vertex_weights=[2**25] * 50, imbalance=1e6)
    assert problem.limits.tolist() == [50 * 2**25] * 2
    assert (
        quiet(cg.generators.path(50), 2, vertex_weights=[2**25] * 50, imbalance=1e6, session=pocl, verify=True).edge_cut
        <= 1
    )
