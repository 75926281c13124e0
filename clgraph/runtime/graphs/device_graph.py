"""The DeviceGraph class: a graph whose arrays are on a device, where they were uploaded once or made by kernels."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import checked_flag
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.csr import offset_dtype
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.stats import GraphStats
from clgraph.errors import InputError
from clgraph.runtime.graphs.check_csr import CsrCheck
from clgraph.runtime.graphs.checked_rows import checked_rows
from clgraph.runtime.graphs.device_rows import DeviceRows
from clgraph.runtime.graphs.graph_stats import StatsRun
from clgraph.runtime.graphs.replicas import replicated
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session, SessionLike, as_session


@dataclass(frozen=True, eq=False, repr=False)
class DeviceGraph(DeviceRows):
    """A graph in the memory of one device. Every algorithm accepts it like a :class:`Graph`.

    :meth:`from_arrays` makes a graph from arrays that kernels have written, and :meth:`from_graph` copies a host graph.
    If an algorithm needs an array on the host, for example to list edges, the array is copied back on first use.

    Attributes
    ----------
    session : Session
        The session of the device, on which algorithms run.
    row_offsets, column_indices : DeviceArray
        CSR as in :class:`Graph`. No kernel may write to the arrays of a graph while the graph is used.
    edge_weights, vertex_weights : DeviceArray or None
    directed, has_sorted_rows : bool
    ids : array or None
        The user's own vertex ids, on the host.
    """

    # The reference is weak, because a session keeps the DeviceGraph while the host graph exists.
    _source: weakref.ref[Graph] | None = None

    @classmethod
    def from_graph(cls, graph: Any, session: SessionLike = None) -> DeviceGraph:
        """Copy *graph* with its weights to the device of *session*, which caches the copy while *graph* exists.

        Parameters
        ----------
        graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        session : Session, str, pyopencl Device, Context or CommandQueue, or None
            The session or device of the new graph; a string names a device, ``None`` takes the best one.

        Raises
        ------
        InputError
            *graph* is not a graph, or is on the device of another session.
        """
        graph = as_graph(graph)
        return device_graph(as_session(session, graph), graph, weights=True)

    @classmethod
    def from_arrays(
        cls,
        session: Session,
        row_offsets: Any,
        column_indices: Any,
        edge_weights: Any = None,
        vertex_weights: Any = None,
        *,
        directed: bool,
        n_vertices: int | DeviceArray | None = None,
    ) -> DeviceGraph:
        """Make a graph from arrays on the device, without copying them. A kernel checks the values of the arrays.

        The arrays are DeviceArrays of *session*, or contiguous ``pyopencl.array.Array`` of its OpenCL context, as a
        session of the user's queue has it: ``Session(queue)``.

        Parameters
        ----------
        session : Session
        row_offsets : DeviceArray or pyopencl array, int32 or int64
            The offset after the last row is the number of entries.
        column_indices : DeviceArray or pyopencl array, int32
            It may be longer than the number of entries, and so may *edge_weights*.
        edge_weights, vertex_weights : DeviceArray or pyopencl array, int32, int64, float32 or float64, optional
        directed : bool
            ``False`` means that each entry (u, v) has its reverse (v, u) with the same weight; this is not checked.
        n_vertices : int or DeviceArray, optional
            The number of rows, if *row_offsets* is longer. It may be on the device, if a kernel has counted the rows.

        Raises
        ------
        GraphError
            The arrays do not describe a graph; the message names value, position and limit.
        InputError
            An argument is not an array on a device, or is an array of another session or context.
        """
        rows = checked_rows(session, row_offsets, column_indices, edge_weights, vertex_weights, n_vertices)
        n, offsets, columns, of_edges, of_vertices = rows
        m, found = CsrCheck(session, n, offsets, columns, of_edges, wants_symmetry=False).run().read()
        return cls(
            session,
            offsets.view(0, n + 1),
            columns.view(0, m),
            None if of_edges is None else of_edges.view(0, m),
            None if of_vertices is None else of_vertices.view(0, n),
            checked_flag("directed", directed),
            found.has_sorted_rows,
        )

    def __repr__(self) -> str:
        return f"Device{self.as_graph()!r}"

    @cached_property
    def stats(self) -> GraphStats:
        """Statistics of this graph for the cost model. Kernels compute them unless the host has them already."""
        source = self.source
        if source is not None and (source.is_measured or source.is_small):
            return source.stats
        weights = self.edge_weights if source is None else source.edge_weights
        found = StatsRun(self.session, self.n_vertices, self.n_edges, self.scope).read(
            directed=self.directed, weighted=weights is not None, has_sorted_rows=self.has_sorted_rows
        )
        if source is not None:
            vars(source)["stats"] = found
        return found

    @property
    def source(self) -> Graph | None:
        """The host graph from which this graph was made, or ``None`` if there is no such graph or it was deleted."""
        return None if self._source is None else self._source()

    def to_graph(self) -> Graph:
        """Return this graph on the host: the host graph from which it was made, if that exists, else a cached copy."""
        return self.source or self._on_host

    @cached_property
    def _on_host(self) -> Graph:
        read = self.as_graph()
        return Graph._trusted(
            read.row_offsets, read.column_indices, read.edge_weights, directed=self.directed, ids=self.ids,
            sorted_rows=self.has_sorted_rows,
        )  # fmt: skip

    def as_graph(self) -> Graph:
        """Return this graph as a :class:`Graph` for algorithms.

        Each array is copied to the host when it is first read there.
        """
        return GraphOnDevice(self)

    def expanded(self, k: int, first: int = 0) -> DeviceGraph:
        """Return a graph of *k* disjoint copies of this graph, without ids and vertex weights.

        The copies are numbered one after the other. If *first* is given, they are copies *first* … *first* + *k* − 1 in
        a larger graph, and the columns are vertex numbers of the larger graph.
        """
        rows = replicated(self.session, self.scope, self.edge_weights, self.defines(), k, first)
        return DeviceGraph(self.session, *rows, directed=self.directed, has_sorted_rows=self.has_sorted_rows)

    @cached_property
    def _known(self) -> dict[str, Any]:
        """Attributes that all graphs of :meth:`as_graph` share, so that each array is copied to the host only once."""
        return {"directed": self.directed, "ids": self.ids, "has_sorted_rows": self.has_sorted_rows}


class GraphOnDevice(Graph):
    """A graph on a device whose arrays are copied to the host when they are first read.

    Attributes
    ----------
    on_device : DeviceGraph
    """

    # on_device owns this object's __dict__. A reference back to on_device would be a cycle that keeps device memory.
    __slots__ = ("on_device",)

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
        return self.on_device.expanded(k).as_graph()

    def _read(self, name: str, dtype: type[Any] | None = None) -> NDArray[Any]:
        if (source := self.on_device.source) is not None:
            return getattr(source, name)  # type: ignore[no-any-return]
        array: NDArray[Any] = getattr(self.on_device, name).get()
        array = array if dtype is None else array.astype(dtype, copy=False)
        array.setflags(write=False)
        return array

    @property
    def is_measured(self) -> bool:
        return True  # Kernels compute the statistics on demand, so no array needs to be copied to the host.

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


def device_graph(session: Session, graph: Graph, *, weights: bool = False) -> DeviceGraph:
    """Return *graph* on the device, with its weights if *weights*. The session caches it while *graph* exists.

    Raises
    ------
    InputError
        *graph* is on the device of another session.
    """
    if isinstance(graph, GraphOnDevice):
        if graph.on_device.session is not session:
            raise InputError(
                f"the graph is on {graph.on_device.session}, and this is to run on {session}; leave out the session, "
                "or bring the graph to the host by to_graph()"
            )
        return graph.on_device
    cached: DeviceGraph | None = session.device_graphs.get(graph)
    if cached is None:
        session.check_memory({"row offsets": graph.row_offsets.nbytes, "column indices": graph.column_indices.nbytes})
        cached = DeviceGraph(
            session,
            session.upload(graph.row_offsets),
            session.upload(graph.column_indices),
            directed=graph.directed,
            has_sorted_rows=graph.has_sorted_rows,
            ids=graph.ids,
            _source=weakref.ref(graph),
        )
    if weights and cached.edge_weights is None and graph.edge_weights is not None:
        cached = replace(cached, edge_weights=session.upload(graph.edge_weights))
    session.device_graphs[graph] = cached
    return cached


def beside(graph: Graph, made: Graph) -> Graph:
    """Return *made*, a graph that was made from *graph*. If *graph* is on a device, copy *made* to that device."""
    if isinstance(graph, GraphOnDevice):
        return DeviceGraph.from_graph(made, graph.on_device.session).as_graph()
    return made
