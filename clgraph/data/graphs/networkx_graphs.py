"""Conversion of networkx graphs to arrays and back, by direct access to their adjacency dictionaries."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import chain, compress, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import refusing, shown
from clgraph.data.graphs.csr import as_weights, check_range
from clgraph.data.graphs.csr_graph import CSRGraph
from clgraph.data.graphs.pairs import pack
from clgraph.data.graphs.vertex_ids import as_ids
from clgraph.errors import GraphError, GraphWarning, InputError

if TYPE_CHECKING:
    import networkx as nx

Weight: TypeAlias = Hashable | Callable[[Any, Any, Any], Any] | None
"""The edge attribute of a networkx graph to use as weight, or a function of both ends and the attributes."""
_DEFAULT = "weight"
_MAX_NAMES = 10  # A warning lists at most this number of attributes.


class NetworkxEdges(NamedTuple):
    """The edges of a networkx graph as arrays.

    An undirected edge is listed once, its lesser vertex number first.

    If *both_ways*, undirected edges are listed in both directions, because a weight function may return a different
    weight for each direction.
    """

    n_vertices: int
    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    weights: NDArray[Any] | None
    ids: NDArray[Any] | None
    both_ways: bool = False


def is_networkx(source: object) -> bool:
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(source, networkx.Graph)


def edges_of(graph: nx.Graph, weight: Weight) -> NetworkxEdges:
    """Return the edges of a networkx *graph*.

    *weight* is as in :meth:`clgraph.Graph.from_networkx`.
    """
    if not is_networkx(graph):
        raise InputError(f"graph = {shown(graph)}; allowed: a networkx graph")
    with refusing("weight", weight, "None, an edge attribute, a function"):
        hash(weight)
    with refusing("graph", graph, "a networkx graph whose neighbours are nodes, each with a dictionary of attributes"):
        return _edges(graph, weight)


def _edges(graph: nx.Graph, weight: Weight) -> NetworkxEdges:
    nodes = list(graph)
    n = len(nodes)
    ids = None if nodes == list(range(n)) else as_ids("nodes", nodes)
    adjacency = dict(graph.adjacency())
    order, neighbours = list(adjacency), _all_plain(adjacency.values())
    degrees = np.fromiter(map(len, neighbours), np.int64, n)
    ends: Iterable[Any] = chain(order, chain.from_iterable(neighbours))
    if ids is not None:
        ends = map(dict(zip(nodes, range(n), strict=True)).__getitem__, ends)
    vertices = np.fromiter(ends, np.int32, n + int(degrees.sum()))
    rows, columns = np.repeat(vertices[:n], degrees), vertices[n:]
    check_range("neighbours", vertices, n)
    # Only one direction of each edge is read, because the directions may differ in a view of an undirected graph.
    # Both directions of each edge are read if a weight function returns a weight for each direction.
    both_ways = callable(weight) and not graph.is_directed()
    once = np.ones(rows.size, bool) if both_ways or graph.is_directed() else rows <= columns
    rows, columns = rows[once], columns[once]
    if weight is None and not graph.is_multigraph():
        return NetworkxEdges(n, rows, columns, None, ids)
    data: Iterable[Any] = compress(chain.from_iterable(map(dict.values, neighbours)), once.tolist())
    if graph.is_multigraph() and not callable(weight):
        edges = _all_plain(data)
        parallel = np.fromiter(map(len, edges), np.int64, rows.size)
        rows, columns = np.repeat(rows, parallel), np.repeat(columns, parallel)
        data = chain.from_iterable(map(dict.values, edges))
    if weight is None:
        return NetworkxEdges(n, rows, columns, None, ids)
    if callable(weight):
        values = [_called(weight, *edge) for edge in zip(*_ends(nodes, rows, columns), data, strict=True)]
        seen = np.array([value is not None for value in values], bool)
        rows, columns, values = rows[seen], columns[seen], [value for value in values if value is not None]
    else:
        attributes = _all_plain(data)
        values = [given.get(weight, 1) for given in attributes]
        _check_known(weight, attributes)
    try:
        weights = as_weights(values, rows.size)
    except GraphError:
        _check_each(values, *_ends(nodes, rows, columns))
        raise
    return NetworkxEdges(n, rows, columns, weights, ids, both_ways)


def _ends(nodes: list[Any], *vertices: NDArray[np.int32]) -> list[Iterable[Any]]:
    return [map(nodes.__getitem__, numbers.tolist()) for numbers in vertices]


def _called(weight: Callable[[Any, Any, Any], Any], u: Any, v: Any, attributes: Any) -> Any:
    """Return the result of the user's function *weight* for the edge from *u* to *v*."""
    try:
        return weight(u, v, attributes)
    except Exception as error:
        what = f"weight = {shown(weight)} raised {type(error).__name__}: {error}"
        raise InputError(f"edge ({u!r}, {v!r}): {what}") from error


def _check_known(weight: Hashable, attributes: list[dict[Any, Any]]) -> None:
    """Warn if the networkx graph has edges but none of the edges has the attribute *weight*.

    There is no warning if *weight* is "weight" and no edge has any attribute, because then the graph is unweighted.
    """
    if not attributes or any(weight in given for given in attributes):
        return
    known = sorted({shown(name) for given in attributes for name in given})
    if known or weight != _DEFAULT:
        there = ", ".join(known[:_MAX_NAMES]) + ", …" * (len(known) > _MAX_NAMES) or "none"
        message = f"no edge has the attribute {shown(weight)}, so each weighs 1; attributes there are: {there}"
        warnings.warn(message, GraphWarning, stacklevel=2)


def _check_each(values: list[Any], *ends: Iterable[Any]) -> None:
    """Raise an error that names the first edge whose weight is not a number or does not fit a type of weights."""
    for value, u, v in zip(values, *ends, strict=True):
        try:
            as_weights([value], 1)
        except GraphError as error:
            raise GraphError(f"edge ({u!r}, {v!r}) has weight {shown(value)}: {error}") from error


def networkx_graph(graph: CSRGraph) -> nx.Graph:
    """Return a networkx graph with all edges of *graph*.

    It is a multigraph if there are parallel edges.
    """
    import networkx as nx

    n, directed, weights = graph.n_vertices, graph.directed, graph.edge_weights
    rows, columns = graph.sources(), graph.column_indices
    nodes = list(range(n)) if graph.ids is None else graph.ids.tolist()
    ends = (rows, columns) if directed else (np.minimum(rows, columns), np.maximum(rows, columns))
    edges, first, edge = np.unique(pack(*ends), return_index=True, return_inverse=True)
    n_edges = rows.size if directed else int(np.count_nonzero(rows <= columns))
    kinds = ((nx.Graph, nx.MultiGraph), (nx.DiGraph, nx.MultiDiGraph))
    result = kinds[directed][edges.size < n_edges]()
    result.add_nodes_from(nodes)
    if edges.size < n_edges or len(result) < n:  # ids may repeat
        _add_one_by_one(result, nodes, graph)
        return result
    # Whole rows of the adjacency are filled at once, because networkx's add_edges_from() adds edges one by one.
    # Both directions of an undirected edge share one dictionary of attributes.
    values = [] if weights is None else weights[first].tolist()
    data: list[dict[str, Any]] = [{"weight": value} for value in values] or [{} for _ in range(n_edges)]
    entries = zip(map(nodes.__getitem__, columns.tolist()), map(data.__getitem__, edge.tolist()), strict=True)
    for row, degree in zip(result._adj.values(), graph.degrees.tolist(), strict=True):
        row.update(islice(entries, degree))
    if directed:
        predecessors = result._pred
        for u, row in result._adj.items():
            for v, attributes in row.items():
                predecessors[v][u] = attributes
    return result


def _all_plain(mappings: Iterable[Mapping[Any, Any]]) -> list[dict[Any, Any]]:
    """Return *mappings* as dictionaries.

    Views that filter a networkx graph are copied, because their ``len`` is slow.
    """
    found: list[Any] = list(mappings)
    if {*map(type, found)} <= {dict}:
        return found
    return [each if isinstance(each, dict) else dict(each) for each in found]


def _add_one_by_one(result: nx.Graph, nodes: list[Any], graph: CSRGraph) -> None:
    rows, columns, weights = graph.edge_list()
    pairs = zip(*_ends(nodes, rows, columns), strict=True)
    if weights is None:
        result.add_edges_from(pairs)
    else:
        result.add_weighted_edges_from((*pair, w) for pair, w in zip(pairs, weights.tolist(), strict=True))
