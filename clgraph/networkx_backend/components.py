"""networkx's functions on connected components, trees, forests and bipartite graphs, computed by clgraph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.bfs import bfs
from clgraph.algorithms.connected_components import connected_components as components
from clgraph.data.graphs.graph import Graph
from clgraph.networkx_backend.adjacency import Adjacency
from clgraph.networkx_backend.calls import arrays, by_networkx, run_options


def labels_of(graph: Graph) -> tuple[int, NDArray[np.int32]]:
    """Return the number of connected components and, for each vertex, the number of its component."""
    if graph.n_vertices == 0:
        return 0, np.zeros(0, np.int32)
    found = components(graph, **run_options("connected_components"))
    return found.n_components, found.labels


def sets_of(adjacency: Adjacency, n_components: int, labels: NDArray[np.int32]) -> Iterator[set[Any]]:
    """Return an iterator over the sets of nodes of the components, in the order of their numbers."""
    names = adjacency.names(np.argsort(labels, kind="stable"))
    ends = np.cumsum(np.bincount(labels, minlength=n_components)).tolist()
    return (set(names[begin:end]) for begin, end in zip([0, *ends], ends, strict=False))


def connected_components(G: Any) -> Iterator[set[Any]]:
    adjacency = arrays(G)
    return sets_of(adjacency, *labels_of(adjacency.graph))


def number_connected_components(G: Any) -> int:
    return labels_of(arrays(G).graph)[0]


def is_connected(G: Any) -> bool:
    adjacency = arrays(G)
    if not len(adjacency):
        name = "is_weakly_connected" if adjacency.directed else "is_connected"
        return bool(by_networkx(name, G))
    return labels_of(adjacency.graph)[0] == 1


def node_connected_component(G: Any, n: Any) -> set[Any]:
    adjacency = arrays(G)
    if (vertex := adjacency.number(n)) < 0:
        found: set[Any] = by_networkx("node_connected_component", G, n)
        return found
    distances = bfs(adjacency.graph, vertex, **run_options("bfs")).distances
    return set(adjacency.names(np.flatnonzero(distances >= 0)))


def is_tree(G: Any) -> bool:
    adjacency = arrays(G)
    if not len(adjacency):
        return bool(by_networkx("is_tree", G))
    return len(adjacency) - 1 == adjacency.edges.size and labels_of(adjacency.graph)[0] == 1


def is_forest(G: Any) -> bool:
    adjacency = arrays(G)
    if not len(adjacency):
        return bool(by_networkx("is_forest", G))
    return len(adjacency) - labels_of(adjacency.graph)[0] == adjacency.edges.size


def is_bipartite(G: Any) -> bool:
    """Return whether the graph is bipartite: in searches from one node per
    component, no edge joins levels of equal parity.
    """
    adjacency = arrays(G)
    graph = adjacency.undirected
    if not graph.n_edges:
        return True
    _, labels = labels_of(graph)
    _, first = np.unique(labels, return_index=True)
    is_odd = bfs(graph, first.astype(np.int32), **run_options("bfs")).distances & 1
    return not bool((is_odd[adjacency.rows] == is_odd[adjacency.columns]).any())
