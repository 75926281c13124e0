"""A graph on a device as what algorithms read."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import checked_count
from clgraph.data.graphs.csr import MAX_VERTICES, offset_dtype
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.stats import GraphStats

if TYPE_CHECKING:
    from clgraph.runtime.graphs.device_graph import DeviceGraph


class GraphOnDevice(Graph):
    """A graph that is on a device; each array comes to the host when it is read.

    Attributes
    ----------
    on_device : DeviceGraph
    """

    __slots__ = ("on_device",)  # not in __dict__, which *on_device* has: a circle would keep the memory on the device

    on_device: DeviceGraph

    def __init__(self, on_device: DeviceGraph) -> None:
        object.__setattr__(self, "on_device", on_device)
        object.__setattr__(self, "__dict__", on_device._known)

    def __reduce__(self) -> Any:
        return object.__new__, (Graph,), self.on_device.to_graph().__getstate__()

    @property
    def n_vertices(self) -> int:
        return self.on_device.n_vertices

    @property
    def n_edges(self) -> int:
        return self.on_device.n_edges

    @property
    def nbytes(self) -> int:
        return self.on_device.nbytes

    @property
    def weight_dtype(self) -> np.dtype[Any] | None:
        weights = self.on_device.edge_weights
        return None if weights is None else weights.dtype

    @property
    def offset_dtype(self) -> np.dtype[Any]:
        return self.on_device.row_offsets.dtype

    @cached_property
    def row_offsets(self) -> NDArray[Any]:
        return self._read("row_offsets", offset_dtype(self.n_edges))

    @cached_property
    def column_indices(self) -> NDArray[np.int32]:
        return self._read("column_indices")

    @cached_property
    def edge_weights(self) -> NDArray[Any] | None:
        return None if self.weight_dtype is None else self._read("edge_weights")

    def expanded(self, k: int) -> Graph:
        return expanded(self.on_device, k).as_graph()

    def _read(self, name: str, dtype: type[Any] | None = None) -> NDArray[Any]:
        if (source := self.on_device.source) is not None:
            return getattr(source, name)  # type: ignore[no-any-return]
        array: NDArray[Any] = getattr(self.on_device, name).get()
        array = array if dtype is None else array.astype(dtype, copy=False)
        array.setflags(write=False)
        return array

    @property
    def is_measured(self) -> bool:
        return True  # kernels measure it when it is asked for, and no array comes to the host

    @property
    def locality_in_order(self) -> tuple[float, float]:
        return self.locality

    @property
    def is_thin(self) -> bool:
        return self.stats.max_degree <= 2

    @property
    def light_share(self) -> float:
        return float(self.weight_dtype is None)

    @property
    def least_share(self) -> float:
        return float(self.weight_dtype is None)

    @cached_property
    def stats(self) -> GraphStats:
        return self.on_device.stats


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
