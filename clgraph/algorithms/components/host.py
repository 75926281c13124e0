"""Connected components on the host, by scipy's compiled search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.components.problem import ComponentsProblem
from clgraph.engine.host import pattern, scanned, walked
from clgraph.model.cost import Part, Work

_SCANS = 0.5
_CALL = Work(host_seconds=5e-5)


def solve(problem: ComponentsProblem) -> tuple[int, NDArray[np.int32]]:
    """Return how many components there are, and the numbers of the vertices' components."""
    from scipy.sparse.csgraph import connected_components  # to load it takes 0.07 s, which others need not pay

    found: tuple[int, NDArray[np.int32]] = connected_components(pattern(problem.graph), directed=False)
    return found


def work(problem: ComponentsProblem) -> list[Part]:
    """scipy turns the matrix round, and goes along the edges of both."""
    asked = walked(problem.graph, "union"), scanned(problem.graph, _SCANS), _CALL
    return [(each, 1.0, 1.0) for each in asked]
