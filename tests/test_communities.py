"""Communities on every device: exact quality, equal labels, connected communities, hostile weights."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS
from hypothesis import given, settings
from hypothesis import strategies as st

import clgraph as cg
from clgraph.algorithms.communities import STRATEGIES, climbing, levels
from clgraph.data.graphs.integer_graph import integer_graph
from clgraph.errors import InputError, VerificationError
from clgraph.reference.communities import check_communities
from clgraph.runtime.session import Session

OPTIONS = {"half_rounds": []}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", GRAPHS)
def test_zoo(session: Session, name: str, strategy: str) -> None:
    method = ("leiden", "louvain")[len(name) % 2]
    cg.communities(GRAPHS[name](), method=method, iterations=2, strategy=strategy, session=session, verify=True)


@pytest.mark.parametrize("method", ["leiden", "louvain"])
def test_labels_are_equal_on_all_devices(session: Session, pocl: Session, method: str) -> None:
    graph = cg.generators.random_weights(cg.generators.rmat(10, 8), seed=3, low=1, high=9)
    found = cg.communities(graph, method=method, seed=5, session=session, verify=True)
    assert np.array_equal(found.labels, cg.communities(graph, method=method, seed=5, session=pocl).labels)
    assert found.quality > 0.1


def test_levels_in_one_launch_and_in_many_have_the_same_labels(
    monkeypatch: pytest.MonkeyPatch, session: Session
) -> None:
    if not (session.facts.is_cpu or session.facts.dialect.has_grid_barrier):
        pytest.skip("this device takes a launch for each phase of a round")
    graph = cg.generators.rmat(12 if session.facts.dialect.has_grid_barrier else 10, 8)
    for options in ({}, {"max_levels": 2}, {"method": "louvain"}):
        found = cg.communities(graph, session=session, **options)
        monkeypatch.setattr(climbing, "_ROOM", 1)  # Then a launch leaves coarser levels to the next one.
        monkeypatch.setattr(climbing, "_LEVELS", 0)
        session.kept.forget()
        in_parts = cg.communities(graph, session=session, **options)
        for name in ("MAX_CLIMBED", "MAX_CPU_CLIMBED"):
            monkeypatch.setattr(levels, name, -1)
        session.kept.forget()
        in_many = cg.communities(graph, session=session, **options)
        session.kept.forget()
        monkeypatch.undo()
        assert np.array_equal(in_parts.labels, found.labels) and np.array_equal(in_many.labels, found.labels)
        assert in_parts.levels == found.levels == in_many.levels


def test_an_iteration_ends_at_a_level_that_gains_little_and_would_hardly_shrink(session: Session) -> None:
    graph = cg.generators.rmat(10, 8)
    once, found = (cg.communities(graph, iterations=k, session=session, verify=True) for k in (1, 8))
    assert 3 * once.levels[1]["entries"] > 2 * once.levels[0]["entries"] and found.quality > once.quality
    assert len(found.levels) == 1 and not found.dendrogram()


@pytest.mark.parametrize("method", ["leiden", "louvain"])
def test_cliques_of_a_ring_are_found(session: Session, method: str) -> None:
    found = cg.communities(nx.ring_of_cliques(20, 6), method=method, session=session, verify=True)
    assert found.labels.tolist() == np.repeat(np.arange(20), 6).tolist()
    groups = found.dendrogram()
    assert groups and all(each.size == 120 for each in groups)
    # Each level unites groups of the level before.
    for fine, coarse in pairwise(groups):
        assert len({*zip(fine.tolist(), coarse.tolist(), strict=True)}) == np.unique(fine).size


def test_karate_club_gets_its_best_modularity(session: Session) -> None:
    club = nx.karate_club_graph()
    best = max(cg.communities(club, seed=seed, weight=None, session=session).quality for seed in range(8))
    assert best == pytest.approx(0.4198, abs=1e-4)  # the optimum: Brandes et al., 2008


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_modularity_is_that_of_networkx(session: Session, directed: bool, weighted: bool) -> None:
    graph = nx.gnp_random_graph(70, 0.1, seed=2, directed=directed)
    graph.add_edge(3, 3)
    for u, v, attributes in graph.edges(data=True):
        attributes["weight"] = 1 + (u * v) % 7 / 8 if weighted else 1
    ours = cg.Graph.from_networkx(graph, weight="weight")
    found = cg.communities(ours, resolution=1.25, session=session, verify=True)
    sets = [set(np.flatnonzero(found.labels == c).tolist()) for c in range(found.n_communities)]
    expected = nx.community.modularity(graph, sets, resolution=1.25)
    assert found.quality == pytest.approx(expected, abs=1e-9)
    assert cg.modularity(ours, found.labels, resolution=1.25) == found.quality


@pytest.mark.parametrize("form", ["networkx", "graph", "matrix", "device"])
def test_weights_count_unless_they_are_to_be_ignored(session: Session, form: str) -> None:
    club = nx.karate_club_graph()
    graph = cg.Graph.from_networkx(club, "weight")
    given = {"networkx": club, "graph": graph, "matrix": graph.to_scipy()}
    source = given[form] if form in given else cg.DeviceGraph.from_graph(graph, session)
    for weight in ("weight", None):
        found = cg.communities(source, weight=weight, session=session, verify=True)
        sets = [set(np.flatnonzero(found.labels == c).tolist()) for c in range(found.n_communities)]
        expected = nx.community.modularity(club, sets, weight=weight)
        assert found.quality == cg.modularity(source, found.labels, weight=weight) == pytest.approx(expected, abs=1e-9)
        assert (found.graph.weight_dtype is None) == (weight is None)
    assert cg.communities(source, session=session).quality > 0.43 > cg.modularity(source, found.labels, weight=None)


def test_the_constant_potts_model_counts_pairs(session: Session) -> None:
    graph = cg.generators.two_cliques(6, bridge=True)
    found = cg.communities(graph, objective="cpm", resolution=0.5, session=session, verify=True)
    assert found.n_communities == 2 and found.quality == 2 * (15 - 0.5 * 15)
    assert cg.communities(graph, objective="cpm", resolution=1.5, session=session).n_communities == 12
    assert cg.communities(graph, objective="cpm", resolution=0, session=session).n_communities == 1


def test_initial_communities_are_kept_if_they_are_best(session: Session) -> None:
    graph = nx.ring_of_cliques(5, 8)
    labels = np.repeat([7, 3, 9, 1, 5], 8)
    found = cg.communities(graph, initial=labels, session=session, verify=True)
    assert found.labels.tolist() == np.repeat(np.arange(5), 8).tolist() and found.levels[0]["moved"] == 0


def test_parts_of_a_community_that_are_apart_become_communities(session: Session) -> None:
    graph = cg.Graph.from_edges([0, 2, 4], [1, 3, 5], n=7)
    found = cg.communities(graph, resolution=0, initial=np.zeros(7, int), session=session, verify=True)
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 2, 3]


def test_a_vertex_with_more_entries_than_the_graph_has_vertices(session: Session) -> None:
    """Such a row does not fit into local memory, though the level is small."""
    offsets, pair = np.array([0, 3000, 6000], np.int32), np.repeat(np.array([1, 0], np.int32), 3000)
    found = cg.communities(cg.Graph(offsets, pair, directed=False), session=session, verify=True)
    assert found.labels.tolist() == [0, 0]
    u, v = (each.ravel() for each in np.nonzero(~np.eye(60, dtype=bool)))
    several = cg.Graph.from_edges(np.tile(u, 40), np.tile(v, 40), n=60, directed=True)
    assert cg.communities(several, session=session, verify=True).n_communities == 1


@pytest.mark.parametrize("scale", [1e-30, 1e30, 1.0])
def test_weights_of_any_size_are_scaled(session: Session, scale: float) -> None:
    graph = nx.ring_of_cliques(4, 5)
    edges = np.array(graph.edges).T
    ours = cg.Graph.from_edges(*edges, np.full(edges.shape[1], scale))
    found = cg.communities(ours, session=session, verify=True)
    sets = [range(5 * i, 5 * i + 5) for i in range(4)]
    assert found.n_communities == 4 and found.quality == pytest.approx(nx.community.modularity(graph, sets))


def test_a_weight_that_would_vanish_is_named(session: Session) -> None:
    graph = cg.Graph.from_edges([0, 1, 2], [1, 2, 3], [1e30, 1e-30, 1e30])
    with pytest.raises(
        InputError, match=r"edge_weights\[2\] = 1e-30 would become 0 beside a greatest weight of 1e\+30"
    ):
        cg.communities(graph, session=session)


def test_weights_of_zero_and_graphs_without_weight(session: Session) -> None:
    nothing = cg.Graph.from_edges([0, 1], [1, 2], [0.0, 0.0])
    found = cg.communities(nothing, session=session, verify=True)
    assert found.labels.tolist() == [0, 1, 2] and found.quality == 0
    some = cg.Graph.from_edges([0, 1, 3], [1, 2, 3], [2, 0, 1])
    assert cg.communities(some, session=session, verify=True).labels.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "newman"}, "method = 'newman'"),
        ({"objective": "cut"}, "objective = 'cut'"),
        ({"resolution": -1}, "resolution = -1"),
        ({"resolution": 1e-9}, r"at least 2\*\*-20"),
        ({"initial": [0, 1]}, r"initial is int64 of shape \(2,\)"),
        ({"initial": [0.5] * 4}, "initial is float64"),
        ({"max_levels": 0}, "max_levels = 0"),
        ({"iterations": 0}, "iterations = 0"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        cg.communities(cg.generators.path(4), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("weight", "shown"), [(-1.0, "-1.0"), (np.inf, "inf")])
def test_bad_weights_are_refused(weight: float, shown: str) -> None:
    with pytest.raises(InputError, match=rf"edge_weights\[2\] = {shown}; communities need finite weights"):
        cg.communities(cg.Graph.from_edges([0, 1], [1, 2], [1.0, weight]))


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), resolution=st.floats(0.1, 4), directed=st.booleans(), louvain=st.booleans())
def test_random_graphs(pocl: Session, seed: int, resolution: float, directed: bool, louvain: bool) -> None:
    random = np.random.default_rng(seed)
    n, m = random.integers(1, 40), random.integers(0, 120)
    graph = cg.Graph.from_edges(*random.integers(n, size=(2, m)), random.integers(0, 5, m), n=n, directed=directed)
    method = "louvain" if louvain else "leiden"
    cg.communities(graph, method=method, resolution=resolution, seed=seed, session=pocl, verify=True)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 0, 1, 1, 1], "community 0 is not connected"),
        ([0, 0, 2, 2, 1, 1], "in the order of the first"),
        ([1, 1, 1, 2, 2, 2], "labels run from 1 to 2"),
        ([0, 0, 0, 1, 1, 1], "the quality is"),
    ],
)
def test_wrong_communities_are_found(labels: list[int], message: str) -> None:
    graph = cg.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 5, 3], n=6)
    with pytest.raises(VerificationError, match=message):
        check_communities(graph, np.array(labels, np.int32), 0.125)


def test_integers_are_exact_and_scaled_by_powers_of_two() -> None:
    graph = cg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0])
    integers = integer_graph(graph, "modularity", 1.0)
    assert integers.weights is not None and integers.weights.sum() <= 2**40
    assert (integers.weights[1] * 4, integers.weights[0] & (integers.weights[0] - 1)) == (integers.weights[2], 0)
    large = cg.Graph.from_edges([0, 1], [1, 2], [2**41, 2**42])
    assert integer_graph(large, "modularity", 1.0).weights.sum() <= 2**40  # type: ignore[union-attr]
