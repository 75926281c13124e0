"""What problems on graphs share."""

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
    """A graph; algorithms add what else they are asked."""

    graph: Graph

    @property
    def stats(self) -> GraphStats:
        return self.graph.stats

    @property
    def settings(self) -> Hashable:
        """What is asked of the graph: a plan can solve all problems on one graph that have the same settings."""
        return type(self), *(getattr(self, name) for name in self.__dataclass_fields__ if name != "graph")

    def admitted(self) -> Self:
        """Check what can only be checked when the entries are known, and return the problem that is to be solved."""
        return self

    def measured(self, _session: Session | None) -> Self:
        """Check what a device, if there is one, finds sooner than the host in a graph that is not wrapped."""
        return self

    def admitted_if_checked(self) -> Self:
        """Return :meth:`admitted`, or the problem itself while its graph is only wrapped; :func:`admission` goes on."""
        return self if isinstance(self.graph, WrappedGraph) else self.admitted()


@contextmanager
def admission(session: Session | None, problem: Any, *, checked: bool = True) -> Iterator[Any]:
    """Check and measure the graph of *problem*. A wrapped matrix is unchecked again after the block.

    The host checks a graph that is still unchecked as soon as one of its arrays is read.

    Parameters
    ----------
    session : Session or None
        The device that checks and measures the graph; for small graphs ``None``, which leaves the check to the host.
    problem : object
        What ``as_problem`` of an algorithm has returned, also one without a graph.
    checked : bool
        Whether a graph that was only wrapped is to be checked and measured now.

    Yields
    ------
    object
        The problem that is to be solved: where the graph was wrapped, it may have another graph.
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
        yield replace(problem.admitted())  # a new object: what the old one has kept is by guessed statistics
    finally:
        if session is not None:
            session.device_graphs.pop(graph, None)
        graph.forget()
