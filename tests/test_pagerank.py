"""PageRank against the definition and networkx, on graphs of every kind."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import run_at_width
from graphs import GRAPHS
from hypothesis import given
from hypothesis import strategies as st

import clgraph as cg
from clgraph.algorithms.pagerank.plan import PowerPlan, cut_rows
from clgraph.algorithms.pagerank.problem import as_problem
from clgraph.algorithms.pagerank.strategies import STRATEGIES, lanes
from clgraph.data.graphs.graph import Graph
from clgraph.errors import (
    ConvergenceWarning,
    GraphError,
    InputError,
    SourceError,
    UnsupportedStrategyError,
    VerificationError,
)
from clgraph.generators import random_weights
from clgraph.reference.pagerank import check_pagerank, step
from clgraph.runtime.session import Session

EXACT = {"dtype": "float64", "tol": 1e-12, "max_iter": 2000}


SINGLE = [name for name in STRATEGIES if name != "lanes"]  # strategies for one personalisation


def strategies_of(session: Session) -> list[str]:
    return [name for name in SINGLE if STRATEGIES[name].unsupported(session.facts) is None]


def random_digraph(n: int, m: int, seed: int) -> Graph:
    rng = np.random.default_rng(seed)
    return Graph.from_edges(*rng.integers(n, size=(2, m)), rng.random(m) + 0.1, n=n, directed=True, ids=None)


@pytest.mark.parametrize("name", GRAPHS)
def test_every_strategy_finds_the_fixed_point(session: Session, name: str) -> None:
    graph = GRAPHS[name]()
    expected = cg.pagerank(graph, strategy="host", **EXACT).ranks
    for strategy in strategies_of(session):
        found = cg.pagerank(graph, strategy=strategy, session=session, verify=True, **EXACT)
        np.testing.assert_allclose(found.ranks, expected, rtol=1e-9)
        single = cg.pagerank(graph, strategy=strategy, session=session, verify=True, max_iter=500)
        assert single.ranks.dtype == np.float32 and np.abs(single.ranks - expected).sum() < 1e-5


@pytest.mark.parametrize("strategy", SINGLE)
def test_settings_agree_with_networkx(session: Session, strategy: str) -> None:
    if strategy not in strategies_of(session):
        pytest.skip(f"{strategy} is not for this device")
    drawn = np.random.default_rng(7)
    digraph = nx.gnp_random_graph(90, 0.03, seed=4, directed=True)
    for u, v in digraph.edges:
        digraph.edges[u, v]["weight"] = float(drawn.integers(0, 4))  # zeros strand some vertices
    run = {"strategy": strategy, "session": session, "verify": True, **EXACT}
    for settings in (
        {},
        {"alpha": 0.5},
        {"personalization": {3: 1, 50: 2.5}},
        {"dangling": {0: 1, 1: 1}},
        {"personalization": {3: 1}, "dangling": {4: 2}},
        {"weight": None},
    ):
        expected = nx.pagerank(digraph, tol=1e-16, max_iter=2000, **settings)
        found = cg.pagerank(digraph, **settings, **run)
        np.testing.assert_allclose(found.ranks, list(expected.values()), rtol=1e-8, atol=1e-14)
    start = np.arange(90.0)
    again = cg.pagerank(digraph, initial=start, **run)
    np.testing.assert_allclose(again.ranks, list(nx.pagerank(digraph, tol=1e-16, max_iter=999).values()), rtol=1e-8)
    near = cg.pagerank(digraph, initial=again.ranks, **run)
    assert near.n_iterations <= 2 < again.n_iterations


def test_rows_longer_than_a_block_are_added_up_in_pieces(session: Session) -> None:
    rng = np.random.default_rng(2)
    ends = np.concatenate((rng.integers(5000, size=(2, 9000)), [np.arange(5000), np.zeros(5000, int)]), axis=1)
    graph = Graph.from_edges(*ends, rng.integers(1, 9, ends.shape[1]), n=5000, directed=True)
    for data in (cg.generators.star(5001), graph):
        expected = cg.pagerank(data, strategy="host", **EXACT).ranks
        for _ in range(2):  # The second run reuses the plan.
            found = cg.pagerank(data, strategy="row_blocks", session=session, verify=True, **EXACT)
            np.testing.assert_allclose(found.ranks, expected, rtol=1e-9)
            assert "add_pieces" in found.info.kernels


def test_one_device_repeats_ranks_to_the_bit(session: Session) -> None:
    graph = cg.generators.rmat(11, 8, seed=1)
    for strategy in strategies_of(session):
        first, second = (cg.pagerank(graph, strategy=strategy, session=session) for _ in range(2))
        assert np.array_equal(first.ranks, second.ranks) and first.change == second.change


def test_new_settings_reuse_a_plan(pocl: Session) -> None:
    graph = cg.generators.rmat(9, 8, seed=1)
    n = graph.n_vertices
    for alpha, home in ((0.3, np.arange(n)), (0.9, np.ones(n)), (0.6, np.eye(1, n, 5)[0])):
        expected = cg.pagerank(graph, alpha=alpha, personalization=home, strategy="host", **EXACT)
        found = cg.pagerank(graph, alpha=alpha, personalization=home, strategy="rows", session=pocl, **EXACT)
        np.testing.assert_allclose(found.ranks, expected.ranks, rtol=1e-9, atol=1e-15)


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 20), st.integers(1, 9))
def test_blocks_have_all_rows_once(lengths: list[int], size: int, piece: int) -> None:
    offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
    blocks = cut_rows(offsets, size, piece)
    first = blocks.first_rows
    assert first[0] == 0 and first[-1] == len(lengths) and (np.diff(first) > 0).all()
    pieces = []
    for k, (row, end) in enumerate(pairwise(first)):
        if blocks.first_pieces[k] >= 0:
            assert end == row + 1 and lengths[row] > size and blocks.first_pieces[k] == len(pieces)
            pieces += [(row, number) for number in range(-(-lengths[row] // piece))]
        else:
            assert end - row <= size and offsets[end] - offsets[row] < 2 * size + 1
    assert blocks.pieces.tolist() == [list(each) for each in pieces]


@pytest.mark.parametrize("n_homes", [1, 2, 5, 16])
def test_a_batch_has_the_ranks_of_single_calls(session: Session, n_homes: int) -> None:
    rng = np.random.default_rng(n_homes)
    hub = Graph.from_edges([*range(5000), 0], [0] * 5000 + [7], n=5000, directed=True)  # a row of several pieces
    for graph in (random_digraph(400, 3000, 1), hub, cg.generators.grid(20, 20)):
        homes = rng.random((n_homes, graph.n_vertices)) ** 8
        settings: dict[str, Any] = {
            "dangling": np.arange(graph.n_vertices),
            "initial": homes[0] + 1,
            "session": session,
        }
        single = [cg.pagerank(graph, personalization=home, strategy="host", **EXACT, **settings) for home in homes]
        for several in (homes, [dict(enumerate(home)) for home in homes]):
            found = cg.pagerank(graph, personalization=several, verify=True, **EXACT, **settings)
            np.testing.assert_allclose(found.ranks, [each.ranks for each in single], rtol=1e-9, atol=1e-15)
        few = {**settings, "personalization": homes, "strategy": "lanes" if n_homes > 1 else "auto"}
        first, second = (cg.pagerank(graph, verify=True, **few) for _ in range(2))
        assert first.ranks.tobytes() == second.ranks.tobytes() and first.ranks.dtype == np.float32
        assert np.abs(first.ranks - found.ranks).sum(axis=1).max() < 1e-5
        assert set(first.to_dict()) == {"vertex", *(f"rank_{k}" for k in range(n_homes))}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_teams_of_a_gpu_share_the_lanes_of_a_vertex(session: Session, dtype: str) -> None:
    hub = Graph.from_edges([*range(5000), 0], [0] * 5000 + [7], n=5000, directed=True)
    for graph in (random_digraph(400, 3000, 1), hub):
        homes = np.random.default_rng(3).random((13, graph.n_vertices))
        problem = as_problem(graph, personalization=homes, tol=1e-7, dtype=dtype)
        plan = PowerPlan(session, problem, lanes(problem, replace(session.facts, is_cpu=False)))
        for _ in range(2):
            plan.run()
            ranks, count, change = plan.result()
        expected = cg.pagerank(graph, personalization=homes, tol=1e-9, max_iter=500, strategy="host").ranks
        np.testing.assert_allclose(ranks.reshape(13, -1), expected, rtol=1e-4, atol=1e-9)
        assert change < 1e-7 and 1 < count < 100
        plan.release()


def test_no_vertices_have_no_ranks_in_a_batch(pocl: Session) -> None:
    empty = Graph.from_edges([], [], n=0)
    for strategy in ("lanes", "host"):
        found = cg.pagerank(empty, personalization=np.ones((3, 0)), strategy=strategy, session=pocl, verify=True)
        assert found.ranks.shape == (3, 0)


def test_ids_name_the_vertices_of_a_distribution(pocl: Session) -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], directed=True)
    named = Graph(graph.row_offsets, graph.column_indices, directed=True, ids=["a", "b", "c"])
    found = cg.pagerank(named, personalization={"b": 1}, session=pocl)
    assert found.ranks.argmax() == 1
    with pytest.raises(SourceError, match="vertex of personalization 'z' is not among"):
        cg.pagerank(named, personalization={"z": 1}, session=pocl)


def test_bad_arguments_are_refused(pocl: Session) -> None:
    graph = random_weights(cg.generators.path(4))
    for error, why, settings in (
        (InputError, "alpha = 1", {"alpha": 1}),
        (InputError, "alpha = 0", {"alpha": 0}),
        (InputError, "alpha", {"alpha": float("nan")}),
        (InputError, "tol", {"tol": 0}),
        (InputError, "max_iter", {"max_iter": 0}),
        (InputError, "4 numbers", {"personalization": [1, 2]}),
        (InputError, "sum 0", {"personalization": np.zeros(4)}),
        (InputError, "sum 0", {"dangling": {}}),
        (InputError, "negative", {"initial": [1, -1, 1, 1]}),
        (InputError, "negative, infinite or NaN", {"initial": [1, np.nan, 1, 1]}),
        (InputError, "float32 or float64", {"dtype": "int32"}),
        (InputError, "has no option", {"bogus": 1}),
        (InputError, "17 distributions; allowed: 1 to 16", {"personalization": np.ones((17, 4))}),
        (InputError, "personalization.1. = .*4 numbers", {"personalization": [np.ones(4), np.ones(3)]}),
        (InputError, "allowed in a list: mappings and arrays", {"personalization": [{0: 1}, None]}),
        (InputError, "personalization.1. has the sum 0", {"personalization": [{0: 1}, {1: 0}]}),
        (UnsupportedStrategyError, "several personalizations", {"personalization": np.eye(4), "strategy": "rows"}),
        (UnsupportedStrategyError, "one personalization", {"strategy": "lanes"}),
    ):
        with pytest.raises(error, match=why if "option" not in why else "bogus"):
            cg.pagerank(graph, session=pocl, **settings)
    for weight in (-1.0, np.inf):
        for matrix in (
            sp.csr_array(([1.0, weight], ([0, 1], [1, 0]))),
            sp.coo_array(([1.0, weight], ([0, 1], [1, 0]))),
        ):
            with pytest.raises(GraphError, match="weight"):
                cg.pagerank(matrix, session=pocl, strategy="rows")
    for strategy in strategies_of(pocl):
        for weight, dtype in ((1e30, "float32"), (1e-30, "float32"), (1e-318, "float64"), (1e308, "float64")):
            with pytest.raises(GraphError, match=re.escape(f"of entry 0, is {weight:g}; {dtype} takes")):
                cg.pagerank(sp.csr_array(np.full((2, 2), weight)), session=pocl, strategy=strategy, dtype=dtype)
            uneven = sp.csr_array([[0, 1.0], [weight, 0]])
            if weight < 1:
                with pytest.raises(GraphError, match=f"of vertex 1 add up to {weight:g}; {dtype} takes sums from"):
                    cg.pagerank(uneven, session=pocl, strategy=strategy, dtype=dtype)


def test_ranks_that_did_not_converge_come_with_a_warning(pocl: Session) -> None:
    graph = cg.generators.star(50)
    for strategy in strategies_of(pocl):
        with pytest.warns(ConvergenceWarning, match="after 3 iterations"):
            found = cg.pagerank(graph, max_iter=3, strategy=strategy, session=pocl, verify=True)
        assert found.n_iterations == 3 and found.change > 1e-6


def test_the_check_refuses_other_ranks() -> None:
    graph = random_digraph(60, 200, 3)
    result = cg.pagerank(graph, strategy="host", **EXACT)
    check_pagerank(graph, result.ranks, change=result.change, weighted=True)
    swapped, shifted = result.ranks.copy(), result.ranks * 1.01
    swapped[[0, 1]] = swapped[[1, 0]]
    for wrong in (swapped, shifted, -result.ranks, result.ranks[1:], result.ranks.astype(np.float16)):
        with pytest.raises(VerificationError):
            check_pagerank(graph, wrong, change=result.change, weighted=True)
    with pytest.raises(VerificationError):
        check_pagerank(graph, result.ranks, change=result.change, weighted=False)


def test_a_step_of_the_walk_by_hand() -> None:
    graph = Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 3.0, 2.0], directed=True)  # vertex 2 is dangling
    after = step(graph, np.array([0.4, 0.4, 0.2]), alpha=0.5, weighted=True, home=None, refuge=np.array([1.0, 0, 0]))
    np.testing.assert_allclose(after, 1 / 6 + 0.5 * np.array([0.2, 0.1, 0.3 + 0.4]))


@pytest.mark.parametrize("width", [16, 64])
def test_ranks_are_right_at_every_sub_group_width(width: int) -> None:
    run_at_width(
        width,
        "import clgraph as cg;"
        "[cg.pagerank(g, strategy='row_blocks', session=s, verify=True, weight=w)"
        " for g in (cg.generators.rmat(9, 16), cg.generators.star(3000)) for w in (None, 'weight')]",
    )
