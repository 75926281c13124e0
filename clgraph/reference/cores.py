"""Core numbers by definition: k-cores exist, and nothing larger does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.reference.entries import check_array, entry_chunks, first


def check_core_numbers(graph: Graph, cores: NDArray[Any]) -> None:
    """Raise a :class:`VerificationError` unless *cores* are the core numbers of *graph*.

    In the subgraph of the vertices with a number of at least k, each vertex must have k neighbours, so no number is too
    high. Vertices are also removed in the order of their numbers, and vertices with equal numbers are removed in waves.
    When a vertex is removed, its neighbours that are left must not exceed its number, so no number is too low.

    Parameters
    ----------
    graph : Graph
        An undirected graph without self-loops and parallel edges.
    cores : int32 array, shape (n_vertices,)
    """
    n = graph.n_vertices
    check_array("cores", cores, n, np.int32)
    if (v := first(cores < 0)) is not None:
        raise VerificationError(f"vertex {v} has core number {cores[v]}")
    inside = np.zeros(n, np.int64)  # neighbours with at least the vertex's number
    for _, rows, columns in entry_chunks(graph):
        inside += np.bincount(rows[cores[columns] >= cores[rows]], minlength=n)
    if (v := first(inside < cores)) is not None:
        raise VerificationError(f"vertex {v} has core number {cores[v]} and {inside[v]} neighbours in that core")
    _peel(graph, cores, inside)


def _peel(graph: Graph, cores: NDArray[Any], left: NDArray[np.int64]) -> None:
    """Raise an error unless waves within each core number remove all vertices.

    *left* is for each vertex the number of neighbours of at least its number, which is what is left when all lower ones
    are removed. All core numbers are treated at once, since edges between different ones do not matter any more.
    """
    rows, columns = graph.sources(), graph.column_indices
    is_level = cores[rows] == cores[columns]
    lengths = np.bincount(rows[is_level], minlength=graph.n_vertices)
    offsets, columns = np.append(0, np.cumsum(lengths)), columns[is_level]
    is_removed = left <= cores
    wave = np.flatnonzero(is_removed)
    while wave.size:
        starts, sizes = offsets[wave], lengths[wave]
        places = np.repeat(starts - np.append(0, np.cumsum(sizes)[:-1]), sizes) + np.arange(int(sizes.sum()))
        touched = columns[places]
        np.subtract.at(left, touched, 1)
        touched = np.unique(touched)
        wave = touched[~is_removed[touched] & (left[touched] <= cores[touched])]
        is_removed[wave] = True
    if (v := first(~is_removed)) is not None:
        raise VerificationError(f"vertex {v} has core number {cores[v]}, but is in the {cores[v] + 1}-core of the rest")
