"""A run that finds a maximal matching on one device, and its rounds, which the host launches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.engine.plan import Plan
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status

ROUNDS = "maximal_matching/rounds.cl"
GROUPS_PER_UNIT = 16
_BATCH = 8  # rounds that the host enqueues before it reads whether vertices are still undecided


class MatchingPlan(Plan):
    """A plan of a maximal matching, which is in the array ``mates`` after ``run()``."""

    def result(self) -> tuple[int, NDArray[np.int32], Any]:
        """Return the number of edges, the mate of each vertex, and the sum of the weights, after ``run()``."""
        if not self.arrays:  # The graph has no vertices.
            return 0, np.zeros(0, np.int32), 0
        mates, weights, state = (self.arrays[name] for name in ("mates", "mate_weights", "state"))
        place, dtype = self.program(ROUNDS).constant("STATE_MATCHED"), self.problem.weight_dtype
        of_weights = () if dtype is None else ((weights, 0, weights.size),)
        found, count, *summands = self.read((mates, 0, mates.size), (state, place, place + 1), *of_weights)
        size = int(count[0])
        return size, found, size if dtype is None else _total(summands[0].view(dtype))


def _total(weights: NDArray[Any]) -> int | float:
    """Return the exact sum of integers, or the sum of floats in double precision."""
    if weights.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):  # Sums and weights may be infinite.
            return float(weights.sum(dtype=np.float64))
    high, low = weights >> 16, weights & 0xFFFF  # Neither sum overflows 64 bits.
    return (int(high.sum(dtype=np.int64)) << 16) + int(low.sum(dtype=np.int64))


class Rounds:
    """The step of a recipe that makes rounds until all vertices are decided."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._n = plan, plan.scope["n"]
        program, most = plan.program(ROUNDS), GROUPS_PER_UNIT * plan.session.facts.compute_units
        self._lists = program.constant("STATE_LISTED")
        self._launches = [program.bind("run_round", self._n, plan.scope, max_groups=most, round=0)]
        if plan.setting.details["long_rows"]:
            long = program.bind("choose_long", most * program.work_group_size, plan.scope, max_groups=most, round=0)
            self._launches.insert(0, long)

    def run(self) -> None:
        """Launch rounds, of which each second one finds at least one edge."""
        state, done = self._plan.arrays["state"], 0
        while done <= self._n + _BATCH:
            for number in range(done, done + _BATCH):
                for launch in self._launches:
                    launch.set(round=number)
                    launch()
            done += _BATCH
            if not state.item(self._lists + done % 3):
                return
        check_status(STATUS_STUCK, ROUNDS)
