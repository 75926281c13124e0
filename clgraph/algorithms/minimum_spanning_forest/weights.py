"""Make a 32-bit sort key for the weight of every CSR entry.

The keys have the order of the weights of any type.
"""

from __future__ import annotations

import numpy as np

from clgraph.data.graphs.graph import Graph
from clgraph.primitives.fill import Iota
from clgraph.primitives.scan import Scan
from clgraph.primitives.sort import Sort
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.graphs.weight_range import weight_range
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session


def weight_kind(graph: Graph) -> str:
    """Return the kernel definition ``WEIGHT_KIND`` that fits the keys of :func:`upload_weights`."""
    if graph.weight_dtype is None:
        return "WEIGHT_NONE"
    if graph.weight_dtype.itemsize == 8:
        return "WEIGHT_RANK"
    return "WEIGHT_INT" if graph.weight_dtype.kind == "i" else "WEIGHT_FLOAT"


def upload_weights(session: Session, graph: Graph) -> DeviceArray:
    """Upload a 4-byte sort key per CSR entry.

    Weights of 32 bits are their own keys; weights of 64 bits become uint32.
    """
    if graph.weight_dtype is None:
        return session.empty(1, np.uint32)
    on_device = device_graph(session, graph, weights=True).edge_weights
    assert on_device is not None
    if graph.weight_dtype.itemsize == 4:
        return on_device
    program, m = session.program("minimum_spanning_forest/ranks.cl"), graph.n_edges
    keys, most = session.empty(m, np.uint32), 64 * session.facts.compute_units
    if graph.weight_dtype.kind == "i":
        least, greatest = map(int, weight_range(session, graph))
        if greatest - least < 2**32:
            program.bind("narrow_longs", m, m=m, least=least, edge_weights=on_device, keys=keys, max_groups=most)()
            return keys
    else:
        lost = session.zeros(1, np.uint32)
        program.bind("narrow_doubles", m, m=m, edge_weights=on_device, keys=keys, lost=lost, max_groups=most)()
        if not lost.item():
            return keys
        weights = session.empty(m, np.float64)
        program.bind("drop_signs", m, m=m, edge_weights=on_device, weights=weights, max_groups=most)()
        return _ranks(session, weights)
    return _ranks(session, on_device)


def _ranks(session: Session, weights: DeviceArray) -> DeviceArray:
    m = weights.size
    program, in_order = session.program("minimum_spanning_forest/ranks.cl"), session.empty(m, weights.dtype)
    entries, moved = session.empty(m, np.uint32), session.empty(m, np.uint32)
    Iota(session, entries).run()
    Sort(session, weights, in_order, entries, moved).run_checked()
    begins, ranks = session.empty(m, np.int32), session.empty(m, np.int32)
    program.bind("mark_values", m, m=m, sorted=in_order, begins=begins)()
    Scan(session, begins, ranks, inclusive=True).run_checked()
    program.bind("scatter_ranks", m, m=m, ranks=ranks, entries=moved, edge_weights=entries)()
    return entries
