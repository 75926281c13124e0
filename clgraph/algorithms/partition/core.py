"""The core of a graph: the vertices of greatest degree that fill a part."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clgraph.algorithms.partition.problem import PartitionProblem

_SKEWED = 16.0  # greatest degree in mean degrees, from which on a core is looked for
_SAMPLED_ROWS = 512  # rows of the core whose entries are read


class Core(NamedTuple):
    """The vertices of at least *degree* entries, which weigh *weight* together; *root* is one of them.

    *edges_outside* is the estimated number of edges that do not join two of them. It is an upper bound of the cut if
    the core is a part.
    """

    degree: int
    root: int
    weight: int
    edges_outside: float


def core_of(problem: PartitionProblem) -> Core | None:
    """Return the core of the problem's graph, or ``None`` if degrees are too even or edges have weights.

    In R-MAT graphs most edges join two vertices of the core. Coarsening merges hubs with their neighbours instead, and
    no refinement of the levels after that finds the core again.
    """
    graph = problem.graph
    if graph.weight_dtype is not None or problem.stats.max_degree < _SKEWED * max(1.0, problem.stats.mean_degree):
        return None
    offsets, columns = graph.row_offsets, graph.column_indices
    degrees = np.diff(offsets)
    weights = np.bincount(degrees, problem.vertex_weights)
    above = np.cumsum(weights[::-1])[::-1]  # the weight of all vertices of at least each degree
    degree = int(np.argmax(above <= problem.limits.max()))
    core = np.flatnonzero(degrees >= degree)
    if not core.size or above[degree] > problem.limits.max():
        return None
    sampled = core[:: max(1, core.size // _SAMPLED_ROWS)]
    n_read = n_inside = 0
    for vertex in sampled.tolist():
        row = columns[offsets[vertex] : offsets[vertex + 1]]
        n_read += row.size
        n_inside += int(np.count_nonzero(degrees[row] >= degree))
    inside = float(degrees[core].sum()) * n_inside / (2 * max(1, n_read))
    root = int(core[np.argmax(degrees[core])])
    return Core(degree, root, int(above[degree]), graph.n_edges / 2 - inside)
