"""Strongly connected components on the host, by scipy's search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.strongly_connected_components.problem import StrongProblem
from clgraph.engine.host import pattern, scanned, walked
from clgraph.model.cost import Part, Work

_CALL = Work(host_seconds=5e-5)  # A call to scipy takes this time on a graph of any size.
_SCANS, _SCANS_OF_VERTICES = 0.5, 4.0


def solve(problem: StrongProblem) -> tuple[int, NDArray[np.int32]]:
    """Return the number of components, and for each vertex the number of its component, by smallest vertices."""
    from scipy.sparse.csgraph import connected_components  # The import takes 0.07 s.

    n_components, labels = connected_components(pattern(problem.graph), directed=True, connection="strong")
    return n_components, numbered(labels, n_components)


def numbered(labels: NDArray[np.int32], n_components: int) -> NDArray[np.int32]:
    """Return *labels* with the components numbered in the order of their smallest vertices."""
    n = labels.size
    smallest, is_smallest = np.empty(n_components, np.int32), np.zeros(n, bool)
    smallest[labels[::-1]] = np.arange(n - 1, -1, -1, dtype=np.int32)  # The last assignment to an item counts.
    is_smallest[smallest] = True
    numbers: NDArray[np.int32] = (np.cumsum(is_smallest, dtype=np.int32) - 1)[smallest]
    return numbers[labels]


def work(problem: StrongProblem) -> list[Part]:
    """Return the host's work: scipy's search, and passes that number the components."""
    asked = walked(problem.graph, "traverse"), scanned(problem.graph, _SCANS, _SCANS_OF_VERTICES), _CALL
    return [(each, 1.0, 1.0) for each in asked]
