"""Balance a partition on the host: vertices move until all parts keep their weight limits.

Every partition ends so.

A part over its limit gives vertices away. The vertices whose move increases the cut least go first. If all parts keep
their limits and no part is empty, no entry of the graph is read.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from clgraph.algorithms.partition.problem import PartitionProblem

# Greatest number of rounds in which vertices move to adjacent parts to balance the parts.
# If a part is still over its limit after all rounds, its excess vertices go to any part with room.
MAX_ROUNDS = 16

Parts = NDArray[np.int32]
Sums = NDArray[np.int64]


def place(problem: PartitionProblem, parts: Parts, weights: Sums) -> None:
    """Assign vertices without a part to parts with room, the heaviest first.

    *parts* and *weights* change in place.
    """
    left_out = np.flatnonzero(parts < 0)
    if not left_out.size:
        return
    if problem.vertex_weights is None:
        room = np.maximum(problem.shares - weights, 0)
        if room.sum() < left_out.size:
            room = np.maximum(problem.limits - weights, 0)
        parts[left_out] = np.repeat(np.arange(problem.n_parts), room)[: left_out.size]
        weights += np.bincount(parts[left_out], minlength=problem.n_parts)
        return
    own = problem.vertex_weights[left_out].astype(np.int64)
    heaviest_first = np.argsort(-own, kind="stable")
    heap = [(weight - limit, part) for part, (weight, limit) in enumerate(zip(weights, problem.limits, strict=True))]
    heapq.heapify(heap)
    for vertex, weight in zip(left_out[heaviest_first].tolist(), own[heaviest_first].tolist(), strict=True):
        over, part = heap[0]  # *part* has the most room, and *over* is the weight of the part minus its limit.
        parts[vertex] = part
        heapq.heapreplace(heap, (over + weight, part))
    for over, part in heap:
        weights[part] = over + problem.limits[part]


def keep_limits(problem: PartitionProblem, parts: Parts, weights: Sums) -> int:
    """Move vertices until no part is over its limit and no part is empty.

    Return the increase of the cut.

    Vertices of weight 1 always fit. Other vertices fit if the heaviest weighs at most f / (n_parts - 1), where f is the
    sum of all limits minus the total weight. They also fit if this succeeds: put each vertex, the heaviest first, into
    the part with the most room. In other cases moves reduce the weight over the limits as far as possible. An empty
    part gets a vertex if another part can spare one, unless the empty part's share is below half a vertex. *parts* and
    *weights* change in place.
    """
    is_over = bool((weights > problem.limits).any())
    if not is_over and not _hollow(problem, weights).any():
        return 0
    before = parts.copy()
    if is_over:
        _move_along_edges(problem, parts, weights)
        _make_fit(problem, parts, weights)
    _fill_empty(problem, parts, weights)
    return _growth_of_cut(problem, before, parts)


def _hollow(problem: PartitionProblem, weights: Sums) -> NDArray[np.bool_]:
    """Return a mask of the parts of weight 0 that should have a vertex: their share is at least half a vertex.

    A part with a smaller share may stay empty, because 0 vertices are closer to its share than 1 vertex is.
    """
    share = 1 / problem.n_parts if problem.target_weights is None else problem.target_weights
    hollow: NDArray[np.bool_] = (weights == 0) & (share * problem.graph.n_vertices >= 0.5)
    return hollow


def _weight_over(problem: PartitionProblem, weights: Sums) -> int:
    return int(np.maximum(weights - problem.limits, 0).sum())


def _weights_of(problem: PartitionProblem, vertices: NDArray[Any]) -> Sums:
    if problem.vertex_weights is None:
        return np.ones(vertices.size, np.int64)
    weights: Sums = problem.vertex_weights[vertices].astype(np.int64)
    return weights


def _entries_of(problem: PartitionProblem, vertices: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], Sums]:
    """Return the entries in the rows of *vertices* except self-loops, as three arrays.

    They hold, for each entry, the index of its row in *vertices*, its column, and its weight.
    """
    graph = problem.graph
    begins = graph.row_offsets[vertices].astype(np.int64)
    degrees = graph.row_offsets[vertices + 1] - begins
    at = np.repeat(begins - np.cumsum(degrees) + degrees, degrees) + np.arange(degrees.sum())
    places, columns = np.repeat(np.arange(vertices.size), degrees), graph.column_indices[at]
    weights = np.ones(at.size, np.int64) if graph.edge_weights is None else graph.edge_weights[at].astype(np.int64)
    is_edge = columns != vertices[places]
    return places[is_edge], columns[is_edge], weights[is_edge]


def _sums_before(groups: NDArray[Any], values: Sums) -> Sums:
    """Return, for each item, the sum of the values of all earlier items in the same group."""
    order = np.argsort(groups, kind="stable")
    sums, sorted_groups = np.cumsum(values[order]) - values[order], groups[order]
    first = np.searchsorted(sorted_groups, sorted_groups)
    found = np.empty_like(sums)
    found[order] = sums - sums[first]
    return found


def _pulls(
    problem: PartitionProblem, parts: Parts, vertices: NDArray[Any], room: Sums
) -> tuple[Sums, Sums, NDArray[Any]]:
    """Return three values for each of the *vertices*, which tell whether a move to another part pays.

    They are the weight of the vertex's edges to its own part, the largest weight of its edges to another part that has
    room for it, and the number of that other part, or -1 if there is none.
    """
    places, columns, weights = _entries_of(problem, vertices)
    sums = coo_array((weights, (places, parts[columns])), shape=(vertices.size, problem.n_parts)).tocsr().tocoo()
    at, part, pull = sums.row, sums.col, sums.data
    own, best = np.zeros(vertices.size, np.int64), np.zeros(vertices.size, np.int64)
    target = np.full(vertices.size, -1)
    is_own = part == parts[vertices][at]
    own[at[is_own]] = pull[is_own]
    is_open = ~is_own & (room[part] >= _weights_of(problem, vertices)[at])
    at, part, pull = at[is_open], part[is_open], pull[is_open]
    # The assignments below go in this order, so each vertex keeps its largest pull, and the least part of equal pulls.
    order = np.lexsort((-part, pull, at))
    best[at[order]], target[at[order]] = pull[order], part[order]
    return own, best, target


def _heavy(problem: PartitionProblem, parts: Parts, weights: Sums) -> NDArray[Any]:
    """Return the vertices of nonzero weight in parts that are over their weight limits."""
    is_movable = (weights > problem.limits)[parts]
    return np.flatnonzero(is_movable if problem.vertex_weights is None else is_movable & (problem.vertex_weights > 0))


def _move_along_edges(problem: PartitionProblem, parts: Parts, weights: Sums) -> None:
    """Move vertices from parts over their weight limits to adjacent parts that have room."""
    for _ in range(MAX_ROUNDS):
        vertices, room = _heavy(problem, parts, weights), np.maximum(problem.limits - weights, 0)
        if not vertices.size:
            return
        own, best, target = _pulls(problem, parts, vertices, room)
        order = np.argsort((own - best) / _weights_of(problem, vertices), kind="stable")
        order = order[target[order] >= 0]
        vertices, target = vertices[order], target[order]
        moved = _weights_of(problem, vertices)
        leaves = _sums_before(parts[vertices], moved) < (weights - problem.limits)[parts[vertices]]
        vertices, target, moved = vertices[leaves], target[leaves], moved[leaves]
        fits = _sums_before(target, moved) + moved <= room[target]
        if not fits.any():
            return
        vertices, target, moved = vertices[fits], target[fits], moved[fits]
        np.subtract.at(weights, parts[vertices], moved)
        np.add.at(weights, target, moved)
        parts[vertices] = target


def _make_fit(problem: PartitionProblem, parts: Parts, weights: Sums) -> None:
    """Remove vertices from parts over their limits and assign them to other parts, until that stops helping.

    Three ways are tried. The first keeps the vertices with the largest ratio of edge weight to their own part and
    vertex weight. The second keeps the heaviest vertices. The third assigns all vertices anew. The third ignores the
    cut, so its result is used only if all parts keep their limits.
    """
    for way in ("pull", "weight", "all"):
        for _ in range(MAX_ROUNDS):
            least = _weight_over(problem, weights)
            if not least:
                return
            new, new_weights = parts.copy(), weights.copy()
            if way == "all":
                new[:], new_weights[:] = -1, 0
            else:
                vertices = _heavy(problem, parts, weights)
                own_weights = _weights_of(problem, vertices)
                key = own_weights.astype(np.float64)
                if way == "pull":
                    key = _pulls(problem, parts, vertices, np.zeros_like(weights))[0] / own_weights
                order = np.argsort(-key, kind="stable")
                vertices, own_weights = vertices[order], own_weights[order]
                stays = _sums_before(parts[vertices], own_weights) + own_weights <= problem.limits[parts[vertices]]
                new[vertices[~stays]] = -1
                np.subtract.at(new_weights, parts[vertices[~stays]], own_weights[~stays])
            place(problem, new, new_weights)
            over = _weight_over(problem, new_weights)
            if over >= least or (way == "all" and over):
                break
            parts[:], weights[:] = new, new_weights


def _fill_empty(problem: PartitionProblem, parts: Parts, weights: Sums) -> None:
    """Give each empty part a vertex from a part that has several vertices.

    The vertices whose move increases the cut least go first.
    """
    if not _hollow(problem, weights).any():
        return
    counts = np.bincount(parts, minlength=problem.n_parts)
    empty = np.flatnonzero(_hollow(problem, weights) & (counts == 0))
    empty = empty[np.argsort(-problem.limits[empty], kind="stable")].tolist()
    vertices = np.flatnonzero(counts[parts] > 1)
    if not empty or not vertices.size:
        return
    pull, own_weights = _pulls(problem, parts, vertices, np.zeros_like(weights))[0], _weights_of(problem, vertices)
    order = np.lexsort((pull, own_weights == 0))
    for at in order.tolist():
        vertex, weight = vertices[at], own_weights[at]
        if counts[parts[vertex]] < 2 or weight > problem.limits[empty[0]]:
            continue
        for part, change in ((parts[vertex], -1), (empty[0], 1)):
            counts[part] += change
            weights[part] += change * weight
        parts[vertex] = empty.pop(0)
        if not empty:
            return


def _growth_of_cut(problem: PartitionProblem, before: Parts, after: Parts) -> int:
    moved = np.flatnonzero(before != after)
    places, columns, weights = _entries_of(problem, moved)
    sources = moved[places]
    changes = (after[sources] != after[columns]).astype(np.int64) - (before[sources] != before[columns])
    # An edge between two moved vertices occurs twice in *columns*, and other edges once. *ends* makes all count twice.
    ends = np.where(before[columns] != after[columns], 1, 2)
    return int((changes * weights * ends).sum()) // 2
