"""networkx's functions on strongly connected components."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from clgraph.algorithms.strongly_connected_components import StrongComponents
from clgraph.algorithms.strongly_connected_components import strongly_connected_components as components
from clgraph.data.graphs.graph import Graph
from clgraph.networkx_backend.calls import arrays, by_networkx, run_options
from clgraph.networkx_backend.components import sets_of


def _found(graph: Graph) -> StrongComponents:
    return components(graph, **run_options("strongly_connected_components"))


def strongly_connected_components(G: Any) -> Iterator[set[Any]]:
    """Return the components in the order of their first nodes. networkx's order is that of its search."""
    adjacency = arrays(G)
    if not len(adjacency):
        return iter(())
    return sets_of(adjacency, *_found(adjacency.graph))


def number_strongly_connected_components(G: Any) -> int:
    adjacency = arrays(G)
    return _found(adjacency.graph).n_components if len(adjacency) else 0


def condensation(G: Any, scc: Any = None) -> nx.DiGraph:
    """Return the graph that networkx makes of the components, which are numbered by their first nodes."""
    made: nx.DiGraph = by_networkx("condensation", G, list(strongly_connected_components(G)) if scc is None else scc)
    return made


def is_strongly_connected(G: Any) -> bool:
    adjacency = arrays(G)
    if not len(adjacency):
        return bool(by_networkx("is_strongly_connected", G))
    degrees = adjacency.graph.degrees
    if len(adjacency) > 1 and not (degrees.all() and np.bincount(adjacency.columns, minlength=degrees.size).all()):
        return False  # A node without an outgoing or incoming edge is a component by itself.
    return _found(adjacency.graph).n_components == 1
