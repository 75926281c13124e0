"""What connected components are asked of."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clgraph.data.graph import Graph, as_graph
from clgraph.data.stats import GraphStats


@dataclass(frozen=True)
class ComponentsProblem:
    """A graph; if it is directed, its weak components are wanted."""

    graph: Graph

    @property
    def stats(self) -> GraphStats:
        return self.graph.stats


def as_problem(graph: Any) -> ComponentsProblem:
    """Check the arguments of :func:`connected_components`."""
    graph = as_graph(graph)
    graph._require_fits("connected components take")
    return ComponentsProblem(graph)
