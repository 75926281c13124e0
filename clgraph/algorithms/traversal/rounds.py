"""Searches as a fixed point: rounds over all vertices, until one lowers no distance; cl/traversal/rounds.h."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.engine.plan import Plan
from clgraph.model.recipe import Phase
from clgraph.runtime.failure import STATUS_STUCK, check_status
from clgraph.runtime.timing import RoundBalance

CHILD_LAUNCH = "traversal/child_launch.cl"
_MOST_AT_ONCE = 32  # rounds enqueued between two looks at whether they have ended


class Rounds:
    """Rounds that are enqueued several at once; those behind the last that lowered a distance do nothing.

    It drives its launches itself, since a look at the device after each round would take longer than most rounds, and
    since it can count the edges of each work-group, round by round.

    Parameters
    ----------
    plan : Plan
        Its kernels have a parameter ``round`` and count edges in ``work``.
    body : sequence of Phase
        The launches of a round.
    counts : bool
        Count the edges that each work-group looks at; rounds take longer.

    Attributes
    ----------
    rounds : int
        How many the last run enqueued.
    details : dict
        How many of them did something, the one that changed nothing included.
    balance : tuple of RoundBalance or None
    group_edges : int array
        If it *counts*, the edges of each work-group in the round that had most.
    """

    def __init__(self, plan: Plan, *, body: Sequence[Phase], counts: bool) -> None:
        self._plan, self._counts, self.rounds = plan, counts, 0
        self.details: dict[str, Any] = {"rounds": 0}
        self.balance: tuple[RoundBalance, ...] | None = None
        self.group_edges: NDArray[np.uint32] = np.empty(0, np.uint32)
        plan.scope["work"] = self._work = plan.session.empty(1, np.uint32)
        self._launches = [plan.bound(phase) for phase in body]
        if counts:
            counting = [
                launch.n_groups for launch, phase in zip(self._launches, body, strict=True)
                if "work" in plan.program(phase.source).parameters(phase.name)
            ]  # fmt: skip
            plan.scope["work"] = self._work = plan.session.empty(sum(counting) + self._child_groups(), np.uint32)
            self._launches = [plan.bound(phase) for phase in body]

    def run(self) -> None:
        done = changed = 0
        rows: list[RoundBalance] = []
        while changed == done:
            if done > self._plan.problem.graph.n_vertices:  # a round goes an edge farther on every path
                check_status(STATUS_STUCK, f"{done} rounds of {self._launches[-1].kernel}")
            at_once = 1 if self._counts else min(1 + done // 4, _MOST_AT_ONCE)
            for number in range(done + 1, done + at_once + 1):
                if self._counts:
                    self._work.fill(0)
                for launch in self._launches:
                    launch.set(round=number)
                    launch()
            done += at_once
            if self._counts:
                rows.append(self._count(done, rows))
            changed = self._plan.word("state[STATE_CHANGED]")
        self.rounds, self.details = done, {"rounds": changed + 1}
        if self._counts:
            self.balance = tuple(rows)

    def _count(self, number: int, before: Sequence[RoundBalance]) -> RoundBalance:
        edges = self._work.get(0, self._groups_of_round(number))
        if edges.sum() > max((row.edges for row in before), default=-1):
            self.group_edges = edges
        return RoundBalance(
            number, edges.size, int(edges.sum()), int(edges.min()), float(edges.mean()), int(edges.max())
        )

    def _groups_of_round(self, number: int) -> int:
        """Return how many words of ``work`` are of work-groups that ran."""
        return self._work.size

    def _child_groups(self) -> int:
        """Return how many work-groups kernels may launch themselves in a round."""
        return 0


class DeviceLaunches(Rounds):
    """Rounds in which kernels launch the work-groups of rows that are longer than *threshold*."""

    def __init__(self, plan: Plan, *, threshold: int, **given: Any) -> None:
        self._threshold = threshold
        super().__init__(plan, **given)

    def _child_groups(self) -> int:
        degrees = self._plan.problem.graph.degrees
        size = self._plan.program(CHILD_LAUNCH).work_group_size
        return int((-(-degrees[degrees > self._threshold].astype(np.int64) // size)).sum())

    def _groups_of_round(self, number: int) -> int:
        return self._launches[0].n_groups + self._plan.word(f"state[STATE_CHILD_GROUPS + {number % 4}]")
