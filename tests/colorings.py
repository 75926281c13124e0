"""Oracles of the colouring: the greedy colouring, and the count of conflicts by its definition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.reference.coloring import _chunks, _closed, _indicator, _pattern, _row_numbers


def count_conflicts(graph: Any, colors: NDArray[Any], distance: int = 1, bipartite: bool = False) -> int:
    """Return how many edges join equal colours; at distance 2 the members of rows less the colours among them."""
    matrix, total = _pattern(graph) if distance == 2 else graph.to_scipy(), 0
    _, colors = np.unique(colors, return_inverse=True)
    for start, rows in _chunks(matrix, distance, bipartite):
        if distance == 1:
            row_of = _row_numbers(rows, start)
            total += int(np.count_nonzero((colors[row_of] == colors[rows.indices]) & (row_of < rows.indices)))
        else:
            total += rows.nnz - (rows @ _indicator(colors)).nnz
    return total


def greedy_coloring(
    graph: Any, distance: int = 1, order: Iterable[int] | None = None, bipartite: bool = False
) -> NDArray[np.int32]:
    """Return the colouring in which each vertex in turn takes the least colour that it may, int32.

    Parameters
    ----------
    graph : Graph or scipy sparse array
    distance : {1, 2}
    order : iterable of int, optional
        The vertices in turn; by default by their numbers.
    bipartite : bool
        Colour the columns of a matrix.
    """
    matrix = _pattern(graph)
    nets = matrix if bipartite or distance == 1 else _closed(matrix, 0)
    of_vertex = nets.T.tocsr() if bipartite else nets
    colors = np.full(matrix.shape[1], -1, np.int32)
    for v in range(colors.size) if order is None else order:
        near = of_vertex.indices[of_vertex.indptr[v] : of_vertex.indptr[v + 1]]
        if distance == 2:
            members = [nets.indices[nets.indptr[r] : nets.indptr[r + 1]] for r in near]
            near = np.concatenate(members) if members else near
        taken = set(colors[near].tolist())
        colors[v] = next(c for c in range(len(taken) + 1) if c not in taken)
    return colors
