"""Oracles that only tests need: greedy colours, conflicts by their definition, and steps of a factorisation."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.vertex_hashes import HASHES, order_key
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import VerificationError
from clgraph.reference.color import _chunks, _closed, _indicator, _pattern, _row_numbers
from clgraph.reference.factorization import Model


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


def sgd_sweep(
    ratings: Ratings, model: Model, order: Iterable[int], *, learning_rate: float, regularization: float, mean: float,
    weights: NDArray[Any] | None = None,
) -> list[NDArray[Any] | None]:  # fmt: skip
    """Step on the ratings one after the other.

    Each step, with p and q the rows of the rating's user and item, b and c their biases, and every old
    value on the right-hand side, is

    * error = value − mean − b − c − p·q
    * p += learning_rate (error q − regularization p), and q likewise with p
    * b += learning_rate (error − regularization b), and c likewise

    Parameters
    ----------
    ratings : Ratings
    model : sequence of 2 or 4 arrays
        Rows and biases; not changed.
    order : iterable of int
        Positions of ratings.
    learning_rate, regularization, mean : float
    weights : array, optional
        Factor of each rating's error; by default 1.

    Returns
    -------
    list of 4 arrays
        In the types of *model*; the last two ``None`` without biases.
    """
    p, q, b, c = [None if array is None else array.copy() for array in (*model, None, None)[:4]]
    assert p is not None and q is not None
    for k in order:
        user, item = ratings.users[k], ratings.items[k]
        known = mean if b is None or c is None else mean + b[user] + c[item]
        error = (ratings.values[k] - known - p[user] @ q[item]) * (1 if weights is None else weights[k])
        row = p[user].copy()
        p[user] += learning_rate * (error * q[item] - regularization * row)
        q[item] += learning_rate * (error * row - regularization * q[item])
        if b is not None and c is not None:
            b[user] += learning_rate * (error - regularization * b[user])
            c[item] += learning_rate * (error - regularization * c[item])
    return [p, q, b, c]


def check_supersteps(ratings: Ratings, order: NDArray[Any], offsets: NDArray[Any]) -> None:
    """Raise unless a sweep in *order* has each rating once, and no two of a superstep share a user or an item."""
    n = ratings.n_ratings
    if order.shape != (n,) or (n and not np.array_equal(np.sort(order), np.arange(n))):
        raise VerificationError(f"the order is not a permutation of {n} ratings")
    if offsets[0] != 0 or offsets[-1] != n or (np.diff(offsets) < 0).any():
        raise VerificationError(f"supersteps from {offsets[0]} to {offsets[-1]}; needed: ascending from 0 to {n}")
    step = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    for kind, vertices in (("user", ratings.users[order]), ("item", ratings.items[order])):
        by_vertex = np.lexsort((vertices, step))
        same = (np.diff(step[by_vertex]) == 0) & (np.diff(vertices[by_vertex]) == 0)
        if same.any():
            at = by_vertex[int(same.argmax())]
            raise VerificationError(f"superstep {step[at]} has two ratings of {kind} {vertices[at]}")


def greedy_independent_set(graph: Any, order: str, seed: int = 0, include: Iterable[int] = ()) -> NDArray[np.bool_]:
    """Return the independent set to which each vertex in turn is added if it may be.

    Vertices to include are first. The others follow by their number of entries or, in the order "random", by a hash.
    """
    vertices = np.arange(graph.n_vertices, dtype=np.uint32)
    hashed = HASHES["murmur3"](vertices ^ np.uint32(order_key(seed))).astype(np.int64)
    degrees = np.diff(graph.row_offsets).astype(np.int64)
    if order == "smallest_first":  # Degrees from 16 on are rounded down to four bits.
        kept = np.array([max(0, degree.bit_length() - 4) for degree in degrees.tolist()], np.int64)
        ranks = np.lexsort((-hashed, -(hashed & 0xFFFFFF), degrees >> kept << kept))
    else:
        ranks = np.argsort(-hashed)
    first = list(include)
    members, is_out = np.zeros(vertices.size, bool), np.zeros(vertices.size, bool)
    for v in [*first, *ranks.tolist()]:
        if not is_out[v]:
            members[v] = True
            is_out[graph.column_indices[graph.row_offsets[v] : graph.row_offsets[v + 1]]] = True
            is_out[v] = False
    return members


def greedy_matching(graph: Any, weights: Any, seed: int = 0) -> NDArray[np.int32]:
    """Return the mates in the matching to which each edge in turn is added if it may be, the heaviest first.

    Edges of equal weight go by the hash of their ends.
    """
    hashed = HASHES["murmur3"](np.arange(graph.n_vertices, dtype=np.uint32) ^ np.uint32(order_key(seed)))
    rows, columns = graph.sources(), graph.column_indices
    sums = hashed[rows] + hashed[columns]
    of_edges = ((sums ^ (sums >> np.uint32(15))) * np.uint32(0x85EBCA6B)).astype(np.int64)
    mates = np.full(graph.n_vertices, -1, np.int32)
    ranks = np.zeros(rows.size, int) if weights is None else np.unique(weights, return_inverse=True)[1]
    for e in np.lexsort((-of_edges, -ranks)).tolist():
        u, v = rows[e], columns[e]
        if u != v and mates[u] < 0 and mates[v] < 0:
            mates[u], mates[v] = v, u
    return mates
