"""Paths that predecessors show."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.sources import vertex_ids, vertex_number
from clgraph.data.graph import Graph


def path_to(graph: Graph, predecessors: NDArray[np.int32], sources: NDArray[np.int32], vertex: Any) -> list[Any]:
    """Return the ids on the way that *predecessors* show from a source to *vertex*; empty without one."""
    path = [vertex_number(graph, vertex)]
    while (before := int(predecessors[path[-1]])) >= 0:
        path.append(before)
    return vertex_ids(graph, path[::-1]) if path[-1] in sources else []
