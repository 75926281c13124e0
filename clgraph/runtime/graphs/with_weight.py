"""A user's graph with the weights that the argument *weight* of an algorithm selects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.runtime.graphs.device_graph import GraphOnDevice


def with_weight(source: Any, weight: Weight) -> Graph:
    """Return *source* as a :class:`Graph`.

    *weight* is the edge attribute of a networkx graph, as in :meth:`Graph.from_networkx`. If it is ``None``, the graph
    has no weights, whatever *source* is. A graph on a device stays there.
    """
    graph = as_graph(source, weight=weight)
    if weight is not None or graph.weight_dtype is None:
        return graph
    if isinstance(graph, GraphOnDevice):
        return replace(graph.on_device, edge_weights=None, _source=None).as_graph()
    return Graph._trusted(
        graph.row_offsets, graph.column_indices, directed=graph.directed, ids=graph.ids,
        sorted_rows=graph.has_sorted_rows,
    )  # fmt: skip
