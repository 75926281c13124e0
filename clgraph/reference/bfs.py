"""A sequential reference implementation of breadth-first search, and a check of results against the definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from clgraph.data.graphs.csr import as_csr_array
from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.reference.entries import check_array, entry_chunks, first

Vertices: TypeAlias = Sequence[int] | NDArray[Any]
NO_PREDECESSOR = -9999  # as in scipy.sparse.csgraph


def bfs_distances(graph: Graph, sources: Vertices) -> NDArray[np.int32]:
    """Return, for each vertex, the least number of edges from one of the *sources*, int32; -1 for unreachable vertices.

    scipy computes the result.
    """
    return depths(*search(graph.row_offsets, graph.column_indices, sources), root=-1)[: graph.n_vertices]


def depths(order: NDArray[Any], predecessors: NDArray[Any], root: int = 0) -> NDArray[np.int32]:
    """Return the distances that scipy's breadth-first order implies, int32; -1 for vertices that are not in the order.

    *root* is the distance of the first vertex. In breadth-first order, parents are in the order of their children.
    """
    places = np.empty(predecessors.size, np.int64)
    places[order] = np.arange(order.size)
    parents = places[predecessors[order[1:]]]  # ascending
    starts = [0, 1]  # Item k is the position in *order* at which level k starts.
    while starts[-1] < order.size:
        starts.append(1 + int(parents.searchsorted(starts[-1])))
    distances = np.full(predecessors.size, -1, np.int32)
    distances[order] = np.repeat(np.arange(root, root + len(starts) - 1, dtype=np.int32), np.diff(starts))
    return distances


def check_bfs(
    graph: Graph,
    sources: Vertices,
    distances: NDArray[Any],
    predecessors: NDArray[Any],
    *,
    max_depth: int | None = None,
) -> None:
    """Raise an error unless *distances* and *predecessors* are correct for a breadth-first search from *sources*.

    This checks the definition: only the sources have distance 0; every other reached vertex has an entry from
    its predecessor, which is one edge nearer; no entry leads to a vertex that is farther by more than one edge or
    is unreached. Such distances are the least, and no reachable vertex is missing.

    Parameters
    ----------
    graph : Graph
    sources : integer array
        Vertex numbers.
    distances, predecessors : int32 array, shape (n_vertices,)
    max_depth : int, optional
        Vertices at a greater distance must be unreached.

    Raises
    ------
    VerificationError
        A condition fails; the message names the vertex or the entry.
    """
    n = graph.n_vertices
    check_array("distances", distances, n, np.int32)
    check_array("predecessors", predecessors, n, np.int32)
    bound = n if max_depth is None else max_depth
    if (v := first((distances < -1) | (distances > bound))) is not None:
        raise VerificationError(f"distance {distances[v]} of vertex {v} is not from -1 to {bound}")
    roots = np.zeros(n, bool)
    roots[sources] = True
    if (v := first(roots != (distances == 0))) is not None:
        raise VerificationError(f"vertex {v}, {'a' if roots[v] else 'no'} source, has distance {distances[v]}")
    has_predecessor = ~roots & (distances >= 0)
    check_predecessors(predecessors, has_predecessor)
    if (v := first(has_predecessor & (distances[predecessors * has_predecessor] + 1 != distances))) is not None:
        p = predecessors[v]
        raise VerificationError(
            f"predecessor {p} of vertex {v} has distance {distances[p]}, the vertex {distances[v]}; not one less"
        )
    joined = np.zeros(n, bool)
    for _, rows, columns in entry_chunks(graph):
        near, far = distances[rows], distances[columns]
        if (at := first((near >= 0) & (near < bound) & ((far < 0) | (far > near + 1)))) is not None:
            end = f"distance {far[at]}" if far[at] >= 0 else "an unreached vertex"
            raise VerificationError(f"entry ({rows[at]}, {columns[at]}) leads from distance {near[at]} to {end}")
        joined[columns[predecessors[columns] == rows]] = True
    if (v := first(has_predecessor & ~joined)) is not None:
        raise VerificationError(f"predecessor {predecessors[v]} of vertex {v} has no entry to it")


def search(
    offsets: NDArray[Any], columns: NDArray[Any], sources: Vertices
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return scipy's order and predecessors of a breadth-first search from all *sources*.

    The search starts at an extra vertex *n*, which has an entry to each source.
    """
    n, starts = offsets.size - 1, np.unique(np.asarray(sources, np.int32))
    columns = np.concatenate([columns, starts])
    matrix = as_csr_array(np.append(offsets, columns.size), columns, np.ones(columns.size, bool))
    order, predecessors = breadth_first_order(matrix, n)
    return order, predecessors


def check_predecessors(predecessors: NDArray[Any], needed: NDArray[Any]) -> None:
    """Raise an error unless each *needed* predecessor is a vertex and each other one is ``NO_PREDECESSOR``."""
    vertices = (predecessors >= 0) & (predecessors < needed.size)
    if (v := first(np.where(needed, ~vertices, predecessors != NO_PREDECESSOR))) is not None:
        allowed = f"from 0 to {needed.size - 1}" if needed[v] else f"{NO_PREDECESSOR}, none"
        raise VerificationError(f"predecessor {predecessors[v]} of vertex {v} is not {allowed}")
