"""The backend for networkx where networkx has an error or an answer of its own: missing nodes, odd arguments."""

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx_on_pocl import CONFIG, on_pocl  # noqa: F401

from clgraph import networkx_backend

PATH = nx.path_graph(4)


def outcome(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return the answer, or the type and message of the error."""
    try:
        found = function(*args, **options)
        return list(found) if isinstance(found, Iterator) else found
    except Exception as error:
        return type(error), str(error)


def answers(function: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, Any]:
    """Return the outcomes by this backend and by networkx."""
    ours, theirs = (outcome(function, *args, **options, backend=name) for name in ("clgraph", "networkx"))
    return ours, theirs


@pytest.mark.parametrize(
    ("function", "args", "options"),
    [
        (nx.shortest_path_length, (nx.empty_graph(3), 0, 1), {}),
        (nx.has_path, (PATH, 0, "zz"), {}),
        (nx.descendants, (PATH, "zz"), {}),
        (nx.ancestors, (PATH, "zz"), {}),
        (nx.bfs_edges, (PATH, "zz"), {}),
        (nx.bfs_predecessors, (PATH, "zz"), {}),
        (nx.core_number, (nx.Graph([(0, 0)]),), {}),
        (nx.pagerank, (PATH,), {"personalization": {99: 1}}),
        (nx.pagerank, (PATH,), {"personalization": {}}),
        (nx.eccentricity, (nx.empty_graph(3),), {}),
        (nx.average_shortest_path_length, (nx.empty_graph(3),), {}),
    ],
)
def test_an_error_of_networkx_is_raised(function: Any, args: Any, options: dict[str, Any]) -> None:
    ours, theirs = answers(function, *args, **options)
    assert ours == theirs and issubclass(theirs[0], Exception)


@pytest.mark.filterwarnings("ignore:invalid value encountered in divide:RuntimeWarning")
@pytest.mark.parametrize("options", [{"max_iter": 1}, {"nstart": {}}, {"dangling": {}}])
@pytest.mark.parametrize("graph", [PATH, nx.DiGraph([(0, 1), (1, 2)])])
def test_pagerank_fails_to_converge_as_in_networkx(graph: nx.Graph, options: dict[str, Any]) -> None:
    """An empty mapping is not the same as none: all its values are 0."""
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(graph, backend="clgraph", **options)


@pytest.mark.parametrize("name", ["descendants", "ancestors", "bfs_edges", "bfs_tree", "bfs_successors"])
def test_a_missing_node_is_an_error_of_networkx_where_networkx_chooses_the_backend(name: str) -> None:
    networkx_backend.profile(reset=True)
    least = CONFIG.min_nodes, CONFIG.min_nodes_cached
    CONFIG.min_nodes = CONFIG.min_nodes_cached = 10
    try:
        with nx.config(backend_priority=["clgraph"]):
            found = outcome(getattr(nx, name), nx.path_graph(20), "zz")
    finally:
        CONFIG.min_nodes, CONFIG.min_nodes_cached = least
    assert found[0] is nx.NetworkXError, found
    assert sum(calls.n_conversions for calls in networkx_backend.profile(reset=True).values())


CUTOFFS = [-1, float("nan"), float("inf"), "a", 1.5, np.int64(1), np.float32(1)]


@pytest.mark.parametrize("cutoff", CUTOFFS, ids=repr)
@pytest.mark.parametrize(
    "name",
    [
        "single_source_dijkstra", "single_source_dijkstra_path", "single_source_dijkstra_path_length",
        "single_source_shortest_path", "single_source_shortest_path_length",
        "all_pairs_dijkstra", "all_pairs_dijkstra_path", "all_pairs_dijkstra_path_length",
        "all_pairs_shortest_path", "all_pairs_shortest_path_length",
        "bfs_edges", "bfs_predecessors", "bfs_successors",
    ],
)  # fmt: skip
def test_any_cutoff_means_the_same_as_in_networkx(name: str, cutoff: Any) -> None:
    option = "depth_limit" if name.startswith("bfs") else "cutoff"
    given = () if name.startswith("all") else (0,)
    ours, theirs = answers(getattr(nx, name), PATH, *given, **{option: cutoff})
    assert ours == theirs


@pytest.mark.parametrize(
    "name",
    [
        "all_pairs_dijkstra",
        "all_pairs_dijkstra_path",
        "all_pairs_dijkstra_path_length",
        "all_pairs_bellman_ford_path_length",
    ],
)
def test_distances_of_all_pairs_may_be_beyond_64_bits(name: str) -> None:
    graph = nx.path_graph(5)
    nx.set_edge_attributes(graph, 2**61, "weight")
    ours, theirs = answers(getattr(nx, name), graph)
    assert ours == theirs and len(ours) == 5


@pytest.mark.parametrize("weight", [10**13, 2**62 // 100, 0.5])
def test_the_sum_of_all_distances_may_be_beyond_64_bits(weight: Any) -> None:
    graph = nx.cycle_graph(200)
    nx.set_edge_attributes(graph, weight, "weight")
    ours, theirs = answers(nx.average_shortest_path_length, graph, weight="weight")
    assert ours == theirs > 0
    big = nx.star_graph(9)
    nx.set_edge_attributes(big, 2**61, "weight")
    ours, theirs = answers(nx.average_shortest_path_length, big, weight="weight")
    assert ours == theirs > 0


@pytest.mark.parametrize("distance", [np.int64(2), 2.0, np.float32(2), True, "2", 2.5, float("nan"), None, -1, 2**70])
def test_a_distance_of_descendants_is_any_object_that_may_equal_a_number(distance: Any) -> None:
    ours, theirs = answers(nx.descendants_at_distance, PATH, 0, distance)
    assert ours == theirs


@pytest.mark.parametrize("made", [np.random.RandomState, np.random.default_rng, int])
def test_seeds_of_numpy_are_taken(made: Any) -> None:
    graph = nx.karate_club_graph()
    for find in (nx.community.louvain_communities, nx.community.leiden_communities, nx.maximal_independent_set):
        networkx_backend.profile(reset=True)
        first, second = (find(graph, seed=made(1), backend="clgraph") for _ in range(2))
        assert first == second and len(first) > 1
        assert all(calls.n_calls == 2 for calls in networkx_backend.profile().values())
    generator = np.random.RandomState(1)
    several = {
        tuple(nx.maximal_independent_set(graph, seed=generator, backend="clgraph")) for _ in range(8)
    }  # fmt: skip
    assert len(several) > 1, "each call draws from the generator"


def test_a_strategy_that_does_not_exist_is_an_error() -> None:
    CONFIG.strategy = "zzz"
    with pytest.raises(ValueError, match=r"strategy = 'zzz'; allowed: 'auto', 'device'"):
        nx.number_connected_components(PATH, backend="clgraph")


WEIGHTS = [True, np.bool_(True), np.int8(3), np.int16(3), np.int32(3), np.int64(3), 3, 0.5, 3.0]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("value", WEIGHTS, ids=repr)
def test_a_sparse_array_has_the_type_that_networkx_gives_it(value: Any, kind: Any) -> None:
    for others in ([], [(2, 3)], [(2, 3, {"weight": 2})], [(2, 3, {"weight": 0.25})]):
        graph = kind([(0, 1, {"weight": value}), (0, 1, {"weight": value}), (1, 2, {"weight": value}), *others])
        for dtype in (None, np.float32):
            ours, theirs = answers(nx.to_scipy_sparse_array, graph, dtype=dtype)
            assert ours.dtype == theirs.dtype and ours.toarray().tolist() == theirs.toarray().tolist()
        assert nx.single_source_dijkstra(graph, 0, backend="clgraph") == nx.single_source_dijkstra(graph, 0)


def views(graph: nx.Graph) -> Iterator[nx.Graph]:
    yield graph.subgraph(list(graph))
    yield graph.reverse(copy=False) if graph.is_directed() else graph.to_directed(as_view=True)
    yield nx.subgraph_view(graph, filter_node=lambda node: node != 1)
    yield nx.subgraph_view(graph.subgraph(list(graph)), filter_edge=lambda *_: True)


@pytest.mark.parametrize("converted", [False, True])
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_a_view_shows_changes_of_its_graph(kind: Any, converted: bool) -> None:
    graph = kind([(0, 1), (1, 2), (2, 3), (3, 4)])
    if converted:
        graph = networkx_backend.convert_from_nx(graph, preserve_edge_attrs=True)
    for k, view in enumerate(views(graph)):
        for end in (4, 0, 10 + k):
            ours = nx.single_source_dijkstra_path_length(view, 3, backend="clgraph")
            copied = (nx.DiGraph if view.is_directed() else nx.Graph)(list(view.edges(data=True)))
            assert ours == nx.single_source_dijkstra_path_length(copied, 3)
            if end in graph:
                graph.add_edge(3, end, weight=end + 2)
            elif graph.has_edge(3, 0):
                graph.remove_edge(3, 0)
