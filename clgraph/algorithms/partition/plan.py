"""A run of a partition on one device, and the parts that it found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.partition.balance import keep_limits, place
from clgraph.algorithms.partition.multilevel import REFINING
from clgraph.engine.plan import Plan


class PartitionPlan(Plan):
    """Divides the vertices of a graph."""

    def result(self) -> tuple[NDArray[np.int32], int, NDArray[np.int64]]:
        """Return the part of each vertex, the weight of the edges between parts, and that of each part.

        The parts keep their limits wherever they can.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        parts, cut, weights = self.found()
        cut += keep_limits(self.problem, parts, weights)
        return parts, cut, weights

    def found(self) -> tuple[NDArray[np.int32], int, NDArray[np.int64]]:
        """Return the same as the device has left it, with parts that may be over their limits."""
        n, k = self.problem.graph.n_vertices, self.problem.n_parts
        if not self.arrays:  # all is in the first part, if there is anything
            return np.zeros(n, np.int32), 0, np.array([self.problem.total_weight, *[0] * (k - 1)])
        constant = self.program(REFINING).constant
        first, at = constant("BEST") * self.setting.values["room"], constant("REFINE_BEST_CUT")
        sizes = constant("BEST_SIZES")
        parts, cut, weights = self.read(
            (self.arrays["work"], first, first + n),
            (self.arrays["state"], at, at + 1),
            (self.scope["parts_work"], sizes * k, (sizes + 1) * k),
        )
        whole = weights.astype(np.int64)
        place(self.problem, parts, whole)
        return parts, int(cut[0]), whole

    @property
    def levels(self) -> list[dict[str, Any]]:
        """What the last run found on each level."""
        return [] if not self.used else self.used[0].levels
