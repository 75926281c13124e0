"""networkx's communities by the methods of Louvain and Leiden."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.communities import communities
from clgraph.networkx_backend.calls import arrays, run_options, seed_of

_MAX_LEVELS = 64


def louvain_communities(
    G: Any, weight: Any = "weight", resolution: float = 1, threshold: float = 1e-07, max_level: Any = None,
    seed: Any = None,
) -> list[set[Any]]:  # fmt: skip
    """Find communities by Louvain's method.

    They are not networkx's, whose node order is random.
    """
    return _found("louvain", G, weight, resolution, max_level, seed)


def leiden_communities(
    G: Any, weight: Any = "weight", resolution: float = 1, max_level: Any = None, seed: Any = None
) -> list[set[Any]]:
    """Find communities by Leiden's method, which networkx itself does not have."""
    return _found("leiden", G, weight, resolution, max_level, seed)


def _found(method: str, G: Any, weight: Any, resolution: float, max_level: Any, seed: Any) -> list[set[Any]]:
    if max_level is not None and max_level <= 0:
        raise ValueError("max_level argument must be a positive integer or None")  # as networkx has it
    adjacency = arrays(G)
    if not len(adjacency):
        return []
    found = communities(
        adjacency.weighted(weight),
        method=method,
        resolution=resolution,
        max_levels=min(_MAX_LEVELS, max_level or _MAX_LEVELS),
        seed=seed_of(seed),
        **run_options("communities"),
    )
    order = np.argsort(found.labels, kind="stable")
    ends = np.cumsum(np.bincount(found.labels, minlength=found.n_communities))[:-1]
    nodes = adjacency.nodes
    return [{nodes[k] for k in members.tolist()} for members in np.split(order, ends)]
