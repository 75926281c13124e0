"""A run of a partition on one device, and the parts that it found."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.partition.multilevel import REFINING
from clgraph.algorithms.partition.problem import PartitionProblem
from clgraph.engine.plan import Plan


class PartitionPlan(Plan):
    """Divides the vertices of a graph."""

    def result(self) -> tuple[NDArray[np.int32], int]:
        """Return the part of each vertex, and the weight of the edges between parts, after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        n = self.problem.graph.n_vertices
        if not self.arrays:
            return np.zeros(n, np.int32), 0
        constant = self.program(REFINING).constant
        first, at = constant("BEST") * self.recipe.values["room"], constant("REFINE_BEST_CUT")
        parts, cut = self.read((self.arrays["work"], first, first + n), (self.arrays["state"], at, at + 1))
        return with_isolated(self.problem, parts), int(cut[0])

    @property
    def levels(self) -> list[dict[str, Any]]:
        """What the last run found on each level."""
        return [] if not self.used else self.used[0].levels


def with_isolated(problem: PartitionProblem, parts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return *parts* with the vertices of no part, which have no edges, put where there is room for them."""
    left_out = np.flatnonzero(parts < 0)
    if not left_out.size:
        return parts
    weights, placed = problem.vertex_weights, parts >= 0
    sizes = np.bincount(parts[placed], None if weights is None else weights[placed], problem.n_parts).astype(np.int64)
    own = np.ones(left_out.size, np.int64) if weights is None else weights[left_out].astype(np.int64)
    room = np.maximum(problem.shares - sizes, 0)
    if room.sum() < own.sum():
        room = np.maximum(problem.limits - sizes, 0)
    heaviest_first = np.argsort(-own, kind="stable")
    before = np.cumsum(own[heaviest_first]) - own[heaviest_first]
    found = np.searchsorted(np.cumsum(room), before, "right")
    parts[left_out[heaviest_first]] = np.minimum(found, problem.n_parts - 1)
    return parts
