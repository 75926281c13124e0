"""Helpers for the functions of the networkx backend: settings, a graph's arrays, and calls of
networkx's own functions.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import networkx as nx

from clgraph.networkx_backend.adjacency import Adjacency
from clgraph.networkx_backend.convert import convert_to_nx

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

    Raises
    ------
    ValueError
        ``strategy`` has another value. networkx passes this error on to the user.
    """
    wanted = setting("strategy", "auto")
    if wanted not in ("auto", "device"):
        raise ValueError(f"nx.config.backends.clgraph.strategy = {wanted!r}; allowed: 'auto', 'device'")
    return {"session": setting("device"), "strategy": _DEVICE_STRATEGIES[algorithm] if wanted == "device" else "auto"}


def arrays(graph: Any) -> Adjacency:
    """Return the arrays of a networkx graph of this backend."""
    found: Adjacency = graph._adjacency
    return found


def by_networkx(name: str, G: Any, *args: Any, **kwargs: Any) -> Any:
    """Run networkx's own function on *G* as a graph of networkx, mostly to raise networkx's own error.

    Functions of networkx call others. networkx sends a call with a graph of this backend to this backend only, so on
    such a graph these inner calls would end in :class:`NotImplementedError`.
    """
    return own_function(name)(convert_to_nx(G), *args, **kwargs)


def own_function(name: str) -> Callable[..., Any]:
    """Return networkx's own function *name*, which is sent to no backend."""
    found: Callable[..., Any] = nx.utils.backends._registered_algorithms[name].orig_func
    return found


def is_limit(cutoff: Any) -> bool:
    """Return whether *cutoff* is ``None`` or a number from 0 on; networkx has its own answers to others."""
    return cutoff is None or (isinstance(cutoff, Real) and float(cutoff) >= 0)


def seed_of(seed: Any) -> Any:
    """Return a seed of clgraph, drawn from the generator that networkx makes of a user's seed."""
    if hasattr(seed, "getrandbits"):  # random.Random
        return seed.getrandbits(32)
    if hasattr(seed, "randint"):  # networkx's wrapper around a generator of numpy
        return int(seed.randint(0, 2**31 - 2))
    return seed
