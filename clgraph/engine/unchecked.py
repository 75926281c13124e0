"""A run on a CPU of a matrix that nobody has checked, for one call: kernels check what they read."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graph import Graph
from clgraph.data.wrapped import WrappedGraph
from clgraph.errors import GraphError
from clgraph.runtime import recycled
from clgraph.runtime.session import Session


class UncheckedPlan:
    """Runs launches that read the arrays of a matrix where they are, and write the answer where the user gets it.

    A class of an algorithm adds its launches, and a ``result()``.

    Parameters
    ----------
    session : Session
        Of a CPU.
    graph : Graph
        A matrix that was only wrapped.
    n_words : int
        How many words kernels tell the host, and each other, what they have found; they are 0 at first.
    n_answers : int
        How many numbers of each vertex are the answer.

    Attributes
    ----------
    details : dict of str to object
    row_offsets, column_indices, words : DeviceArray
    answers : list of DeviceArray
        int32, for each vertex.
    found : tuple of int32 array
        The same on the host, after :meth:`finish`.
    """

    def __init__(self, session: Session, graph: Graph, *, n_words: int, n_answers: int) -> None:
        assert isinstance(graph, WrappedGraph)
        self._graph, self._session = graph, session
        self._words = np.zeros(n_words, np.uint32)
        self.found = tuple(recycled.empty(graph.n_vertices, np.dtype(np.int32)) for _ in range(n_answers))
        self.words, *self.answers = self._written = [session.share(host) for host in (self._words, *self.found)]
        offsets, columns, _ = graph.arrays
        self.row_offsets, self.column_indices = (session.upload(host, in_place=True) for host in (offsets, columns))
        self.launches: list[Callable[[], Any]] = []
        self.details: dict[str, Any] = {}

    def run(self) -> None:
        for launch in self.launches:
            launch()

    def finish(self) -> NDArray[np.uint32]:
        """Wait for the launches, and return the words.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        self._session.settle(*self._written)
        return self._words

    def refuse(self) -> None:
        """Tell what is wrong with the matrix, which a kernel has found damaged.

        Raises
        ------
        GraphError
            In any case.
        """
        self._graph.check()  # names what is wrong
        raise GraphError("this csr matrix was changed while it was read")

    def release(self) -> None:
        """Keep what was found, which is the user's, and let go of all else."""
        self.launches.clear()
        self._written.clear()
