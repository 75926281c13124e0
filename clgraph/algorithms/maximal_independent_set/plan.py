"""A run that finds a maximal independent set on one device, and its rounds, which the host launches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.engine.plan import Plan
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status

ROUNDS = "maximal_independent_set/rounds.cl"
GROUPS_PER_UNIT = 16
_BATCH = 8  # rounds that the host enqueues before it reads whether vertices still wait


class IndependentSetPlan(Plan):
    """A plan of a maximal independent set, which is in the array ``members`` after ``run()``."""

    def result(self) -> tuple[int, NDArray[np.bool_]]:
        """Return the size of the set and the marks of its members, after ``run()``."""
        if not self.arrays:  # The graph has no vertices.
            return 0, np.zeros(0, np.bool_)
        members, state = self.arrays["members"], self.arrays["state"]
        place = self.program(ROUNDS).constant("STATE_MEMBERS")
        found, size = self.read((members, 0, members.size), (state, place, place + 1))
        return int(size[0]), found.view(np.bool_)


class Rounds:
    """The step of a recipe that makes rounds until no vertex waits."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._n = plan, plan.scope["n"]
        program, units = plan.program(ROUNDS), plan.session.facts.compute_units
        self._lists = program.constant("STATE_LISTED")
        self._round = program.bind("run_round", self._n, plan.scope, max_groups=GROUPS_PER_UNIT * units, round=0)

    def run(self) -> None:
        """Launch rounds, of which each decides at least one vertex."""
        state, done = self._plan.arrays["state"], 0
        while done <= self._n:
            for number in range(done, done + _BATCH):
                self._round.set(round=number)
                self._round()
            done += _BATCH
            if not state.item(self._lists + done % 3):
                return
        check_status(STATUS_STUCK, ROUNDS)
