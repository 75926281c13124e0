"""A search on one device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.algorithms.traversal.rounds import Rounds
from clgraph.engine.plan import Plan
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.timing import RoundBalance


class SearchPlan(Plan):
    """Finds distances from the nearest source."""

    problem: SearchProblem
    _sources: NDArray[np.int32]  # what the device has

    def attach(self, problem: SearchProblem) -> None:
        super().attach(problem)
        if not np.array_equal(problem.sources, self._sources):
            self.scope["sources"].set(problem.sources)

    def detach(self) -> None:
        self._sources = self.problem.sources
        super().detach()

    @property
    def distances(self) -> DeviceArray:
        """After ``run()``, in the first ``n_vertices`` items, as ``problem.held`` says; levels are int32."""
        return self.arrays["distances"]

    @property
    def _rounds(self) -> Rounds | None:
        return next((use for use in self.used if isinstance(use, Rounds)), None)

    @property
    def balance(self) -> tuple[RoundBalance, ...] | None:
        """What work-groups did in each round of the last run, of strategies by rounds that were asked to count it."""
        return None if self._rounds is None else self._rounds.balance

    @property
    def group_edges(self) -> NDArray[Any]:
        """The edges of each work-group in the round that had most."""
        assert self._rounds is not None
        return self._rounds.group_edges
