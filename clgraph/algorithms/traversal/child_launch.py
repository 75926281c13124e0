"""Rounds over all vertices, in which long rows get a grid of their own; cl/traversal/child_launch.cl."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.algorithms.traversal.rounds import FixedPoint
from clgraph.algorithms.traversal.work import MEAN_DEGREES
from clgraph.arguments import checked_count
from clgraph.runtime.device_queue import has_device_queue
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session

_SOURCE = "traversal/child_launch.cl"
_PIECE = 256  # edges


class ChildLaunch(FixedPoint):
    """Shortest paths by rounds over all vertices, large ones by a child grid.

    Parameters
    ----------
    threshold : int, optional
        Edges that a vertex may have without; by default 32 times the mean degree.

    Attributes
    ----------
    threshold : int
    launched_by : {"device", "host"}
    """

    def __init__(
        self, session: Session, problem: SearchProblem, *, threshold: int | None = None, atomic: bool = False,
        balance: bool = False,
    ) -> None:
        graph = problem.graph
        mean = graph.n_edges / max(1, graph.n_vertices)
        self.threshold = max(1, round(MEAN_DEGREES * mean)) if threshold is None else checked_count(
            "threshold", threshold, 2**31 - 1
        )
        self.launched_by = "device" if has_device_queue(session) else "host"
        super().__init__(session, problem, atomic=atomic, balance=balance)

    def _bind_round(self, defines: dict[str, int | str], scope: dict[str, Any]) -> Sequence[Launch]:
        session, facts, degrees = self.session, self.session.facts, self.graph.degrees
        from_device = self.launched_by == "device"
        program = session.program(_SOURCE, {**defines, "FROM_DEVICE": int(from_device), "PIECE": _PIECE})
        size, large = program.work_group_size, degrees[degrees > self.threshold].astype(np.int64)
        n_pieces = int((-(-large // (size if from_device else _PIECE))).sum())
        at_once = n_pieces if from_device else min(
            -(-n_pieces * facts.sub_group_size // size), 32 * facts.compute_units
        )
        self._n_groups = -(-self.n // size)
        scope = {
            **scope, "work": self._counters(self._n_groups + at_once),
            "pieces": session.empty(2 * (1 if from_device else n_pieces), np.int32),
        }  # fmt: skip
        launches = [program.bind("relax_or_launch", self.n, scope, threshold=self.threshold)]
        if n_pieces and not from_device:
            launches.append(program.bind("relax_pieces", at_once * size, scope, first_group=self._n_groups))
        return launches

    def _groups_of_round(self, number: int) -> int:
        if self.launched_by == "host":
            return super()._groups_of_round(number)
        return self._n_groups + self._word("STATE_CHILD_GROUPS", number % 4)

    @property
    def details(self) -> dict[str, Any]:
        return {**super().details, "threshold": self.threshold, "launched_by": self.launched_by}
