"""What spanning forests are asked of."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clgraph.arguments import checked_flag
from clgraph.data.graph import Graph, as_graph
from clgraph.engine.problem import GraphProblem
from clgraph.runtime.device_graph import beside

_MAX_ENTRIES = 2**32 - 2**12  # positions of entries are uints, the last of which means none


@dataclass(frozen=True)
class ForestProblem(GraphProblem):
    """An undirected graph with sorted rows, and whether its *maximum* spanning forest is wanted."""

    maximum: bool = False


def as_problem(graph: Any, *, maximum: bool = False, weight: str | None = "weight") -> ForestProblem:
    """Check the arguments of :func:`minimum_spanning_forest`; a directed graph becomes undirected."""
    maximum, graph = checked_flag("maximum", maximum), as_graph(graph, weight=weight)
    if graph.directed or not graph.has_sorted_rows:
        graph = beside(graph, undirected(graph, *graph.edge_list()))
    graph._require_fits("a spanning forest takes", _MAX_ENTRIES)
    return ForestProblem(graph, maximum)


def undirected(graph: Graph, *edges: Any) -> Graph:
    """Return the graph of these sources, targets and weights on the vertices of *graph*."""
    plain = Graph.from_edges(*edges, n=graph.n_vertices)
    arrays = plain.row_offsets, plain.column_indices, plain.edge_weights
    return Graph._trusted(*arrays, labels=graph.labels, sorted_rows=True)
