"""Sources and paths of searches: from the user's ids to vertex numbers, and back."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import check_length, checked_array, is_array, shown
from clgraph.data.graph import Graph
from clgraph.errors import InputError, SourceError

LARGEST_DEGREE = object()
"""It stands in place of a source for the vertex that has the largest degree."""
_BOOL = bool | np.bool_


def source_numbers(graph: Graph, source: Any) -> NDArray[np.int32]:
    """Return the vertex numbers of *source*, an id, a sequence of ids or :data:`LARGEST_DEGREE`, int32.

    Raises
    ------
    SourceError
        An id is no vertex.
    InputError
        There is no source, or the graph is too large for a search.
    """
    graph._require_fits("searches take")
    if source is LARGEST_DEGREE:
        return np.array([graph.degrees.argmax()] if graph.n_vertices else [], np.int32)
    if is_array(source) and _find(graph, source) < 0:  # an id may have methods of an array, as pandas' Timestamp has
        array = checked_array("source", source)
        check_length("source", np.atleast_1d(array))
        source = array.tolist()
    is_many = isinstance(source, Sequence) and not isinstance(source, str | bytes)
    if not is_many or (isinstance(source, tuple) and _find(graph, source) >= 0):  # a tuple may be an id
        return np.array([vertex_number(graph, source, "source")], np.int32)
    check_length("source", source)
    if not source:
        raise InputError("no source is given")
    return np.array([vertex_number(graph, one, "source") for one in source], np.int32)


def vertex_number(graph: Graph, given: Any, what: str = "vertex") -> int:
    """Return the number of the vertex of this id, or raise a :class:`SourceError` that says *what* it is."""
    number = _find(graph, given)
    if number >= 0:
        return number
    n = graph.n_vertices
    where = f"a vertex from 0 to {n - 1}" if graph.labels is None else f"among the labels of the {n} vertices"
    raise SourceError(f"{what} {shown(given)} is not {where if n else 'in the graph, which has no vertices'}")


def vertex_ids(graph: Graph, vertices: list[int]) -> list[Any]:
    """Return the ids of these vertex numbers."""
    return vertices if graph.labels is None else graph.labels[vertices].tolist()


def path_to(graph: Graph, predecessors: NDArray[np.int32], sources: NDArray[np.int32], vertex: Any) -> list[Any]:
    """Return the ids on the way that *predecessors* show from a source to *vertex*; empty without one."""
    path = [vertex_number(graph, vertex)]
    while (before := int(predecessors[path[-1]])) >= 0:
        path.append(before)
    return vertex_ids(graph, path[::-1]) if path[-1] in sources else []


def _find(graph: Graph, given: Any) -> int:
    """Return the number of the vertex of this id, -1 without one. A bool, which equals an integer, is none."""
    is_number = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if graph.labels is None:
        return int(given) if is_number and 0 <= given < graph.n_vertices else -1
    if is_number and graph.has_rising_labels:  # a dictionary of all labels would take seconds in a large graph
        number = int(graph.labels.searchsorted(int(given))) if -(2**63) <= given < 2**63 else graph.n_vertices
        return number if number < graph.n_vertices and graph.labels[number] == given else -1
    with contextlib.suppress(Exception):  # what has no hash, or fails when it is compared, is no id
        number = graph.vertex_numbers.get(given, -1)
        if number >= 0 and isinstance(given, _BOOL) == isinstance(graph.labels[number], _BOOL):
            return number
    return -1
