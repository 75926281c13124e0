"""The problem of a minimum spanning forest, which is a weighted graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from clgraph.arguments import checked_flag
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.engine.problem import GraphProblem
from clgraph.runtime.graphs.device_graph import beside

# An entry's position is a uint32 in the kernels, and the greatest uint32 stands for "no entry".
_LIMITS = "a spanning forest takes", 2**32 - 2**12


@dataclass(frozen=True)
class ForestProblem(GraphProblem):
    """An undirected graph with sorted rows whose minimum spanning forest (or *maximum* spanning forest) is wanted."""

    maximum: bool = False

    def admitted(self) -> Self:
        graph = self.graph
        if not graph.directed and graph.has_sorted_rows:
            return self
        made = beside(graph, undirected(graph, *graph.edge_list()))
        made._require_fits(*_LIMITS)
        return replace(self, graph=made)


def as_problem(graph: Any, *, maximum: bool = False, weight: Weight = "weight") -> ForestProblem:
    """Check the arguments of :func:`minimum_spanning_forest` and return the problem.

    A directed graph becomes undirected.
    """
    maximum, graph = checked_flag("maximum", maximum), wrap_graph(graph, weight=weight, weighted=True)
    graph._require_fits(*_LIMITS)
    return ForestProblem(graph, maximum).admitted_if_checked()


def undirected(graph: Graph, *edges: Any) -> Graph:
    """Return the undirected graph of the given sources, targets and weights, with the vertices and ids of *graph*."""
    plain = Graph.from_edges(*edges, n=graph.n_vertices)
    arrays = plain.row_offsets, plain.column_indices, plain.edge_weights
    return Graph._trusted(*arrays, ids=graph.ids, sorted_rows=True)
