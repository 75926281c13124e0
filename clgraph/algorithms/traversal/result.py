"""The base class of the results of searches: paths, nearest sources, and conversions with the user's ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clgraph.engine.problem import vertex_ids, vertex_number
from clgraph.engine.result import GraphResult, ids_of
from clgraph.errors import InputError

if TYPE_CHECKING:
    import networkx as nx


class SearchResult(GraphResult):
    """Base class of answers with a distance and, if they were asked for, a predecessor of each vertex."""

    distances: NDArray[Any]
    predecessors: Any  # int32 array or None
    sources: NDArray[np.int32]

    def path_to(self, vertex: Any) -> list[Any]:
        """Return the ids on a shortest path from a source to *vertex*; an empty list if it is unreached.

        Raises
        ------
        InputError
            Predecessors were not asked for, or *vertex* is not in the graph.
        """
        predecessors = self._predecessors("a path needs")
        path = [vertex_number(self.graph, vertex)]
        while (before := int(predecessors[path[-1]])) >= 0:
            path.append(before)
        return vertex_ids(self.graph, path[::-1]) if path[-1] in self.sources else []

    def nearest_sources(self) -> NDArray[np.int32]:
        """Return the vertex number of each vertex's nearest source, int32; -9999 for unreached vertices.

        Raises
        ------
        InputError
            Predecessors were not asked for.
        """
        return nearest_sources(self._predecessors("the nearest sources need"), self.sources)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the columns ``vertex`` and ``distance``, with predecessors ``predecessor`` and ``source``, too.

        All of them but the distance have ids. ``source`` is the nearest source. An unreached vertex has neither
        predecessor nor source, and a source has no predecessor; the id is ``None`` there.
        """
        graph = self.graph
        vertices = np.arange(graph.n_vertices) if graph.ids is None else graph.ids
        columns = {"vertex": vertices, "distance": self.distances}
        if self.predecessors is not None:
            columns["predecessor"] = ids_of(graph, self.predecessors)
            columns["source"] = ids_of(graph, self.nearest_sources())
        return columns

    def to_networkx(self) -> nx.DiGraph:
        """Return the trees of shortest paths: a DiGraph of all reached vertices, with an edge from each predecessor.

        Nodes have the ids, and the attribute ``distance``.

        Raises
        ------
        InputError
            Predecessors were not asked for.
        """
        import networkx as nx

        before = self._predecessors("a tree needs")
        reached = np.flatnonzero((self.distances >= 0) & (self.distances < np.inf))
        inner = reached[before[reached] >= 0]
        tree = nx.DiGraph()
        distances = self.distances[reached].tolist()
        ids = vertex_ids(self.graph, reached.tolist())
        tree.add_nodes_from((v, {"distance": d}) for v, d in zip(ids, distances, strict=True))
        ends = (vertex_ids(self.graph, numbers.tolist()) for numbers in (before[inner], inner))
        tree.add_edges_from(zip(*ends, strict=True))
        return tree

    def _predecessors(self, subject: str) -> NDArray[np.int32]:
        if self.predecessors is None:
            raise InputError(f"{subject} predecessors: call sssp with predecessors=True")
        predecessors: NDArray[np.int32] = self.predecessors
        return predecessors


def nearest_sources(predecessors: NDArray[np.int32], sources: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return, for each vertex, the source at which its path begins, as int32; -9999 for unreached vertices.

    This is pointer jumping: each round doubles the length of the path that every vertex has followed back.
    """
    first = predecessors.copy()
    first[sources] = sources
    reached = np.flatnonzero(first >= 0)
    while True:
        before = first[first[reached]]
        if np.array_equal(before, first[reached]):
            return first
        first[reached] = before
