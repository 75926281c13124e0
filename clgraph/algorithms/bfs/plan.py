"""A breadth-first search on one device, and the levels and predecessors that it found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.plan import SearchPlan


class LevelsPlan(SearchPlan):
    """Finds levels and predecessors."""

    def result(self) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Return distances and predecessors after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        n = self.problem.graph.n_vertices
        distances, predecessors = self.read((self.distances, 0, n), (self.arrays["predecessors"], 0, n))
        return distances, predecessors
