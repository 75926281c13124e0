"""The problem of PageRank: a graph, the probability of following an edge, and distributions of jumps."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.arguments import checked_array, checked_count, checked_number, refusing, shown
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.engine.problem import GraphProblem, vertex_number
from clgraph.errors import GraphError, InputError

# Ranks sum to 1, so rounding them to float32 changes their sum of absolute values by up to 6e-8 in each iteration.
MIN_FLOAT32_TOLERANCE = 1e-6
MAX_ITERATIONS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class PageRankProblem(GraphProblem):
    """A graph whose vertices are ranked, and the settings of the random walk.

    Attributes
    ----------
    graph : Graph
    alpha : float
        Probability of following an edge.
    tol : float
        The iteration ends when the sum of the absolute changes of all ranks is below this.
    max_iter : int
    weighted : bool
        Whether the probability of an edge is proportional to its weight. If not, all edges of a vertex are equal.
    home, refuge, initial : float64 array, shape (n_vertices,), or None
        Distribution of jumps, distribution of jumps from vertices without outgoing edges, and ranks at the start, each
        with the sum 1. ``None`` means uniform, or for *refuge* the same as *home*.
    dtype : dtype
        float32 or float64.
    """

    alpha: float = 0.85
    tol: float = 1e-6
    max_iter: int = 100
    weighted: bool = False
    home: NDArray[np.float64] | None = None
    refuge: NDArray[np.float64] | None = None
    initial: NDArray[np.float64] | None = None
    dtype: np.dtype[Any] = np.dtype(np.float32)  # noqa: RUF009

    @property
    def is_weighted(self) -> bool:
        """Whether the graph has weights, and they count."""
        return self.weighted and self.graph.weight_dtype is not None

    @property
    def settings(self) -> Hashable:
        """A key that is equal for problems that can reuse the same plan, which is filled with their distributions."""
        given = (self.home is None, self.refuge is None, self.initial is None)
        return type(self), self.is_weighted, self.dtype, given

    def admitted(self) -> Self:
        weights = self.graph.edge_weights if self.is_weighted else None
        if weights is None or not weights.size:
            return self
        least, greatest = self.graph.weight_range
        if least < 0 or not math.isfinite(greatest):
            at = int(np.argmax(~((weights >= 0) & np.isfinite(weights))))
            raise GraphError(f"entry {at} has weight {weights[at]}; PageRank needs finite weights of at least 0")
        return self

    @cached_property
    def strengths(self) -> NDArray[np.float64]:
        """The sum of the weights of each vertex's outgoing edges, or their number if edges have no weights."""
        graph, weights = self.graph, self.graph.edge_weights
        if not self.is_weighted or weights is None:
            return graph.degrees.astype(np.float64)
        filled = np.flatnonzero(graph.degrees)
        found = np.zeros(graph.n_vertices)
        with np.errstate(over="ignore"):
            found[filled] = np.add.reduceat(weights, graph.row_offsets[filled], dtype=np.float64)
        if not np.isfinite(found).all():
            raise GraphError(f"the weights of vertex {int(np.argmin(np.isfinite(found)))} add up to infinity")
        return found

    @cached_property
    def scale(self) -> NDArray[Any]:
        """1 / :attr:`strengths`, and 0 for vertices without outgoing weight, in the type of the ranks."""
        strengths = self.strengths
        scale = np.divide(1.0, strengths, out=np.zeros_like(strengths), where=strengths > 0)
        with np.errstate(over="ignore", under="ignore"):
            return scale.astype(self.dtype)


def as_problem(
    graph: Any,
    *,
    alpha: float = 0.85,
    personalization: Any = None,
    dangling: Any = None,
    initial: Any = None,
    tol: float = 1e-6,
    max_iter: int = 100,
    weight: Weight = "weight",
    dtype: DTypeLike | None = None,
) -> PageRankProblem:
    """Return the problem of these arguments of :func:`pagerank`, or raise an error."""
    data = wrap_graph(graph, weight=weight, weighted=weight is not None)
    data._require_fits("PageRank takes")
    alpha, tol = checked_number("alpha", alpha), checked_number("tol", tol, above=True)
    if not 0 < alpha < 1:
        raise InputError(f"alpha = {shown(alpha)}; allowed: above 0 and below 1")
    home = _distribution("personalization", personalization, data)
    return PageRankProblem(
        data,
        alpha,
        tol,
        checked_count("max_iter", max_iter, MAX_ITERATIONS),
        weight is not None,
        home,
        _distribution("dangling", dangling, data),
        _distribution("initial", initial, data),
        _checked_dtype(dtype, tol),
    ).admitted_if_checked()


def _checked_dtype(dtype: DTypeLike | None, tol: float) -> np.dtype[Any]:
    if dtype is None:
        return np.dtype(np.float32 if tol >= MIN_FLOAT32_TOLERANCE else np.float64)
    with refusing("dtype", dtype, "float32 or float64"):
        found = np.dtype(dtype)
    if found not in (np.float32, np.float64):
        raise InputError(f"dtype = {shown(dtype)}; allowed: float32 or float64")
    return found


def _distribution(name: str, given: Any, graph: Graph) -> NDArray[np.float64] | None:
    """Return *given*, an array or a mapping of vertex ids to numbers, as an array with the sum 1."""
    if given is None:
        return None
    n = graph.n_vertices
    if isinstance(given, Mapping):
        values = np.zeros(n)
        for vertex, value in given.items():
            values[vertex_number(graph, vertex, f"vertex of {name}")] = checked_number(f"{name}[{vertex!r}]", value)
    else:
        values = checked_array(name, given)
        if values.shape != (n,) or values.dtype.kind not in "biuf":
            raise InputError(f"{name} = {shown(given)}; allowed: {n} numbers, or a mapping of vertices to numbers")
        values = values.astype(np.float64)
    if not ((values >= 0) & np.isfinite(values)).all():
        raise InputError(f"{name} has a value that is negative, infinite or NaN")
    greatest = values.max(initial=0.0)
    if n and greatest == 0:
        raise InputError(f"{name} has the sum 0")
    values = values / max(greatest, np.finfo(float).tiny)  # The sum of very large values would overflow.
    found: NDArray[np.float64] = values / values.sum()
    return found
