"""What searches are asked of."""
from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.distances import DistanceType, distance_type
from clgraph.algorithms.traversal.sources import LARGEST_DEGREE, source_numbers
from clgraph.data.graph import Graph
from clgraph.engine.problem import GraphProblem
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session

MAX_DEPTH = 2**31 - 2
GREATEST = 2**63 - 1  # distance that is an integer


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
        """A plan takes other sources if they are as many."""
        return type(self), self.sources.size, self.limit, self.weighted, self.predecessors, self.wide

    @property
    def edge_weights(self) -> NDArray[Any] | None:
        """The weights that count; without them every edge weighs 1."""
        return self.graph.edge_weights if self.weighted else None

    @property
    def weight_dtype(self) -> np.dtype[Any] | None:
        """The type of the weights that count."""
        return self.graph.weight_dtype if self.weighted else None

    @property
    def light_share(self) -> float:
        """The share of the edges that weigh at most twice the least of a few."""
        return self.graph.light_share if self.weighted else 1.0

    @property
    def weight_range(self) -> tuple[Any, Any]:
        """The least and the greatest weight."""
        return self.graph.weight_range if self.weighted else (1, 1)

    @cached_property
    def held(self) -> DistanceType:
        """How kernels hold distances."""
        return distance_type(self.weight_dtype, self.weight_range[1], wide=self.wide)

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


def sources_in(graph: Graph, source: Any) -> NDArray[np.int32]:
    """Return the numbers of the sources; :data:`LARGEST_DEGREE` stands for the vertex that has it."""
    graph._require_fits("searches take")
    if source is LARGEST_DEGREE:
        return np.array([graph.degrees.argmax()] if graph.n_vertices else [], np.int32)
    return source_numbers(graph, source)
