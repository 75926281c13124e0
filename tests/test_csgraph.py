"""clgraph.csgraph beside scipy.sparse.csgraph: names, inputs of every format, options, results, errors."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph as scipys
from conftest import ROOT, run_python
from hypothesis import given, settings
from hypothesis import strategies as st

import clgraph as cg
from clgraph import csgraph, generators
from clgraph.algorithms.bfs import bfs
from clgraph.algorithms.sssp import sssp
from clgraph.csgraph import inputs
from clgraph.engine.algorithm import Algorithm
from clgraph.errors import GraphError, InputError, UnsupportedStrategyError
from clgraph.runtime.session import Session

OURS = {
    "bellman_ford", "connected_components", "dijkstra", "johnson", "minimum_spanning_tree", "shortest_path",
}  # fmt: skip
PATHS = ("bellman_ford", "dijkstra", "johnson", "shortest_path")
STRATEGIES = {"connected_components": "rem", "minimum_spanning_tree": "edge_list", **dict.fromkeys(PATHS, "frontier")}
FORMATS: dict[str, Callable[[Any], Any]] = {
    **{f"{name}_array": getattr(sp, f"{name}_array") for name in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")},
    **{f"{name}_matrix": getattr(sp, f"{name}_matrix") for name in ("csc", "csr", "coo", "lil")},
    "dense": lambda dense: dense,
    "list": lambda dense: dense.tolist(),
    "masked": lambda dense: np.ma.masked_equal(dense, 0),
    "fortran": np.asfortranarray,
}


def random_dense(n: int, density: float, seed: int, least: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    return rng.integers(least, 9, (n, n)) * (rng.random((n, n)) < density)


def on(session: Session, name: str, *, runs: bool | None = None) -> Callable[..., Any]:
    """Return our function with kernels behind it, whatever the size of the graph.

    With *runs*, a call must run kernels (true), or must be left to scipy (false).
    """

    def run(*arguments: Any, **options: Any) -> Any:
        seen, solve = list[str](), Algorithm.solve

        def solved(algorithm: Algorithm, *given: Any, **more: Any) -> Any:
            seen.append(algorithm.name)
            return solve(algorithm, *given, **more)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Algorithm, "solve", solved)
            found = getattr(csgraph, name)(*arguments, **options, session=session, strategy=STRATEGIES[name])
        assert runs is None or bool(seen) == runs
        return found

    return run


def check_paths(found: Any, expected: Any, lesser: Any) -> None:
    """Compare distances, shapes and types; predecessors must lead back by entries of *lesser*, a dense matrix."""
    found, expected = (each if isinstance(each, tuple) else (each,) for each in (found, expected))
    assert [(each.shape, each.dtype) for each in found] == [(each.shape, each.dtype) for each in expected]
    np.testing.assert_array_equal(found[0], expected[0])
    if len(found) > 1:
        np.testing.assert_array_equal(found[1] < 0, expected[1] < 0)
        assert set(found[1][found[1] < 0].tolist()) <= {-9999}
        n = lesser.shape[0]
        for lengths, before in zip(found[0].reshape(-1, n), found[1].reshape(-1, n), strict=True):
            reached = np.flatnonzero(before >= 0)
            steps = lesser[before[reached], reached]
            np.testing.assert_array_equal(lengths[before[reached]] + steps, lengths[reached])
    if len(found) > 2:
        lengths, before, sources = found
        reached = before >= 0
        np.testing.assert_array_equal(sources[reached], sources[before[reached]])
        starts = lengths == 0 if not reached.any() else (before < 0) & np.isfinite(lengths)
        np.testing.assert_array_equal(sources[starts], np.flatnonzero(starts))
        assert (sources[np.isinf(lengths)] == -9999).all()


def lesser_weights(matrix: Any, directed: bool, unweighted: bool) -> Any:
    """Return the weights of edges as a dense matrix, inf where there is none."""
    coo = sp.csr_array(matrix).tocoo()
    dense = np.full(matrix.shape, np.inf)
    np.minimum.at(dense, coo.coords, 1.0 if unweighted else coo.data.astype(float))
    return dense if directed else np.minimum(dense, dense.T)


def check_tree(found: Any, expected: Any, dense: Any) -> None:
    """The trees weigh the same edge by edge, and each edge is an entry of *dense*."""
    assert type(found) is type(expected) and found.dtype == np.float64 and found.shape == expected.shape
    assert found.indices.dtype == expected.indices.dtype and found.indptr.dtype == expected.indptr.dtype
    np.testing.assert_array_equal(np.sort(found.data), np.sort(expected.data))
    rows, columns = found.nonzero()
    np.testing.assert_array_equal(dense[rows, columns], found.data)
    labels = [scipys.connected_components(each, directed=False)[1] for each in (found, expected)]
    np.testing.assert_array_equal(*labels)


# ---- names


def test_all_names_are_scipys() -> None:
    assert set(csgraph.__all__) == set(scipys.__all__)
    others = set(csgraph.__all__) - OURS
    assert all(getattr(csgraph, name) is getattr(scipys, name) for name in others)
    assert not any(getattr(csgraph, name) is getattr(scipys, name) for name in OURS)


@pytest.mark.parametrize("name", sorted(OURS))
def test_arguments_are_scipys_and_two_more(name: str) -> None:
    ours, theirs = (list(inspect.signature(getattr(each, name)).parameters.values()) for each in (csgraph, scipys))
    described = [[(each.name, each.default, each.kind) for each in parameters] for parameters in (ours, theirs)]
    assert described[0][:-2] == described[1]
    assert [each.name for each in ours[-2:]] == ["session", "strategy"]
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in ours[-2:])


# ---- results


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_taken(session: Session, form: str) -> None:
    dense = random_dense(17, 0.15, 1).astype(np.float64)
    given = FORMATS[form](dense)
    scipys_given = dense if form == "list" else given  # not all of scipy's functions take a list
    for directed in (True, False):
        lesser = lesser_weights(dense, directed, unweighted=False)
        for name in PATHS:
            options: dict[str, Any] = {"directed": directed, "indices": [3, -1], "return_predecessors": True}
            expected = getattr(scipys, name)(scipys_given, **options)
            check_paths(on(session, name, runs=True)(given, **options), expected, lesser)
            check_paths(getattr(csgraph, name)(given, **options), expected, lesser)
        found = on(session, "connected_components", runs=True)(given, directed=directed)
        expected = scipys.connected_components(scipys_given, directed=directed)
        assert found[0] == expected[0]
        np.testing.assert_array_equal(found[1], expected[1])
    if form != "dok_array":  # scipy's trees of this format fail in some versions
        check_tree(on(session, "minimum_spanning_tree", runs=True)(given), scipys.minimum_spanning_tree(given), dense)


@pytest.mark.parametrize("dtype", "?bBhHiIlLqQfd")
def test_every_type_of_weights_is_taken(session: Session, dtype: str) -> None:
    dense = random_dense(15, 0.2, 2).astype(dtype)
    given = sp.csr_array(dense)
    check_paths(
        on(session, "dijkstra", runs=True)(given, return_predecessors=True),
        scipys.dijkstra(given, return_predecessors=True),
        lesser_weights(dense.astype(float), True, False),
    )
    check_tree(
        on(session, "minimum_spanning_tree", runs=True)(given), scipys.minimum_spanning_tree(given), dense.astype(float)
    )


@settings(max_examples=60)
@given(st.data())
def test_paths_are_scipys(session: Session, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 24), "n")
    dense = random_dense(n, data.draw(st.sampled_from([0.03, 0.1, 0.5])), data.draw(st.integers(0, 999)), least=0)
    rows, columns = np.nonzero(random_dense(n, 0.3, n))
    weights = dense[rows, columns].astype(data.draw(st.sampled_from(["d", "f", "i", "l"])))
    matrix = sp.csr_array((weights, (rows, columns)), shape=(n, n))  # Some stored weights are 0.
    options: dict[str, Any] = {
        "directed": data.draw(st.booleans(), "directed"),
        "unweighted": data.draw(st.booleans(), "unweighted"),
        "return_predecessors": data.draw(st.booleans(), "predecessors"),
        "limit": data.draw(st.sampled_from([np.inf, 0, 1, 2.5, 7, np.float32(4), 1e300]), "limit"),
        "min_only": data.draw(st.booleans(), "min_only"),
    }
    numbers = st.integers(-n, n - 1)
    options["indices"] = data.draw(
        st.one_of(st.none(), numbers, st.lists(numbers, min_size=1, max_size=4), st.just([[0], [n - 1]])), "indices"
    )
    lesser = lesser_weights(matrix, options["directed"], options["unweighted"])
    check_paths(on(session, "dijkstra", runs=True)(matrix, **options), scipys.dijkstra(matrix, **options), lesser)
    check_paths(csgraph.dijkstra(matrix, **options), scipys.dijkstra(matrix, **options), lesser)


@settings(max_examples=60)
@given(
    n=st.integers(1, 24), density=st.sampled_from([0.03, 0.1, 0.5]), seed=st.integers(0, 999), kind=st.integers(0, 2)
)
def test_trees_and_components_are_scipys(session: Session, n: int, density: float, seed: int, kind: int) -> None:
    dense = random_dense(n, density, seed, least=-4)
    dense = (np.triu(dense), dense + dense.T, dense)[kind].astype(float)
    matrix = sp.csr_array(dense)
    check_tree(on(session, "minimum_spanning_tree", runs=True)(matrix), scipys.minimum_spanning_tree(matrix), dense)
    found, expected = on(session, "connected_components")(matrix), scipys.connected_components(matrix)
    assert found[0] == expected[0] and found[1].dtype == expected[1].dtype
    np.testing.assert_array_equal(found[1], expected[1])
    count = on(session, "connected_components")(matrix, return_labels=False)
    assert count == expected[0] and isinstance(count, int)


def test_strong_components_are_scipys(pocl: Session) -> None:
    matrix, run = sp.csr_array(random_dense(30, 0.05, 4)), {"session": pocl, "strategy": "forward_backward"}
    for connection in ("strong", "STRONG"):
        found = csgraph.connected_components(matrix, True, connection, **run)
        expected = scipys.connected_components(matrix, True, connection)
        assert found[0] == expected[0] and found[0] > 1
        smallest, numbers = np.unique(expected[1], return_index=True, return_inverse=True)[1:]
        np.testing.assert_array_equal(found[1], np.argsort(np.argsort(smallest))[numbers])
    assert csgraph.connected_components(matrix, True, "strong", return_labels=False, **run) == expected[0]
    with pytest.raises(UnsupportedStrategyError, match="'rem'"):
        csgraph.connected_components(matrix, True, "strong", strategy="rem")
    weak = on(pocl, "connected_components")(matrix, False, "strong")  # Undirected graphs ignore "strong".
    assert weak[0] == scipys.connected_components(matrix, False, "strong")[0]


def test_components_of_what_is_no_matrix_are_refused() -> None:
    graph = generators.path(5)
    mesh = cg.TriangleMesh.from_arrays([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])
    for wrong in (graph, mesh, "graph"):
        with pytest.raises(InputError, match=r"csgraph = .*clgraph\.connected_components takes graphs and meshes"):
            csgraph.connected_components(wrong)


def test_explicit_zeros_join_trees_but_are_not_stored(pocl: Session) -> None:
    matrix = sp.csr_array((np.array([0.0, 3.0, 4.0]), ([0, 1, 2], [1, 2, 0])), shape=(3, 3))
    tree = on(pocl, "minimum_spanning_tree")(matrix)
    assert tree.nnz == 1 and tree[1, 2] == 3.0
    check_tree(tree, scipys.minimum_spanning_tree(matrix), matrix.toarray())


def test_a_trees_edge_is_where_the_lesser_weight_is(pocl: Session) -> None:
    tree = on(pocl, "minimum_spanning_tree")(sp.csr_array([[0, 5.0, 1.0], [2.0, 0, 0], [1.0, 0, 0]]))
    assert tree.toarray().tolist() == [[0, 0, 1.0], [2.0, 0, 0], [0, 0, 0]]
    matrix = generators.random_weights(generators.grid(40, 30), high=9).to_scipy().astype(float)
    matrix[900, 901] = 0.5  # Few entries are asymmetric, so the sample does not find them.
    check_tree(on(pocl, "minimum_spanning_tree")(matrix), scipys.minimum_spanning_tree(matrix), matrix.toarray())


def test_repeated_entries_are_parallel_edges(session: Session) -> None:
    columns, data = np.array([2, 1, 1, 2, 0, 0]), np.array([9.0, 4.0, 3.0, 1.0, 2.0, 8.0])
    matrix = sp.csr_array((data, columns, np.array([0, 3, 4, 6])), shape=(3, 3))
    for directed in (True, False):
        np.testing.assert_array_equal(
            on(session, "dijkstra")(matrix, directed=directed), scipys.dijkstra(matrix, directed=directed)
        )
    assert on(session, "minimum_spanning_tree")(matrix).sum() == 3.0
    assert matrix.data.tolist() == data.tolist() and matrix.indices.tolist() == columns.tolist()


def test_long_paths_of_integers_are_rounded_as_scipys(session: Session) -> None:
    weights = np.array([2**53, 1, 1])  # The last two are lost one by one, but not as an integer sum.
    matrix = sp.csr_array((weights, ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
    np.testing.assert_array_equal(on(session, "dijkstra")(matrix), scipys.dijkstra(matrix))
    np.testing.assert_array_equal(
        np.sort(on(session, "minimum_spanning_tree")(matrix).data), np.sort(weights.astype(float))
    )


# ---- what scipy does


@pytest.mark.parametrize("name", ["bellman_ford", "johnson", "shortest_path"])
def test_negative_weights_and_cycles_are_scipys(pocl: Session, name: str) -> None:
    matrix = sp.csr_array([[0, 4.0, 2.0], [0, 0, 1.0], [0, -1.0, 0]])
    np.testing.assert_array_equal(on(pocl, name)(matrix), getattr(scipys, name)(matrix))
    cycle = sp.csr_array([[0, -2.0], [1.0, 0]])
    with pytest.raises(csgraph.NegativeCycleError):
        on(pocl, name)(cycle)


def test_dijkstra_warns_of_negative_weights(pocl: Session) -> None:
    for unweighted in (True, False):
        with pytest.warns(UserWarning, match="negative weights"):
            on(pocl, "dijkstra")(sp.csr_array([[0, -1.0], [0, 0]]), unweighted=unweighted)


@pytest.mark.parametrize("weight", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_left_to_scipy(pocl: Session, weight: float) -> None:
    matrix = sp.csr_array((np.array([1.0, weight]), ([0, 1], [1, 2])), shape=(3, 3))
    for name in PATHS:
        options = {"return_predecessors": True, "indices": 0}
        for found, expected in zip(
            on(pocl, name, runs=False)(matrix, **options), getattr(scipys, name)(matrix, **options), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
    found, expected = on(pocl, "minimum_spanning_tree")(matrix), scipys.minimum_spanning_tree(matrix)
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    dense = np.array([[0, 1.0, weight], [0, 0, 2.0], [0, 0, 0]])  # no edge
    np.testing.assert_array_equal(on(pocl, "dijkstra")(dense), scipys.dijkstra(dense))


def test_all_pairs_of_a_dense_graph_are_floyd_warshalls(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    dense = random_dense(12, 0.9, 3)
    monkeypatch.setattr(csgraph.paths, "searched", lambda *_, **__: pytest.fail("it searches"))
    for graph in (dense.astype(float), sp.csc_array(dense), np.ma.masked_equal(dense, 0)):
        for method in ("auto", "FW"):
            np.testing.assert_array_equal(on(pocl, "shortest_path")(graph, method), scipys.shortest_path(graph, method))


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("dijkstra", (np.ones((2, 3)),), {}),
        ("dijkstra", (sp.csr_array((2, 3)),), {}),
        ("dijkstra", (np.ones(3),), {}),
        ("dijkstra", (np.ones((3, 3)),), {"indices": 3}),
        ("dijkstra", (np.ones((3, 3)),), {"indices": [0, -4]}),
        ("dijkstra", (np.ones((3, 3)),), {"indices": ["a"]}),
        ("dijkstra", (np.ones((3, 3)),), {"limit": -1}),
        ("dijkstra", (np.ones((3, 3)),), {"limit": "1"}),
        ("shortest_path", (np.ones((3, 3)), "X"), {}),
        ("shortest_path", (np.ones((3, 3)), "FW"), {"indices": 0}),
        ("connected_components", (np.ones((3, 3)), True, "other"), {}),
        ("connected_components", (np.ones((2, 3)),), {}),
        ("minimum_spanning_tree", (np.ones((2, 3)),), {}),
        ("minimum_spanning_tree", (np.array([["a"]]),), {}),
    ],
)
def test_errors_are_scipys(pocl: Session, name: str, arguments: Any, options: Any) -> None:
    with pytest.raises(Exception) as expected:  # noqa: PT011 (of any type)
        getattr(scipys, name)(*arguments, **options)
    with pytest.raises(expected.type) as found:
        on(pocl, name)(*arguments, **options)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("indices", [[], np.empty((0, 3), np.int32)])
def test_no_source_gives_no_rows(pocl: Session, indices: Any) -> None:
    found = on(pocl, "dijkstra")(sp.csr_array(np.ones((3, 3))), indices=indices)
    assert found.shape == scipys.dijkstra(np.ones((3, 3)), indices=indices).shape


def test_complex_weights_are_left_to_scipy(pocl: Session) -> None:
    matrix = sp.csr_array(np.array([[0, 1 + 2j], [0, 0]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(on(pocl, "dijkstra")(matrix), scipys.dijkstra(matrix))


# ---- the choice


def test_a_damaged_matrix_is_refused(pocl: Session) -> None:
    matrix = sp.csr_array(np.ones((3, 3)))
    matrix.indices[4] = 7
    for name in ("dijkstra", "minimum_spanning_tree", "connected_components"):
        with pytest.raises(GraphError, match="damaged"):
            on(pocl, name)(matrix)


def test_an_unknown_strategy_is_refused() -> None:
    for name in sorted(OURS):
        with pytest.raises(UnsupportedStrategyError):
            getattr(csgraph, name)(np.ones((3, 3)) if name != "shortest_path" else np.eye(5), strategy="nonsense")


def test_small_graphs_need_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "as_session", lambda _: pytest.fail("it asks for a device"))
    dense = random_dense(20, 0.2, 5)
    for form in FORMATS.values():
        csgraph.dijkstra(form(dense))
        csgraph.connected_components(form(dense))
        csgraph.minimum_spanning_tree(form(dense))


@pytest.mark.parametrize("name", ["dijkstra", "minimum_spanning_tree", "connected_components"])
def test_a_large_graph_runs_where_the_model_says(pocl: Session, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = generators.random_weights(generators.grid(80, 80), high=9)
    matrix = graph.to_scipy().astype(float)
    options: dict[str, Any] = {"indices": 5} if name == "dijkstra" else {}
    expected = getattr(scipys, name)(matrix, **options)
    monkeypatch.setattr(inputs, "as_session", lambda session: pocl)
    seen, chosen, solve = list[str](), Algorithm.chosen, Algorithm.solve

    def solved(algorithm: Algorithm, problem: Any, **options: Any) -> Any:
        result = solve(algorithm, problem, **{**options, "session": pocl})
        seen.append(result.info.strategy)
        return result

    monkeypatch.setattr(Algorithm, "solve", solved)
    for strategy in ("host", STRATEGIES[name]):
        monkeypatch.setattr(
            Algorithm, "chosen", lambda self, on, problem, _="auto", named=strategy: chosen(self, on, problem, named)
        )
        found = getattr(csgraph, name)(matrix, **options)
        assert seen == ([] if strategy == "host" else [strategy])
        if name == "minimum_spanning_tree":
            check_tree(found, expected, matrix.toarray())
        elif name == "dijkstra":
            np.testing.assert_array_equal(found, expected)
        else:
            np.testing.assert_array_equal(found[1], expected[1])


def test_scipys_names_may_be_replaced_by_ours(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = generators.random_weights(generators.grid(100, 90), high=9).to_scipy().astype(float)
    expected = scipys.dijkstra(matrix, indices=0), scipys.minimum_spanning_tree(matrix)
    for name in csgraph.__all__:
        monkeypatch.setattr(scipys, name, getattr(csgraph, name))
    for session in (None, pocl):
        np.testing.assert_array_equal(scipys.dijkstra(matrix, indices=0, session=session, strategy="host"), expected[0])
        tree = scipys.minimum_spanning_tree(matrix, session=session, strategy="host")
        np.testing.assert_array_equal(np.sort(tree.data), np.sort(expected[1].data))
    np.testing.assert_array_equal(scipys.dijkstra(matrix, indices=0), expected[0])


def test_undirected_matrices_have_the_lesser_weight() -> None:
    rng = np.random.default_rng(6)
    for dtype in (np.int32, np.int64, np.float32, np.float64, bool):
        dense = (rng.integers(-9, 9, (20, 20)) * (rng.random((20, 20)) < 0.3)).astype(dtype)
        if np.dtype(dtype).kind == "f":
            dense *= dense.dtype.type(1.1)
            dense[dense == 0] = 0.0
        matrix = sp.csr_array(dense)
        found = inputs.undirected(matrix)
        expected = lesser_weights(matrix, directed=False, unweighted=False)
        assert found.dtype == dtype and found.nnz == np.isfinite(expected).sum()
        rows, columns = np.nonzero(np.isfinite(expected))
        np.testing.assert_array_equal(found.toarray()[rows, columns].astype(float), expected[rows, columns])
        assert inputs.undirected(found) is found


# ---- the public API


def test_results_tell_the_nearest_source(session: Session) -> None:
    graph = generators.random_weights(generators.road_like(300), high=9)
    sources = [3, 200, 77]
    lengths = [sssp(graph, source, session=session).distances for source in sources]
    steps = [bfs(graph, source, session=session).distances for source in sources]
    paths, levels = sssp(graph, sources, predecessors=True, session=session), bfs(graph, sources, session=session)
    for each, found in ((lengths, paths), (steps, levels)):
        nearest = found.nearest_sources()
        assert nearest.dtype == np.int32 and set(nearest.tolist()) <= {*sources, -9999}
        np.testing.assert_array_equal(nearest < 0, found.distances < 0)
        for vertex in np.flatnonzero(nearest >= 0):
            assert each[sources.index(nearest[vertex])][vertex] == found.distances[vertex]
            assert found.path_to(vertex)[0] == nearest[vertex]
    with pytest.raises(InputError, match="predecessors=True"):
        sssp(graph, sources, session=session).nearest_sources()


# ---- scipy's own tests


def test_scipys_tests_of_trees_pass_on_a_device(pocl: Session) -> None:
    code = "import runpy, sys; sys.argv[0] = 'csgraph_suite'; runpy.run_path(sys.argv.pop(1), run_name='__main__')"
    tool = str(ROOT / "tools" / "csgraph_suite.py")
    ran = run_python(code, tool, "--device", "pocl", "-k", "spanning_tree or weak_connections")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "passed  test_spanning_tree.py::test_minimum_spanning_tree" in ran.stdout
    assert ", 0 failed" in ran.stdout and "of minimum_spanning_forest" in ran.stdout.splitlines()[-1]
