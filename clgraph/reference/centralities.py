"""Centralities by definition: values are a fixed point of one step of their iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.reference.entries import entry_chunks

_ROUNDINGS = 8.0  # Each value is rounded at most this number of times in a step, not counting sums.


def sums_along(graph: Graph, values: NDArray[Any], *, weighted: bool, backward: bool) -> NDArray[np.float64]:
    """Return for each vertex the sum of *values* over its predecessors, or with *backward* over its successors."""
    weights = graph.edge_weights if weighted else None
    found = np.zeros(graph.n_vertices)
    for places, rows, columns in entry_chunks(graph):
        of, at = (columns, rows) if backward else (rows, columns)
        moved = values[of].astype(np.float64)
        found += np.bincount(at, moved if weights is None else moved * weights[places], graph.n_vertices)
    return found


def check_eigenvector_centrality(
    graph: Graph, centralities: NDArray[Any], *, change: float, weighted: bool = False
) -> None:
    """Raise an error unless one more step changes the values by no more than *change* allows.

    A step multiplies the values by the adjacency matrix plus the unit matrix, and divides them by their sum.

    Parameters
    ----------
    graph : Graph
    centralities : float32 or float64 array, shape (n_vertices,)
        The sum of the squares is 1.
    change : float
        The sum of the absolute changes in the last iteration, of values with the sum 1.
    weighted : bool
        Whether the weights of the edges count.

    Raises
    ------
    VerificationError
        The squares do not add up to 1, a value is negative, or the values are not near the fixed point.
    """
    _check_form(graph, centralities, "centralities", least=0.0)
    if not graph.n_vertices:
        return
    rounding = _rounding(graph, centralities)
    if abs(norm := float(np.linalg.norm(centralities.astype(np.float64))) - 1) > rounding:
        raise VerificationError(f"the root of the sum of squares is 1 + {norm:.3g}")
    values = centralities / centralities.sum(dtype=np.float64)
    after = values + sums_along(graph, values, weighted=weighted, backward=False)
    factor = 2 * (1 + _greatest_strength(graph, weighted)) / after.sum()
    _check_near(after / after.sum(), values, factor * change + (1 + factor) * rounding, change)


def check_katz_centrality(
    graph: Graph,
    centralities: NDArray[Any],
    *,
    change: float,
    alpha: float = 0.1,
    beta: float | NDArray[np.float64] = 1.0,
    normalized: bool = True,
    weighted: bool = False,
) -> None:
    """Raise an error unless one more step changes the values by no more than *change* allows.

    If *change* is infinite or NaN, values have grown beyond all numbers, and only their form is checked.

    Parameters
    ----------
    graph : Graph
    centralities : float32 or float64 array, shape (n_vertices,)
    change : float
        The sum of the absolute changes in the last iteration, before values were normalised, divided by the sum of the
        absolute values of *beta*.
    alpha : float
        Factor of a walk for each of its edges.
    beta : float or float64 array, shape (n_vertices,)
        The value that a vertex has by itself.
    normalized : bool
        Whether the sum of the squares of *centralities* is 1.
    weighted : bool
        Whether the weights of the edges count.

    Raises
    ------
    VerificationError
        The squares do not add up to 1 though they are normalised, or the values are not near the fixed point.
    """
    _check_form(graph, centralities, "centralities", least=-np.inf if np.isfinite(change) else None)
    own = np.broadcast_to(np.float64(beta), graph.n_vertices)
    exponent = -np.frexp(np.abs(own).max(initial=0.0))[1]
    own = np.ldexp(own, exponent)  # The values are linear in beta, whose sum might leave the range of float64.
    if not (size := float(np.abs(own).sum())) or not np.isfinite(change):
        return
    rounding, values = _rounding(graph, centralities), centralities.astype(np.float64)
    too_small = 0.0  # The sum of the values that may be rounded to 0.
    if not normalized:
        values = np.ldexp(values, exponent)
        too_small = values.size * float(np.ldexp(np.float64(np.finfo(centralities.dtype).smallest_subnormal), exponent))
    arrived = alpha * sums_along(graph, values, weighted=weighted, backward=False)
    growth = doubt = alpha * _greatest_strength(graph, weighted)
    if normalized:
        if abs(norm := float(np.linalg.norm(values)) - 1) > rounding:
            raise VerificationError(f"the root of the sum of squares is 1 + {norm:.3g}")
        left = values - arrived  # The solution before it was normalised is c * values, where c * left is about beta.
        factor = float((own * left).sum()) / float((left * left).sum())
        values, arrived = factor * values, factor * arrived
        doubt += growth * float(np.abs(own).max()) * size / float((own * own).sum())
    allowed = doubt * change + (1 + growth) * (rounding * float(np.abs(values).sum()) + too_small) / size
    _check_near((arrived + own) / size, values / size, allowed, change)


def check_hits(
    graph: Graph,
    hubs: NDArray[Any],
    authorities: NDArray[Any],
    *,
    change: float,
    normalized: bool = True,
    weighted: bool = False,
) -> None:
    """Raise an error unless hubs follow from *authorities*, and these from hubs as near as *change* allows.

    Parameters
    ----------
    graph : Graph
    hubs, authorities : float32 or float64 array, shape (n_vertices,)
    change : float
        The sum of the absolute changes of hubs in the last iteration, where hubs add up to 1.
    normalized : bool
        Whether hubs and authorities add up to 1. Otherwise the squares of authorities do, and hubs are the adjacency
        matrix times authorities.
    weighted : bool
        Whether the weights of the edges count.

    Raises
    ------
    VerificationError
        A value is negative, a sum is not right, or the values do not follow from each other.
    """
    _check_form(graph, hubs, "hubs", least=0.0)
    _check_form(graph, authorities, "authorities", least=0.0)
    if not graph.n_vertices:
        return
    rounding = _rounding(graph, hubs)
    total = (authorities.sum(dtype=np.float64) if normalized else np.linalg.norm(authorities.astype(np.float64))) - 1
    if abs(total) > rounding:
        raise VerificationError(f"the {'sum' if normalized else 'norm'} of authorities is 1 + {total:.3g}")
    found = sums_along(graph, authorities, weighted=weighted, backward=True)
    if normalized:
        found /= found.sum()
    _check_near(found, hubs, rounding * float(found.sum()), 0.0)
    hubs, authorities = hubs / hubs.sum(dtype=np.float64), authorities / authorities.sum(dtype=np.float64)
    found = sums_along(graph, hubs, weighted=weighted, backward=False)
    factor = 2 * _greatest_strength(graph, weighted) / float(found.sum())
    _check_near(found / found.sum(), authorities, factor * change + (1 + factor) * rounding, change)


def _check_form(graph: Graph, values: NDArray[Any], name: str, least: float | None) -> None:
    n = graph.n_vertices
    if values.shape != (n,) or values.dtype not in (np.float32, np.float64):
        raise VerificationError(f"{name} are {values.dtype} {values.shape}; needed: float32 or float64 ({n},)")
    if least is not None and not ((values >= least) & np.isfinite(values)).all():
        raise VerificationError(f"{name} have a value that is infinite, NaN or below {least:g}")


def _check_near(after: NDArray[np.float64], values: NDArray[Any], allowed: float, change: float) -> None:
    left = float(np.abs(after - values).sum())
    if not left <= allowed:
        raise VerificationError(f"one more step changes the values by {left:.3g}; the last one changed {change:.3g}")


def _rounding(graph: Graph, values: NDArray[Any]) -> float:
    """Return the relative error of a step that rounds each value, and adds up the longest row."""
    longest = np.bincount(graph.column_indices, minlength=1).max() + graph.degrees.max()
    return _ROUNDINGS * float(np.finfo(values.dtype).eps) + 2 * float(longest) * float(np.finfo(np.float64).eps)


def _greatest_strength(graph: Graph, weighted: bool) -> float:
    """Return the greatest weight of the outgoing edges of a vertex."""
    ones = np.ones(graph.n_vertices)
    return float(sums_along(graph, ones, weighted=weighted, backward=True).max())
