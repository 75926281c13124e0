"""The problem of connected components: a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.engine.problem import GraphProblem


@dataclass(frozen=True)
class ComponentsProblem(GraphProblem):
    """A graph; if it is directed, its weak components are wanted."""


def as_problem(graph: Any) -> ComponentsProblem:
    """Check the arguments of :func:`connected_components`."""
    graph = wrap_graph(graph, merged=False)
    graph._require_fits("connected components take")
    return ComponentsProblem(graph)
