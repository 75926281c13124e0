"""The problem of connected components, which consists of a graph only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.engine.problem import GraphProblem


@dataclass(frozen=True)
class ComponentsProblem(GraphProblem):
    """A graph whose connected components are wanted; the weak components if the graph is directed."""


def as_problem(graph: Any) -> ComponentsProblem:
    """Check the arguments of :func:`connected_components` and return the problem, or raise an :class:`InputError`."""
    graph = wrap_graph(graph, merged=False)
    graph._require_fits("connected components take")
    return ComponentsProblem(graph)
