"""Plans that run on a CPU with an unchecked matrix.

Their kernels check the matrix's entries while they read them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.wrapped import WrappedGraph
from clgraph.errors import GraphError
from clgraph.runtime.memory import recycled
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch
from clgraph.runtime.session import Session

_INT32 = np.dtype(np.int32)


class UncheckedPlan:
    """A plan whose kernels read the user's matrix in place, without a copy,
    and write directly into the answer's arrays.

    A subclass for an algorithm binds its launches to :attr:`lent`, and has a method ``result()``. The launches are
    reused for the next matrix of the same size.

    Parameters
    ----------
    session : Session
        A session of a CPU.
    problem : GraphProblem
        A problem whose graph is a wrapped, unchecked matrix.
    n_words : int
        The number of words, initially 0, in which kernels report their findings to the host and to each other.
    answers : sequence of str
        The kernels' names of the answers, each an int32 array with an item per vertex.

    Attributes
    ----------
    launches : list of Launch
    lent : dict of str to DeviceArray
        ``row_offsets``, ``column_indices``, ``words`` and the answers, which the host shares with the device.
    n_bytes : int
        Upper bound on the device memory held between two runs.
    reads : tuple of str
        Names of further arrays that kernels read. They are attributes of the problem.
    """

    n_bytes = 0
    reads: tuple[str, ...] = ()

    def __init__(self, session: Session, problem: Any, n_words: int, answers: tuple[str, ...]) -> None:
        self._session, self._n_words, self._answers = session, n_words, answers
        self._made_by = session.profile, session.facts
        self.launches: list[Launch] = []
        self.attach(problem)

    @property
    def details(self) -> dict[str, Any]:
        """An empty dictionary, because runs on unchecked matrices report no details."""
        return {}

    def fits(self, session: Session) -> bool:
        """Return whether *session* still has the device facts and the profile from which this plan was made."""
        return self._made_by[0] is session.profile and self._made_by[1] is session.facts

    def attach(self, problem: Any) -> None:
        """Bind the plan's launches to the matrix of *problem*, and to new memory for the answer."""
        self._graph, n, share = problem.graph, problem.graph.n_vertices, self._session.memory.share
        self._hosts = {"words": np.zeros(self._n_words, np.uint32)}
        for name in self._answers:
            self._hosts[name] = recycled.lent(n, _INT32)[0]
        row_offsets, column_indices, _ = self._graph.arrays
        self.lent: dict[str, DeviceArray] = {
            "row_offsets": share(row_offsets, read_only=True),
            "column_indices": share(column_indices, read_only=True),
        }
        for name, host in self._hosts.items():
            self.lent[name] = share(host)
        for name in self.reads:
            self.lent[name] = share(getattr(problem, name), read_only=True)
        for launch in self.launches:
            launch.lend(self.lent)

    def detach(self) -> None:
        """Drop the plan's references to the matrix and the answer until :meth:`attach`, but keep the launches."""
        for launch in self.launches:
            launch.give_back(self.lent)
        del self._graph, self._hosts, self.lent

    def run(self) -> None:
        for launch in self.launches:
            launch()

    def finish(self) -> tuple[NDArray[Any], ...]:
        """Wait for the plan's launches, and return the array of state words and the arrays of the answer.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device reached its limit.
        """
        self._session.memory.settle(*(self.lent[name] for name in self._hosts))
        return tuple(self._hosts.values())

    def refuse(self) -> None:
        """Raise an error that says what is wrong with the matrix, after a kernel has found a fault in it.

        Raises
        ------
        GraphError
            Always.
        """
        assert isinstance(self._graph, WrappedGraph)
        self._graph.check()  # Normally, this check raises an error that names the wrong value in the matrix.
        raise GraphError("this csr matrix was changed while it was read")

    def release(self) -> None:
        """Drop the plan's launches.

        The memory of the answer is not freed, because it belongs to the user.
        """
        self.launches.clear()
