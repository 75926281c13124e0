"""The backend for networkx: each function beside networkx's own, caches, errors, the profile, the table of names."""

import copy
import inspect
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import conftest
import networkx as nx
import networkx_entry
import numpy as np
import pytest
from networkx.utils.backends import _registered_algorithms as REGISTERED
from networkx_on_pocl import CONFIG, on_pocl  # noqa: F401

import _clgraph_nx
from clgraph import networkx_backend
from clgraph.errors import DeviceError
from clgraph.networkx_backend import components, reading
from clgraph.networkx_backend.adjacency import as_numbers
from clgraph.networkx_backend.interface import backend
from clgraph.networkx_backend.table import TABLE

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


def made(kind: type[nx.Graph], seed: int, n: int = 12, weight: str = "int") -> nx.Graph:
    """Return a graph of names in no order, with weights, a self-loop, parallel edges, and a node without an edge."""
    rng = np.random.default_rng(seed)
    names: list[Any] = [f"n{i}" if i % 3 else i for i in rng.permutation(n).tolist()]
    graph = kind(name="test")
    graph.add_nodes_from(names, color="red")
    for _ in range(2 * n):
        u, v = (names[i] for i in rng.integers(0, n - 1, 2))
        value = int(rng.integers(1, 5)) if weight == "int" else float(rng.random())
        graph.add_edge(u, v, **({"weight": value} if rng.random() < 0.9 else {"other": 1}))
    graph.add_edge(names[0], names[0], weight=2)
    return graph


SPECIAL: dict[str, Callable[[type[nx.Graph]], nx.Graph]] = {
    "one": lambda kind: kind([]).__class__({0: {}}),
    "loop": lambda kind: kind([("a", "a")]),
    "edge": lambda kind: kind([("b", "a")]),
    "path": lambda kind: nx.path_graph(7, create_using=kind),
    "cycle": lambda kind: nx.cycle_graph(6, create_using=kind),
    "parts": lambda kind: kind([(0, 1), (2, 3), (3, 4)]),
}


def graphs(kind: type[nx.Graph]) -> Iterator[nx.Graph]:
    yield kind()
    yield from (make(kind) for make in SPECIAL.values())
    yield from (made(kind, seed, weight=weight) for seed in range(4) for weight in ("int", "float"))
    yield (
        nx.relabel_nodes(nx.gnm_random_graph(60, 150, seed=1), lambda v: v).to_directed()
        if kind is nx.DiGraph
        else (kind(nx.gnm_random_graph(60, 150, seed=1)))
    )


def arguments_of(name: str, graph: nx.Graph) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Yield arguments after the graph for the function *name*."""
    nodes = list(graph)
    parameters = inspect.signature(REGISTERED[name].orig_func).parameters
    ends = [[nodes[0]], [nodes[len(nodes) // 2]]] if nodes else []
    missing: list[Any] = ["nowhere"]
    weights: list[Any] = ["weight", None, "no such"] if "weight" in parameters else [()]
    for weight in weights:
        options = {} if weight == () else {"weight": weight}
        if "sources" in parameters:
            yield from (((several,), options) for several in (nodes[:1], nodes[:3]))
            yield (missing,), options
        elif "target" in parameters and parameters["target"].default is inspect.Parameter.empty:
            yield from (((*begin, end), options) for begin in ends for end in (nodes[-1], nodes[0], "nowhere"))
            yield (*missing, 0), options
        elif name == "descendants_at_distance":
            yield from (((*begin, depth), options) for begin in [*ends, missing] for depth in range(4))
        elif "source" in parameters or name == "node_connected_component":
            yield from ((tuple(begin), options) for begin in [*ends, missing])
            if "depth_limit" in parameters:
                yield from ((tuple(begin), {"depth_limit": depth}) for begin in ends for depth in (0, 1, 2.5))
            if "cutoff" in parameters:
                yield from ((tuple(begin), {**options, "cutoff": depth}) for begin in ends for depth in (0, 1, 2))
        else:
            yield (), options


def listed(result: Any) -> Any:
    """Return a result as it compares: iterators as lists, graphs with all that they have."""
    if isinstance(result, Iterator):
        return [listed(each) for each in result]
    if isinstance(result, nx.Graph):
        return type(result), result.graph, list(result.nodes(data=True)), result._adj
    if isinstance(result, dict):
        return [(key, listed(value)) for key, value in result.items()]
    if hasattr(result, "toarray"):
        return result.format, result.dtype, result.toarray().tolist()
    return result


def outcome(call: Callable[[], Any]) -> Any:
    """Return the result of *call*, or the type and message of its error."""
    try:
        return listed(call())
    except NotImplementedError:
        raise
    except Exception as error:
        return type(error), str(error)


UNORDERED = {  # networkx's dictionary has another order than Dijkstra's
    "single_source_bellman_ford_path_length", "all_pairs_bellman_ford_path_length", "shortest_path_length",
    "strongly_connected_components",  # networkx's components have the order of its search
}  # fmt: skip
if tuple(map(int, nx.__version__.split(".")[:2])) < (3, 6):  # these list vertices in another order than 3.6
    UNORDERED |= {
        "bfs_layers", "shortest_path", "single_source_dijkstra_path", "multi_source_dijkstra_path",
        "all_pairs_dijkstra_path", "single_source_dijkstra", "multi_source_dijkstra", "all_pairs_dijkstra",
    }  # fmt: skip
CENTRALITIES = {"eigenvector_centrality", "katz_centrality"}
# networkx takes no multigraphs
SIMPLE = {"clustering", "average_clustering", "transitivity", "core_number", "k_core"} | CENTRALITIES
TIES = {"bidirectional_dijkstra", "shortest_path"}  # paths, which networkx searches from both ends


def unordered(name: str, answer: list[Any]) -> list[Any]:
    """Return an answer in sorted order; of layers each layer is sorted, but not their sequence."""
    if name == "bfs_layers":
        return [sorted(layer, key=repr) for layer in answer]
    if name == "strongly_connected_components":
        return sorted(sorted(map(repr, component)) for component in answer)
    return sorted(answer, key=repr)


def by_members(answer: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a condensation with each node replaced by the set of its members."""
    kind, attributes, nodes, adjacency = answer
    members = {k: frozenset(data["members"]) for k, data in nodes}
    mapping = {v: members[k] for v, k in attributes["mapping"].items()}
    return kind, mapping, {members[k]: {members[j] for j in row} for k, row in adjacency.items()}


def same(name: str, ours: Any, theirs: Any, options: dict[str, Any]) -> bool:
    if name in UNORDERED and isinstance(ours, list):
        ours, theirs = (unordered(name, each) for each in (ours, theirs))
    if ours == theirs:
        return True
    if name == "condensation":  # Its nodes have the numbers of the components.
        return by_members(ours) == by_members(theirs)
    if name == "pagerank" and isinstance(ours, list):  # Sums of floats are rounded in another order.
        return bool(dict(ours) == pytest.approx(dict(theirs), rel=1e-9)) and [v for v, _ in ours] == [
            v for v, _ in theirs
        ]
    if name in CENTRALITIES and isinstance(ours, list):
        return bool(dict(ours) == pytest.approx(dict(theirs), abs=2e-5)) and [*dict(ours)] == [*dict(theirs)]
    if name in TIES and isinstance(ours, tuple):
        return bool(ours[0] == pytest.approx(theirs[0])) and len(ours) == len(theirs)
    if isinstance(ours, float):
        return bool(ours == pytest.approx(theirs, rel=1e-12))
    return name in TIES and isinstance(ours, list) and {ours[0], ours[-1]} == {theirs[0], theirs[-1]}


COMMUNITIES = {"louvain_communities", "leiden_communities"}
CHOICES = COMMUNITIES | {"maximal_independent_set", "maximal_matching"}  # of which there are many right answers


@pytest.mark.parametrize("strategy", ["auto", "device"])
@pytest.mark.parametrize("kind", KINDS)
def test_hubs_and_authorities_are_those_of_networkx_where_they_are_unique(kind: type[nx.Graph], strategy: str) -> None:
    """networkx starts from random numbers, which decide where singular values are equal, and the sign."""
    CONFIG.strategy = strategy
    for graph in (made(kind, 1), made(kind, 2, weight="float"), kind(nx.karate_club_graph())):
        for normalized in (True, False):
            ours, theirs = (nx.hits(graph, normalized=normalized, backend=b) for b in ("clgraph", "networkx"))
            for found, expected in zip(ours, theirs, strict=True):
                sign = 1 if normalized or sum(expected.values()) > 0 else -1
                assert {v: sign * x for v, x in found.items()} == pytest.approx(expected, abs=1e-6)
    for alone in (kind(), kind([(0, 0)]), nx.empty_graph(3, create_using=kind)):
        ours, theirs = (outcome(lambda: nx.hits(alone, backend=b)) for b in ("clgraph", "networkx"))  # noqa: B023
        assert ours == theirs


@pytest.mark.parametrize("strategy", ["auto", "device"])
@pytest.mark.parametrize("name", sorted(COMMUNITIES))
def test_communities_divide_the_nodes_about_as_well_as_networkx(name: str, strategy: str) -> None:
    CONFIG.strategy = strategy
    find = getattr(nx.community, name)
    for graph in (nx.karate_club_graph(), nx.les_miserables_graph(), made(nx.Graph, 2, weight="float")):
        several = [find(graph, seed=seed, backend="clgraph") for seed in range(5)]
        found = several[-1]
        assert found == find(graph, seed=4, backend="clgraph")
        assert all(nx.community.is_partition(graph, each) for each in several)
        theirs = nx.community.louvain_communities(graph, seed=5, backend="networkx")
        least = nx.community.modularity(graph, theirs) - 0.01
        assert max(nx.community.modularity(graph, each) for each in several) > least
        finer = find(graph, seed=4, resolution=3, weight=None, backend="clgraph")
        assert len(finer) > len(found)
    assert find(nx.Graph(), backend="clgraph") == []
    assert sorted(map(sorted, find(nx.empty_graph(3), backend="clgraph"))) == [[0], [1], [2]]
    with pytest.raises(ValueError, match="max_level"):
        find(nx.path_graph(3), max_level=0, backend="clgraph")


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_independent_sets_and_matchings_are_maximal(kind: type[nx.Graph]) -> None:
    find = nx.maximal_independent_set
    for graph in graphs(kind):
        nodes = list(graph)
        free = [[node] for node in nodes[:3] if not graph.has_edge(node, node)]
        for given in [[], *free] if len(nodes) > 1 else [[]] * len(nodes):
            found = find(graph, given, seed=3, backend="clgraph")
            assert set(given) <= set(found) and found == find(graph, given, seed=3, backend="clgraph")
            near = {v for u in found for v in graph[u] if u != v}
            assert near.isdisjoint(found) and near.union(found) == set(nodes) and len(found) == len(set(found))
        if kind is nx.Graph:
            matching = nx.maximal_matching(graph, backend="clgraph")
            assert nx.is_maximal_matching(nx.Graph((u, v) for u, v in graph.edges if u != v), matching)
            assert matching <= set(graph.edges)
    path, loop = nx.path_graph(4), nx.Graph([(0, 0), (0, 1)])
    for graph, wrong in ((path, [0, 1]), (path, [7]), (loop, [0])):
        with pytest.raises(nx.NetworkXUnfeasible):
            find(graph, wrong, backend="clgraph")
    with pytest.raises(IndexError):
        find(nx.Graph(), backend="clgraph")


@pytest.mark.parametrize("strategy", ["auto", "device"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(TABLE.keys() - CHOICES - {"hits"}))
def test_a_function_answers_as_networkx(name: str, kind: type[nx.Graph], strategy: str) -> None:
    CONFIG.strategy = strategy
    function, n_answered = getattr(nx, name), 0
    for graph in graphs(kind) if strategy == "auto" else [made(kind, 1), SPECIAL["path"](kind)]:
        for given, options in arguments_of(name, graph):
            if backend.can_run(name, (graph, *given), options) is not True:
                continue
            theirs = outcome(lambda: function(graph, *given, **options, backend="networkx"))  # noqa: B023
            ours = outcome(lambda: function(graph, *given, **options, backend="clgraph"))  # noqa: B023
            n_answered += 1
            assert same(name, ours, theirs, options), (list(graph.edges(data=True)), given, options)
    if name in SIMPLE and graph.is_multigraph():
        assert not n_answered
    elif not graph.is_directed() or "weakly" in name or name in ("bfs_edges", "dijkstra_path"):
        assert n_answered or name in ("in_degree_centrality", "out_degree_centrality") or "weakly" in name


def test_the_names_that_networkx_reads_are_those_of_the_table() -> None:
    info = _clgraph_nx.get_info()
    assert sorted(TABLE) == sorted(info["functions"]) == _clgraph_nx.FUNCTIONS.split()
    for name, entry in TABLE.items():
        assert hasattr(backend, name) and name in dir(backend)
        ours, theirs = (inspect.signature(each).parameters for each in (entry.run, REGISTERED[name].orig_func))
        assert [*ours] == [*theirs], name
        assert [p.default for p in ours.values()] == [p.default for p in theirs.values()], name
    assert not hasattr(backend, "simrank") and backend.can_run("simrank", (), {}) is False


def test_the_information_is_read_without_numpy_or_clgraph(tmp_path: Path) -> None:
    code = (
        "import sys, networkx as nx\n"
        "assert not {'numpy', 'clgraph', 'pyopencl'} & set(sys.modules)\n"
        "print(nx.config.backend_priority.algos, nx.config.backends.clgraph.min_nodes > 0, nx.config.fallback_to_nx)"
    )
    path = os.pathsep.join([str(conftest.ROOT), *networkx_entry.folder_for_path(tmp_path)])
    for variables, expected in (
        ({}, "[] True False"),
        ({"CLGRAPH_NX_AUTOCONFIG": "1"}, "['clgraph'] True True"),
        ({"CLGRAPH_NX_AUTOCONFIG": "1", "NETWORKX_BACKEND_PRIORITY": "networkx"}, "['networkx'] True True"),
    ):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("NETWORKX")}
        command = [sys.executable, "-c", code]
        child = subprocess.run(
            command, env=clean | variables | {"PYTHONPATH": path}, capture_output=True, text=True, check=True
        )
        assert child.stdout.strip() == expected


@pytest.mark.parametrize("kind", KINDS)
def test_a_converted_graph_is_still_a_graph_of_networkx(kind: type[nx.Graph]) -> None:
    graph = made(kind, 3)
    ours = networkx_backend.convert_from_nx(
        graph, preserve_edge_attrs=True, preserve_node_attrs=True, preserve_graph_attrs=True
    )
    assert isinstance(ours, kind) and len(ours) == len(graph) and list(ours) == list(graph)
    assert "n1" in ours and "nowhere" not in ours and [] not in ours and not ours._has_dicts
    back = networkx_backend.convert_to_nx(ours)
    assert type(back) is kind and listed(back) == listed(graph)
    assert all(d is graph.get_edge_data(u, v) for u, v, d in back.edges(data=True)) or kind().is_multigraph()
    assert networkx_backend.convert_to_nx(graph) is graph and networkx_backend.convert_to_nx(3) == 3
    for again in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert listed(networkx_backend.convert_to_nx(again)) == listed(graph)


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_of_a_converted_graph_is_seen(kind: type[nx.Graph]) -> None:
    name = "weakly_connected_components" if kind().is_directed() else "connected_components"
    ours = networkx_backend.convert_from_nx(kind([(0, 1), (2, 3)]), preserve_edge_attrs=True)
    assert [*getattr(nx, name)(ours)] == [{0, 1}, {2, 3}]
    ours.add_edges_from([])
    assert [*getattr(nx, name)(ours)] == [{0, 1}, {2, 3}]
    ours.add_edge(1, 2)
    ours.add_node("x")
    assert [*getattr(nx, name)(ours)] == [{0, 1, 2, 3}, {"x"}]
    assert ours._adjacency is ours._adjacency, "it is read once a change"
    copied = ours.copy()
    copied.remove_node(2)
    assert len(ours) == 5 and [*getattr(nx, name)(copied)] == [{0, 1}, {3}, {"x"}]
    copied.clear()
    assert not len(copied) and [*getattr(nx, name)(copied)] == []


def test_networkxs_own_functions_take_a_converted_graph() -> None:
    graph = nx.karate_club_graph()
    ours = networkx_backend.convert_from_nx(graph, preserve_edge_attrs=True)
    with pytest.raises(NotImplementedError):
        nx.closeness_centrality(ours)
    nx.config.fallback_to_nx = True
    try:
        assert nx.closeness_centrality(ours) == nx.closeness_centrality(graph)
        assert nx.greedy_color(ours, strategy="DSATUR") == nx.greedy_color(graph, strategy="DSATUR")
    finally:
        nx.config.fallback_to_nx = False


def test_networkx_keeps_a_conversion_until_the_graph_changes() -> None:
    graph = made(nx.MultiGraph, 2)
    networkx_backend.profile(reset=True)
    nx.bfs_tree(graph, 0, backend="clgraph")
    nx.is_connected(graph, backend="clgraph")
    assert [c.n_conversions for c in networkx_backend.profile().values()] == [1, 0]
    (first,) = graph.__networkx_cache__["backends"]["clgraph"].values()
    nx.single_source_dijkstra(graph, 0, backend="clgraph")
    (weighted,) = graph.__networkx_cache__["backends"]["clgraph"].values()
    assert weighted is not first and weighted._adjacency.graph is first._adjacency.graph, "the pattern is made once"
    graph.add_edge(0, "far")
    assert "far" in nx.node_connected_component(graph, 0, backend="clgraph")


def test_a_conversion_without_memory_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = nx.path_graph(4)

    def fails(*_: Any, **__: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(reading.Graph, "_trusted", fails)
        with pytest.raises(NotImplementedError):
            nx.is_connected(graph, backend="clgraph")
    assert nx.is_connected(graph, backend="clgraph")
    with pytest.raises(TypeError, match="no networkx graph"):
        networkx_backend.convert_from_nx(3)


@pytest.mark.parametrize("weight", [-1, float("inf"), "heavy", None, 2**70, 1j, float("nan")])
def test_weights_that_we_cannot_use_go_back_to_networkx(weight: Any) -> None:
    graph = nx.Graph([(0, 1, {"weight": weight}), (1, 2)])
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra(graph, 0, backend="clgraph")
    assert nx.is_connected(graph, backend="clgraph"), "functions that do not look at weights are not concerned"


def test_numbers_are_taken_only_without_loss() -> None:
    assert as_numbers([1, True]).tolist() == [1, 1] and as_numbers([1, 0.5]).tolist() == [1, 0.5]  # type: ignore[union-attr]
    for values in ([2**63, -1], [2**53 + 1, 0.5], [np.float32(1)], [[1], [2]], [[1], 2], ["1"]):
        assert isinstance(as_numbers(values), str), values


def test_a_missing_number_ends_kruskal_as_in_networkx() -> None:
    graph = nx.Graph([(0, 1, {"weight": 1.0}), (1, 2, {"weight": float("nan")})])
    messages = []
    for name in ("clgraph", "networkx"):
        with pytest.raises(ValueError, match="NaN found") as caught:
            list(nx.minimum_spanning_edges(graph, backend=name))
        messages.append(str(caught.value))
        assert list(nx.minimum_spanning_edges(graph, ignore_nan=True, data=False, backend=name)) == [(0, 1)]
    assert messages[0] == messages[1]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("single_source_dijkstra", {"source": 0, "weight": lambda *_: 1}),
        ("greedy_color", {"interchange": True}),
        ("greedy_color", {"strategy": "DSATUR"}),
        ("greedy_color", {"strategy": "nonsense"}),
        ("minimum_spanning_edges", {"algorithm": "prim"}),
        ("bfs_edges", {"source": 0, "sort_neighbors": sorted}),
        ("shortest_path", {"source": 0, "target": 1}),
        ("shortest_path", {}),
        ("shortest_path_length", {"source": 0, "method": "nonsense"}),
        ("shortest_path", {"source": 0, "weight": "weight", "method": "bellman-ford"}),
        ("diameter", {"usebounds": True}),
        ("diameter", {"e": {}}),
        ("average_shortest_path_length", {"method": "floyd-warshall"}),
        ("to_scipy_sparse_array", {"nodelist": [0]}),
        ("to_scipy_sparse_array", {"format": "nonsense"}),
        ("is_connected", {"nonsense": 1}),
    ],
)
def test_calls_that_are_not_ours_are_refused_by_their_arguments(name: str, options: dict[str, Any]) -> None:
    networkx_backend.profile(reset=True)
    reason = backend.can_run(name, (nx.path_graph(3),), options)
    assert isinstance(reason, str) and reason
    assert networkx_backend.profile()[name].fallbacks == {reason: 1}


def test_directed_graphs_are_refused_where_order_is_missing() -> None:
    graph = nx.DiGraph([(0, 1)])
    for name, options in (
        ("bfs_edges", {"source": 0, "reverse": True}), ("shortest_path", {"target": 1}), ("greedy_color", {}),
    ):  # fmt: skip
        assert backend.can_run(name, (graph,), options) == "the graph is directed"


def test_small_graphs_stay_with_networkx_and_the_reason_is_told() -> None:
    graph = nx.path_graph(50)
    networkx_backend.profile(reset=True)
    with nx.config(backend_priority=["clgraph"]):
        assert nx.is_connected(graph)
        assert not networkx_backend.profile().n_calls
        CONFIG.min_nodes, least = 40, CONFIG.min_nodes
        CONFIG.min_nodes_cached, cached = 30, CONFIG.min_nodes_cached
        assert nx.is_connected(graph) and backend.should_run("is_connected", (graph,), {}) is True
        CONFIG.min_nodes, CONFIG.min_nodes_cached = least, cached
    told = networkx_backend.profile(reset=True)
    assert told.n_calls == 1 and "fewer than" in next(iter(told["is_connected"].fallbacks))
    assert "is_connected" in str(told) and not networkx_backend.profile()
    assert "50 nodes; faster from" in str(backend.should_run("is_connected", (graph,), {}))


def test_a_device_that_fails_sends_the_call_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise DeviceError("lost")

    monkeypatch.setattr(components, "components", fails)
    with pytest.raises(NotImplementedError):
        nx.number_connected_components(nx.path_graph(3), backend="clgraph")
    assert "DeviceError: lost" in networkx_backend.profile(reset=True)["number_connected_components"].fallbacks


def test_views_are_read_as_they_look() -> None:
    graph = nx.gnm_random_graph(30, 60, seed=2)
    view = graph.subgraph(range(5, 25))
    assert listed(nx.bfs_edges(view, 7, backend="clgraph")) == listed(nx.bfs_edges(view, 7))
    turned = nx.DiGraph(graph).reverse(copy=False)
    assert nx.descendants(turned, 3, backend="clgraph") == nx.descendants(turned, 3)
    lopsided = nx.subgraph_view(graph, filter_edge=lambda u, v: u < v)
    with pytest.raises(NotImplementedError):
        nx.is_connected(lopsided, backend="clgraph")


def test_ties_of_equal_weights_are_broken_as_by_networkx() -> None:
    graph = nx.grid_2d_graph(9, 9)
    rng = np.random.default_rng(5)
    nx.set_edge_attributes(graph, {edge: int(rng.integers(1, 4)) for edge in graph.edges}, "weight")
    for source in [(0, 0), (4, 4)]:
        ours, theirs = (nx.single_source_dijkstra(graph, source, backend=name) for name in ("clgraph", "networkx"))
        assert listed(ours[0]) == listed(theirs[0]) and ours[1] == theirs[1]
    ours, theirs = (listed(nx.maximum_spanning_edges(graph, backend=name)) for name in ("clgraph", "networkx"))
    assert ours == theirs


def test_tests_of_networkx_with_several_right_answers_are_named() -> None:
    from clgraph.networkx_backend.ties import TIES as named

    assert all(reason for reason in named.values())
    backend.on_start_tests([])


def test_some_of_networkxs_own_tests_pass_and_reach_us(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    modules = ["networkx.algorithms.components.tests.test_connected", "networkx.algorithms.traversal.tests.test_bfs"]
    command = [sys.executable, str(conftest.ROOT / "tools" / "networkx_suite.py"), *modules, "--json", str(report)]
    child = subprocess.run([*command, "--device", "pocl"], capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stdout
    found = json.loads(report.read_text(encoding="utf-8"))
    assert {*found["outcomes"].values()} <= {"passed", "xfailed"} and found["calls"]["bfs_edges"] > 1
