"""A graph's arrays on a device, uploaded once per session."""
from __future__ import annotations

from dataclasses import dataclass

from clgraph.graph import Graph
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session


@dataclass(frozen=True)
class DeviceGraph:
    """CSR arrays of one graph in device memory."""

    n_vertices: int
    n_edges: int
    row_offsets: DeviceArray
    column_indices: DeviceArray
    edge_weights: DeviceArray | None

    def defines(self) -> dict[str, int | str]:
        """Return the preprocessor names by which kernels know the array types."""
        return {"OFFSET_T": "long" if self.row_offsets.dtype.itemsize == 8 else "int"}


def device_graph(session: Session, graph: Graph) -> DeviceGraph:
    """Return *graph* on the device; kept with the session for as long as the graph lives."""
    cached: DeviceGraph | None = session.device_graphs.get(graph)
    if cached is None:
        arrays = {"row offsets": graph.row_offsets, "column indices": graph.column_indices}
        if graph.edge_weights is not None:
            arrays["edge weights"] = graph.edge_weights
        session.check_memory({name: array.nbytes for name, array in arrays.items()})
        uploaded = {name: session.upload(array) for name, array in arrays.items()}
        cached = DeviceGraph(
            graph.n_vertices, graph.n_edges,
            uploaded["row offsets"], uploaded["column indices"], uploaded.get("edge weights"),
        )
        session.device_graphs[graph] = cached
    return cached
