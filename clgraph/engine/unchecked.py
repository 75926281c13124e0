"""A run on a CPU, for one call, of a matrix that is not checked yet: kernels check the entries they read."""

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
    """Runs launches that read the arrays of a matrix where they are, and write the answer where the user gets it.

    A class of an algorithm binds its launches to :attr:`lent`, and has a ``result()``. The launches stay for the next
    matrix of the same size.

    Parameters
    ----------
    session : Session
        Of a CPU.
    problem : GraphProblem
        Whose graph is a matrix that was only wrapped.
    n_words : int
        How many words kernels tell the host, and each other, what they have found; they are 0 at first.
    answers : sequence of str
        The kernels' names of the answers, int32 for each vertex.

    Attributes
    ----------
    launches : list of Launch
    lent : dict of str to DeviceArray
        ``row_offsets``, ``column_indices``, ``words`` and the answers, which the host shares with the device.
    n_bytes : int
        How many bytes of the device it holds between two runs, at most.
    reads : tuple of str
        Attributes of the problem that kernels read beside the matrix, arrays of the same names there.
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
        """Nothing is told of these runs."""
        return {}

    def fits(self, session: Session) -> bool:
        """Return whether *session* still has the facts and the profile by which this was made."""
        return self._made_by[0] is session.profile and self._made_by[1] is session.facts

    def attach(self, problem: Any) -> None:
        """Take the matrix of *problem*, and new memory for the answer."""
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
        """Let go of the matrix and the answer until :meth:`attach`; the launches stay."""
        for launch in self.launches:
            launch.give_back(self.lent)
        del self._graph, self._hosts, self.lent

    def run(self) -> None:
        for launch in self.launches:
            launch()

    def finish(self) -> tuple[NDArray[Any], ...]:
        """Wait for the launches, and return the words and the answers.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        self._session.memory.settle(*(self.lent[name] for name in self._hosts))
        return tuple(self._hosts.values())

    def refuse(self) -> None:
        """Tell what is wrong with the matrix, which a kernel has found damaged.

        Raises
        ------
        GraphError
            In any case.
        """
        assert isinstance(self._graph, WrappedGraph)
        self._graph.check()  # names what is wrong
        raise GraphError("this csr matrix was changed while it was read")

    def release(self) -> None:
        """Let go of the launches; the answer is the user's."""
        self.launches.clear()
