"""What connected components are asked of."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clgraph.data.graph import Graph, as_graph
from clgraph.data.stats import GraphStats
from clgraph.errors import InputError

_MAX_VERTICES = 2**31 - 2**12  # a work-item's first vertex must fit int32, rounded up to work-groups


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
    if graph.n_vertices > _MAX_VERTICES:
        raise InputError(f"{graph.n_vertices} vertices; connected components takes at most {_MAX_VERTICES}")
    return ComponentsProblem(graph)
