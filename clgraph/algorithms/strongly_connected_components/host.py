"""Strongly connected components on the host, by scipy's search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.strongly_connected_components.problem import StrongProblem
from clgraph.data.graphs.entries import row_order
from clgraph.engine.host import pattern


def solve(problem: StrongProblem) -> tuple[int, NDArray[np.int32]]:
    """Return the number of components, and for each vertex the number of its component, by smallest vertices."""
    from scipy.sparse.csgraph import connected_components  # The import takes 0.07 s.

    graph, matrix = problem.graph, pattern(problem.graph)
    if row_order(graph.row_offsets, graph.column_indices) != (True, False):
        matrix = matrix.copy()  # scipy's search goes wrong with parallel edges, so they are merged.
        matrix.sum_duplicates()
    n_components, labels = connected_components(matrix, directed=True, connection="strong")
    return n_components, numbered(labels, n_components)


def numbered(labels: NDArray[np.int32], n_components: int) -> NDArray[np.int32]:
    """Return *labels* with the components numbered in the order of their smallest vertices."""
    n = labels.size
    smallest, is_smallest = np.empty(n_components, np.int32), np.zeros(n, bool)
    smallest[labels[::-1]] = np.arange(n - 1, -1, -1, dtype=np.int32)  # The last assignment to an item counts.
    is_smallest[smallest] = True
    numbers: NDArray[np.int32] = (np.cumsum(is_smallest, dtype=np.int32) - 1)[smallest]
    return numbers[labels]
