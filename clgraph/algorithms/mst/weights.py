"""Weights of every type as 32 bits an entry that order the edges as the weights do."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graph import Graph
from clgraph.primitives.fill import Iota
from clgraph.primitives.scan import Scan
from clgraph.primitives.sort import Sort
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session


def weight_kind(graph: Graph) -> str:
    """Return the name by which kernels know what :func:`upload_weights` makes."""
    if graph.weight_dtype is None:
        return "WEIGHT_NONE"
    if graph.weight_dtype.itemsize == 8:
        return "WEIGHT_RANK"
    return "WEIGHT_INT" if graph.weight_dtype.kind == "i" else "WEIGHT_FLOAT"


def upload_weights(session: Session, graph: Graph) -> DeviceArray:
    """Return 4 bytes an entry on the device: the weights, or keys of the same order for 64-bit ones."""
    if graph.weight_dtype is None:
        return session.empty(1, np.uint32)
    if graph.weight_dtype.itemsize == 4:
        on_device = device_graph(session, graph, weights=True).edge_weights
        assert on_device is not None
        return on_device
    weights = graph.edge_weights
    assert weights is not None
    if weights.dtype.kind == "i":
        least, greatest = (int(weights.min()), int(weights.max())) if weights.size else (0, 0)
        if greatest - least < 2**32:
            return session.upload((weights - least).astype(np.uint32))
    else:
        weights = weights + 0.0  # -0.0 is 0.0
        with np.errstate(over="ignore"):
            narrow = weights.astype(np.float32)
        if np.array_equal(narrow, weights):
            bits = narrow.view(np.uint32)
            return session.upload(np.where(bits >> 31, ~bits, bits | np.uint32(2**31)))
    return _ranks(session, weights)


def _ranks(session: Session, weights: NDArray[Any]) -> DeviceArray:
    m = weights.size
    program = session.program("mst/ranks.cl")
    keys, in_order = session.upload(weights), session.empty(m, weights.dtype)
    entries, moved = session.empty(m, np.uint32), session.empty(m, np.uint32)
    Iota(session, entries).run()
    Sort(session, keys, in_order, entries, moved).run_checked()
    begins, ranks = session.empty(m, np.int32), session.empty(m, np.int32)
    program.bind("mark_values", m, m=m, sorted=in_order, begins=begins)()
    Scan(session, begins, ranks, inclusive=True).run_checked()
    program.bind("scatter_ranks", m, m=m, ranks=ranks, entries=moved, edge_weights=entries)()
    return entries
