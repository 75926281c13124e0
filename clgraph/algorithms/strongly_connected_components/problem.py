"""The problem of strongly connected components, which consists of a graph only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.engine.problem import GraphProblem


@dataclass(frozen=True)
class StrongProblem(GraphProblem):
    """A graph whose strongly connected components are wanted."""


def as_problem(graph: Any) -> StrongProblem:
    """Check the arguments of :func:`strongly_connected_components` and return the problem."""
    graph = wrap_graph(graph, merged=False)
    graph._require_fits("strongly connected components take")
    return StrongProblem(graph)
