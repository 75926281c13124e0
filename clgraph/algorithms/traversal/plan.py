"""Plans of graph searches on one device, and the loop of rounds over all vertices (cl/traversal/rounds.h)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.engine.plan import Plan
from clgraph.model.recipe import Phase
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status
from clgraph.runtime.driver.timing import RoundBalance
from clgraph.runtime.memory.arrays import DeviceArray

_MAX_AT_ONCE = 32  # The host enqueues at most this number of rounds before it reads whether the search has ended.


class SearchPlan(Plan):
    """A plan of a graph search on one device, which finds each vertex's distance from the nearest source."""

    problem: SearchProblem
    _sources: NDArray[np.int32]  # The host's copy of the source vertices that the device holds.

    def attach(self, problem: SearchProblem) -> None:
        super().attach(problem)
        if not np.array_equal(problem.sources, self._sources):
            self.scope["sources"].set(problem.sources)

    def detach(self) -> None:
        self._sources = self.problem.sources
        super().detach()

    @property
    def distances(self) -> DeviceArray:
        """Device array whose first ``n_vertices`` items are the distances of the vertices after ``run()``.

        They are int32 levels, or, if edges have weights, distances in the type ``problem.held.dtype``.
        """
        return self.arrays["distances"]

    @property
    def _rounds(self) -> Rounds | None:
        return next((use for use in self.used if isinstance(use, Rounds)), None)

    @property
    def balance(self) -> tuple[RoundBalance, ...] | None:
        """For each round of the last run, statistics of the numbers of edges that each work-group has read.

        ``None`` unless the strategy's option *balance* was set.
        """
        return None if self._rounds is None else self._rounds.balance

    @property
    def group_edges(self) -> NDArray[Any]:
        """Number of edges that each work-group has read in the search round with the most edges."""
        assert self._rounds is not None
        return self._rounds.group_edges


class Rounds:
    """The loop of search rounds over all vertices.

    It ends after a round in which no distance has fallen.

    A read from the device after each round would take longer than most rounds. So several rounds are enqueued at a
    time; rounds after the end of the search change nothing. The loop can also count the edges of each work-group.

    Parameters
    ----------
    plan : Plan
        A plan whose kernels have a parameter ``round`` and count edges in ``work``.
    body : sequence of Phase
        The launches of a round.
    counts : bool
        Count the edges that each work-group reads. This makes rounds slower.
    threshold : int, optional
        If given, the first kernel launches work-groups from the device for rows with more edges than this.

    Attributes
    ----------
    details : dict
        ``rounds``: the number of rounds of the last run, including the first round that changed nothing.
    balance : tuple of RoundBalance or None
        If *counts*, statistics of the edges per work-group, one for each round.
    group_edges : int array
        If *counts*, the number of edges of each work-group in the round with the most edges.
    """

    def __init__(self, plan: Plan, *, body: Sequence[Phase], counts: bool, threshold: int | None = None) -> None:
        self._plan, self._counts, self._threshold = plan, counts, threshold
        self.details: dict[str, Any] = {"rounds": 0}
        self.balance: tuple[RoundBalance, ...] | None = None
        self.group_edges: NDArray[np.uint32] = np.empty(0, np.uint32)
        plan.scope["work"] = self._work = plan.session.empty(1, np.uint32)
        self._launches = [plan.bound(phase) for phase in body]
        if counts:
            n_groups = sum(
                launch.n_groups for launch, phase in zip(self._launches, body, strict=True)
                if "work" in plan.program(phase.source).parameters(phase.name)
            )  # fmt: skip
            if threshold is not None:
                size, degrees = plan.program(body[0].source).work_group_size, plan.problem.graph.degrees
                n_groups += int((-(-degrees[degrees > threshold].astype(np.int64) // size)).sum())
            plan.scope["work"] = self._work = plan.session.empty(n_groups, np.uint32)
            self._launches = [plan.bound(phase) for phase in body]

    def run(self) -> None:
        done = changed = 0
        rows: list[RoundBalance] = []
        while changed == done:
            # Every round extends shortest paths by at least an edge, so a search never takes more rounds than vertices.
            if done > self._plan.problem.graph.n_vertices:
                check_status(STATUS_STUCK, f"{done} rounds of {self._launches[-1].kernel}")
            at_once = 1 if self._counts else min(1 + done // 4, _MAX_AT_ONCE)
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
        self.details = {"rounds": changed + 1}
        if self._counts:
            self.balance = tuple(rows)

    def _count(self, number: int, before: Sequence[RoundBalance]) -> RoundBalance:
        n_groups = self._work.size
        # The device itself launches child work-groups, and their number differs from round to round.
        if self._threshold is not None:
            n_groups = self._launches[0].n_groups + self._plan.word(f"state[STATE_CHILD_GROUPS + {number % 4}]")
        edges = self._work.get(0, n_groups)
        if edges.sum() > max((row.edges for row in before), default=-1):
            self.group_edges = edges
        return RoundBalance(
            number, edges.size, int(edges.sum()), int(edges.min()), float(edges.mean()), int(edges.max())
        )
