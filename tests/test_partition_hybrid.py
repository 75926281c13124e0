"""Hybrid partitioning: a coarse level that the CPU or METIS divides; METIS itself."""

import sys
from dataclasses import replace
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pytest
from conftest import session_on
from partition_runs import GRID, quiet

import clgraph as cg
from clgraph.algorithms.partition import as_problem, host, hybrid, partition
from clgraph.algorithms.partition.prices import CPU_MOVED_VERTICES, GPU_MOVED_VERTICES, moved_vertices
from clgraph.data.graphs.graph import Graph
from clgraph.device.facts import ANY_DEVICE
from clgraph.errors import InputError, UnsupportedStrategyError
from clgraph.reference.partition import partition_quality
from clgraph.runtime.session import Session


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
    """The graph lives on the device and needs no coarsening."""
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
    assert result.edge_cut < cut  # The parts of METIS were refined.


def test_hybrid_may_be_metis_itself(pocl: Session) -> None:
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


def test_hybrid_is_refused_where_it_cannot_run(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    for options in ({"host": "gpu"}, {"move_at": 0}):
        with pytest.raises(InputError, match=next(iter(options))):
            partition(GRID, 2, session=pocl, strategy="hybrid", **options)
    monkeypatch.setattr(hybrid, "has_metis", lambda: False)
    with pytest.raises(UnsupportedStrategyError, match="pymetis"):
        partition(GRID, 2, session=pocl, strategy="hybrid", host="metis")


@pytest.mark.parametrize("shares", [[1, 0], [0, 1, 0, 2], [1, 1e-46], [0, 0, 3]])
def test_a_part_without_a_share_stays_empty_by_metis(pocl: Session, shares: list[float]) -> None:
    pytest.importorskip("pymetis")
    result = quiet(GRID, len(shares), strategy="hybrid", host="metis", target_weights=shares, session=pocl, verify=True)
    expected = 1600 * np.array(shares) / sum(shares)
    assert (result.part_weights[np.array(shares) == 0] == 0).all()
    assert (result.part_weights <= 1.03 * expected + 1).all()


def test_metis_runs_on_the_host(pocl: Session) -> None:
    pytest.importorskip("pymetis")
    rng = np.random.default_rng(2)
    src, dst = rng.integers(300, size=(2, 900))
    graph = cg.Graph.from_edges(src, dst, rng.integers(0, 4, 900), n=310)
    for each, k, weights in (
        (GRID, 16, None),
        (graph, 5, rng.integers(0, 3, 310)),
        (Graph.from_edges([], [], n=9), 4, None),
    ):
        result = quiet(each, k, session=pocl, strategy="host", vertex_weights=weights, verify=True)
        assert (
            result.levels == []
            and result.part_weights.max() <= as_problem(each, n_parts=k, vertex_weights=weights).limits.max()
        )


def test_host_needs_pymetis(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "has_metis", lambda: False)
    with pytest.raises(UnsupportedStrategyError, match="pymetis"):
        partition(GRID, 2, session=pocl, strategy="host")
