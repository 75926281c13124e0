"""The strategy pairwise_fm: partitions by the cores of a CPU, and the choice among strategies."""

from dataclasses import replace

import numpy as np
import pytest
from graphs import UNDIRECTED
from partition_runs import GRID, quiet

import clgraph as cg
from clgraph.algorithms.partition import ALGORITHM, STRATEGIES, as_problem, pairwise_fm, partition, strategies
from clgraph.algorithms.partition.core import core_of
from clgraph.algorithms.partition.problem import EFFORTS
from clgraph.data.graphs.graph import Graph
from clgraph.device.facts import ANY_DEVICE
from clgraph.device.profile_files import generic_profile
from clgraph.errors import UnsupportedStrategyError
from clgraph.model.strategy import choose
from clgraph.runtime.session import Session

PAIRS = "pairwise_fm"


@pytest.fixture
def session(session: Session) -> Session:
    if not session.facts.is_cpu:
        pytest.skip("pairwise_fm runs on CPUs only")
    return session


@pytest.mark.parametrize("name", UNDIRECTED)
def test_pairs_divide_every_small_graph(session: Session, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "_MIN_COARSEST", 8)
    monkeypatch.setattr(pairwise_fm, "_SMALL", (20, 60))
    graph = UNDIRECTED[name]()
    for k in (1, 2, 7, 64):
        result = quiet(graph, k, session=session, strategy=PAIRS, coarsest=1, individuals=2, verify=True)
        assert result.part_weights.max(initial=0) <= as_problem(graph, n_parts=k).limits.max(), k


@pytest.mark.parametrize("effort", EFFORTS)
def test_every_effort_heeds_weights_and_shares(session: Session, effort: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairwise_fm, "_SMALL", (100, 1000))
    rng = np.random.default_rng(3)
    src, dst = rng.integers(900, size=(2, 4000))
    graph = Graph.from_edges(src, dst, rng.integers(0, 100, src.size).astype(np.int32), n=1000)
    weights, shares = rng.integers(0, 9, 1000), np.r_[0.0, rng.random(8) + 0.5]
    given = {"vertex_weights": weights, "target_weights": shares, "effort": effort}
    result = quiet(graph, 9, session=session, strategy=PAIRS, coarsest=4, verify=True, **given)
    assert (result.part_weights <= as_problem(graph, n_parts=9, **given).limits).all()


def test_pairs_find_small_cuts_of_meshes(session: Session) -> None:
    for effort, most in (("fast", 300), ("normal", 275), ("max", 270)):
        result = partition(GRID, 16, session=session, strategy=PAIRS, effort=effort, coarsest=8, verify=True)
        assert result.edge_cut <= most  # 240 is the least: squares of 10 by 10
        assert result.part_weights.max() <= 103 and result.part_weights.sum() == 1600
    assert result.levels[0]["vertices"] == 1600 and len(result.levels) > 1
    mesh = cg.generators.delaunay_points(1 << 13, seed=1)
    result = partition(mesh, 8, session=session, strategy=PAIRS, verify=True)
    assert result.edge_cut <= 780  # METIS 5.2.1 cuts 717 … 745 with ten seeds


def test_the_core_of_a_power_law_graph_becomes_a_part(pocl: Session) -> None:
    graph = cg.generators.rmat(12, 16, seed=4)
    problem = as_problem(graph, n_parts=8)
    core = core_of(problem)
    assert core is not None and 0 < core.weight <= problem.limits.max()
    in_core = graph.degrees >= core.degree
    assert in_core.sum() == core.weight and in_core[core.root]
    outside = ~(in_core[graph.sources()] & in_core[graph.column_indices])
    assert core.edges_outside == pytest.approx(outside.sum() / 2, rel=0.05)
    for effort in ("fast", "normal"):
        result = partition(graph, 8, session=pocl, strategy=PAIRS, effort=effort, verify=True)
        assert result.edge_cut <= outside.sum() / 2
    assert core_of(as_problem(GRID, n_parts=8)) is None  # degrees are too even
    assert core_of(as_problem(cg.generators.random_weights(graph, high=9), n_parts=8)) is None


def test_cores_are_for_graphs_in_which_they_pay(pocl: Session) -> None:
    """Eight stars whose hubs form a ring: one part of hubs would cut all edges."""
    hubs, leaves = np.arange(8), np.arange(8, 8 + 8 * 200)
    graph = Graph.from_edges(np.r_[hubs, leaves], np.r_[(hubs + 1) % 8, leaves % 8], n=leaves[-1] + 1)
    assert core_of(as_problem(graph, n_parts=8)) is not None
    assert partition(graph, 8, session=pocl, strategy=PAIRS, imbalance=0.1, verify=True).edge_cut <= 100


def test_pairs_are_refused_where_they_cannot_run(pocl: Session) -> None:
    for option in ({"deterministic": True}, {"refinement": "buffered"}, {"matching": "lock_free"}):
        with pytest.raises(UnsupportedStrategyError, match="pairwise_fm"):
            partition(GRID, 2, session=pocl, strategy=PAIRS, **option)
    assert STRATEGIES[PAIRS].unsupported(replace(ANY_DEVICE, is_cpu=False)) is not None


def test_auto_takes_pairs_on_cpus() -> None:
    cpu = replace(ANY_DEVICE, is_cpu=True)
    grid = as_problem(GRID, n_parts=16)
    for device, problem, expected in (
        (cpu, grid, PAIRS), (cpu, replace(grid, effort="fast"), PAIRS), (cpu, replace(grid, deterministic=True), "gpu"),
        (cpu, replace(grid, refinement="noop"), "gpu"),
        (cpu, replace(grid, effort="max"), "gpu"), (replace(cpu, is_cpu=False), grid, "gpu"),
    ):  # fmt: skip
        names, rates = ALGORITHM.contenders(problem, device), generic_profile(device).rates
        assert choose(STRATEGIES, names, "auto", problem, device, rates).strategy == expected
