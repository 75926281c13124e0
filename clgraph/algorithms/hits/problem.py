"""The problem of HITS."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.algorithms.pagerank.problem import WEIGHTS, PowerProblem, checked_common, distribution, strengths
from clgraph.arguments import checked_flag
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.errors import GraphError, InputError


@dataclass(frozen=True, eq=False)
class HitsProblem(PowerProblem):
    """A graph whose vertices are rated as hubs and as authorities.

    The values of an iteration add up to 1, as those of *initial*, which are hubs.

    Attributes
    ----------
    normalized : bool
        Whether hubs and authorities of the result add up to 1.
    """

    normalized: bool = True

    epilogue = "HITS"

    @property
    def pulls(self) -> tuple[Graph, ...]:
        return self.graph.reverse, self.graph

    def scale_of(self, pull: int) -> NDArray[np.float64]:
        """Return the weight of the edges that lead from authorities to hubs (*pull* 0), or from hubs to authorities."""
        return self.strengths if pull else self.received

    @cached_property
    def received(self) -> NDArray[np.float64]:
        """The sum of the weights of each vertex's incoming edges, or their number if edges have no weights."""
        return strengths(self.graph.reverse, self.is_weighted)

    def admitted(self) -> Self:
        super().admitted()
        graph = self.graph
        if graph.n_vertices and not (graph.n_edges and (not self.is_weighted or graph.weight_range[1] > 0)):
            raise GraphError("no edge has a weight above 0; hubs and authorities need one")
        least = WEIGHTS[np.dtype(self.dtype)][0]
        if graph.n_vertices and self.initial is not None and not float(self.strengths @ self.initial) >= least:
            raise InputError("initial is 0, or almost 0, at all vertices with outgoing edges")
        return self


def as_problem(
    graph: Any,
    *,
    initial: Any = None,
    tol: float = 1e-6,
    max_iter: int = 100,
    normalized: bool = True,
    weight: Weight = "weight",
    dtype: DTypeLike | None = None,
) -> HitsProblem:
    """Return the problem of these arguments of :func:`hits`, or raise an error."""
    data, common = checked_common(graph, "HITS takes", tol, max_iter, weight, dtype)
    initial = distribution("initial", initial, data)
    return HitsProblem(
        data, initial=initial, normalized=checked_flag("normalized", normalized), **common
    ).admitted_if_checked()  # fmt: skip
