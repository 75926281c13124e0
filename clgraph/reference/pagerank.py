"""PageRank by definition: ranks are a fixed point of one step of the random walk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.reference.entries import entry_chunks

_ROUNDINGS = 4.0  # Each rank is rounded at most this number of times in a step, not counting sums.


def step(
    graph: Graph,
    ranks: NDArray[Any],
    *,
    alpha: float,
    weighted: bool,
    home: NDArray[np.float64] | None,
    refuge: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return the distribution of the walk after one step from the distribution *ranks*."""
    n = graph.n_vertices
    home = np.full(n, 1 / n) if home is None else home
    refuge = home if refuge is None else refuge
    strengths, arrived = np.zeros(n), np.zeros(n)
    weights = graph.edge_weights if weighted else None
    for places, rows, _ in entry_chunks(graph):
        of_entries = None if weights is None else weights[places].astype(np.float64)
        strengths += np.bincount(rows, of_entries, n)
    leaves = strengths > 0
    shares = np.divide(ranks, strengths, out=np.zeros(n), where=leaves)
    for places, rows, columns in entry_chunks(graph):
        moved = shares[rows] if weights is None else shares[rows] * weights[places]
        arrived += np.bincount(columns, moved, n)
    stranded = float(ranks[~leaves].sum(dtype=np.float64))
    return (1 - alpha) * home + alpha * (arrived + stranded * refuge)


def check_pagerank(
    graph: Graph,
    ranks: NDArray[Any],
    *,
    change: float,
    alpha: float = 0.85,
    weighted: bool = False,
    home: NDArray[np.float64] | None = None,
    refuge: NDArray[np.float64] | None = None,
) -> None:
    """Raise an error unless one more step of the walk changes *ranks* by at most ``alpha * change`` and roundings.

    Parameters
    ----------
    graph : Graph
    ranks : float32 or float64 array, shape (n_vertices,)
    change : float
        The sum of the absolute changes in the last iteration.
    alpha : float
        Probability of following an edge.
    weighted : bool
        Whether the weights of the edges count.
    home, refuge : float64 array, shape (n_vertices,), or None
        Distributions of jumps, and of jumps from vertices without outgoing weight. Each has the sum 1.

    Raises
    ------
    VerificationError
        The ranks are not a distribution, or not near the fixed point.
    """
    n = graph.n_vertices
    if ranks.shape != (n,) or ranks.dtype not in (np.float32, np.float64):
        raise VerificationError(f"ranks are {ranks.dtype} {ranks.shape}; needed: float32 or float64 ({n},)")
    if not n:
        return
    if not ((ranks >= 0) & np.isfinite(ranks)).all():
        raise VerificationError("a rank is negative, infinite or NaN")
    longest = np.bincount(graph.column_indices, minlength=n).max()
    rounding = _ROUNDINGS * float(np.finfo(ranks.dtype).eps) + 2 * float(longest) * float(np.finfo(np.float64).eps)
    if abs(total := float(ranks.sum(dtype=np.float64)) - 1) > 100 * rounding:
        raise VerificationError(f"the sum of all ranks is 1 + {total:.3g}")
    after = step(graph, ranks, alpha=alpha, weighted=weighted, home=home, refuge=refuge)
    left = float(np.abs(after - ranks).sum())
    if not left <= alpha * change + rounding:
        raise VerificationError(f"one more step changes the ranks by {left:.3g}; the last one changed {change:.3g}")
