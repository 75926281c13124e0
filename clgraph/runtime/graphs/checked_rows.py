"""Checks of the device arrays that a user passes to make a graph: their types, sizes and device."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clgraph.arguments import checked_count, shown
from clgraph.data.graphs.csr import MAX_VERTICES
from clgraph.errors import GraphError, InputError
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.memory.borrowed import borrowed
from clgraph.runtime.session import Session

_WEIGHTS = ("int32", "int64", "float32", "float64")


class CheckedRows(NamedTuple):
    """The number of vertices of a graph, and its arrays on the device."""

    n_vertices: int
    row_offsets: DeviceArray
    column_indices: DeviceArray
    edge_weights: DeviceArray | None
    vertex_weights: DeviceArray | None


def checked_rows(
    session: Session, row_offsets: Any, column_indices: Any, edge_weights: Any, vertex_weights: Any, n_vertices: Any
) -> CheckedRows:
    """Check the arguments of :meth:`DeviceGraph.from_arrays`, except for the entries."""
    if not isinstance(session, Session):
        raise InputError(f"session = {shown(session)}; allowed: a Session")
    given = {"edge_weights": edge_weights, "vertex_weights": vertex_weights}
    wanted = {name: array for name, array in given.items() if array is not None}
    arrays = {
        name: borrowed(session.memory, name, array)
        for name, array in {"row_offsets": row_offsets, "column_indices": column_indices, **wanted}.items()
    }
    counted = {"n_vertices": n_vertices} if isinstance(n_vertices, DeviceArray) else {}
    for name, array in {**arrays, **counted}.items():
        if array.memory is not session.memory:
            raise InputError(f"{name} is on {array.memory}, and the graph is to be on {session}")
    row_offsets, column_indices = arrays["row_offsets"], arrays["column_indices"]
    weights = {name: arrays[name] for name in wanted}
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
    checked = CheckedRows(n, row_offsets, column_indices, *map(arrays.get, given))
    if checked.vertex_weights is not None and checked.vertex_weights.size < n:
        raise GraphError(f"vertex_weights has {checked.vertex_weights.size} elements; needed: one per vertex, {n}")
    return checked
