"""What searches are asked of."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.sources import LARGEST_DEGREE, source_numbers
from clgraph.data.graph import Graph
from clgraph.data.stats import GraphStats
from clgraph.errors import InputError

_MAX_VERTICES = 2**31 - 2**12  # a work-item's vertex must fit int32, rounded up to work-groups
MAX_DEPTH = 2**31 - 2
GREATEST = 2**63 - 1  # distance that is an integer


@dataclass(frozen=True)
class SearchProblem:
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
    """

    graph: Graph
    sources: NDArray[np.int32]
    limit: int | float | None
    weighted: bool
    predecessors: bool

    @property
    def stats(self) -> GraphStats:
        return self.graph.stats

    @property
    def edge_weights(self) -> NDArray[Any] | None:
        """The weights that count; without them every edge weighs 1."""
        return self.graph.edge_weights if self.weighted else None


def sources_in(graph: Graph, source: Any) -> NDArray[np.int32]:
    """Return the numbers of the sources; :data:`LARGEST_DEGREE` stands for the vertex that has it."""
    if graph.n_vertices > _MAX_VERTICES:
        raise InputError(f"{graph.n_vertices} vertices; searches take at most {_MAX_VERTICES}")
    if source is LARGEST_DEGREE:
        return np.array([graph.degrees.argmax()] if graph.n_vertices else [], np.int32)
    return source_numbers(graph, source)
