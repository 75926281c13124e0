"""Graphs of networkx as arrays and back, straight through the dictionaries of adjacency."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import chain, compress, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import refusing, shown
from clgraph.data.csr import as_ids, as_weights, check_range
from clgraph.data.pairs import pack
from clgraph.errors import InputError

if TYPE_CHECKING:
    import networkx as nx


class NetworkxEdges(NamedTuple):
    """The edges of a networkx graph: each undirected one once, from the vertex of the lesser number."""

    n_vertices: int
    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    weights: NDArray[Any] | None
    labels: NDArray[Any] | None


def is_networkx(source: object) -> bool:
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(source, networkx.Graph)


def edges_of(graph: nx.Graph, weight: str | None) -> NetworkxEdges:
    """Return the edges of *graph* with the attribute *weight*, which is 1 where an edge lacks it."""
    if not is_networkx(graph):
        raise InputError(f"graph = {shown(graph)}; allowed: a networkx graph")
    with refusing("weight", weight, "None, an edge attribute"):
        hash(weight)
    nodes = list(graph)
    n = len(nodes)
    labels = None if nodes == list(range(n)) else as_ids("nodes", nodes)
    adjacency = dict(graph.adjacency())
    order, neighbours = list(adjacency), _all_plain(adjacency.values())
    with refusing("graph", graph, "a networkx graph in which each neighbour is a node"):
        degrees = np.fromiter(map(len, neighbours), np.int64, n)
        ends: Iterable[Any] = chain(order, chain.from_iterable(neighbours))
        if labels is not None:
            ends = map(dict(zip(nodes, range(n), strict=True)).__getitem__, ends)
        vertices = np.fromiter(ends, np.int32, n + int(degrees.sum()))
    rows, columns = np.repeat(vertices[:n], degrees), vertices[n:]
    check_range("neighbours", vertices, n)
    # An undirected graph may be a view in which the two directions of an edge differ: one of them is read.
    once = np.ones(rows.size, bool) if graph.is_directed() else rows <= columns
    rows, columns = rows[once], columns[once]
    if weight is None and not graph.is_multigraph():
        return NetworkxEdges(n, rows, columns, None, labels)
    data: Iterable[Any] = compress(chain.from_iterable(map(dict.values, neighbours)), once.tolist())
    if graph.is_multigraph():
        edges = _all_plain(data)
        parallel = np.fromiter(map(len, edges), np.int64, rows.size)
        rows, columns = np.repeat(rows, parallel), np.repeat(columns, parallel)
        data = chain.from_iterable(map(dict.values, edges))
    weights = None if weight is None else as_weights([given.get(weight, 1) for given in data], rows.size)
    return NetworkxEdges(n, rows, columns, weights, labels)


def networkx_graph(
    offsets: NDArray[Any],
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    weights: NDArray[Any] | None,
    directed: bool,
    labels: NDArray[Any] | None,
) -> nx.Graph:
    """Return a networkx graph of all entries of CSR arrays; a multigraph if edges are parallel."""
    import networkx as nx

    n = offsets.size - 1
    nodes = list(range(n)) if labels is None else labels.tolist()
    ends = (rows, columns) if directed else (np.minimum(rows, columns), np.maximum(rows, columns))
    edges, first, edge = np.unique(pack(*ends), return_index=True, return_inverse=True)
    n_edges = rows.size if directed else int(np.count_nonzero(rows <= columns))
    kinds = ((nx.Graph, nx.MultiGraph), (nx.DiGraph, nx.MultiDiGraph))
    result = kinds[directed][edges.size < n_edges]()
    result.add_nodes_from(nodes)
    if edges.size < n_edges or len(result) < n:  # labels may repeat
        _add_one_by_one(result, nodes, rows, columns, weights, directed)
        return result
    # What add_edges_from() does edge by edge goes row by row; both directions share the attributes of an edge.
    values = [] if weights is None else weights[first].tolist()
    data: list[dict[str, Any]] = [{"weight": value} for value in values] or [{} for _ in range(n_edges)]
    entries = zip(map(nodes.__getitem__, columns.tolist()), map(data.__getitem__, edge.tolist()), strict=True)
    for row, degree in zip(result._adj.values(), np.diff(offsets).tolist(), strict=True):
        row.update(islice(entries, degree))
    if directed:
        predecessors = result._pred
        for u, row in result._adj.items():
            for v, attributes in row.items():
                predecessors[v][u] = attributes
    return result


def _all_plain(mappings: Iterable[Mapping[Any, Any]]) -> list[dict[Any, Any]]:
    """Return the *mappings* themselves or, of views that filter, what is in them: their lengths are slow to find."""
    found: list[Any] = list(mappings)
    if {*map(type, found)} <= {dict}:
        return found
    return [each if isinstance(each, dict) else dict(each) for each in found]


def _add_one_by_one(
    result: nx.Graph,
    nodes: list[Any],
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    weights: NDArray[Any] | None,
    directed: bool,
) -> None:
    if not directed:
        once = rows <= columns
        rows, columns, weights = rows[once], columns[once], None if weights is None else weights[once]
    pairs = zip(map(nodes.__getitem__, rows.tolist()), map(nodes.__getitem__, columns.tolist()), strict=True)
    if weights is None:
        result.add_edges_from(pairs)
    else:
        result.add_weighted_edges_from((*pair, w) for pair, w in zip(pairs, weights.tolist(), strict=True))
