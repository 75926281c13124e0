"""Forests of edges in a list: each edge gets one entry, in the row of its lesser end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.mst.on_devices import Solver
from clgraph.algorithms.mst.weights import upload_weights, weight_kind
from clgraph.data.graph import Graph
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session

Edges = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any] | None]


def forest_of_edges(session: Session, n: int, edges: Edges, *, maximum: bool = False) -> Edges:
    """Return the edges of the minimum spanning forest of a graph that is given by its edges.

    Parameters
    ----------
    session : Session
    n : int
        Number of vertices.
    edges : tuple
        Sources and targets, int32, in any order and from 0 to *n* − 1, and weights or ``None``. Edges may be parallel.
    maximum : bool
        Find the maximum spanning forest.

    Returns
    -------
    tuple
        The lesser and the greater ends and the weights, in the order of the ends. Of edges that weigh the same the one
        with the lesser ends is in the forest.
    """
    sources, targets, weights = edges
    ends = np.minimum(sources, targets).astype(np.int64)
    ends <<= 32
    ends |= np.maximum(sources, targets)
    in_order = np.argsort(ends)
    ends, weights = ends[in_order], None if weights is None else weights[in_order]
    low, high = (ends >> 32).astype(np.int32), ends.astype(np.int32)
    del ends, in_order  # 16 bytes an edge, while the device takes 35
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(low, minlength=n), out=offsets[1:])
    graph = Graph._trusted(offsets, high, weights, sorted_rows=True)
    with session.driver:
        on_device = device_graph(session, graph, weights=True)
        keys = None if weights is None else upload_weights(session, graph)
        part = replace(on_device, edge_weights=keys)
    found = Solver(weight_kind(graph), maximum).entries(part).get()
    return low[found], high[found], None if weights is None else weights[found]
