"""A run of a partition on one device, and the parts that it found."""
from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.partition.multilevel import REFINING
from clgraph.algorithms.partition.problem import PartitionProblem
from clgraph.engine.plan import Plan


class PartitionPlan(Plan):
    """Divides the vertices of a graph."""

    def result(self) -> tuple[NDArray[np.int32], int, NDArray[np.int64]]:
        """Return the part of each vertex, the weight of the edges between parts, and that of each part.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        n, k = self.problem.graph.n_vertices, self.problem.n_parts
        if not self.arrays:  # all is in the first part, if there is anything
            return np.zeros(n, np.int32), 0, np.array([self.problem.total_weight, *[0] * (k - 1)])
        constant = self.program(REFINING).constant
        first, at = constant("BEST") * self.setting.values["room"], constant("REFINE_BEST_CUT")
        sizes = constant("BEST_SIZES")
        parts, cut, weights = self.read(
            (self.arrays["work"], first, first + n), (self.arrays["state"], at, at + 1),
            (self.scope["parts_work"], sizes * k, (sizes + 1) * k),
        )
        whole = weights.astype(np.int64)
        place_isolated(self.problem, parts, whole)
        return parts, int(cut[0]), whole

    @property
    def levels(self) -> list[dict[str, Any]]:
        """What the last run found on each level."""
        return [] if not self.used else self.used[0].levels


def place_isolated(problem: PartitionProblem, parts: NDArray[np.int32], weights: NDArray[np.int64]) -> None:
    """Put the vertices of no part, which have no edges, where there is room; *weights* of the parts grow by theirs."""
    left_out = np.flatnonzero(parts < 0)
    if not left_out.size:
        return
    if problem.vertex_weights is None:
        room = np.maximum(problem.shares - weights, 0)
        if room.sum() < left_out.size:
            room = np.maximum(problem.limits - weights, 0)
        parts[left_out] = np.repeat(np.arange(problem.n_parts), room)[: left_out.size]
        weights += np.bincount(parts[left_out], minlength=problem.n_parts)
        return
    own = problem.vertex_weights[left_out].astype(np.int64)
    heaviest_first = np.argsort(-own, kind="stable")
    heap = [(weight - limit, part) for part, (weight, limit) in enumerate(zip(weights, problem.limits, strict=True))]
    heapq.heapify(heap)
    for vertex, weight in zip(left_out[heaviest_first].tolist(), own[heaviest_first].tolist(), strict=True):
        over, part = heap[0]  # the part with the most room
        parts[vertex] = part
        heapq.heapreplace(heap, (over + weight, part))
    for over, part in heap:
        weights[part] = over + problem.limits[part]
