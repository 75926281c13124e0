"""Helpers for the functions of the networkx backend: settings, a graph's arrays, and calls of
networkx's own functions.
"""

from __future__ import annotations

from typing import Any

import networkx as nx

from clgraph.networkx_backend.adjacency import Adjacency

_DEVICE_STRATEGIES = {
    "connected_components": "rem",
    "strongly_connected_components": "forward_backward",
    "bfs": "frontier",
    "sssp": "frontier",
    "minimum_spanning_forest": "edge_list",
    "color": "jones_plassmann",
    "pagerank": "row_blocks",
    "hits": "row_blocks",
    "eigenvector_centrality": "row_blocks",
    "katz_centrality": "row_blocks",
    "communities": "half_rounds",
    "triangles": "tables",
    "core_numbers": "peel",
    "maximal_independent_set": "local_maxima",
    "maximal_matching": "locally_dominant",
}


def setting(name: str, otherwise: Any = None) -> Any:
    """Return the value *name* of ``networkx.config.backends.clgraph``, or *otherwise* if it is not set."""
    return getattr(getattr(nx.config.backends, "clgraph", None), name, otherwise)


def run_options(algorithm: str) -> dict[str, Any]:
    """Return the arguments ``session`` and ``strategy`` that networkx's configuration has for a public function.

    The configured ``strategy`` is ``"auto"``, or ``"device"`` to run kernels even if the host would be faster.
    """
    on_device = setting("strategy", "auto") == "device"
    strategy = _DEVICE_STRATEGIES[algorithm] if on_device else "auto"
    return {"session": setting("device"), "strategy": strategy}


def arrays(graph: Any) -> Adjacency:
    """Return the arrays of a networkx graph of this backend."""
    found: Adjacency = graph._adjacency
    return found


def by_networkx(name: str, *args: Any, **kwargs: Any) -> Any:
    """Run networkx's own function on a graph of this backend, mostly to raise networkx's own error."""
    return nx.utils.backends._registered_algorithms[name].orig_func(*args, **kwargs)
