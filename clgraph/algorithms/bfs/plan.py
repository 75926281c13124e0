"""Plans of breadth-first searches on one device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.plan import SearchPlan
from clgraph.algorithms.traversal.problem import MAX_DEPTH, SearchProblem
from clgraph.algorithms.traversal.queues import queue_members
from clgraph.engine.unchecked import UncheckedPlan
from clgraph.runtime.driver.failure import check_status
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_KERNEL = "search_matrix"


class LevelsPlan(SearchPlan):
    """A plan of a breadth-first search on one device, which finds the level and the predecessor of each vertex."""

    def result(self) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Return the distances and the predecessors that the breadth-first search has found in ``run()``."""
        n = self.problem.graph.n_vertices
        distances, predecessors = self.read((self.distances, 0, n), (self.arrays["predecessors"], 0, n))
        return distances, predecessors

    def on_device(self) -> tuple[DeviceArray, DeviceArray]:
        self.check()
        n = self.problem.graph.n_vertices
        return self.distances.view(0, n), self.arrays["predecessors"].view(0, n)


class MatrixSearch(UncheckedPlan):
    """A one-time breadth-first search on a CPU. Its single launch also validates the matrix rows that it reads."""

    reads = ("sources",)

    def __init__(self, session: Session, problem: SearchProblem) -> None:
        n, members = problem.graph.n_vertices, queue_members(session.facts)
        program = session.program("bfs/matrix.cl", {"OFFSET_T": "int", "MEMBERS": members}, work_group_size=1)
        self._status, self._is_wrong = program.constant("MATRIX_STATUS"), program.constant("MATRIX_WRONG")
        n_words = program.constant("MATRIX_WORDS + MEETING_WORDS")
        super().__init__(session, problem, n_words, ("distances", "predecessors"))
        limit = MAX_DEPTH if problem.limit is None else int(problem.limit)
        self.launches.append(program.bind(
            _KERNEL, members, self.lent, n=n, max_depth=limit, n_sources=problem.sources.size,
            queue=session.empty(members * n, np.int32),
        ))  # fmt: skip

    def result(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the search's distances and predecessors after ``run()``, or raise
        a :class:`GraphError` for an invalid matrix.
        """
        words, distances, predecessors = self.finish()
        check_status(int(words[self._status]), _KERNEL)
        if words[self._is_wrong]:
            self.refuse()
        return distances, predecessors
