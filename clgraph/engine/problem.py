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
    """A problem on a graph; subclasses add the settings of an algorithm."""

    graph: Graph

    @property
    def stats(self) -> GraphStats:
        return self.graph.stats

    @property
    def settings(self) -> Hashable:
        """The type of the problem and all its fields but the graph: a plan serves all problems that agree in these."""
        return type(self), *(getattr(self, name) for name in self.__dataclass_fields__ if name != "graph")

    def admitted(self) -> Self:
        """Make the checks that need the graph's entries, and return the problem to solve."""
        return self

    def measured(self, _session: Session | None) -> Self:
        """Make the checks of a graph that a device, if there is one, does faster than the host; return the problem."""
        return self

    def admitted_if_checked(self) -> Self:
        """Return :meth:`admitted`; for a wrapped matrix the problem itself, which :func:`admission` checks later."""
        return self if isinstance(self.graph, WrappedGraph) else self.admitted()


@contextmanager
def admission(session: Session | None, problem: Any, *, checked: bool = True) -> Iterator[Any]:
    """Check the graph of *problem* and compute its statistics; a wrapped matrix counts as unchecked after the block.

    If a graph is still unchecked inside the block, the host checks it as soon as one of its arrays is read.

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
        The problem to solve. If the graph was a wrapped matrix, it may have another graph.
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
        yield replace(problem.admitted())  # A copy, because the old object has cached values from estimated statistics.
    finally:
        if session is not None:
            session.device_graphs.pop(graph, None)
        graph.forget()
