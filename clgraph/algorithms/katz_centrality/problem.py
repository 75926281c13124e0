"""The problem of Katz centrality."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.algorithms.pagerank.problem import PowerProblem, checked_common, numbers_of
from clgraph.arguments import checked_flag, checked_number
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.errors import InputError

# For each type, numbers from 2^-k to 2^k are in the middle of its range, which they do not leave in the iterations.
_MIDDLE = {np.dtype(np.float32): 64, np.dtype(np.float64): 512}


@dataclass(frozen=True, eq=False)
class KatzProblem(PowerProblem):
    """A graph whose vertices get a value for all walks that end there.

    The values that vertices have by themselves are divided by *scale*, and the result is multiplied by it, so that tiny
    and huge values do not leave the range of the type. It is a power of 2, so it rounds nothing.

    Attributes
    ----------
    alpha : float
        Factor of a walk for each of its edges.
    beta : float
        The value that each vertex has by itself, unless *home* has these values; divided by *scale*.
    home : float64 array, shape (n_vertices,), or None
        Divided by *scale*.
    scale : float
    normalized : bool
        Whether to divide the result by the root of the sum of squares.
    """

    alpha: float = 0.1
    beta: float = 1.0
    home: NDArray[np.float64] | None = None  # type: ignore[misc]
    scale: float = 1.0
    normalized: bool = True

    epilogue = "KATZ"

    @property
    def numbers(self) -> tuple[float, ...]:
        return self.alpha, self.beta, self.limit, 0.0

    @property
    def limit(self) -> float:
        return self.tol * self.size

    @property
    def size(self) -> float:
        """The sum of the absolute values that vertices have by themselves, to which changes are compared."""
        n = self.graph.n_vertices
        found = n * abs(self.beta) if self.home is None else float(np.abs(self.home).sum())
        return found or 1.0


def as_problem(
    graph: Any,
    *,
    alpha: float = 0.1,
    beta: Any = 1.0,
    initial: Any = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    normalized: bool = True,
    weight: Weight = None,
    dtype: DTypeLike | None = None,
) -> KatzProblem:
    """Return the problem of these arguments of :func:`katz_centrality`, or raise an error."""
    data, common = checked_common(graph, "Katz centrality takes", tol, max_iter, weight, dtype)
    alpha, home = checked_number("alpha", alpha), None
    if isinstance(beta, Real | np.bool_):
        beta = checked_number("beta", beta, -np.inf)
    else:
        beta, home = 0.0, numbers_of("beta", beta, data)
    initial = None if initial is None else numbers_of("initial", initial, data)
    scale = _scale(float(np.abs(beta if home is None else home).max(initial=0.0)), common["dtype"])
    if scale != 1.0:
        beta, home, initial = (None if each is None else each / scale for each in (beta, home, initial))
    if initial is not None and not (np.abs(initial) <= np.finfo(common["dtype"]).max).all():
        raise InputError(f"initial is too large for {common['dtype']}, or beta is too small beside it")
    return KatzProblem(
        data, alpha=alpha, beta=beta, home=home, initial=initial, scale=scale,
        normalized=checked_flag("normalized", normalized), **common,
    ).admitted_if_checked()  # fmt: skip


def _scale(largest: float, dtype: np.dtype[Any]) -> float:
    """Return the power of 2 by which *largest* is divided, such that it is in the middle of the range of *dtype*."""
    middle, exponent = _MIDDLE[np.dtype(dtype)], math.frexp(largest)[1]
    return math.ldexp(1.0, exponent - min(max(exponent, -middle), middle)) if largest else 1.0
