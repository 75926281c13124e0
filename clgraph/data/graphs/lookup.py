"""Look up vertices by their ids."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from clgraph.arguments import shown
from clgraph.data.graphs.graph import Graph
from clgraph.errors import SourceError

_BOOL = bool | np.bool_


def vertex_number(graph: Graph, given: Any, what: str = "vertex") -> int:
    """Return the number of the vertex with the id *given*. The text of a :class:`SourceError` calls it *what*."""
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
    """Return the number of the vertex with the id *given*, or -1. ``True`` is not the id 1, although ``True == 1``."""
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
