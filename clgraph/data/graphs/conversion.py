"""Conversion of other packages' graphs, and of graphs on devices, to :class:`clgraph.Graph`."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse

from clgraph.arguments import shown
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight, is_networkx
from clgraph.errors import InputError


def check_weight(source: Any, weight: Weight) -> None:
    """Raise if *weight* is a function but *source* is not a networkx graph. Only networkx graphs take a function."""
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
    raise InputError(
        f"{type(source).__module__}.{type(source).__qualname__} is not a graph; "
        "accepted: clgraph.Graph, clgraph.DeviceGraph, a scipy sparse array, a networkx graph, clgraph.TriangleMesh"
    )
