"""The backend's function for networkx's ``greedy_color``."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.color import color
from clgraph.data.graphs.graph import Graph
from clgraph.networkx_backend.calls import arrays, run_options


def greedy_color(G: Any, strategy: Any = "largest_first", interchange: bool = False) -> dict[Any, int]:
    """Colour the vertices as networkx does: renumber the vertices in
    networkx's order, then colour greedily in this order.
    """
    adjacency = arrays(G)
    n = len(adjacency)
    if not n:
        return {}
    order = np.argsort(-adjacency.degrees, kind="stable")
    number = np.empty(n, np.int32)
    number[order] = np.arange(n, dtype=np.int32)
    edges = adjacency.edges
    ends = number[adjacency.rows[edges]], number[adjacency.columns[edges]]
    graph = Graph.from_edges(*ends, n=n, duplicates="first", self_loops="drop")
    colors = color(graph, order="natural", deterministic=True, **run_options("color")).colors
    return dict(zip(adjacency.names(order), colors.tolist(), strict=True))
