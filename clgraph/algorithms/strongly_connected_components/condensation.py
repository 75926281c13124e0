"""The condensation of a directed graph: the graph of its strongly connected components."""

from __future__ import annotations

from typing import Any

from clgraph.algorithms.strongly_connected_components import StrongComponents, strongly_connected_components
from clgraph.arguments import shown
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError
from clgraph.runtime.session import SessionLike


def condensation(
    graph: Any,
    components: StrongComponents | None = None,
    *,
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
) -> Graph:
    """Return the condensation of *graph*, whose vertices are the strongly connected components of *graph*.

    It has an edge from a component to another one if *graph* has an edge from a vertex of the first to a vertex of the
    second. So it is directed, simple and without cycles.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Weights are not read.
    components : StrongComponents, optional
        The result of :func:`strongly_connected_components` for *graph*; by default it is computed.
    strategy, session, verify
        As for :func:`strongly_connected_components`, if it is called.

    Returns
    -------
    Graph
        On the host, directed and without weights. Vertex ``k`` is the component that has the label ``k``.

    Raises
    ------
    InputError
        *components* has another number of vertices than *graph*, or *graph* is one that
        :func:`strongly_connected_components` refuses.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 3], directed=True)
    >>> dag = cg.condensation(graph)
    >>> dag.n_vertices, [ends.tolist() for ends in dag.edge_list()[:2]]
    (3, [[0, 1], [1, 2]])
    """
    whole = as_graph(graph)
    if components is None:
        components = strongly_connected_components(whole, strategy=strategy, session=session, verify=verify)
    elif not isinstance(components, StrongComponents):
        raise InputError(f"components = {shown(components)}; allowed: a result of strongly_connected_components()")
    n_components, labels = components
    if labels.size != whole.n_vertices:
        raise InputError(f"components are of {labels.size} vertices, and the graph has {whole.n_vertices}")
    sources, targets = labels[whole.sources()], labels[whole.column_indices]
    return Graph.from_edges(sources, targets, n=n_components, directed=True, duplicates="first", self_loops="drop")
