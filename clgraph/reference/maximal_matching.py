"""Maximal matchings of locally dominant edges by definition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.reference.entries import check_array, entry_chunks, first


def check_matching(graph: Graph, mates: NDArray[Any], *, weighted: bool = True) -> None:
    """Raise a :class:`VerificationError` unless *mates* is a maximal matching of *graph* whose edges are dominant.

    Mates have each other, along an edge. At an end of each edge the matching has an edge that weighs at least as much.
    Without weights, this says that each edge has a matched end, so the matching is maximal.

    Parameters
    ----------
    graph : Graph
        Each entry has a reverse entry. Self-loops are ignored.
    mates : int32 array, shape (n_vertices,)
        -1 for a vertex without a mate.
    weighted : bool
        Whether the graph's weights count.
    """
    n = graph.n_vertices
    check_array("mates", mates, n, np.int32)
    vertices, matched = np.arange(n, dtype=np.int32), mates != -1
    if (v := first((mates < -1) | (mates >= n) | (mates == vertices))) is not None:
        raise VerificationError(f"vertex {v} has the mate {mates[v]}")
    if (v := first(matched & (mates[mates] != vertices))) is not None:
        raise VerificationError(f"vertex {v} has the mate {mates[v]}, whose mate is {mates[mates[v]]}")
    weights = graph.edge_weights if weighted else None
    kind = np.int8 if weights is None else weights.dtype
    heaviest, is_along = np.zeros(n, kind), np.zeros(n, bool)
    for places, rows, columns in entry_chunks(graph):
        of_mates = mates[rows] == columns
        ends, own = rows[of_mates], None if weights is None else weights[places][of_mates]
        if own is not None:
            heaviest[ends[~is_along[ends]]] = own[~is_along[ends]]
            np.maximum.at(heaviest, ends, own)
        is_along[ends] = True
    if (v := first(matched & ~is_along)) is not None:
        raise VerificationError(f"vertex {v} has the mate {mates[v]}, but no edge to it")
    for places, rows, columns in entry_chunks(graph):
        own = np.ones(1, kind) if weights is None else weights[places]
        is_free = ~(matched[rows] & (heaviest[rows] >= own)) if weights is not None else ~matched[rows]
        other = ~(matched[columns] & (heaviest[columns] >= own)) if weights is not None else ~matched[columns]
        if (at := first(is_free & other & (rows != columns))) is not None:
            raise VerificationError(f"edge ({rows[at]}, {columns[at]}) has no matched end of as much weight")
