"""The problem of a graph search: its sources, its types of weights and distances, and its paths as vertex ids."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import check_length, checked_array, is_array
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.stats import GraphStats
from clgraph.data.graphs.wrapped import is_unread
from clgraph.device.facts import DeviceFacts
from clgraph.engine.problem import GraphProblem, find_vertex, vertex_number
from clgraph.errors import InputError
from clgraph.runtime.graphs.device_graph import GraphOnDevice, device_graph
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

LARGEST_DEGREE = object()
"""A placeholder for *source*: search from the vertex of the largest degree."""
MAX_DEPTH = 2**31 - 2
# The host counts up to 64 vertices that the search reaches, if searches are expected to reach at most 90 % of them.
_MOST_MET, _FRAGMENTS = 64, 0.9
GREATEST = 2**63 - 1  # Greatest distance that a search with integer weights can return.
_KINDS = {"int32": "WEIGHT_INT", "int64": "WEIGHT_LONG", "float32": "WEIGHT_FLOAT", "float64": "WEIGHT_DOUBLE"}


@dataclass(frozen=True)
class DistanceType:
    """The types that kernels of a search use for weights and for distances.

    Attributes
    ----------
    kind : str
        The type of the weights, as a value of the kernels' ``WEIGHT_KIND``.
    wide : bool
        Whether distances have 64 bits. With float32 weights they are then float64.
    """

    kind: str
    wide: bool

    @property
    def is_float(self) -> bool:
        return self.kind in ("WEIGHT_FLOAT", "WEIGHT_DOUBLE")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The unsigned integer type in which kernels hold the bits of a distance."""
        return np.dtype(np.uint64 if self.wide else np.uint32)

    @property
    def defines(self) -> dict[str, int | str]:
        return {"WEIGHT_KIND": self.kind, "WIDE": int(self.wide)}

    def limit(self, limit: float | None) -> Any:
        """Return the greatest distance of a search in the type :attr:`dtype`;
        without a *limit*, the type's maximum minus 1.
        """
        most = np.iinfo(self.dtype).max - 1
        if limit is None or limit == np.inf:
            return self.dtype.type(most)
        if self.is_float:
            with np.errstate(over="ignore"):
                value = np.float64(limit) if self.wide else np.float32(limit)
            if not self.wide and float(value) > limit:
                value = np.nextafter(value, np.float32(0))
            return np.asarray(value).view(self.dtype)[()]
        return self.dtype.type(min(int(limit), most))

    @property
    def answer_dtype(self) -> np.dtype[Any]:
        """Type of the distances that users get: int64 with -1 for unreached vertices, or a float type with inf."""
        if not self.is_float:
            return np.dtype(np.int64)
        return np.dtype(np.float64 if self.wide else np.float32)

    def unsupported(self, facts: DeviceFacts) -> str | None:
        """Return why a device does not support distances of this type, or ``None`` if it does."""
        if self.wide and not facts.has_int64_atomics:
            return "it has no 64-bit atomics"
        return "it has no 64-bit floats" if self.is_float and self.wide and not facts.has_fp64 else None


@dataclass(frozen=True, eq=False)
class SearchProblem(GraphProblem):
    """A search of a graph from one or several source vertices.

    Attributes
    ----------
    graph : Graph
    sources : int32 array
        Vertex numbers. Distances are from the nearest source.
    limit : int, float or None
        Vertices farther than this stay unreached.
    weighted : bool
        Whether a distance is a sum of weights. If not, it is a number of edges.
    predecessors : bool
        Whether to find predecessors too.
    wide : bool
        Whether distances have 64 bits even if the type of the weights needs only 32.
    """

    sources: NDArray[np.int32]
    limit: int | float | None
    weighted: bool
    predecessors: bool
    wide: bool = False

    @property
    def settings(self) -> Hashable:
        """A key that is equal for two search problems if they can use the same plan.

        Two such problems may have different sources, but the same number of sources. A search that reaches few vertices
        does not share a plan with a search that reaches many.
        """
        ends_soon = self.n_met is not None
        return type(self), self.sources.size, ends_soon, self.limit, self.weighted, self.predecessors, self.wide

    @property
    def n_met(self) -> int | None:
        """Number of vertices that the search reaches; ``None`` if it is above 64 or was not counted.

        Counting takes the host up to 70 µs. So the vertices are counted only if the graph consists of fragments and its
        rows are in host memory.
        """
        graph = self.graph
        if not graph.is_measured or isinstance(graph, GraphOnDevice) or graph.stats.reached_share > _FRAGMENTS:
            return None
        return self._few_met if self.sources.size <= _MOST_MET else None

    @cached_property
    def _few_met(self) -> int | None:
        offsets, columns, met = self.graph.row_offsets, self.graph.column_indices, {*self.sources.tolist()}
        waiting = [*met]
        while waiting and len(met) <= _MOST_MET:
            v = waiting.pop()
            begin, end = int(offsets[v]), int(offsets[v + 1])
            found = {*columns[begin : min(end, begin + 2 * _MOST_MET)].tolist()} - met
            met |= found
            waiting += found
        return None if waiting else len(met)

    @cached_property
    def stats(self) -> GraphStats:
        """Statistics of the graph.

        If this search reaches few vertices, its own reach and depth replace the graph's.
        """
        stats, n_met = self.graph.stats, self.n_met
        if n_met is None:
            return stats
        share = n_met / max(1, stats.n_vertices - stats.n_isolated)
        return replace(stats, reached_share=min(1.0, share), estimated_depth=min(stats.estimated_depth, float(n_met)))

    @property
    def edge_weights(self) -> NDArray[Any] | None:
        """Edge weights that the search adds up; ``None`` if every edge weighs 1."""
        return self.graph.edge_weights if self.weighted else None

    @property
    def weight_dtype(self) -> np.dtype[Any] | None:
        """Type of the edge weights that the search adds up; ``None`` if every edge weighs 1."""
        return self.graph.weight_dtype if self.weighted else None

    @cached_property
    def light_share(self) -> float:
        """Share of sampled edges whose weight is at most twice the least weight in the sample."""
        return self.graph.light_share if self.weighted else 1.0

    @property
    def weight_range(self) -> tuple[Any, Any]:
        """The least and the greatest edge weight of the graph; (1, 1) if every edge weighs 1."""
        return self.graph.weight_range if self.weighted else (1, 1)

    @cached_property
    def held(self) -> DistanceType:
        """The types that kernels use for the weights and the distances of this search.

        int64 weights below 2**31 become int32, except in a matrix whose entries were not read yet.
        """
        kind = "WEIGHT_NONE" if self.weight_dtype is None else _KINDS[self.weight_dtype.name]
        # A pass over all weights of a matrix would delay the choice of a strategy, so unread matrices keep their type.
        if kind == "WEIGHT_LONG" and not is_unread(self):
            kind = "WEIGHT_INT" if self.weight_range[1] < 2**31 else kind
        return DistanceType(kind, self.wide or kind in ("WEIGHT_LONG", "WEIGHT_DOUBLE"))

    def upload_weights(self, session: Session) -> DeviceArray:
        """Return the weights of all CSR entries as a device array; an array of one item if every edge weighs 1."""
        if self.weight_dtype is None:
            return session.empty(1, np.int32)
        if self.weight_dtype == np.int64 and self.held.kind == "WEIGHT_INT":
            assert self.edge_weights is not None
            return session.upload(self.edge_weights.astype(np.int32))
        on_device = device_graph(session, self.graph, weights=True).edge_weights
        assert on_device is not None
        return on_device

    def upload_sources(self, session: Session) -> DeviceArray:
        """Return a new device array of the search's source vertices.

        A plan may overwrite the array with other sources later.
        """
        array = session.empty(self.sources.size, np.int32)
        if self.sources.size == 1:
            array.fill(self.sources[0])  # Unlike set(), fill() does not make the host wait.
        else:
            array.set(self.sources)
        return array


def source_numbers(graph: Graph, source: Any) -> NDArray[np.int32]:
    """Return the numbers of the source vertices as int32.

    *source* is an id, several ids, or :data:`LARGEST_DEGREE`.

    Raises
    ------
    SourceError
        The graph has no vertex of a given id.
    InputError
        *source* is empty, or the graph is too large for a search.
    """
    graph._require_fits("searches take")
    if source is LARGEST_DEGREE:
        return np.array([graph.degrees.argmax()] if graph.n_vertices else [], np.int32)
    if is_array(source) and find_vertex(graph, source) < 0:  # An id may look like an array, as pandas' Timestamp does.
        array = checked_array("source", source)
        check_length("source", np.atleast_1d(array))
        source = array.tolist()
    is_many = isinstance(source, Sequence) and not isinstance(source, str | bytes)
    # A tuple may be the id of one vertex, and such a tuple is not a list of sources.
    if not is_many or (isinstance(source, tuple) and find_vertex(graph, source) >= 0):
        return np.array([vertex_number(graph, source, "source")], np.int32)
    check_length("source", source)
    if not source:
        raise InputError("no source is given")
    return np.array([vertex_number(graph, one, "source") for one in source], np.int32)
