"""networkx's functions on the cores of undirected graphs."""

from __future__ import annotations

from typing import Any

import networkx as nx

from clgraph.algorithms.cores import core_numbers
from clgraph.networkx_backend.calls import arrays, by_networkx, run_options
from clgraph.networkx_backend.graph import plain_class


def _numbers(G: Any) -> dict[Any, int]:
    adjacency = arrays(G)
    if (adjacency.rows == adjacency.columns).any():  # networkx has an error of its own for self-loops.
        found: dict[Any, int] = by_networkx("core_number", G)
        return found
    cores = core_numbers(adjacency.in_order, **run_options("core_numbers")).cores
    return dict(zip(adjacency.nodes, cores.tolist(), strict=True))


def core_number(G: Any) -> dict[Any, int]:
    return _numbers(G)


def k_core(G: Any, k: Any = None, core_number: Any = None) -> nx.Graph:
    """Return the subgraph that networkx makes of core numbers, as a graph of networkx's own class."""
    numbers = _numbers(G) if core_number is None else core_number
    made: nx.Graph = plain_class(G)(by_networkx("k_core", G, k, numbers))
    return made
