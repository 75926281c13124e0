"""Graphs from networkx and back: weights, views, functions, attributes that are missing."""

import contextlib
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from graphs import check_arrays, entries

from clgraph import connected_components, minimum_spanning_forest, sssp
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.graph import Graph
from clgraph.errors import GraphError, GraphWarning, InputError
from clgraph.generators import path


def test_nodes_and_weights_of_networkx_are_kept() -> None:
    source = nx.Graph()
    source.add_edge("b", "a", weight=2.5)
    source.add_edge("b", ("t", 1))
    graph = as_graph(source, weight="weight")
    assert graph.ids is not None and graph.ids.tolist() == ["b", "a", ("t", 1)]
    assert entries(graph) == [(0, 1, 2.5), (0, 2, 1.0), (1, 0, 2.5), (2, 0, 1.0)]
    assert nx.utils.graphs_equal(as_graph(source).to_networkx(), nx.Graph(source.edges()))
    assert as_graph(nx.path_graph(4)).ids is None


def weighted(kind: type[nx.Graph]) -> nx.Graph:
    """Return a graph of *kind* in which attributes are missing, an edge is a loop and, if it can be, one parallel."""
    source = kind([("c", "a", {"w": 2.5}), ("a", "b"), ("b", "b", {"w": 4.0}), (3, "a", {"w": 1.5, "x": 9})])
    if source.is_multigraph():
        source.add_edge("c", "a", key="second", w=0.5)
        source.add_edge("b", "b", w=8.0)
    if source.is_directed():
        source.add_edge("a", "c", w=7.0)
    return source


VIEWS = {
    "itself": lambda source: source,
    "frozen": lambda source: nx.freeze(source.copy()),
    "subgraph": lambda source: source.subgraph(["b", "a", "c"]),
    "few nodes": lambda source: source.subgraph(["b"]),
    "edge_subgraph": lambda source: source.edge_subgraph(list(source.edges)[:2]),
    "filtered": lambda source: nx.subgraph_view(source, filter_edge=lambda u, v, *key: "b" not in (u, v)),
    "reversed": lambda source: source.reverse(copy=False) if source.is_directed() else source,
    "undirected": lambda source: source.to_undirected(as_view=True),
    "directed": lambda source: source.to_directed(as_view=True),
    "empty": lambda source: source.subgraph([]),
}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("view", VIEWS)
def test_networkx_graphs_and_views_give_their_edges(kind: type[nx.Graph], view: str) -> None:
    source = VIEWS[view](weighted(kind))
    number = {node: i for i, node in enumerate(source)}
    for name in (None, "w", "y"):
        expected = []
        for u, v, w in source.edges(data=name, default=1) if name else ((*edge[:2], 1) for edge in source.edges):
            pairs = {(number[u], number[v])} | (set() if source.is_directed() else {(number[v], number[u])})
            expected += [(*pair, w) if name else pair for pair in pairs]
        with pytest.warns(GraphWarning) if name == "y" and expected else contextlib.nullcontext():
            graph = Graph.from_networkx(source, name)
        check_arrays(graph)
        assert entries(graph) == sorted(expected) and graph.directed == source.is_directed()
        assert list(source) == ([] if graph.ids is None else graph.ids.tolist())


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_a_function_as_weight_of_a_networkx_graph_is_networkxs(kind: type[nx.Graph]) -> None:
    source = weighted(kind)

    def total(u: Any, v: Any, attributes: Any) -> float | None:
        parallel = attributes.values() if source.is_multigraph() else [attributes]
        weight = sum(given.get("w", 3.0) for given in parallel)
        return None if weight == 3.0 else weight  # hides the edge from a to b

    def uphill(u: Any, v: Any, attributes: Any) -> float:
        return 2.0 if str(u) < str(v) else 5.0

    for function in (total, uphill):
        for start in source:
            expected = nx.single_source_dijkstra_path_length(source, start, weight=function)
            found = sssp(source, start, weight=function, session="pocl").distances
            assert dict(zip(source, found.tolist(), strict=True)) == {v: expected.get(v, np.inf) for v in source}
    assert Graph.from_networkx(source, total).directed == source.is_directed()
    assert Graph.from_networkx(source, uphill).directed, "an edge weighs more in one direction"
    check_arrays(Graph.from_networkx(source, total))
    by_name = nx.Graph(source)
    assert minimum_spanning_forest(by_name, weight=lambda u, v, given: given.get("w", 1), session="pocl").weight == (
        minimum_spanning_forest(by_name, weight="w", session="pocl").weight
    )


def test_a_function_as_weight_may_raise_or_have_no_edges() -> None:
    source = nx.Graph([("a", "b", {"km": 1.0}), ("b", "c")])
    with pytest.raises(InputError, match=r"edge \('b', 'c'\): weight = .* raised KeyError: 'km'"):
        sssp(source, "a", weight=lambda u, v, given: given["km"])
    for other in (path(3), path(3).to_scipy()):
        with pytest.raises(InputError, match="a function is for networkx graphs"):
            sssp(other, 0, weight=lambda *_: 1)
        with pytest.raises(InputError, match="a function is for networkx graphs"):
            minimum_spanning_forest(other, weight=lambda *_: 1)


@pytest.mark.parametrize("value", [None, "far", Fraction(1, 2), 2**64, 1j, [1], np.nan, object()])
@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiDiGraph])
def test_an_edge_whose_weight_is_no_number_is_named(kind: type[nx.Graph], value: Any) -> None:
    source = kind([("a", "b", {"w": 3.0}), ("b", "c", {"w": value}), ("c", "a", {"w": 2.0})])
    with pytest.raises(GraphError, match=r"edge \('b', 'c'\) has weight "):
        Graph.from_networkx(source, "w")
    if value is not None:
        with pytest.raises(GraphError, match=r"edge \('b', 'c'\) has weight "):
            Graph.from_networkx(source, lambda u, v, _: value if {u, v} == {"b", "c"} else 1.0)


def test_a_networkx_attribute_that_has_no_hash_is_refused() -> None:
    with pytest.raises(InputError, match=r"weight = .*an edge attribute"):
        Graph.from_networkx(nx.Graph([(0, 1)]), ["w"])  # type: ignore[arg-type]


@pytest.mark.filterwarnings("error")
def test_an_attribute_that_no_edge_has_is_told() -> None:
    source = nx.Graph([(0, 1, {"km": 4.0}), (1, 2, {"toll": 1})])
    with pytest.warns(GraphWarning, match="no edge has the attribute 'weight'.*: 'km', 'toll'"):
        assert sssp(source, 0, session="pocl").distances.tolist() == [0, 1, 2]
    with pytest.warns(GraphWarning, match="no edge has the attribute 'kn'.*: 'km', 'toll'"):
        sssp(source, 0, weight="kn", session="pocl")
    with pytest.warns(GraphWarning, match="no edge has the attribute 'km'.*: none"):
        sssp(nx.path_graph(3), 0, weight="km", session="pocl")
    assert sssp(source, 0, weight="km", session="pocl").distances.tolist() == [0, 4, 5], "some edges have it"
    sssp(nx.path_graph(3), 0, session="pocl")
    sssp(nx.empty_graph(3), 0, weight="km", session="pocl")
    connected_components(source, session="pocl")


def test_a_networkx_graph_without_dictionaries_of_attributes_is_refused() -> None:
    class Complement(nx.Graph):
        def adjacency(self) -> Any:
            return iter([(v, set(self) - {v}) for v in self])

    for weight in (None, "weight", lambda *_: 1):
        with pytest.raises(InputError, match="dictionary of attributes"):
            Graph.from_networkx(Complement([(0, 1), (1, 2)]), weight)


@pytest.mark.parametrize("names", [[0, 1, 2], ["a", "b", "c"]])
@pytest.mark.parametrize("end", [7, -1])
def test_a_neighbour_that_is_no_node_of_a_networkx_graph_is_refused(names: list[Any], end: int) -> None:
    source = nx.path_graph(names)
    source._adj[names[0]][end] = {}
    with pytest.raises(InputError, match="neighbour"):
        Graph.from_networkx(source)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("ids", [None, ["z", ("y", 1), 5, "x"]])
@pytest.mark.parametrize("weight", [None, [3, 1, 2, 5, 4]])
def test_to_networkx_is_as_if_edges_were_added_one_by_one(directed: bool, ids: Any, weight: Any) -> None:
    graph = Graph.from_edges([2, 0, 3, 1, 0], [1, 2, 0, 1, 1], weight, directed=directed)
    graph = Graph(graph.row_offsets, graph.column_indices, graph.edge_weights, directed, ids)
    names = range(4) if ids is None else ids
    expected = (nx.DiGraph if directed else nx.Graph)()
    expected.add_nodes_from(names)
    for u, v, *w in zip(*(part.tolist() for part in graph.edge_list() if part is not None), strict=True):
        expected.add_edge(names[u], names[v], **({"weight": w[0]} if w else {}))
    made = graph.to_networkx()
    assert nx.utils.graphs_equal(made, expected) and type(made) is type(expected)
    assert [list(row) for _, row in made.adjacency()] == [list(row) for _, row in expected.adjacency()]
    u, v = names[0], names[2]
    made.edges[u, v]["seen"] = True
    assert (made.pred if directed else made.adj)[v][u]["seen"], "both directions have the same attributes"
    made.remove_edge(u, v)
    assert not made.has_edge(u, v) and made.number_of_edges() == expected.number_of_edges() - 1


@pytest.mark.parametrize("directed", [False, True])
def test_parallel_edges_and_equal_labels_go_to_networkx(directed: bool) -> None:
    parallel = Graph.from_edges([0, 0, 1, 2], [1, 1, 2, 2], [3, 4, 5, 6], directed=directed)
    made = parallel.to_networkx()
    assert made.is_multigraph() and sorted(made.edges(data="weight")) == [(0, 1, 3), (0, 1, 4), (1, 2, 5), (2, 2, 6)]
    twins = Graph.from_edges([0, 2], [1, 3], [3, 5], directed=directed)
    twins = Graph(twins.row_offsets, twins.column_indices, twins.edge_weights, directed, ["a", "b", "b", "c"])
    assert sorted(twins.to_networkx().edges(data="weight")) == [("a", "b", 3), ("b", "c", 5)]
