"""Sources of searches: from the user's ids to vertex numbers."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.errors import InputError, SourceError
from clgraph.graph import Graph


def source_numbers(graph: Graph, source: Any) -> NDArray[np.int32]:
    """Return the vertex numbers of *source*, an id or a sequence of ids, int32.

    Raises
    ------
    SourceError
        An id is no vertex.
    InputError
        There is no source.
    """
    if isinstance(source, np.ndarray):
        source = source.tolist()
    is_many = isinstance(source, Sequence) and not isinstance(source, str | bytes)
    if is_many and graph.labels is not None and isinstance(source, tuple) and source in graph.labels.tolist():
        is_many = False  # a tuple may be an id
    ids = list(source) if is_many else [source]
    if not ids:
        raise InputError("no source is given")
    return np.array([_number(graph, one) for one in ids], np.int32)


def default_source(graph: Graph) -> NDArray[np.int32]:
    """Return the vertex of the largest degree."""
    return np.array([graph.degrees.argmax()] if graph.n_vertices else [], np.int32)


def _number(graph: Graph, source: Any) -> int:
    if graph.labels is None:
        if isinstance(source, int | np.integer) and 0 <= source < graph.n_vertices:
            return int(source)
        raise SourceError(f"source {source!r} is not a vertex from 0 to {graph.n_vertices - 1}")
    for vertex, label in enumerate(graph.labels.tolist()):
        if label == source:
            return vertex
    raise SourceError(f"source {source!r} is not among the labels of the {graph.n_vertices} vertices")
