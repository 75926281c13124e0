"""The problem of PageRank, and the base of the problems that its kernels solve with other epilogues."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.arguments import checked_array, checked_count, checked_number, refusing, shown
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.engine.problem import GraphProblem, vertex_number
from clgraph.errors import ConvergenceWarning, GraphError, InputError

# Ranks sum to 1, so rounding them to float32 changes their sum of absolute values by up to 6e-8 in each iteration.
MIN_FLOAT32_TOLERANCE = 1e-6
# For each type, the range of greatest weights whose products with values from 1 / n to 1, and their sums, stay in its
# range of normal numbers. The sums of the weights of vertices have the same least value in PageRank.
WEIGHTS = {np.dtype(np.float32): (1e-28, 1e28), np.dtype(np.float64): (1e-290, 1e290)}
_REMEDY = {np.dtype(np.float32): '; dtype="float64" takes others', np.dtype(np.float64): ""}
MAX_ITERATIONS = 2**31 - 1
MAX_BATCH = 16  # distributions, whose float32 ranks of a vertex fill a cache line of 64 bytes


@dataclass(frozen=True, eq=False)
class PowerProblem(GraphProblem):
    """A graph whose vertices get values by iteration, and the settings of the iteration.

    Attributes
    ----------
    graph : Graph
    tol : float
        Limit of the sum of the absolute changes of all values, as users give it.
    max_iter : int
    weighted : bool
        Whether the weights of the edges count. If not, all edges are equal.
    initial : float64 array, shape (n_vertices,), or None
        Values at the start; ``None`` means that all are equal.
    dtype : dtype
        float32 or float64.
    """

    tol: float = 1e-6
    max_iter: int = 100
    weighted: bool = False
    initial: NDArray[np.float64] | None = None
    dtype: np.dtype[Any] = np.dtype(np.float32)  # noqa: RUF009

    epilogue: ClassVar[str]
    """The epilogue of the kernels, as cl/pagerank/state.h calls it."""
    home: ClassVar[Any] = None
    refuge: ClassVar[Any] = None
    shrinking: ClassVar[float] = 0.75
    """The assumed factor by which an iteration shrinks the changes."""

    @property
    def is_weighted(self) -> bool:
        """Whether the graph has weights, and they count."""
        return self.weighted and self.graph.weight_dtype is not None

    @property
    def settings(self) -> Hashable:
        """A key that is equal for problems that can reuse the same plan, which is filled with their distributions."""
        given = (self.home is None, self.refuge is None, self.initial is None)
        return type(self), self.is_weighted, self.dtype, self.n_lanes, given

    @property
    def n_lanes(self) -> int:
        """How many values of a vertex the kernels compute at once."""
        return 1

    @property
    def pulls(self) -> tuple[Graph, ...]:
        """The graphs along whose rows the values of an iteration are added up, in order."""
        return (self.graph.reverse,)

    @property
    def numbers(self) -> tuple[float, ...]:
        """The settings of the kernels, in the order of cl/pagerank/state.h."""
        even = 1 / self.graph.n_vertices
        return 0.0, even, self.limit, even

    @property
    def limit(self) -> float:
        """The sum of absolute changes below which the iteration ends."""
        return self.tol

    def scale_of(self, _pull: int) -> NDArray[np.float64] | None:
        """Return the factor of each vertex that the kernels of a pull need, or ``None`` if they need none."""
        return None

    def admitted(self) -> Self:
        weights = self.graph.edge_weights if self.is_weighted else None
        if weights is None or not weights.size:
            return self
        least, greatest = self.graph.weight_range
        if least < 0 or not math.isfinite(greatest):
            at = int(np.argmax(~((weights >= 0) & np.isfinite(weights))))
            raise GraphError(f"entry {at} has weight {weights[at]}; needed: finite weights of at least 0")
        low, high = WEIGHTS[np.dtype(self.dtype)]
        if not low <= greatest <= high and greatest > 0:
            text = f"the greatest weight, of entry {int(np.argmax(weights))}, is {greatest:g}; {self.dtype} takes"
            raise GraphError(f"{text} {low:g} to {high:g}{_REMEDY[np.dtype(self.dtype)]}")
        return self

    @cached_property
    def strengths(self) -> NDArray[np.float64]:
        """The sum of the weights of each vertex's outgoing edges, or their number if edges have no weights."""
        return strengths(self.graph, self.is_weighted)


@dataclass(frozen=True, eq=False)
class PageRankProblem(PowerProblem):
    """A graph whose vertices are ranked, and the settings of the random walk.

    Attributes
    ----------
    alpha : float
        Probability of following an edge. It is proportional to the edge's weight if weights count.
    home, refuge : float64 array, shape (n_vertices,), or None
        Distribution of jumps, and distribution of jumps from vertices without outgoing edges. Each adds up to 1, and so
        does *initial*. ``None`` means uniform, or for *refuge* the same as *home*. In a batch, *home* has a row for
        each distribution.
    """

    alpha: float = 0.85
    home: NDArray[np.float64] | None = None  # type: ignore[misc]
    refuge: NDArray[np.float64] | None = None  # type: ignore[misc]

    epilogue = "PAGERANK"

    @property
    def shrinking(self) -> float:  # type: ignore[override]
        return self.alpha

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the ranks: in a batch, with a row for each distribution of *home*."""
        return (self.graph.n_vertices,) if self.home is None else self.home.shape

    @property
    def n_lanes(self) -> int:
        """The number of distributions in a batch, rounded up to a power of two; else 1."""
        return 1 << (self.shape[0] - 1).bit_length() if len(self.shape) == 2 else 1

    @property
    def numbers(self) -> tuple[float, ...]:
        return self.alpha, *super().numbers[1:]

    def scale_of(self, _pull: int) -> NDArray[np.float64] | None:
        """Return :attr:`inverse_strengths` for the kernels, which divide by degrees if edges have no weights."""
        return self.inverse_strengths if self.is_weighted else None

    @cached_property
    def inverse_strengths(self) -> NDArray[np.float64]:
        """1 / :attr:`strengths`, and 0 for vertices without outgoing weight.

        Raises
        ------
        GraphError
            A sum of weights is too small for the type of the ranks.
        """
        found, kind = self.strengths, np.dtype(self.dtype)
        low, leaves = WEIGHTS[kind][0], found > 0
        if self.is_weighted and (is_small := leaves & (found < low)).any():
            at = int(np.argmax(is_small))
            raise GraphError(
                f"the weights of vertex {at} add up to {found[at]:g}; {kind} takes sums from {low:g} on{_REMEDY[kind]}"
            )
        return np.divide(1.0, found, out=np.zeros_like(found), where=leaves)


def strengths(graph: Graph, is_weighted: bool) -> NDArray[np.float64]:
    """Return the sum of the weights of each row of *graph*, or the row's length without weights."""
    weights = graph.edge_weights
    if not is_weighted or weights is None:
        return graph.degrees.astype(np.float64)
    filled = np.flatnonzero(graph.degrees)
    found = np.zeros(graph.n_vertices)
    with np.errstate(over="ignore"):
        found[filled] = np.add.reduceat(weights, graph.row_offsets[filled], dtype=np.float64)
    if not np.isfinite(found).all():
        raise GraphError(f"the weights of vertex {int(np.argmin(np.isfinite(found)))} add up to infinity")
    return found


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
    data, common = checked_common(graph, "PageRank takes", tol, max_iter, weight, dtype)
    alpha = checked_number("alpha", alpha)
    if not 0 < alpha < 1:
        raise InputError(f"alpha = {shown(alpha)}; allowed: above 0 and below 1")
    home = _homes(personalization, data)
    refuge = distribution("dangling", dangling, data)
    initial = distribution("initial", initial, data)
    return PageRankProblem(
        data, alpha=alpha, home=home, refuge=refuge, initial=initial, **common
    ).admitted_if_checked()  # fmt: skip


def _homes(given: Any, graph: Graph) -> NDArray[np.float64] | None:
    """Return the distribution *given*, or an array with a row for each of several."""
    several: Any = None
    if isinstance(given, list | tuple) and given and isinstance(given[0], Mapping | Sequence | np.ndarray):
        several = given
    elif not isinstance(given, Mapping | None) and (array := checked_array("personalization", given)).ndim == 2:
        several = array
    if several is None:
        return distribution("personalization", given, graph)
    if not 1 <= len(several) <= MAX_BATCH:
        raise InputError(f"personalization has {len(several)} distributions; allowed: 1 to {MAX_BATCH}")
    if any(each is None for each in several):
        raise InputError(f"personalization = {shown(given)}; allowed in a list: mappings and arrays")
    rows = (distribution(f"personalization[{k}]", each, graph) for k, each in enumerate(several))
    return np.stack([row for row in rows if row is not None])


def warn_if_moving(what: str, n_iterations: int, change: float, tol: float, remedy: str = "") -> None:
    """Warn the caller of the public function unless the last iteration changed *what* by less than *tol*.

    The warning ends with *remedy* if numbers overflowed.
    """
    if not change < tol:
        text = f"after {n_iterations} iterations the {what} still change by {change:.3g}; tol = {tol}"
        if not math.isfinite(change):
            text = f"after {n_iterations} iterations the {what} are not finite{remedy}"
        warnings.warn(text, ConvergenceWarning, stacklevel=3)


def checked_common(
    graph: Any, takes: str, tol: float, max_iter: int, weight: Weight, dtype: DTypeLike | None
) -> tuple[Graph, dict[str, Any]]:
    """Return the graph, and the fields of a :class:`PowerProblem` for these arguments, or raise an error."""
    data = wrap_graph(graph, weight=weight, weighted=weight is not None)
    data._require_fits(takes)
    tol = checked_number("tol", tol, above=True)
    max_iter = checked_count("max_iter", max_iter, MAX_ITERATIONS)
    found = {"tol": tol, "max_iter": max_iter, "weighted": weight is not None, "dtype": _checked_dtype(dtype, tol)}
    return data, found


def _checked_dtype(dtype: DTypeLike | None, tol: float) -> np.dtype[Any]:
    if dtype is None:
        return np.dtype(np.float32 if tol >= MIN_FLOAT32_TOLERANCE else np.float64)
    with refusing("dtype", dtype, "float32 or float64"):
        found = np.dtype(dtype)
    if found not in (np.float32, np.float64):
        raise InputError(f"dtype = {shown(dtype)}; allowed: float32 or float64")
    return found


def numbers_of(name: str, given: Any, graph: Graph, least: float = -math.inf) -> NDArray[np.float64]:
    """Return *given*, an array or a mapping of vertex ids to numbers of at least *least*, as an array."""
    n = graph.n_vertices
    if isinstance(given, Mapping):
        values = np.zeros(n)
        for vertex, value in given.items():
            number = vertex_number(graph, vertex, f"vertex of {name}")
            values[number] = checked_number(f"{name}[{vertex!r}]", value, least)
        return values
    values = checked_array(name, given)
    if values.shape != (n,) or values.dtype.kind not in "biuf":
        raise InputError(f"{name} = {shown(given)}; allowed: {n} numbers, or a mapping of vertices to numbers")
    values = values.astype(np.float64)
    if not ((values >= least) & np.isfinite(values)).all():
        negative = "" if least < 0 else "negative, "
        raise InputError(f"{name} has a value that is {negative}infinite or NaN")
    return values


def distribution(name: str, given: Any, graph: Graph) -> NDArray[np.float64] | None:
    """Return *given*, an array or a mapping of vertex ids to numbers, as an array with the sum 1."""
    if given is None:
        return None
    values = numbers_of(name, given, graph, 0.0)
    greatest = values.max(initial=0.0)
    if values.size and greatest == 0:
        raise InputError(f"{name} has the sum 0")
    values = values / max(greatest, np.finfo(float).tiny)  # The sum of very large values would overflow.
    found: NDArray[np.float64] = values / values.sum()
    return found
