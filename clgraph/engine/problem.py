"""The base class of problems on graphs, the check of a graph before a run, and vertices by their ids."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from clgraph.arguments import shown
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.stats import GraphStats
from clgraph.data.graphs.wrapped import WrappedGraph
from clgraph.errors import SourceError
from clgraph.runtime.graphs.admission import admit
from clgraph.runtime.session import Session

_BOOL = bool | np.bool_


@dataclass(frozen=True)
class GraphProblem:
    """A problem on a graph.

    Subclasses add the settings of an algorithm.
    """

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
        """Return the problem after :meth:`admitted`.

        A wrapped matrix is left as it is, as :func:`admission` checks it later.
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


def vertex_number(graph: Graph, given: Any, what: str = "vertex") -> int:
    """Return the number of the vertex with the id *given*.

    The text of a :class:`SourceError` calls it *what*.
    """
    number = find_vertex(graph, given)
    if number >= 0:
        return number
    n = graph.n_vertices
    where = f"a vertex from 0 to {n - 1}" if graph.ids is None else f"among the ids of the {n} vertices"
    raise SourceError(f"{what} {shown(given)} is not {where if n else 'in the graph, which has no vertices'}")


def vertex_ids(graph: Graph, vertices: list[int]) -> list[Any]:
    """Return the ids of the vertices that have the numbers *vertices*."""
    return vertices if graph.ids is None else graph.ids[vertices].tolist()


def find_vertex(graph: Graph, given: Any) -> int:
    """Return the number of the vertex with the id *given*, or -1.

    ``True`` is not the id 1, although ``True == 1``.
    """
    is_number = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if graph.ids is None:
        return int(given) if is_number and 0 <= given < graph.n_vertices else -1
    # Ascending ids are found by binary search, because a dictionary of all ids of a large graph would take seconds.
    if is_number and graph.has_rising_ids:
        number = int(graph.ids.searchsorted(int(given))) if -(2**63) <= given < 2**63 else graph.n_vertices
        return number if number < graph.n_vertices and graph.ids[number] == given else -1
    with contextlib.suppress(Exception):  # An unhashable or incomparable object is not an id of the graph.
        number = graph.vertex_numbers.get(given, -1)
        if number >= 0 and isinstance(given, _BOOL) == isinstance(graph.ids[number], _BOOL):
            return number
    return -1
