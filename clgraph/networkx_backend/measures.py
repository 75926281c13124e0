"""networkx's functions on degrees and on distances of all pairs, and its conversion to a sparse matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from clgraph.networkx_backend.adjacency import Adjacency
from clgraph.networkx_backend.calls import arrays, by_networkx
from clgraph.networkx_backend.searches import distances_from
from clgraph.networkx_backend.weighted_paths import _distances


def isolates(G: Any) -> Iterator[Any]:
    adjacency = arrays(G)
    return iter(adjacency.names(np.flatnonzero(adjacency.degrees == 0)))


def number_of_isolates(G: Any) -> int:
    return int(np.count_nonzero(arrays(G).degrees == 0))


def _centrality(adjacency: Adjacency, degrees: NDArray[Any]) -> dict[Any, Any]:
    if len(adjacency) <= 1:
        return dict.fromkeys(adjacency.nodes, 1)
    scaled = degrees * (1.0 / (len(adjacency) - 1.0))
    return dict(zip(adjacency.nodes, scaled.tolist(), strict=True))


def degree_centrality(G: Any) -> dict[Any, Any]:
    return _centrality(arrays(G), arrays(G).degrees)


def in_degree_centrality(G: Any) -> dict[Any, Any]:
    return _centrality(arrays(G), arrays(G).in_degrees)


def out_degree_centrality(G: Any) -> dict[Any, Any]:
    return _centrality(arrays(G), arrays(G).degrees - arrays(G).in_degrees)


def _search(adjacency: Adjacency, weight: Any) -> Callable[[int], NDArray[Any]]:
    """Return a function that takes a vertex number and returns the distances from this vertex to all vertices."""
    if weight is None:
        return lambda vertex: distances_from(adjacency.graph, vertex)
    graph = adjacency.weighted(weight)
    return lambda vertex: _distances(graph, [vertex])


def eccentricity(G: Any, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    adjacency = arrays(G)
    if not len(adjacency):  # Versions of networkx differ in their answers for an empty graph.
        return by_networkx("eccentricity", G, v, sp, weight)
    vertices: Any = range(len(adjacency))
    if v is not None:
        given = [v] if adjacency.number(v) >= 0 else list(G.nbunch_iter(v))
        vertices = [adjacency.number(node) for node in given]
    search = _search(adjacency, weight)
    found: dict[Any, Any] = {}
    for vertex in vertices:
        distances = search(vertex)
        greatest = distances.max()
        if distances.min() < 0 or greatest == np.inf:
            return by_networkx("eccentricity", G, adjacency.nodes[vertex], weight=weight)
        found[adjacency.nodes[vertex]] = greatest.item()
    return found[v] if adjacency.number(v) >= 0 else found


def diameter(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return max(eccentricity(G, weight=weight).values())


def radius(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return min(eccentricity(G, weight=weight).values())


def periphery(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    found = eccentricity(G, weight=weight)
    greatest = max(found.values())
    return [node for node, value in found.items() if value == greatest]


def average_shortest_path_length(G: Any, weight: Any = None, method: Any = None) -> Any:
    adjacency = arrays(G)
    n = len(adjacency)
    if n <= 1:
        return by_networkx("average_shortest_path_length", G, weight, method)
    search = _search(adjacency, None if method == "unweighted" else weight)
    total: Any = 0
    for vertex in range(n):
        distances = search(vertex)
        if distances.min() < 0 or distances.max() == np.inf:
            return by_networkx("average_shortest_path_length", G, weight, method)
        # networkx adds floats one by one, so the last digits of its result may differ.
        total += _exact_sum(distances) if distances.dtype.kind == "i" else float(distances.sum())
    return total / (n * (n - 1))


def _exact_sum(distances: NDArray[Any]) -> int:
    """Return the sum of integers of at least 0, which may be beyond int64."""
    if int(distances.max()) <= np.iinfo(np.int64).max // distances.size:
        return int(distances.sum(dtype=np.int64))
    return sum(distances.tolist())


def to_scipy_sparse_array(
    G: Any, nodelist: Any = None, dtype: Any = None, weight: Any = "weight", format: str = "csr"
) -> Any:
    adjacency = arrays(G)
    n = len(adjacency)
    if not n:
        return by_networkx("to_scipy_sparse_array", G, nodelist, dtype, weight, format)
    weights = adjacency.weights(weight)
    if weights is None:
        weights = np.ones(adjacency.columns.size, np.int64)
    elif (kind := adjacency.types.get(weight, weights.dtype)) != weights.dtype:
        if not adjacency.directed and (adjacency.rows == adjacency.columns).any():
            raise NotImplementedError(f"the type that networkx gives self-loops of weights of type {kind}")
        weights = weights.astype(kind)
    if not weights.size:
        weights = np.zeros(0, np.float64 if dtype is None else dtype)
    return coo_array((weights, (adjacency.rows, adjacency.columns)), shape=(n, n), dtype=dtype).asformat(format)
