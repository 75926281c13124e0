"""The problem of counting triangles, which consists of an undirected graph only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.engine.problem import GraphProblem
from clgraph.errors import InputError
from clgraph.runtime.graphs.device_graph import beside


@dataclass(frozen=True)
class TrianglesProblem(GraphProblem):
    """An undirected graph with sorted rows whose triangles are counted."""

    def admitted(self) -> Self:
        graph = self.graph
        if graph.directed:
            raise InputError(
                "the graph is directed; triangles are counted in undirected graphs, which "
                "Graph.from_edges(*graph.edge_list()) makes of directed ones"
            )
        return self if graph.has_sorted_rows else replace(self, graph=beside(graph, graph.sorted_pattern()))


def as_problem(graph: Any) -> TrianglesProblem:
    """Check the arguments of :func:`triangles` and return the problem, or raise an :class:`InputError`."""
    graph = wrap_graph(graph)
    graph._require_fits("triangles take")
    return TrianglesProblem(graph).admitted_if_checked()
