"""The least and the greatest edge weight of a graph, computed on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.wrapped import WrappedGraph
from clgraph.runtime.graphs.check_csr import extremes
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.session import Session

# The least number of weights per work-group, and the largest number of work-groups per compute unit.
_MIN_CHUNK, _GROUPS_PER_UNIT = 4096, 4


def weight_range(session: Session, graph: Graph) -> tuple[Any, Any]:
    """Return the least and greatest weight of *graph*.

    Kernels compute them for a large graph if they are not known.
    """
    is_known = isinstance(graph, WrappedGraph) or "weight_range" in vars(graph)
    if not is_known and graph.weight_dtype is not None and graph.n_edges and not graph.is_small:
        vars(graph)["weight_range"] = _found(session, graph, graph.weight_dtype)
    return graph.weight_range


def _found(session: Session, graph: Graph, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    weights, m = device_graph(session, graph, weights=True).edge_weights, graph.n_edges
    program = session.program(
        "data/weight_range.cl",
        {"WEIGHT_T": "ulong" if dtype.itemsize == 8 else "uint", "IS_FLOAT": int(dtype.kind == "f")},
        work_group_size=session.facts.group_size(None),
    )
    chunk = max(_MIN_CHUNK, -(-m // (_GROUPS_PER_UNIT * session.facts.compute_units)))
    items = -(-m // chunk) * program.work_group_size
    ranges = session.empty(2 * items, f"u{dtype.itemsize}")
    program.bind("find_range", items, m=m, chunk=chunk, edge_weights=weights, ranges=ranges)()
    return extremes(ranges.get(), dtype)
