"""The problem of a maximal matching: an undirected graph, with or without weights, and a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from clgraph.arguments import Seed, checked_seed
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.engine.problem import GraphProblem
from clgraph.errors import InputError


@dataclass(frozen=True)
class MatchingProblem(GraphProblem):
    """An undirected graph whose edges are matched, the heaviest first if it is *weighted*."""

    weighted: bool = True
    seed: int = 0

    @property
    def weight_dtype(self) -> np.dtype[Any] | None:
        """Type of the weights that count; ``None`` if all edges are equal."""
        return self.graph.weight_dtype if self.weighted else None

    def admitted(self) -> Self:
        graph = self.graph
        if self.weight_dtype is None:
            graph.require_reverses()
        elif not graph.is_symmetric():
            raise InputError(
                "the graph is directed, and not each entry has a reverse of the same weight; matchings are of "
                "undirected graphs, which Graph.from_edges(*graph.edge_list()) makes of directed ones"
            )
        return self


def as_problem(graph: Any, *, weight: Weight = "weight", seed: Seed = 0) -> MatchingProblem:
    """Check the arguments of :func:`maximal_matching` and return the problem."""
    graph = wrap_graph(graph, weight=weight, weighted=weight is not None)
    graph._require_fits("matchings take")
    return MatchingProblem(graph, weight is not None, checked_seed(seed) % 2**32).admitted_if_checked()
