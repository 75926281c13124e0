"""What plans of shortest paths share: their distances, with more bits if need be, and predecessors."""
from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.distances import Distances
from clgraph.algorithms.traversal.predecessors import Predecessors
from clgraph.algorithms.traversal.sources import default_source, vertex_ids
from clgraph.arguments import checked_count, checked_number
from clgraph.data.graph import Graph
from clgraph.errors import DistanceOverflowError, InputError
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session

MAX_VERTICES = 2**31 - 2**12  # a work-item's vertex must fit int32, rounded up to work-groups
_GREATEST = 2**63 - 1  # distance that is an integer
MAX_DEPTH = 2**31 - 2


class PathPlan(ABC):
    """Shortest paths from sources.

    Attributes
    ----------
    held : Distances
    distances : DeviceArray
        After ``run()``, as *held* says, in the first ``n_vertices`` items.
    limit : int, float or None
        Vertices farther than this stay unreached.
    """

    held: Distances
    distances: DeviceArray

    def __init__(
        self, session: Session, graph: Graph, sources: NDArray[np.int32] | None, limit: float | None, *,
        weighted: bool = True,
    ) -> None:
        if graph.n_vertices > MAX_VERTICES:
            raise InputError(f"{graph.n_vertices} vertices; searches take at most {MAX_VERTICES}")
        self.session, self.graph, self.n, self._weighted = session, graph, graph.n_vertices, weighted
        self._sources = default_source(graph) if sources is None else sources
        self._weights = graph.edge_weights if weighted else None
        is_float = self._weights is not None and self._weights.dtype.kind == "f"
        self.limit = _checked_limit(limit, sys.float_info.max if is_float else _GREATEST)
        self._longest = self.n * (1 if self._weights is None or not self._weights.size else float(self._weights.max()))
        self._predecessors: Predecessors | None = None

    def _hold(self, *, wide: bool) -> dict[str, int | str]:
        """Set how distances are held; return the definitions for kernels."""
        self.held = Distances(self.session, self.graph, wide=wide, weighted=self._weighted)
        self._predecessors = None
        return {**device_graph(self.session, self.graph).defines(), **self.held.defines}

    @abstractmethod
    def _bind(self, *, wide: bool) -> None:
        """Allocate and bind for distances of 32 bits or of 64."""

    @abstractmethod
    def _run(self) -> None:
        """Find the distances."""

    @abstractmethod
    def _overflowed(self) -> bool:
        """Return whether a way was too long to count."""

    def run(self) -> None:
        """Find the distances; if 32 bits are too few, again with 64.

        Raises
        ------
        DistanceOverflowError
            A distance has more than 63 bits.
        """
        if not self.n:
            return
        self._run()
        if self._longest >= 2**32 - 1 and not self.held.is_float and self._overflowed():
            if not self.held.wide:
                self._bind(wide=True)
                self._run()
            if self.held.wide and self._overflowed():
                self._check_reached()

    def _check_reached(self) -> None:
        """Raise if a way that was too long to count is the only one."""
        distances = self.held.on_host(self.distances.get(0, self.n))
        rows, columns = self.graph.sources(), self.graph.column_indices
        bad = (distances[rows] >= 0) & (distances[columns] < 0)
        if self.limit is None and bad.any():
            (vertex,) = vertex_ids(self.graph, [int(columns[bad.argmax()])])
            raise DistanceOverflowError(
                f"the shortest path to vertex {vertex!r} is longer than {_GREATEST}, the greatest distance"
            )

    def result(self) -> Any:
        """Return the distances after ``run()``."""
        return self.held.on_host(self.distances.get(0, self.n))

    def predecessors(self) -> DeviceArray:
        """Return the least predecessor of every vertex, int32, after ``run()``."""
        if self._predecessors is None:
            self._predecessors = Predecessors(self.session, self.graph, self.held, self.distances, self._sources)
        if self.n:
            self._predecessors.run()
        return self._predecessors.found


def checked_depth(max_depth: Any) -> int:
    """Return the greatest depth of a search, checked; from 2**31 - 2 on it is no limit."""
    return min(checked_count("max_depth", max_depth, 2**64, least=0), MAX_DEPTH)


def _checked_limit(limit: Any, greatest: float) -> Any:
    """Return *limit* as a Python number, as exact as it was given; ``None`` if it is above the *greatest* distance."""
    if isinstance(limit, np.generic):
        limit = limit.item()
    is_number = isinstance(limit, Real)
    if limit is None or (is_number and limit > greatest):
        return None
    checked_number("limit", limit)
    return abs(limit)  # the bits of -0.0 are a large word
