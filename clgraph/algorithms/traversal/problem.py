"""What searches are asked of, and how kernels hold weights and distances: ``cl/traversal/distances.h``."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.stats import GraphStats
from clgraph.data.wrapped import is_unread
from clgraph.device.facts import DeviceFacts
from clgraph.engine.problem import GraphProblem
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.graph_on_device import GraphOnDevice
from clgraph.runtime.session import Session

MAX_DEPTH = 2**31 - 2
_MOST_MET, _FRAGMENTS = 64, 0.9  # vertices; a share of the graph, and searches that reach less may end soon
GREATEST = 2**63 - 1  # distance that is an integer
_KINDS = {"int32": "WEIGHT_INT", "int64": "WEIGHT_LONG", "float32": "WEIGHT_FLOAT", "float64": "WEIGHT_DOUBLE"}


@dataclass(frozen=True)
class DistanceType:
    """How kernels hold weights and distances.

    Attributes
    ----------
    kind : str
        The kernels' name for the type of the weights.
    wide : bool
        Whether distances have 64 bits; those by float32 weights are float64 then.
    """

    kind: str
    wide: bool

    @property
    def is_float(self) -> bool:
        return self.kind in ("WEIGHT_FLOAT", "WEIGHT_DOUBLE")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The unsigned type of a distance."""
        return np.dtype(np.uint64 if self.wide else np.uint32)

    @property
    def defines(self) -> dict[str, int | str]:
        return {"WEIGHT_KIND": self.kind, "WIDE": int(self.wide)}

    def limit(self, limit: float | None) -> Any:
        """Return the greatest distance of interest as kernels hold it."""
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
        """The type of a distance as the user gets it: int64, with -1 for the unreached, or a float, with inf."""
        if not self.is_float:
            return np.dtype(np.int64)
        return np.dtype(np.float64 if self.wide else np.float32)

    def unsupported(self, facts: DeviceFacts) -> str | None:
        """Return why a device cannot hold such distances, or ``None``."""
        if self.wide and not facts.has_int64_atomics:
            return "it has no 64-bit atomics"
        return "it has no 64-bit floats" if self.is_float and self.wide and not facts.has_fp64 else None


@dataclass(frozen=True, eq=False)
class SearchProblem(GraphProblem):
    """A search from sources.

    Attributes
    ----------
    graph : Graph
    sources : int32 array
        Vertex numbers; the search finds distances from the nearest.
    limit : int, float or None
        Vertices farther than this stay unreached.
    weighted : bool
        Whether a distance is a sum of weights; else it is a number of edges.
    predecessors : bool
        Whether predecessors are wanted.
    wide : bool
        Whether distances are held with 64 bits though their type could do with 32.
    """

    sources: NDArray[np.int32]
    limit: int | float | None
    weighted: bool
    predecessors: bool
    wide: bool = False

    @property
    def settings(self) -> Hashable:
        """A plan takes other sources if they are as many, and if the search ends as soon or not."""
        ends_soon = self.n_met is not None
        return type(self), self.sources.size, ends_soon, self.limit, self.weighted, self.predecessors, self.wide

    @property
    def n_met(self) -> int | None:
        """How many vertices the search reaches if they are few; ``None`` if they are many, or nobody has looked.

        To look costs the host up to 70 us, so it does so in fragments only, and at rows that are not on a device.
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
        """Those of the graph; but of one in fragments with what this search reaches, if that is little."""
        stats, n_met = self.graph.stats, self.n_met
        if n_met is None:
            return stats
        share = n_met / max(1, stats.n_vertices - stats.n_isolated)
        return replace(stats, reached_share=min(1.0, share), estimated_depth=min(stats.estimated_depth, float(n_met)))

    @property
    def edge_weights(self) -> NDArray[Any] | None:
        """The weights that count; without them every edge weighs 1."""
        return self.graph.edge_weights if self.weighted else None

    @property
    def weight_dtype(self) -> np.dtype[Any] | None:
        """The type of the weights that count."""
        return self.graph.weight_dtype if self.weighted else None

    @cached_property
    def light_share(self) -> float:
        """The share of the edges that weigh at most twice the least of a few."""
        return self.graph.light_share if self.weighted else 1.0

    @property
    def weight_range(self) -> tuple[Any, Any]:
        """The least and the greatest weight."""
        return self.graph.weight_range if self.weighted else (1, 1)

    @cached_property
    def held(self) -> DistanceType:
        """The type of distances in kernels. The int64 weights of an unchecked matrix count as large."""
        kind = "WEIGHT_NONE" if self.weight_dtype is None else _KINDS[self.weight_dtype.name]
        if kind == "WEIGHT_LONG" and not is_unread(self):  # no choice may wait for a look at all weights
            kind = "WEIGHT_INT" if self.weight_range[1] < 2**31 else kind
        return DistanceType(kind, self.wide or kind in ("WEIGHT_LONG", "WEIGHT_DOUBLE"))

    def upload_weights(self, session: Session) -> DeviceArray:
        """Return a weight for every entry on the device; nothing of use where every edge weighs 1."""
        if self.weight_dtype is None:
            return session.empty(1, np.int32)
        if self.weight_dtype == np.int64 and self.held.kind == "WEIGHT_INT":
            assert self.edge_weights is not None
            return session.upload(self.edge_weights.astype(np.int32))
        on_device = device_graph(session, self.graph, weights=True).edge_weights
        assert on_device is not None
        return on_device

    def upload_sources(self, session: Session) -> DeviceArray:
        """Return the sources in memory of their own, to which a plan writes those of the next problem."""
        array = session.empty(self.sources.size, np.int32)
        if self.sources.size == 1:
            array.fill(self.sources[0])  # for which nobody waits
        else:
            array.set(self.sources)
        return array
