"""The problem of a maximal independent set: a graph, an order of its vertices, and vertices that must be in the set."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import Seed, check_choice, check_length, checked_array, checked_seed, is_array, refusing
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.engine.problem import GraphProblem, vertex_ids, vertex_number
from clgraph.errors import InputError

ORDERS = ("smallest_first", "random")
_MAX_ENTRIES = 2**32 - 2**12  # A sub-group adds up the lengths of its rows in 32 bits.


@dataclass(frozen=True, eq=False)
class IndependentSetProblem(GraphProblem):
    """The checked arguments of :func:`maximal_independent_set`.

    Attributes
    ----------
    included : int32 array
        The vertices that must be in the set.
    """

    order: str = ORDERS[0]
    seed: int = 0
    included: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    @property
    def settings(self) -> Hashable:
        return type(self), self.order, self.seed, self.included.tobytes()

    def admitted(self) -> Self:
        self.graph.require_reverses()
        return self

    def refuse_neighbors(self, members: NDArray[np.bool_]) -> None:
        """Raise an :class:`InputError` if a vertex that must be in the set is not among *members*.

        It then is a neighbour of another vertex that must be in the set.
        """
        out = self.included[~members[self.included]]
        if out.size:
            v = int(out[0])
            first, last = self.graph.row_offsets[v : v + 2]
            row = self.graph.column_indices[first:last]
            u = int(row[np.isin(row, self.included) & (row != v)][0])
            names = vertex_ids(self.graph, sorted((u, v)))
            raise InputError(f"include has {names[0]!r} and {names[1]!r}, which are neighbours")


def as_problem(
    graph: Any, *, order: str = ORDERS[0], include: Iterable[Any] | None = None, seed: Seed = 0
) -> IndependentSetProblem:
    """Check the arguments of :func:`maximal_independent_set` and return the problem."""
    graph = wrap_graph(graph)
    graph._require_fits("independent sets take", _MAX_ENTRIES)
    check_choice("order", order, ORDERS)
    included = _numbers(graph, () if include is None else include)
    return IndependentSetProblem(graph, order, checked_seed(seed) % 2**32, included).admitted_if_checked()


def _numbers(graph: Graph, include: Any) -> NDArray[np.int32]:
    """Return the numbers of the vertices with the ids *include*."""
    allowed = "a list, set or array of vertices"
    if isinstance(include, str | bytes):
        raise InputError(f"include = {include!r}; allowed: {allowed}")
    with refusing("include", include, allowed):
        if hasattr(include, "__len__"):
            check_length("include", include)
        ids = checked_array("include", include).tolist() if is_array(include) else list(include)
        return np.array([vertex_number(graph, each, "include:") for each in ids], np.int32)
