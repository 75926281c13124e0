"""Checks of the device arrays that a user passes to make a graph: their types, sizes and device."""

from __future__ import annotations

import numpy as np

from clgraph.arguments import checked_count, shown
from clgraph.data.graphs.csr import MAX_VERTICES
from clgraph.errors import GraphError, InputError
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_WEIGHTS = ("int32", "int64", "float32", "float64")


def checked_rows(
    session: Session,
    row_offsets: DeviceArray,
    column_indices: DeviceArray,
    edge_weights: DeviceArray | None,
    vertex_weights: DeviceArray | None,
    n_vertices: int | DeviceArray | None,
) -> int:
    """Check the arguments of :meth:`DeviceGraph.from_arrays`, except for the entries, and return n_vertices."""
    given = {"edge_weights": edge_weights, "vertex_weights": vertex_weights}
    weights = {name: array for name, array in given.items() if array is not None}
    counted = {"n_vertices": n_vertices} if isinstance(n_vertices, DeviceArray) else {}
    arrays = {"row_offsets": row_offsets, "column_indices": column_indices, **weights, **counted}
    for name, array in arrays.items():
        if not isinstance(array, DeviceArray):
            raise InputError(f"{name} = {shown(array)}; allowed: a DeviceArray")
        if array.memory is not session.memory:
            raise InputError(f"{name} is on {array.memory}, and the graph is to be on {session}")
    if column_indices.dtype != np.int32 or row_offsets.dtype not in (np.int32, np.int64):
        raise GraphError(
            f"row_offsets is of {row_offsets.dtype} and column_indices of {column_indices.dtype}; "
            "needed: int32 or int64, and int32"
        )
    for name, array in weights.items():
        if array.dtype.name not in _WEIGHTS:
            raise GraphError(f"{name} is of {array.dtype}; allowed: {', '.join(_WEIGHTS)}")
    if isinstance(n_vertices, DeviceArray):
        n_vertices = n_vertices.item()
    most = min(MAX_VERTICES, row_offsets.size - 1)
    n = row_offsets.size - 1 if n_vertices is None else checked_count("n_vertices", n_vertices, most, least=0)
    if not 0 <= n <= MAX_VERTICES:
        raise GraphError(f"row_offsets has {n + 1} elements; needed: n_vertices + 1, at most {MAX_VERTICES + 1}")
    if vertex_weights is not None and vertex_weights.size < n:
        raise GraphError(f"vertex_weights has {vertex_weights.size} elements; needed: one per vertex, {n}")
    return n
