"""What plans of shortest paths share: their distances, with more bits if need be, and predecessors."""
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from clgraph.algorithms.traversal.distances import Distances
from clgraph.algorithms.traversal.predecessors import Predecessors
from clgraph.algorithms.traversal.problem import GREATEST, SearchProblem
from clgraph.algorithms.traversal.sources import vertex_ids
from clgraph.errors import DistanceOverflowError
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session


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

    def __init__(self, session: Session, problem: SearchProblem) -> None:
        self.session, self.problem, self.graph, self.n = session, problem, problem.graph, problem.graph.n_vertices
        self._sources, self.limit, weights = problem.sources, problem.limit, problem.edge_weights
        self._longest = self.n * (1 if weights is None or not weights.size else float(weights.max()))
        self._predecessors: Predecessors | None = None

    def _hold(self, *, wide: bool) -> dict[str, int | str]:
        """Set how distances are held; return the definitions for kernels."""
        self.held = Distances(self.session, self.graph, wide=wide, weighted=self.problem.weighted)
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
                f"the shortest path to vertex {vertex!r} is longer than {GREATEST}, the greatest distance"
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
