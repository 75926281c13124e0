"""HITS, eigenvector and Katz centralities against the definition and networkx, on graphs of every kind."""

import re
import warnings
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import run_at_width
from graphs import GRAPHS

import clgraph as cg
from clgraph.algorithms.hits import STRATEGIES
from clgraph.algorithms.pagerank.problem import warn_if_moving
from clgraph.data.graphs.graph import Graph
from clgraph.errors import ConvergenceWarning, GraphError, InputError, SourceError, VerificationError
from clgraph.reference.centralities import check_eigenvector_centrality, check_hits, check_katz_centrality
from clgraph.runtime.session import Session

EXACT = {"dtype": "float64", "tol": 1e-13, "max_iter": 3000}
FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "hits": (cg.hits, {}),
    "eigenvector": (cg.eigenvector_centrality, {"weight": "weight"}),
    "katz": (cg.katz_centrality, {"alpha": 0.005}),
}


def strategies_of(session: Session) -> list[str]:
    return [name for name, strategy in STRATEGIES.items() if strategy.unsupported(session.facts) is None]


def edges(graph: Graph) -> bool:
    return bool(graph.n_edges) and (graph.edge_weights is None or bool(np.any(graph.edge_weights)))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", GRAPHS)
def test_every_strategy_repeats_the_steps_of_the_host(session: Session, name: str, function: str) -> None:
    graph, (call, options) = GRAPHS[name](), FUNCTIONS[function]
    if function == "hits" and graph.n_vertices and not edges(graph):
        with pytest.raises(GraphError, match="no edge has a weight above 0"):
            call(graph, session=session)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        expected = call(graph, strategy="host", max_iter=30, tol=1e-12, verify=True, **options)
        for strategy in strategies_of(session):
            found = call(graph, strategy=strategy, session=session, max_iter=30, tol=1e-12, verify=True, **options)
            assert abs(found.n_iterations - expected.n_iterations) <= 1
            for values, others in zip(found[:-2], expected[:-2], strict=True):
                np.testing.assert_allclose(values, others, rtol=1e-9, atol=1e-14)
            single = call(graph, strategy=strategy, session=session, max_iter=30, verify=True, **options)
            assert single[0].dtype == np.float32 and np.abs(single[0] - expected[0]).max(initial=0) < 1e-3


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_values_agree_with_networkx(session: Session, strategy: str) -> None:
    if strategy not in strategies_of(session):
        pytest.skip(f"{strategy} is not for this device")
    drawn, run = np.random.default_rng(7), {"strategy": strategy, "session": session, "verify": True, **EXACT}
    digraph = nx.gnp_random_graph(90, 0.06, seed=4, directed=True)
    digraph.add_edges_from((u, (u + 1) % 90) for u in range(90))
    for u, v in digraph.edges:
        digraph.edges[u, v]["weight"] = float(drawn.integers(1, 4))
    own = {v: float(v % 3) for v in digraph}
    for graph in (digraph, digraph.to_undirected()):
        for settings in ({}, {"weight": "weight"}):
            expected = nx.eigenvector_centrality(graph, tol=1e-15, max_iter=5000, **settings)
            found = cg.eigenvector_centrality(graph, **settings, **run).centralities
            np.testing.assert_allclose(found, list(expected.values()), rtol=1e-8)
        for settings in ({"alpha": 0.02}, {"alpha": 0.01, "weight": "weight"}, {"alpha": 0.02, "normalized": False},
                         {"alpha": 0.03, "beta": 2.5, "normalized": False}, {"alpha": 0.03, "beta": own}):  # fmt: skip
            expected = nx.katz_centrality(graph, tol=1e-15, max_iter=5000, **settings)
            found = cg.katz_centrality(graph, **settings, **run).centralities
            np.testing.assert_allclose(found, list(expected.values()), rtol=1e-8)
        hubs, authorities = nx.hits(graph, tol=0)
        rated = cg.hits(graph, **run)
        np.testing.assert_allclose(rated.hubs, list(hubs.values()), rtol=1e-7)
        np.testing.assert_allclose(rated.authorities, list(authorities.values()), rtol=1e-7)
        matrix = nx.to_scipy_sparse_array(graph)
        rated = cg.hits(graph, normalized=False, initial=own, **run)
        assert np.linalg.norm(rated.authorities) == pytest.approx(1)
        np.testing.assert_allclose(rated.hubs, matrix @ rated.authorities, rtol=1e-9)


def test_rows_longer_than_a_block_are_added_up_in_pieces(session: Session) -> None:
    rng = np.random.default_rng(2)
    ends = np.concatenate((rng.integers(5000, size=(2, 9000)), [np.zeros(5000, int), np.arange(5000)]), axis=1)
    graph = Graph.from_edges(*ends, rng.integers(1, 9, ends.shape[1]), n=5000, directed=True)
    for call, options in FUNCTIONS.values():
        for data in (graph, cg.generators.star(5001)):
            expected = call(data, strategy="host", **EXACT, **options)
            for _ in range(2):  # The second run reuses the plan.
                found = call(data, strategy="row_blocks", session=session, verify=True, **EXACT, **options)
                for values, others in zip(found[:-2], expected[:-2], strict=True):
                    np.testing.assert_allclose(values, others, rtol=1e-8, atol=1e-12)
                assert "add_pieces" in found.info.kernels or data is graph


def test_one_device_repeats_values_to_the_bit(session: Session) -> None:
    graph = cg.generators.rmat(11, 8, seed=1)
    for call, options in FUNCTIONS.values():
        for strategy in strategies_of(session):
            first, second = (call(graph, strategy=strategy, session=session, **options) for _ in range(2))
            assert first[0].tobytes() == second[0].tobytes() and first.change == second.change


@pytest.mark.parametrize("beta", [1e-320, 1e-300, 1e-40, 1e40, 1.7e308])
def test_katz_centralities_are_linear_in_beta(session: Session, beta: float) -> None:
    """Tiny and huge values leave the range of float32, and their squares leave the range of float64."""
    graph = cg.generators.rmat(6, 4)
    for strategy in strategies_of(session):
        run: dict[str, Any] = {"strategy": strategy, "session": session, "alpha": 0.01, "verify": True}
        for dtype, rounding in (("float32", 1e-5), ("float64", 1e-12)):
            run |= {"dtype": dtype, "tol": max(rounding, 1e-6)}
            usual = cg.katz_centrality(graph, **run).centralities
            for value in (beta, np.full(graph.n_vertices, beta), -beta):
                found = cg.katz_centrality(graph, beta=value, **run).centralities
                np.testing.assert_allclose(np.abs(found), usual, rtol=rounding)
            if beta < float(np.finfo(dtype).max) / 10:
                usual = cg.katz_centrality(graph, normalized=False, **run).centralities
                found = cg.katz_centrality(graph, beta=beta, normalized=False, **run).centralities
                # Below the normal numbers of a type, values are multiples of its smallest one.
                multiple = float(np.finfo(dtype).smallest_subnormal)
                np.testing.assert_allclose(found, usual.astype(np.float64) * beta, rtol=rounding, atol=multiple)
                continue
            for max_iter in (2, 1000):
                with pytest.raises(InputError, match=f"too large for {dtype}"):
                    cg.katz_centrality(graph, beta=beta, normalized=False, max_iter=max_iter, **run)


def test_small_values_beside_large_ones_are_kept(session: Session) -> None:
    graph = cg.generators.path(4)
    for strategy in strategies_of(session):
        run: dict[str, Any] = {"strategy": strategy, "session": session, "normalized": False, "verify": True}
        for dtype, own in (("float32", [1e30, 1e-8, 1e-15, 0]), ("float64", [1e300, 1e-20, 1e-30, 0])):
            found = cg.katz_centrality(graph, alpha=0.0, beta=own, dtype=dtype, **run).centralities
            np.testing.assert_allclose(found, own, rtol=1e-6)
        found = cg.katz_centrality(
            graph, alpha=0.3, beta=1e-200, initial=[1e200] * 4, max_iter=3000, dtype="float64", **run
        ).centralities
        np.testing.assert_allclose(found, np.array([100, 130, 130, 100]) / 61e200, rtol=1e-6)


def test_results_become_tables_and_attributes_of_nodes(pocl: Session) -> None:
    graph = Graph.from_edges([0, 1, 1], [2, 2, 0], directed=True)
    found = cg.hits(Graph(graph.row_offsets, graph.column_indices, directed=True, ids=["a", "b", "c"]), session=pocl)
    columns = found.to_dict()
    assert columns["vertex"].tolist() == ["a", "b", "c"] and columns["authority"] is found.authorities
    nodes = found.to_networkx().nodes
    assert nodes["b"] == {"hub": found.hubs[1], "authority": found.authorities[1]}
    assert set(cg.katz_centrality(graph, session=pocl).to_dict()) == {"vertex", "centrality"}


def test_bad_arguments_are_refused(pocl: Session) -> None:
    graph = cg.generators.path(4)
    for call, error, why, settings in (
        (cg.katz_centrality, InputError, "alpha = -1", {"alpha": -1}),
        (cg.katz_centrality, InputError, "beta = nan", {"beta": float("nan")}),
        (cg.katz_centrality, InputError, "4 numbers", {"beta": [1, 2]}),
        (cg.katz_centrality, InputError, "infinite or NaN", {"initial": [1, 2, np.inf, 0]}),
        (cg.katz_centrality, InputError, "normalized = 2", {"normalized": 2}),
        (cg.katz_centrality, SourceError, "vertex of beta 9 is not", {"beta": {9: 1}}),
        (cg.hits, InputError, "tol", {"tol": 0}),
        (cg.hits, InputError, "sum 0", {"initial": np.zeros(4)}),
        (cg.hits, InputError, "max_iter", {"max_iter": 0}),
        (cg.eigenvector_centrality, InputError, "negative", {"initial": [1, -1, 1, 1]}),
        (cg.eigenvector_centrality, InputError, "float32 or float64", {"dtype": "int32"}),
        (cg.eigenvector_centrality, InputError, "bogus", {"bogus": 1}),
    ):
        with pytest.raises(error, match=why):
            call(graph, session=pocl, **settings)
    for weight in (-1.0, np.inf, np.nan, 1e30):
        matrix = sp.csr_array(([1.0, weight], ([0, 1], [1, 0])))
        for call, _ in FUNCTIONS.values():
            with pytest.raises(GraphError, match="weight"):
                call(matrix, session=pocl, strategy="rows", weight="weight")
    for weight, dtype in ((1e-30, "float32"), (1e-300, "float64"), (5e307, "float64")):
        matrix = sp.csr_array(np.full((2, 2), weight))
        for call, _ in FUNCTIONS.values():
            with pytest.raises(GraphError, match=re.escape(f"of entry 0, is {weight:g}; {dtype} takes")):
                call(matrix, session=pocl, dtype=dtype, weight="weight")
    with pytest.raises(InputError, match="initial is 0, or almost 0"):
        cg.hits(sp.csr_array([[0, 1e-50], [0, 1.0]]), initial={0: 1}, session=pocl, dtype="float32", weight="weight")
    with pytest.raises(InputError, match="initial is too large for float32"):
        cg.katz_centrality(graph, initial=[1e46] * 4, session=pocl, dtype="float32")
    with pytest.raises(GraphError, match="no edge"):
        cg.hits(sp.csr_array(([0.0], ([0], [1])), shape=(2, 2)), session=pocl)
    with pytest.raises(InputError, match="initial is 0, or almost 0"):
        cg.hits(Graph.from_edges([0], [1], directed=True), initial=[0, 1], session=pocl)


def test_values_that_did_not_converge_come_with_a_warning(pocl: Session) -> None:
    graph = cg.generators.star(50)
    for strategy in strategies_of(pocl):
        for call, _ in FUNCTIONS.values():
            with pytest.warns(ConvergenceWarning, match="after 2 iterations"):
                found = call(cg.generators.path(50), max_iter=2, strategy=strategy, session=pocl, verify=True)
            assert found.n_iterations == 2 and found.change > 1e-6
        with pytest.warns(ConvergenceWarning, match="are not finite; a smaller alpha"):
            grown = cg.katz_centrality(graph, alpha=1e3, strategy=strategy, session=pocl)
        assert grown.n_iterations < 200  # The iteration ends when a value is infinite.
    with pytest.warns(ConvergenceWarning, match=r"after 3 iterations the hubs are not finite$"):
        warn_if_moving("hubs", 3, np.inf, 1e-6)  # HITS has no alpha.


def test_the_checks_refuse_other_values() -> None:
    graph = cg.generators.random_weights(cg.generators.rmat(6, 4, seed=3))
    rated = cg.hits(graph, strategy="host", **EXACT)
    central = cg.eigenvector_centrality(graph, strategy="host", **EXACT)
    katz = cg.katz_centrality(graph, alpha=1e-3, strategy="host", **EXACT)
    check_katz_centrality(graph, katz.centralities, change=katz.change, alpha=1e-3)

    def wrong(values: Any) -> list[Any]:
        swapped, ends = values.copy(), [values.argmin(), values.argmax()]
        swapped[ends] = swapped[ends[::-1]]
        return [swapped, values * 1.01, values[1:], values.astype(np.float16), np.full_like(values, np.nan)]

    for hubs, authorities in [(w, rated.authorities) for w in wrong(rated.hubs)] + [
        (rated.hubs, w) for w in wrong(rated.authorities)
    ]:
        with pytest.raises(VerificationError):
            check_hits(graph, hubs, authorities, change=rated.change, weighted=True)
    for values in wrong(central.centralities):
        with pytest.raises(VerificationError):
            check_eigenvector_centrality(graph, values, change=central.change)
    for values in wrong(katz.centralities):
        with pytest.raises(VerificationError):
            check_katz_centrality(graph, values, change=katz.change, alpha=1e-3)


@pytest.mark.parametrize("width", [16, 64])
def test_values_are_right_at_every_sub_group_width(width: int) -> None:
    run_at_width(
        width,
        "import clgraph as cg;"
        "[f(g, strategy='row_blocks', session=s, verify=True, weight=w)"
        " for g in (cg.generators.rmat(9, 16), cg.generators.star(3000)) for w in (None, 'weight')"
        " for f in (cg.hits, cg.eigenvector_centrality)]",
    )
