"""Look up an algorithm by its public name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from clgraph.arguments import check_choice
from clgraph.engine.algorithm import Algorithm
from clgraph.errors import InputError
from clgraph.names import unknown_name

MODULES = {
    "bfs": "clgraph.algorithms.bfs",
    "color": "clgraph.algorithms.color",
    "communities": "clgraph.algorithms.communities",
    "connected_components": "clgraph.algorithms.connected_components",
    "core_numbers": "clgraph.algorithms.cores",
    "eigenvector_centrality": "clgraph.algorithms.eigenvector_centrality",
    "factorization": "clgraph.algorithms.factorization",
    "hash_collisions": "clgraph.algorithms.hash_collisions",
    "hits": "clgraph.algorithms.hits",
    "katz_centrality": "clgraph.algorithms.katz_centrality",
    "maximal_independent_set": "clgraph.algorithms.maximal_independent_set",
    "maximal_matching": "clgraph.algorithms.maximal_matching",
    "minimum_spanning_forest": "clgraph.algorithms.minimum_spanning_forest",
    "pagerank": "clgraph.algorithms.pagerank",
    "partition": "clgraph.algorithms.partition",
    "sssp": "clgraph.algorithms.sssp",
    "strongly_connected_components": "clgraph.algorithms.strongly_connected_components",
    "triangles": "clgraph.algorithms.triangles",
}
"""Algorithm name → module that defines its ``ALGORITHM``. A module is imported on first use."""

ON_MESHES = {"refine_mesh": "clgraph.algorithms.refine_mesh"}
"""The same for algorithms on meshes, which ``explain`` and the graph options do not support."""


def find_algorithm(name: str) -> Algorithm:
    """Return the algorithm of this name, or raise an :class:`InputError`."""
    if isinstance(name, str) and name in ON_MESHES:
        raise InputError(
            f"algorithm = {name!r}: only algorithms on graphs and ratings are known here, and this one takes a mesh; "
            "info.predicted_seconds of its result has the predicted times"
        )
    if isinstance(name, str) and name not in MODULES:
        raise InputError(unknown_name("algorithm", name, MODULES))
    check_choice("algorithm", name, MODULES)
    found: Algorithm = importlib.import_module(MODULES[name]).ALGORITHM
    return found


def find_function(name: str) -> Callable[..., Any]:
    """Return the public function of an algorithm, for example ``cg.bfs`` for ``"bfs"``."""
    found: Callable[..., Any] = getattr(importlib.import_module(MODULES[name]), name)
    return found
