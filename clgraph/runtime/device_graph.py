"""A graph's arrays on a device, uploaded once per session."""
from __future__ import annotations

from dataclasses import dataclass, replace

from clgraph.data.graph import Graph
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session


@dataclass(frozen=True)
class DeviceGraph:
    """CSR arrays of one graph in device memory; the weights once an algorithm has asked for them."""

    n_vertices: int
    n_edges: int
    row_offsets: DeviceArray
    column_indices: DeviceArray
    edge_weights: DeviceArray | None = None

    @property
    def scope(self) -> dict[str, DeviceArray]:
        """The rows, by the names of kernels' parameters."""
        return {"row_offsets": self.row_offsets, "column_indices": self.column_indices}

    def defines(self) -> dict[str, int | str]:
        """Return the preprocessor names by which kernels know the array types."""
        return {"OFFSET_T": "long" if self.row_offsets.dtype.itemsize == 8 else "int"}


def device_graph(session: Session, graph: Graph, *, weights: bool = False) -> DeviceGraph:
    """Return *graph* on the device, its *weights* if asked for; kept with the session while the graph lives."""
    cached: DeviceGraph | None = session.device_graphs.get(graph)
    if cached is None:
        pattern = {"row offsets": graph.row_offsets, "column indices": graph.column_indices}
        session.check_memory({name: array.nbytes for name, array in pattern.items()})
        cached = DeviceGraph(graph.n_vertices, graph.n_edges, *map(session.upload, pattern.values()))
    if weights and cached.edge_weights is None and graph.edge_weights is not None:
        cached = replace(cached, edge_weights=session.upload(graph.edge_weights))
    session.device_graphs[graph] = cached
    return cached
