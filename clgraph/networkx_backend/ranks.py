"""networkx's PageRank, HITS, and centralities by iteration."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.eigenvector_centrality import eigenvector_centrality as by_eigenvector
from clgraph.algorithms.hits import hits as rated
from clgraph.algorithms.katz_centrality import katz_centrality as by_walks
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
    given = {"personalization": personalization, "initial": nstart, "dangling": dangling}
    options = {name: _values(adjacency, each) for name, each in given.items() if each is not None}
    found = _found(ranked, adjacency, weight, alpha=alpha, tol=n * tol, max_iter=max_iter, **options)
    if found is None:  # networkx has errors of its own, and takes an alpha of 0 or 1.
        result: dict[Any, float] = by_networkx("pagerank", G, alpha, personalization, max_iter, tol, nstart, weight,
                                               dangling)  # fmt: skip
        return result
    return _by_node(adjacency, found.ranks)


def hits(
    G: Any, max_iter: int = 100, tol: float = 1.0e-8, nstart: Any = None, normalized: bool = True
) -> tuple[dict[Any, float], dict[Any, float]]:
    """Rate until the changes of hubs, whose sum is 1, add up to less than ``tol``."""
    adjacency = arrays(G)
    options = {} if nstart is None else {"initial": _values(adjacency, nstart)}
    found = None
    if len(adjacency) > 1:  # networkx has an error of its own for one node.
        found = _found(
            rated, adjacency, "weight", max_iter=max_iter, tol=tol, normalized=bool(normalized), **options
        )  # fmt: skip
    if found is None:
        result: tuple[Any, Any] = by_networkx("hits", G, max_iter, tol, nstart, normalized)
        return result
    return _by_node(adjacency, found.hubs), _by_node(adjacency, found.authorities)


def eigenvector_centrality(
    G: Any, max_iter: int = 100, tol: float = 1.0e-6, nstart: Any = None, weight: Any = None
) -> dict[Any, float]:
    """Iterate until changes, of values whose squares add up to 1, add up to less than ``tol`` times the nodes.

    The sum of such values is at most the root of the number of nodes.
    """
    adjacency, found = arrays(G), None
    n = len(adjacency)
    options = {} if nstart is None else {"initial": _values(adjacency, nstart)}
    if n and _is_complete(adjacency, nstart):
        found = _found(by_eigenvector, adjacency, weight, max_iter=max_iter, tol=math.sqrt(n) * tol, **options)
    if found is None:
        result: dict[Any, float] = by_networkx("eigenvector_centrality", G, max_iter, tol, nstart, weight)
        return result
    return _by_node(adjacency, found.centralities)


def katz_centrality(
    G: Any,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: Any = None,
    normalized: bool = True,
    weight: Any = None,
) -> dict[Any, float]:
    """Iterate until changes add up to less than ``tol`` times the number of nodes."""
    adjacency, found, own = arrays(G), None, beta
    n = len(adjacency)
    if isinstance(beta, Mapping):
        own = _values(adjacency, beta)
    options = {} if nstart is None else {"initial": _values(adjacency, nstart)}
    if n and _is_complete(adjacency, nstart) and (not isinstance(beta, Mapping) or _is_complete(adjacency, beta)):
        least = float(np.abs(own).mean()) if isinstance(own, float | int | np.ndarray) else 0.0
        found = _found(
            by_walks, adjacency, weight, alpha=alpha, beta=own, max_iter=max_iter, tol=tol / (least or 1.0),
            normalized=bool(normalized), **options,
        )  # fmt: skip
    if found is None:
        result: dict[Any, float] = by_networkx("katz_centrality", G, alpha, beta, max_iter, tol, nstart, normalized,
                                               weight)  # fmt: skip
        return result
    return _by_node(adjacency, found.centralities)


def _found(function: Callable[..., Any], adjacency: Adjacency, weight: Any, **settings: Any) -> Any:
    """Return the result of *function* in float64, or ``None`` if networkx should answer: it has errors of its own."""
    graph = adjacency.weighted(weight)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            return function(
                graph,
                dtype="float64",
                weight=None if graph.weight_dtype is None else "weight",
                **settings,
                **run_options(function.__name__),
            )
    except (InputError, ConvergenceWarning):
        return None


def _by_node(adjacency: Adjacency, values: NDArray[Any]) -> dict[Any, float]:
    return dict(zip(adjacency.nodes, values.tolist(), strict=True))


def _values(adjacency: Adjacency, given: Mapping[Any, Any]) -> NDArray[np.float64]:
    """Return the values of a mapping of nodes as an array; nodes that are not in the graph are passed over."""
    return np.array([given.get(node, 0) for node in adjacency.nodes], np.float64)


def _is_complete(adjacency: Adjacency, given: Mapping[Any, Any] | None) -> bool:
    """Return whether *given* has a value for each node and for nothing else, as networkx needs it."""
    return given is None or (len(given) == len(adjacency) and all(node in given for node in adjacency.nodes))
