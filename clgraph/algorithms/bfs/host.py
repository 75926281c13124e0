"""Breadth-first search on the host."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.host import NONE_BEFORE, levels, levels_work
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.engine.host import pattern
from clgraph.model.cost import Part


def solve(problem: SearchProblem) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the levels of the vertices and their predecessors."""
    distances, predecessors = levels(pattern(problem.graph), problem.sources)
    if problem.limit is not None:
        beyond = distances > problem.limit
        distances[beyond], predecessors[beyond] = -1, NONE_BEFORE
    return distances, predecessors


def work(problem: SearchProblem) -> list[Part]:
    """Return what the search asks of the host."""
    return levels_work(problem)
