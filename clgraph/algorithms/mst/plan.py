"""A run of a minimum spanning forest on one device, and the edges that it found."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from clgraph.algorithms.mst.answer import Answer, Told
from clgraph.engine.plan import Plan


class ForestPlan(Plan):
    """Finds the edges by which components are joined, on one undirected graph with sorted rows."""

    @cached_property
    def _answer(self) -> Answer:
        return Answer(self)

    def result(self) -> Told:
        """Return the entries of the forest's edges in rising order, and what else is known of them, after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        if not self.setting.values["m"]:
            return Told(np.zeros(0, np.int64), None, {})
        answer = self._answer
        answer.run()
        parts = [(array, 0, array.size) for array in answer.arrays.values()]
        read = self.read(*parts, *answer.sort.statuses())
        answer.sort.check(read[len(parts) :])
        return answer.told(read[: len(parts)])
