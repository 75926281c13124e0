"""networkx's PageRank."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.pagerank import pagerank as ranked
from clgraph.errors import ConvergenceWarning, InputError
from clgraph.networkx_backend.adjacency import Adjacency
from clgraph.networkx_backend.calls import arrays, by_networkx, run_options


def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1e-06,
    nstart: Any = None,
    weight: Any = "weight",
    dangling: Any = None,
) -> dict[Any, float]:
    """Rank as networkx does: until the changes add up to less than ``tol`` times the number of nodes."""
    adjacency = arrays(G)
    n = len(adjacency)
    if not n:
        return {}
    graph = adjacency.weighted(weight)
    given = {"personalization": personalization, "initial": nstart, "dangling": dangling}
    options: dict[str, Any] = {name: _values(adjacency, each) for name, each in given.items() if each}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            found = ranked(
                graph,
                alpha=alpha,
                tol=n * tol,
                max_iter=max_iter,
                dtype="float64",
                weight=None if graph.weight_dtype is None else "weight",
                **options,
                **run_options("pagerank"),
            )
    except (InputError, ConvergenceWarning):  # networkx has errors of its own, and takes an alpha of 0 or 1.
        result: dict[Any, float] = by_networkx("pagerank", G, alpha, personalization, max_iter, tol, nstart, weight,
                                               dangling)  # fmt: skip
        return result
    return dict(zip(adjacency.nodes, found.ranks.tolist(), strict=True))


def _values(adjacency: Adjacency, given: Mapping[Any, Any]) -> NDArray[np.float64]:
    """Return the values of a mapping of nodes as an array; nodes that are not in the graph are passed over."""
    return np.array([given.get(node, 0) for node in adjacency.nodes], np.float64)
