"""Disjoint copies of a graph on a device."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from clgraph.arguments import checked_count
from clgraph.data.csr import MAX_VERTICES, offset_dtype

if TYPE_CHECKING:
    from clgraph.runtime.device_graph import DeviceGraph


def expanded(graph: DeviceGraph, k: int, first: int = 0) -> DeviceGraph:
    """Return *k* disjoint replicas of *graph*, numbered one after the other, without labels and weights of vertices.

    With *first* they are replicas *first* … *first* + *k* − 1 of more: columns name the vertices of all.
    """
    n, m, session = graph.n_vertices, graph.n_edges, graph.session
    k = checked_count("k", k, MAX_VERTICES // max(n, 1), least=0)
    offsets = np.dtype(offset_dtype(k * m))
    weights = graph.edge_weights
    weight_bytes = 0 if weights is None else weights.dtype.itemsize
    session.check_memory(
        {"row offsets": (k * n + 1) * offsets.itemsize, "column indices": 4 * k * m, "weights": weight_bytes * k * m}
    )
    rows = {"out_offsets": session.empty(k * n + 1, offsets), "out_columns": session.empty(k * m, np.int32)}
    is_cpu = session.facts.is_cpu
    program = session.program(
        "generators/replicas.cl",
        {
            **graph.defines(),
            "OUT_OFFSET_T": "long" if offsets.itemsize == 8 else "int",
            "WEIGHT_T": "ulong" if weight_bytes == 8 else "uint",
        },
        work_group_size=session.facts.group_size(None),
    )
    groups = (4 if is_cpu else 32) * session.facts.compute_units
    scope = {"n": n, "m": m, "k": k, "first": first, **graph.scope, **rows}
    program.bind("replicate_rows", k * max(n, m), scope, max_groups=groups)()
    replicas = None
    if weights is not None:
        replicas = session.empty(k * m, weights.dtype)
        program.bind("replicate_weights", k * m, m=m, k=k, weights=weights, out_weights=replicas, max_groups=groups)()
    return replace(
        graph,
        row_offsets=rows["out_offsets"],
        column_indices=rows["out_columns"],
        edge_weights=replicas,
        vertex_weights=None,
        labels=None,
        _source=None,
    )
