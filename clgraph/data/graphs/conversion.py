"""Conversion of other packages' graphs, and of graphs on devices, to :class:`clgraph.Graph`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from clgraph.arguments import is_array, shown
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight, is_networkx
from clgraph.data.graphs.tables import is_table
from clgraph.errors import InputError


def check_weight(source: Any, weight: Weight) -> None:
    """Raise if *weight* is a function but *source* is not a networkx graph.

    Only networkx graphs take a function.
    """
    if callable(weight) and not is_networkx(source):
        raise InputError(f"weight = {shown(weight)}; a function is for networkx graphs")


def as_graph(source: Any, *, weight: Weight = None) -> Graph:
    """Return *source*, a Graph, a DeviceGraph, a scipy sparse array, a networkx graph or a mesh, as a Graph.

    A Graph is returned itself; a matrix or networkx graph is copied (see :meth:`Graph.from_scipy`). The graph of a
    TriangleMesh is its :meth:`dual graph <TriangleMesh.dual_graph>`.
    *weight* is for networkx graphs; see :meth:`Graph.from_networkx`.
    """
    check_weight(source, weight)
    if isinstance(source, Graph):
        return source
    if issparse(source):
        return Graph.from_scipy(source)
    if is_networkx(source):
        return Graph.from_networkx(source, weight)
    if hasattr(type(source), "as_graph"):  # on a device
        graph: Graph = source.as_graph()
        return graph
    if hasattr(type(source), "dual_graph"):  # a mesh
        dual: Graph = source.dual_graph()
        return dual
    hint = _hint(source) or f"accepted: {_ACCEPTED}"
    raise InputError(f"{type(source).__module__}.{type(source).__qualname__} is not a graph; {hint}")


_ACCEPTED = "clgraph.Graph, clgraph.DeviceGraph, a scipy sparse array, a networkx graph, clgraph.TriangleMesh"


def _hint(source: Any) -> str | None:
    """Return which call makes a graph of *source*, or ``None`` if none is known."""
    if isinstance(source, str | os.PathLike):
        return "clgraph.read(path) reads one from a file"
    for attribute, hint in _ATTRIBUTES.items():
        if hasattr(source, attribute):
            return hint
    if is_table(source):
        return "Graph.from_pandas(table, 'source', 'target', weight='weight') makes one of its columns"
    if isinstance(source, Mapping):
        return "Graph.from_dict(adjacency) makes one of lists of neighbours"
    if is_array(source) and not isinstance(source, list | tuple):
        return _array_hint(np.shape(source))
    return "Graph.from_edge_array(edges) makes one of pairs" if isinstance(source, list | tuple) else None


_ATTRIBUTES = {  # an attribute by which a class of another package is known
    "get_edgelist": "Graph.from_igraph(graph, weight=None) makes one",
    "edge_index": "Graph.from_edge_index(data.edge_index, n=data.num_nodes) makes one",
    "obsp": "pass its matrix, obsp['connectivities']",
    "edges_unique": "Graph.from_edge_array(mesh.edges_unique, mesh.edges_unique_length) makes one",
    "sparse": "pass its matrix, .sparse",
}


def _array_hint(shape: tuple[int, ...]) -> str | None:
    if len(shape) == 2 and shape[0] == shape[1] != 2:
        return "Graph.from_dense(matrix) makes one"
    if len(shape) == 2 and 2 in shape:
        return "Graph.from_edge_index(pairs) makes one" if shape[0] == 2 else "Graph.from_edge_array(pairs) makes one"
    return None
