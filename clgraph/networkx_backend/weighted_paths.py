"""networkx's functions on weighted shortest paths, computed by clgraph.

Their results list the nodes in the order in which Dijkstra's algorithm settles them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.sssp import sssp
from clgraph.data.graphs.graph import Graph
from clgraph.errors import DistanceOverflowError
from clgraph.networkx_backend.adjacency import Adjacency
from clgraph.networkx_backend.calls import arrays, by_networkx, is_limit, run_options
from clgraph.networkx_backend.dispatch_profile import fell_back
from clgraph.networkx_backend.settling import settle


def _distances(graph: Graph, sources: list[int], cutoff: Any = None) -> NDArray[Any]:
    limit = None if cutoff == math.inf else cutoff
    return sssp(graph, sources, limit=limit, **run_options("sssp")).distances


def _in_dict(adjacency: Adjacency, order: NDArray[Any], distances: NDArray[Any]) -> dict[Any, Any]:
    return dict(zip(adjacency.names(order), distances[order].tolist(), strict=True))


def _lengths_of(adjacency: Adjacency, vertices: list[int], cutoff: Any, weight: Any) -> dict[Any, Any]:
    graph = adjacency.weighted(weight)
    distances = _distances(graph, vertices, cutoff)
    return _in_dict(adjacency, settle(adjacency, graph, distances, vertices)[0], distances)


def _paths_of(
    adjacency: Adjacency, vertices: list[int], cutoff: Any, weight: Any
) -> tuple[dict[Any, Any], dict[Any, list[Any]]]:
    graph = adjacency.weighted(weight)
    distances = _distances(graph, vertices, cutoff)
    order, before = settle(adjacency, graph, distances, vertices)
    names = adjacency.nodes
    paths = {names[vertex]: [names[vertex]] for vertex in vertices}
    for vertex, parent in zip(order.tolist(), before[order].tolist(), strict=True):
        if parent >= 0:
            paths[names[vertex]] = [*paths[names[parent]], names[vertex]]
    return _in_dict(adjacency, order, distances), paths


def _path_to(adjacency: Adjacency, vertices: list[int], target: int, cutoff: Any, weight: Any) -> Any:
    """Return the distance of *target* and the shortest path to it, or ``None`` if there is no path."""
    graph = adjacency.weighted(weight)
    distances = _distances(graph, vertices, cutoff)
    if not 0 <= distances[target] < np.inf:
        return None
    _, before = settle(adjacency, graph, distances, vertices)
    path = [target]
    while before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    return distances[target].item(), adjacency.names(np.array(path[::-1]))


def lengths(G: Any, source: Any, cutoff: Any, weight: Any, name: str) -> dict[Any, Any]:
    """Return the distance from *source* to every reached node.

    If *source* is not a node, or *cutoff* is not a number from 0 on, networkx answers or raises its error.
    """
    adjacency = arrays(G)
    if (vertex := adjacency.number(source)) < 0 or not is_limit(cutoff):
        limits = {} if cutoff is None else {"cutoff": cutoff}
        found: dict[Any, Any] = by_networkx(name, G, source, weight=weight, **limits)
        return found
    return _lengths_of(adjacency, [vertex], cutoff, weight)


def length(G: Any, source: Any, target: Any, weight: Any, name: str) -> Any:
    """Return the weighted distance between two nodes.

    If there is no path, networkx's function *name* raises the error.
    """
    adjacency = arrays(G)
    begin, end = adjacency.number(source), adjacency.number(target)
    if begin < 0 or end < 0:
        return by_networkx(name, G, source, target, weight=weight)
    if begin == end:
        return 0
    distance = _distances(adjacency.weighted(weight), [begin])[end]
    return distance.item() if 0 <= distance < np.inf else by_networkx(name, G, source, target, weight=weight)


def multi_source_dijkstra(
    G: Any, sources: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    adjacency = arrays(G)
    given = list(sources)
    vertices = [adjacency.number(source) for source in given]
    if not vertices or -1 in vertices or not is_limit(cutoff):
        found: tuple[Any, Any] = by_networkx("multi_source_dijkstra", G, given, target, cutoff, weight)
        return found
    if target is None:
        return _paths_of(adjacency, vertices, cutoff, weight)
    end = adjacency.number(target)
    if end in vertices:
        return 0, [target]
    met = None if end < 0 else _path_to(adjacency, vertices, end, cutoff, weight)
    if met is None:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    found = met
    return found


def multi_source_dijkstra_path(G: Any, sources: Any, cutoff: Any = None, weight: Any = "weight") -> dict[Any, Any]:
    found: dict[Any, Any] = multi_source_dijkstra(G, sources, None, cutoff, weight)[1]
    return found


def multi_source_dijkstra_path_length(
    G: Any, sources: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, Any]:
    adjacency = arrays(G)
    given = list(sources)
    vertices = [adjacency.number(source) for source in given]
    if not vertices or -1 in vertices or not is_limit(cutoff):
        found: dict[Any, Any] = by_networkx("multi_source_dijkstra_path_length", G, given, cutoff, weight)
        return found
    return _lengths_of(adjacency, vertices, cutoff, weight)


def single_source_dijkstra(
    G: Any, source: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    return multi_source_dijkstra(G, [source], target, cutoff, weight)


def single_source_dijkstra_path(G: Any, source: Any, cutoff: Any = None, weight: Any = "weight") -> dict[Any, Any]:
    return multi_source_dijkstra_path(G, [source], cutoff, weight)


def single_source_dijkstra_path_length(
    G: Any, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, Any]:
    return lengths(G, source, cutoff, weight, "single_source_dijkstra_path_length")


def dijkstra_path(G: Any, source: Any, target: Any, weight: Any = "weight") -> list[Any]:
    found: list[Any] = multi_source_dijkstra(G, [source], target, None, weight)[1]
    return found


def dijkstra_path_length(G: Any, source: Any, target: Any, weight: Any = "weight") -> Any:
    return length(G, source, target, weight, "dijkstra_path_length")


def single_source_bellman_ford_path_length(G: Any, source: Any, weight: Any = "weight") -> dict[Any, Any]:
    return lengths(G, source, None, weight, "single_source_bellman_ford_path_length")


def bellman_ford_path_length(G: Any, source: Any, target: Any, weight: Any = "weight") -> Any:
    return length(G, source, target, weight, "bellman_ford_path_length")


def bidirectional_dijkstra(G: Any, source: Any, target: Any, weight: Any = "weight") -> tuple[Any, list[Any]]:
    """Find a shortest path by a search from the source only, because a search from the target would save no time."""
    adjacency = arrays(G)
    begin, end = adjacency.number(source), adjacency.number(target)
    if begin < 0 or end < 0 or begin == end:
        found: tuple[Any, list[Any]] = by_networkx("bidirectional_dijkstra", G, source, target, weight)
        return found
    met = _path_to(adjacency, [begin], end, None, weight)
    if met is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    found = met
    return found


def _of_all(G: Any, name: str, answer: Any, weight: Any, **limits: Any) -> Iterator[tuple[Any, Any]]:
    """Return an iterator over the answer of each node.

    Errors about weights are raised now, not when the caller requests the first item. If a distance is beyond int64,
    networkx's function *name* answers for this node and all later ones.
    """
    adjacency, cutoff = arrays(G), limits.get("cutoff")
    adjacency.weighted(weight)

    def answers() -> Iterator[tuple[Any, Any]]:
        is_ours = is_limit(cutoff)
        for vertex, node in enumerate(adjacency.nodes):
            if is_ours:
                try:
                    found = answer(adjacency, [vertex], cutoff, weight)
                except DistanceOverflowError as error:
                    fell_back(name, f"{type(error).__name__}: {error}")
                    is_ours = False
            if not is_ours:
                found = by_networkx(name, G, node, weight=weight, **limits)
            yield node, found

    return answers()


def all_pairs_dijkstra(G: Any, cutoff: Any = None, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    return _of_all(G, "single_source_dijkstra", _paths_of, weight, cutoff=cutoff)


def all_pairs_dijkstra_path(G: Any, cutoff: Any = None, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    return ((node, found[1]) for node, found in all_pairs_dijkstra(G, cutoff, weight))


def all_pairs_dijkstra_path_length(G: Any, cutoff: Any = None, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    return _of_all(G, "single_source_dijkstra_path_length", _lengths_of, weight, cutoff=cutoff)


def all_pairs_bellman_ford_path_length(G: Any, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    return _of_all(G, "single_source_bellman_ford_path_length", _lengths_of, weight)
