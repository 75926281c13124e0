"""The base class of problems on graphs, and the check of a graph before a run."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.stats import GraphStats
from clgraph.data.graphs.wrapped import WrappedGraph
from clgraph.runtime.graphs.admission import admit
from clgraph.runtime.session import Session


@dataclass(frozen=True)
class GraphProblem:
    """A problem on a graph. Subclasses add the settings of an algorithm."""

    graph: Graph

    @property
    def stats(self) -> GraphStats:
        return self.graph.stats

    @property
    def settings(self) -> Hashable:
        """A key of the problem's type and all fields except the graph.

        Problems on a graph with equal keys share a plan.
        """
        return type(self), *(getattr(self, name) for name in self.__dataclass_fields__ if name != "graph")

    def admitted(self) -> Self:
        """Make the checks of the problem that depend on the graph's entries, and return the problem to solve."""
        return self

    def measured(self, _session: Session | None) -> Self:
        """Make the checks of the problem's graph that a device does faster than the host, and return the problem.

        Without a session, the host makes these checks.
        """
        return self

    def admitted_if_checked(self) -> Self:
        """Return the problem after :meth:`admitted`. A wrapped matrix is left as
        it is, as :func:`admission` checks it later.
        """
        return self if isinstance(self.graph, WrappedGraph) else self.admitted()


@contextmanager
def admission(session: Session | None, problem: Any, *, checked: bool = True) -> Iterator[Any]:
    """Check the graph of *problem* on the device and compute its statistics, for a ``with`` block.

    If a graph is still unchecked inside the block, the host checks it as soon as one of its arrays is read. After the
    block, a wrapped matrix counts as unchecked again.

    Parameters
    ----------
    session : Session or None
        The device that checks the graph and computes its statistics, or ``None`` for the host.
    problem : object
        The result of an algorithm's ``as_problem``, with or without a graph.
    checked : bool
        Whether to check a wrapped matrix now.

    Yields
    ------
    object
        The problem to solve. If the graph was a wrapped matrix, this problem may have another graph.
    """
    graph = getattr(problem, "graph", None)
    if not isinstance(graph, WrappedGraph):
        if session is not None and graph is not None:
            admit(session, graph)
        yield problem if graph is None else problem.measured(session)
        return
    try:
        if session is not None and checked:
            admit(session, graph)
        # The problem is copied, because the old object has cached values from estimated statistics.
        yield replace(problem.admitted())
    finally:
        if session is not None:
            session.device_graphs.pop(graph, None)
        graph.forget()
