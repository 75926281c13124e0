"""networkx's functions on minimum and maximum spanning trees, with the same edges as its Kruskal algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.minimum_spanning_forest import minimum_spanning_forest
from clgraph.data.graphs.graph import Graph
from clgraph.networkx_backend.adjacency import Adjacency
from clgraph.networkx_backend.calls import arrays, by_networkx, run_options
from clgraph.networkx_backend.graph import plain_class


def _forest(adjacency: Adjacency, weights: NDArray[Any] | None, *, maximum: bool) -> NDArray[Any]:
    """Return an entry for each edge of the spanning forest, in the order in which Kruskal's algorithm takes the edges.

    Kruskal's algorithm takes edges by weight, and edges of equal weight in the order of ``G.edges``. So each edge's
    position in this order is used as its weight, which makes the forest unique and the same as networkx's.
    """
    edges = adjacency.edges
    order = np.arange(edges.size)
    if weights is not None:
        of_edges = weights[edges]
        present = np.flatnonzero(~np.isnan(of_edges))
        key = of_edges[present]
        order = present[np.argsort(-key if maximum else key, kind="stable")]
    chosen = edges[order]
    rows, columns = adjacency.rows[chosen], adjacency.columns[chosen]
    places = Graph.from_edges(rows, columns, np.arange(chosen.size, dtype=np.int32), n=len(adjacency))
    found = minimum_spanning_forest(places, **run_options("minimum_spanning_forest")).weights
    return chosen[np.sort(found)] if found is not None else chosen[:0]


def _weights(G: Any, weight: Any, ignore_nan: bool) -> NDArray[Any] | None:
    """Return the edge weights of *G*.

    A NaN weight raises the same error as in networkx, unless *ignore_nan*.
    """
    weights = arrays(G).weights(weight)
    if weights is not None and weights.dtype == np.int64 and weights.size and weights.min() == np.iinfo(np.int64).min:
        raise NotImplementedError("the weight -2**63 has no negative")
    if weights is not None and not ignore_nan and np.isnan(weights).any():
        if arrays(G).edge_data is None:
            raise NotImplementedError("the message of a NaN has the edge's attributes, which are not here")
        list(by_networkx("kruskal_mst_edges", G, True, weight))
    return weights


def _tuples(G: Any, entries: NDArray[Any], keys: bool, data: bool) -> Iterator[tuple[Any, ...]]:
    adjacency = arrays(G)
    parts: list[list[Any]] = [adjacency.names(adjacency.rows[entries]), adjacency.names(adjacency.columns[entries])]
    if keys and adjacency.keys is not None:
        parts.append([adjacency.keys[entry] for entry in entries.tolist()])
    if data:
        if adjacency.edge_data is None:
            raise NotImplementedError("the edges' attributes are not here")
        parts.append([adjacency.edge_data[entry] for entry in entries.tolist()])
    return zip(*parts, strict=True)


def _spanning_edges(
    G: Any, weight: Any, keys: bool, data: bool, ignore_nan: bool, *, maximum: bool
) -> Iterator[tuple[Any, ...]]:
    try:
        weights = _weights(G, weight, ignore_nan)
    except ValueError as error:
        return _raising(error)
    return _tuples(G, _forest(arrays(G), weights, maximum=maximum), keys, data)


def _raising(error: Exception) -> Iterator[Any]:
    """Return an iterator that raises *error* when its first item is requested, as networkx's generators do."""
    raise error
    yield


def minimum_spanning_edges(
    G: Any, algorithm: str = "kruskal", weight: Any = "weight", keys: bool = True, data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:  # fmt: skip
    return _spanning_edges(G, weight, keys, data, ignore_nan, maximum=False)


def maximum_spanning_edges(
    G: Any, algorithm: str = "kruskal", weight: Any = "weight", keys: bool = True, data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:  # fmt: skip
    return _spanning_edges(G, weight, keys, data, ignore_nan, maximum=True)


def _tree(G: Any, weight: Any, ignore_nan: bool, *, maximum: bool) -> nx.Graph:
    adjacency = arrays(G)
    weights = _weights(G, weight, ignore_nan)
    tree = plain_class(G)()
    tree.graph.update(G.graph)
    attributes = adjacency.node_data
    tree.add_nodes_from(adjacency.nodes if attributes is None else zip(adjacency.nodes, attributes, strict=True))
    entries = _forest(adjacency, weights, maximum=maximum)
    tree.add_edges_from(_tuples(G, entries, keys=True, data=adjacency.edge_data is not None))
    return tree


def minimum_spanning_tree(
    G: Any, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> nx.Graph:
    return _tree(G, weight, ignore_nan, maximum=False)


def maximum_spanning_tree(
    G: Any, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> nx.Graph:
    return _tree(G, weight, ignore_nan, maximum=True)
