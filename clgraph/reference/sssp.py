"""A sequential reference implementation of shortest paths, and a check of results against the definition."""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra

from clgraph.data.graphs.csr import as_csr_array
from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.reference.bfs import Vertices, bfs_distances, check_predecessors, search
from clgraph.reference.entries import check_array, entry_chunks, first

_EXACT = 2.0**53  # All integers below this are exact as doubles.


def dijkstra(
    graph: Graph, sources: Vertices, *, limit: float = math.inf, dtype: np.dtype[Any] | None = None
) -> NDArray[Any]:
    """Return, for each vertex, the least total weight of a path from one of the *sources*.

    If the weights are integers or the graph is unweighted, the result is int64, with -1 for unreachable vertices.
    Else it is of *dtype* (by default float64) with infinity, and weights are added in this type from the source on.
    Vertices farther than *limit* count as unreachable. scipy computes the result if its float64 sums are exact.

    Raises
    ------
    OverflowError
        A distance is above 2**63 - 1.
    """
    weights = graph.edge_weights
    if weights is None:
        depths = bfs_distances(graph, sources)
        return np.where(depths <= limit, depths, -1).astype(np.int64)
    if dtype == np.float32:
        return _dijkstra(graph, weights, sources, limit)
    matrix = as_csr_array(graph.row_offsets, graph.column_indices, weights.astype(np.float64))  # keeps parallel edges
    distances: NDArray[Any] = scipy_dijkstra(matrix, indices=np.unique(np.asarray(sources)), min_only=True)
    if weights.dtype.kind == "f":
        return np.where(distances <= limit, distances, np.inf)
    reached = distances < np.inf
    if distances[reached].max(initial=0) >= _EXACT:
        return _dijkstra(graph, weights, sources, limit)
    return np.where(reached & (distances <= limit), distances, -1).astype(np.int64)


def _dijkstra(graph: Graph, weights: NDArray[Any], sources: Vertices, limit: float) -> NDArray[Any]:
    offsets, columns = graph.row_offsets.tolist(), graph.column_indices.tolist()
    is_float = weights.dtype.kind == "f"
    # Integers become Python's integers, which do not overflow.
    numbers = list(weights) if is_float else weights.tolist()
    zero, most = (weights.dtype.type(0), np.float64(limit)) if is_float else (0, limit)
    best = dict.fromkeys(np.asarray(sources).tolist(), zero)
    heap = [(zero, v) for v in best]
    with np.errstate(over="ignore"):
        while heap:
            distance, u = heapq.heappop(heap)
            if distance > best[u]:
                continue
            for at in range(offsets[u], offsets[u + 1]):
                total, v = distance + numbers[at], columns[at]
                if total < best.get(v, math.inf) and total <= most:
                    best[v] = total
                    heapq.heappush(heap, (total, v))
    distances = np.full(graph.n_vertices, np.inf if is_float else -1, weights.dtype if is_float else np.int64)
    distances[list(best)] = np.array(list(best.values()), distances.dtype)
    return distances


def check_sssp(
    graph: Graph,
    sources: Vertices,
    distances: NDArray[Any],
    predecessors: NDArray[Any] | None = None,
    *,
    limit: float | None = None,
    dtype: np.dtype[Any] | None = None,
) -> None:
    """Raise an error unless *distances* and *predecessors* are correct for shortest paths from *sources*.

    This checks the definition: the sources have distance 0; no entry leads to a lesser distance than its end has;
    and every reached vertex can be reached from a source by entries that lead exactly to the distance of their
    end, and also by the entries from the predecessors. Integers are compared exactly, and sums of floats in the
    type of the distances.

    Parameters
    ----------
    graph : Graph
        A graph without negative weights.
    sources : integer array
        Vertex numbers.
    distances : array, shape (n_vertices,)
        int64 with -1 for unreached vertices; for floating-point weights, *dtype* with infinity.
    predecessors : int32 array, shape (n_vertices,), optional
    limit : float, optional
        Vertices at a greater distance must be unreached.
    dtype : dtype, optional
        The type of the distances for floating-point weights; by default float64.

    Raises
    ------
    VerificationError
        A condition fails; the message names the vertex or the entry.
    """
    n, weights = graph.n_vertices, graph.edge_weights
    is_float = weights is not None and weights.dtype.kind == "f"
    kind = np.dtype(np.float64 if dtype is None else dtype) if is_float else np.dtype(np.int64)
    check_array("distances", distances, n, kind)
    if (v := first(~((distances >= 0) | (distances == (np.inf if is_float else -1))))) is not None:
        raise VerificationError(f"distance {distances[v]} of vertex {v} is not a length")
    lengths, unreached, bound = _lengths(distances, limit)
    reached, roots = lengths != unreached, np.zeros(n, bool)
    roots[sources] = True
    for bad, wanted in ((roots & (lengths != 0), "0, of a source"), (reached & (lengths > bound), f"up to {limit}")):
        if (v := first(bad)) is not None:
            raise VerificationError(f"distance {distances[v]} of vertex {v} is not {wanted}")
    if predecessors is not None:
        check_array("predecessors", predecessors, n, np.int32)
        check_predecessors(predecessors, reached & ~roots)
    supported, joined = roots.copy(), roots.copy()
    # Edges of weight 0 on shortest paths are kept for later, because some vertices may be reached only by such edges.
    level = [(np.zeros(0, np.int32), np.zeros(0, np.int32))]
    for places, rows, columns in entry_chunks(graph):
        steps = 1 if weights is None else weights[places].astype(lengths.dtype, copy=False)
        near, far = lengths[rows], lengths[columns]
        with np.errstate(over="ignore"):
            totals = near + steps
        totals[near == unreached] = unreached
        if (at := first((totals < far) & (totals <= bound))) is not None:
            u, v = rows[at], columns[at]
            end = f"distance {distances[v]}" if reached[v] else "an unreached vertex"
            weight = "" if weights is None else f" of weight {weights[places][at]}"
            raise VerificationError(f"entry ({u}, {v}){weight} leads from distance {distances[u]} to {end}")
        tight = (totals == far) & (far != unreached)
        supported[columns[tight & (near < far)]] = True
        flat = tight & (near == far) & ~supported[columns]
        level.append((rows[flat], columns[flat]))
        if predecessors is not None:
            joined[columns[tight & (predecessors[columns] == rows)]] = True
    ends = [np.concatenate(each) for each in zip(*level, strict=True)]
    if (v := _missed(reached, supported, *ends)) is not None:
        raise VerificationError(f"no path of length {distances[v]} leads to vertex {v}")
    if predecessors is None:
        return
    if (v := first(reached & ~joined)) is not None:
        raise VerificationError(f"no entry from predecessor {predecessors[v]} to vertex {v} gives {distances[v]}")
    vertices = np.flatnonzero(reached & ~roots)
    if (v := _missed(reached, roots, predecessors[vertices], vertices)) is not None:
        raise VerificationError(f"the predecessors of vertex {v} lead to no source")


def _lengths(distances: NDArray[Any], limit: float | None) -> tuple[NDArray[Any], Any, Any]:
    """Return *distances* as lengths that can be compared, the length of unreached vertices, and the greatest length.

    The length of unreached vertices is greater than all other lengths.
    """
    kind = distances.dtype
    # In uint64, the sum of two int64 distances does not overflow, and -1 becomes the greatest value.
    if kind.kind == "i":
        bound = np.uint64(2**64 - 2 if limit is None else int(min(limit, 2**64 - 2)))
        return distances.astype(np.uint64), np.uint64(2**64 - 1), bound
    greatest = np.finfo(kind).max
    bound = greatest if limit is None else kind.type(min(limit, float(greatest)))
    if limit is not None and float(bound) > limit:
        bound = np.nextafter(bound, kind.type(0))
    return distances, kind.type(np.inf), bound


def _missed(reached: NDArray[Any], roots: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any]) -> int | None:
    """Return the first *reached* vertex to which the entries (*rows*, *columns*) give no path from *roots*."""
    missed = np.append(reached & ~roots, False)
    if missed.any():
        matrix = coo_array((np.ones(rows.size, bool), (rows, columns)), shape=(roots.size, roots.size)).tocsr()
        order, _ = search(matrix.indptr, matrix.indices, np.flatnonzero(roots))
        missed[order] = False
    return first(missed)
