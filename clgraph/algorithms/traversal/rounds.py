"""Searches as a fixed point: rounds over all vertices, until one lowers no distance; cl/traversal/rounds.h."""
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.plan import PathPlan
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.arguments import checked_flag
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session
from clgraph.runtime.timing import RoundBalance

SOURCE = "traversal/topology_driven.cl"
_MOST_AT_ONCE = 32  # rounds enqueued between two looks at whether they have ended


class FixedPoint(PathPlan):
    """Rounds over all vertices.

    Parameters
    ----------
    atomic : bool
        Lower distances by an atomic min.
    balance : bool
        Count the edges that each work-group looks at; rounds take longer.

    Attributes
    ----------
    n_rounds : int
        Of the last run; the last of them changed nothing.
    balance : tuple of RoundBalance or None
    group_edges : int array
        With *balance*, the edges of each work-group in the round that had most.
    """

    n_words: int  # of the distances

    def __init__(
        self, session: Session, problem: SearchProblem, *, atomic: bool = False, balance: bool = False
    ) -> None:
        super().__init__(session, problem)
        self._levels = not problem.weighted
        self._atomic, self._counts = checked_flag("atomic", atomic), checked_flag("balance", balance)
        self.n_rounds = 0
        self.balance: tuple[RoundBalance, ...] | None = None
        self.group_edges: NDArray[np.uint32] = np.empty(0, np.uint32)
        self.n_words = self.n
        self._choose()
        self._bind(wide=False)

    def _choose(self) -> None:
        """Set what does not depend on the type of distances."""

    def _bind(self, *, wide: bool) -> None:
        session = self.session
        defines = {**self._hold(wide=wide), "ATOMIC": int(self._atomic), "BALANCE": int(self._counts)}
        self.distances = session.empty(self.n_words, np.int32 if self._levels else self.held.dtype)
        self._program = program = session.program(SOURCE, defines)
        self._state = session.empty(program.constant("STATE_WORDS"), np.uint32)
        scope = {
            "n": self.n, "round": 0, "limit": self.held.limit(self.limit), **device_graph(session, self.graph).scope,
            "edge_weights": self.held.weights, "state": self._state, "distances": self.distances,
        }  # fmt: skip
        n_words, sources = self.n_words, session.upload(self._sources)
        self._start = [
            program.bind("initialize", max(n_words, self._state.size), scope, n_words=n_words),
            program.bind("start", sources.size, scope, n_sources=sources.size, sources=sources),
        ]
        self._round = self._bind_round(defines, scope)

    @abstractmethod
    def _bind_round(self, defines: dict[str, int | str], scope: dict[str, Any]) -> Sequence[Launch]:
        """Return the launches of a round; set ``_work``."""

    def _counters(self, n_groups: int) -> DeviceArray:
        """Return a word for each work-group of a round."""
        self._work = self.session.empty(max(1, n_groups if self._counts else 1), np.uint32)
        return self._work

    def _run(self) -> None:
        for launch in self._start:
            launch()
        done = changed = 0
        rows: list[RoundBalance] = []
        while changed == done:
            at_once = 1 if self._counts else min(1 + done // 4, _MOST_AT_ONCE)
            for number in range(done + 1, done + at_once + 1):
                if self._counts:
                    self._work.fill(0)
                for launch in self._round:
                    launch.set(round=number)
                    launch()
            done += at_once
            if self._counts:
                rows.append(self._count(done, rows))
            changed = self._word("STATE_CHANGED")
        self.n_rounds = changed + 1
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
        """Return how many words of ``_work`` are of work-groups that ran."""
        return self._work.size

    def _overflowed(self) -> bool:
        return bool(self._word("STATE_OVERFLOW"))

    def _word(self, name: str, offset: int = 0) -> int:
        return int(self._state.item(self._program.constant(name) + offset))

    def run(self) -> None:
        """Search; breadth-first searches then find predecessors."""
        super().run()
        if self._levels and self.n:
            self.predecessors()

    @property
    def details(self) -> dict[str, Any]:
        """What the run tells of itself, for :class:`RunInfo`."""
        return {"rounds": self.n_rounds}

    def result(self) -> Any:
        """Return the distances after ``run()``, and for breadth-first searches predecessors."""
        if not self._levels:
            return super().result()
        assert self._predecessors is not None
        return self.distances.get(0, self.n), self._predecessors.found.get()
