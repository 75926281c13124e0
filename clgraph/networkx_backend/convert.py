"""Conversion of networkx's graphs to graphs of this backend, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx

from clgraph.networkx_backend import dispatch_profile as profile
from clgraph.networkx_backend.adjacency import Adjacency
from clgraph.networkx_backend.graph import BackendGraph, is_view, kind_of, plain_class
from clgraph.networkx_backend.reading import add_weights, entries_of, read

BACKEND = "clgraph"


def convert_from_nx(
    graph: Any,
    edge_attrs: Mapping[Any, Any] | None = None,
    node_attrs: Mapping[Any, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> Any:
    """Return the networkx *graph* as a graph of this backend, with its arrays in host memory.

    If memory runs out, return ``None``. An error would make networkx refuse this graph for ever, but it does not cache
    ``None``. The function that gets ``None`` raises :class:`NotImplementedError`.

    networkx keeps the result in the cache of *graph*, and methods that change *graph* clear this cache. But a change of
    a graph does not clear the caches of its views, so the cache of a view is switched off.
    """
    if isinstance(graph, BackendGraph):
        return graph
    if not isinstance(graph, nx.Graph):
        raise TypeError(f"{type(graph).__name__} is no networkx graph")
    if is_view(graph):
        graph.__networkx_cache__ = None
    with profile.converting(name or "convert_from_nx"):
        try:
            found = _with_pattern_of(graph, edge_attrs, preserve_edge_attrs, preserve_node_attrs)
            if found is None:
                found = read(graph, edge_attrs, preserve_edge_attrs, preserve_node_attrs or bool(node_attrs))
        except MemoryError:
            return None
        return kind_of(graph)._of(found, dict(graph.graph) if preserve_graph_attrs else {})


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Return a graph of this backend as a networkx graph, and anything else unchanged."""
    if not isinstance(result, BackendGraph):
        return result
    given: Any = result
    graph = plain_class(given)()
    graph.graph.update(given.graph)
    graph._node, graph._adj = given._node, given._adj
    if graph.is_directed():
        graph._pred = given._pred
    return graph


def _with_pattern_of(
    graph: nx.Graph, edge_attrs: Mapping[Any, Any] | None, keep_edges: bool, keep_nodes: bool
) -> Adjacency | None:
    """Return networkx's cached conversion of *graph* with the weights *edge_attrs*, or ``None`` if none is cached.

    The cached conversion may have other weights. The result shares only its nodes and entries.
    """
    if keep_edges or keep_nodes or not nx.config.cache_converted_graphs:
        return None
    cache = getattr(graph, "__networkx_cache__", None) or {}
    for cached in list(cache.get("backends", {}).get(BACKEND, {}).values()):
        if not isinstance(cached, BackendGraph):
            continue
        known = cached._adjacency
        found = Adjacency(known.nodes, known._numbers, known.graph, keys=known.keys)
        if edge_attrs:
            add_weights(found, entries_of(graph, known.nodes), edge_attrs)
        return found
    return None
