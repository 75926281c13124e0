"""The problem of core numbers, which consists of an undirected simple graph only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.engine.problem import GraphProblem
from clgraph.errors import GraphError, InputError
from clgraph.runtime.graphs.device_graph import beside

_ADVICE = "Graph.from_edges(…, self_loops='drop', duplicates='first') leaves them out"


@dataclass(frozen=True)
class CoresProblem(GraphProblem):
    """An undirected graph with sorted rows whose core numbers are wanted."""

    def admitted(self) -> Self:
        graph = self.graph
        if graph.directed:
            raise InputError(
                "the graph is directed; core numbers are of undirected graphs, which "
                "Graph.from_edges(*graph.edge_list()) makes of directed ones"
            )
        if graph.has_sorted_rows:
            return self
        made = graph.sorted_pattern()
        if made.n_edges != graph.n_edges:
            refuse_repeats(int((made.degrees != graph.degrees).argmax()), graph)
        return replace(self, graph=beside(graph, made))


def refuse_loops(vertex: int, graph: Graph) -> None:
    """Raise the error of a graph with a self-loop at *vertex*."""
    raise GraphError(f"vertex {_id_of(vertex, graph)} has a self-loop; core numbers take simple graphs: {_ADVICE}")


def refuse_repeats(vertex: int, graph: Graph) -> None:
    """Raise the error of a graph with parallel edges at *vertex*."""
    raise GraphError(f"vertex {_id_of(vertex, graph)} has parallel edges; core numbers take simple graphs: {_ADVICE}")


def _id_of(vertex: int, graph: Graph) -> str:
    return repr(vertex if graph.ids is None else graph.ids[vertex : vertex + 1].tolist()[0])


def as_problem(graph: Any) -> CoresProblem:
    """Check the arguments of :func:`core_numbers` and return the problem, or raise an :class:`InputError`."""
    graph = wrap_graph(graph)
    graph._require_fits("core numbers take")
    return CoresProblem(graph).admitted_if_checked()
