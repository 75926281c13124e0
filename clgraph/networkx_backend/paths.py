"""networkx's functions on shortest paths without weights, computed by clgraph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clgraph.networkx_backend import weighted_paths
from clgraph.networkx_backend.adjacency import Adjacency
from clgraph.networkx_backend.calls import arrays, by_networkx, is_limit
from clgraph.networkx_backend.searches import Visits, distances_from


def _lengths(adjacency: Adjacency, vertex: int, cutoff: Any) -> dict[Any, int]:
    visits = Visits(adjacency.graph, [vertex], cutoff)
    return dict(zip(adjacency.names(visits.order), visits.levels.tolist(), strict=True))


def _paths(adjacency: Adjacency, vertex: int, cutoff: Any) -> dict[Any, list[Any]]:
    before, met = Visits(adjacency.graph, [vertex], cutoff).edges()
    source = adjacency.nodes[vertex]
    paths = {source: [source]}
    for parent, child in zip(adjacency.names(before), adjacency.names(met), strict=True):
        paths[child] = [*paths[parent], child]
    return paths


def single_source_shortest_path_length(G: Any, source: Any, cutoff: Any = None) -> dict[Any, int]:
    adjacency = arrays(G)
    if (vertex := adjacency.number(source)) < 0 or not is_limit(cutoff):
        found: dict[Any, int] = by_networkx("single_source_shortest_path_length", G, source, cutoff)
        return found
    return _lengths(adjacency, vertex, cutoff)


def single_source_shortest_path(G: Any, source: Any, cutoff: Any = None) -> dict[Any, list[Any]]:
    adjacency = arrays(G)
    if (vertex := adjacency.number(source)) < 0 or not is_limit(cutoff):
        found: dict[Any, list[Any]] = by_networkx("single_source_shortest_path", G, source, cutoff)
        return found
    return _paths(adjacency, vertex, cutoff)


def all_pairs_shortest_path_length(G: Any, cutoff: Any = None) -> Iterator[tuple[Any, dict[Any, int]]]:
    adjacency = arrays(G)
    if not is_limit(cutoff):
        found: Iterator[tuple[Any, dict[Any, int]]] = by_networkx("all_pairs_shortest_path_length", G, cutoff)
        return found
    return ((node, _lengths(adjacency, vertex, cutoff)) for vertex, node in enumerate(adjacency.nodes))


def all_pairs_shortest_path(G: Any, cutoff: Any = None) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    adjacency = arrays(G)
    if not is_limit(cutoff):
        found: Iterator[tuple[Any, dict[Any, list[Any]]]] = by_networkx("all_pairs_shortest_path", G, cutoff)
        return found
    return ((node, _paths(adjacency, vertex, cutoff)) for vertex, node in enumerate(adjacency.nodes))


def has_path(G: Any, source: Any, target: Any) -> bool:
    adjacency = arrays(G)
    begin, end = adjacency.number(source), adjacency.number(target)
    if begin < 0 or end < 0:
        return bool(by_networkx("has_path", G, source, target))
    return bool(distances_from(adjacency.graph, begin)[end] >= 0)


def shortest_path_length(
    G: Any, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    adjacency = arrays(G)
    if source is None:  # In an undirected graph, the reverse of a path to the target is a path from the target.
        source, target = target, None
    if weight is not None:
        one = {"dijkstra": "dijkstra_path_length", "bellman-ford": "bellman_ford_path_length"}[method]
        if target is None:
            return weighted_paths.lengths(G, source, None, weight, f"single_source_{one}")
        return weighted_paths.length(G, source, target, weight, one)
    if target is None:
        return single_source_shortest_path_length(G, source)
    begin, end = adjacency.number(source), adjacency.number(target)
    distance = -1 if begin < 0 or end < 0 else int(distances_from(adjacency.graph, begin)[end])
    return distance if distance >= 0 else by_networkx("shortest_path_length", G, source, target)


def shortest_path(G: Any, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra") -> Any:
    turned = source is None
    if turned:
        source, target = target, None
    if weight is None:
        paths: Any = single_source_shortest_path(G, source)
    elif target is None:
        paths = weighted_paths.single_source_dijkstra_path(G, source, weight=weight)
    else:
        return weighted_paths.bidirectional_dijkstra(G, source, target, weight)[1]
    return {node: path[::-1] for node, path in paths.items()} if turned else paths
