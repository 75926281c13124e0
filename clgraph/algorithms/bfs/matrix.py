"""A search on a CPU of a matrix that nobody has checked, for one call: a single launch checks what it reads."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.bfs.levels import queue_members
from clgraph.algorithms.traversal.problem import MAX_DEPTH, SearchProblem
from clgraph.data.wrapped import WrappedGraph
from clgraph.errors import GraphError
from clgraph.runtime import recycled
from clgraph.runtime.failure import check_status
from clgraph.runtime.session import Session

_SOURCE, _KERNEL = "bfs/matrix.cl", "search_matrix"
_ANSWER = np.dtype(np.int32)


class MatrixSearch:
    """Finds levels and predecessors, in memory of the answer and by the arrays of the matrix where they are.

    Parameters
    ----------
    session : Session
        Of a CPU.
    problem : SearchProblem
        Its graph is a matrix that was only wrapped.
    """

    def __init__(self, session: Session, problem: SearchProblem) -> None:
        graph = problem.graph
        assert isinstance(graph, WrappedGraph)
        n, members = graph.n_vertices, queue_members(session.facts)
        program = session.program(_SOURCE, {"OFFSET_T": "int", "MEMBERS": members}, work_group_size=1)
        self._graph, self._session, self._n_words = graph, session, program.constant("MATRIX_WORDS")
        self._words = np.zeros(self._n_words + program.constant("MEETING_WORDS"), np.uint32)
        self._found = recycled.empty(n, _ANSWER), recycled.empty(n, _ANSWER)
        self._written = [session.share(host) for host in (self._words, *self._found)]
        words, distances, predecessors = self._written
        offsets, columns, _ = graph.arrays
        self._launch = program.bind(
            _KERNEL, members, n=n, max_depth=MAX_DEPTH if problem.limit is None else int(problem.limit),
            n_sources=problem.sources.size, sources=session.upload(problem.sources, in_place=True),
            row_offsets=session.upload(offsets, in_place=True), column_indices=session.upload(columns, in_place=True),
            words=words, queue=session.empty(members * n, _ANSWER), distances=distances, predecessors=predecessors,
        )  # fmt: skip
        self.details: dict[str, Any] = {}

    def run(self) -> None:
        self._launch()

    def result(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return distances and predecessors after ``run()``.

        Raises
        ------
        GraphError
            The matrix is damaged.
        DeviceTimeoutError
            A wait on the device ran out.
        """
        self._session.settle(*self._written)
        status, is_wrong = self._words[: self._n_words].tolist()
        check_status(status, _KERNEL)
        if is_wrong:
            self._graph.check()  # names what is wrong
            raise GraphError("this csr matrix was changed while it was searched")
        return self._found

    def release(self) -> None:
        """Keep what was found, which is the user's, and let go of all else."""
        del self._launch
        self._written = []
