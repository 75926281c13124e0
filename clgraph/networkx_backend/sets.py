"""networkx's maximal independent sets and maximal matchings; networkx may find others."""

from __future__ import annotations

from typing import Any

from clgraph.algorithms.maximal_independent_set import maximal_independent_set as independent
from clgraph.algorithms.maximal_matching import maximal_matching as matched
from clgraph.errors import InputError
from clgraph.networkx_backend.calls import arrays, by_networkx, run_options, seed_of


def maximal_independent_set(G: Any, nodes: Any = None, seed: Any = None) -> list[Any]:
    adjacency = arrays(G)
    given = list(nodes) if nodes else []
    numbers = [adjacency.number(node) for node in given]
    loops = set(adjacency.columns[adjacency.rows == adjacency.columns].tolist()) if given else set()
    try:
        if not len(adjacency) or min(numbers, default=0) < 0 or not loops.isdisjoint(numbers):
            raise InputError("networkx has errors of its own for empty graphs, other nodes and nodes with self-loops")
        found = independent(
            adjacency.graph, include=numbers, seed=seed_of(seed), **run_options("maximal_independent_set")
        )
    except InputError:
        made: list[Any] = by_networkx("maximal_independent_set", G, given, seed)
        return made
    return adjacency.names(found.vertices)


def maximal_matching(G: Any) -> set[tuple[Any, Any]]:
    adjacency = arrays(G)
    edges = matched(adjacency.graph, weight=None, **run_options("maximal_matching")).edges
    return set(zip(adjacency.names(edges[:, 0]), adjacency.names(edges[:, 1]), strict=True))
