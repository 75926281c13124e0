"""The order in which networkx's Dijkstra algorithm settles nodes, computed from the distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.sssp import sssp
from clgraph.data.graphs.graph import Graph
from clgraph.networkx_backend.adjacency import Adjacency
from clgraph.networkx_backend.calls import run_options
from clgraph.networkx_backend.searches import Visits

# Random weights need 2 or 3 rounds. If ties need more than 64, some shortest paths differ from networkx's.
_MAX_ROUNDS = 64


def settle(
    adjacency: Adjacency, graph: Graph, distances: NDArray[Any], sources: list[int]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the reached vertices in the order of networkx's Dijkstra, and
    the predecessor of each vertex (-1 for none).

    networkx settles nodes by distance. Among nodes at the same distance, the one that was queued first is settled
    first: its predecessor was settled earlier, or it is earlier among the neighbours of the same predecessor. So ranks
    by distance are refined by the ranks of predecessors until no rank changes.
    """
    reached = (distances >= 0) & (distances < np.inf)
    vertices = np.flatnonzero(reached)
    if graph.edge_weights is None:
        visits = Visits(graph, sources, int(distances.max(initial=0)))
        return visits.order, visits.predecessors
    rows, columns = adjacency.rows, adjacency.columns
    near, far = distances[rows], distances[columns]
    is_source = np.zeros(len(adjacency), bool)
    is_source[sources] = True
    tight = reached[rows] & reached[columns] & (near < far) & (near + graph.edge_weights == far) & ~is_source[columns]
    entries = np.flatnonzero(tight)
    leads = is_source.copy()
    leads[columns[entries]] = True
    if not leads[vertices].all():  # Some vertices are reached only by edges of weight 0.
        return _by_distance(graph, distances, vertices, sources)
    # For each vertex, the entry through which it was queued; for a source, its position in *sources*.
    queued = np.full(len(adjacency), np.iinfo(np.int64).max)
    for place, source in reversed([*enumerate(sources)]):
        queued[source] = place
    starts, heads = rows[entries], columns[entries]
    rank = _ranks(vertices, len(adjacency), distances)
    before = np.full(len(adjacency), -1, np.int64)
    for _ in range(_MAX_ROUNDS):
        order = np.lexsort((entries, rank[starts], heads))
        first = np.append(True, heads[order][1:] != heads[order][:-1]) if order.size else np.zeros(0, bool)
        chosen = order[first]
        before[heads[chosen]] = starts[chosen]
        queued[heads[chosen]] = entries[chosen]
        by = np.where(before[vertices] >= 0, rank[before[vertices]], -1)
        found = _ranks(vertices, len(adjacency), queued, by, distances)
        if np.array_equal(found, rank):
            break
        rank = found
    return vertices[np.argsort(rank[vertices], kind="stable")], before


def _ranks(vertices: NDArray[Any], n: int, *keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rank of each of the *vertices* when they are sorted by the
    last key, then by the key before it, and so on.

    Ranks are consecutive integers. Vertices that are equal in all keys have the same rank.
    """
    columns = [key[vertices] if key.size == n else key for key in keys]
    order = np.lexsort(columns)
    differs = np.zeros(order.size, bool)
    for key in columns:
        in_order = key[order]
        differs[1:] |= in_order[1:] != in_order[:-1]
    rank = np.full(n, -1, np.int64)
    rank[vertices[order]] = np.cumsum(differs)
    return rank


def _by_distance(
    graph: Graph, distances: NDArray[Any], vertices: NDArray[Any], sources: list[int]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the vertices by distance, each after its predecessor, and the predecessors of :func:`clgraph.sssp`."""
    before = sssp(graph, sources, predecessors=True, **run_options("sssp")).predecessors
    assert before is not None
    # The number of edges from a source to each vertex, which orders vertices at the same distance.
    steps = np.zeros(distances.size, np.int64)
    while True:
        deeper = np.where(before >= 0, steps[np.maximum(before, 0)] + 1, 0)
        if np.array_equal(deeper, steps):
            break
        steps = deeper
    order = np.lexsort((steps[vertices], distances[vertices]))
    return vertices[order], before
