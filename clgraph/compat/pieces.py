"""Contiguous parts: pieces that a part has apart from its heaviest piece go to neighbouring parts."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from clgraph.arguments import checked_array
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError

_MAX_ROUNDS = 64  # rounds in which heavy parts give vertices to lighter ones
_FLOW = 0.25  # A part gives a lighter neighbour at most this part of the difference of their weights in a round.


class _Weighted(NamedTuple):
    """The entries of a graph, the weights of its vertices, and for each part the wanted and the largest weight."""

    sources: NDArray[np.int64]
    targets: NDArray[np.int32]
    entries: NDArray[np.int64]
    vertices: NDArray[np.int64]
    wanted: NDArray[np.float64]
    limits: NDArray[np.float64]

    def sizes(self, parts: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the weight of each part."""
        return np.bincount(parts, self.vertices, len(self.wanted)).astype(np.float64)


def joined_pieces(
    graph: Graph, parts: NDArray[np.int32], n_parts: int, weights: Any, shares: Any, imbalance: float
) -> tuple[int, NDArray[np.int32]]:
    """Return the cut and the parts after all pieces of a part but the heaviest have moved to neighbouring parts.

    If a part becomes too heavy, heavy parts give vertices at their boundaries to lighter neighbours, in rounds.

    Raises
    ------
    InputError
        The graph is not connected.

    Warns
    -----
    RuntimeWarning
        A part weighs more than *imbalance* allows.
    """
    n, targets = graph.n_vertices, graph.column_indices
    n_pieces = connected_components(csr_array((np.ones(targets.size, bool), targets, graph.row_offsets), (n, n)))[0]
    if n_pieces > 1:
        raise InputError(f"contiguous parts need a connected graph; this one has {n_pieces} components")
    entries = np.ones(targets.size, np.int64) if graph.edge_weights is None else graph.edge_weights.astype(np.int64)
    vertices = np.ones(n, np.int64) if weights is None else checked_array("vweights", weights).astype(np.int64)
    fractions = np.full(n_parts, 1 / n_parts) if shares is None else np.asarray(shares, float) / np.sum(shares)
    wanted = fractions * vertices.sum()
    limits = np.maximum(np.ceil(wanted), np.floor((1 + imbalance) * wanted))
    given = _Weighted(graph.sources().astype(np.int64), targets, entries, vertices, wanted, limits)
    parts = _joined(given, parts)
    best, rounds = (_excess(given, parts), parts), 0
    while best[0] > 0 and rounds < _MAX_ROUNDS:
        parts, rounds = _joined(given, _evened(given, parts)), rounds + 1
        best = min(best, (_excess(given, parts), parts), key=lambda found: found[0])
    excess, parts = best
    if excess > 0:
        warnings.warn(
            f"a contiguous part weighs {excess:g} more than the allowed {imbalance:.1%} above its share",
            RuntimeWarning, stacklevel=4,
        )  # fmt: skip
    return int(entries[parts[given.sources] != parts[targets]].sum()) // 2, parts


def _excess(given: _Weighted, parts: NDArray[np.int32]) -> float:
    """Return the greatest weight by which a part is heavier than its limit, or 0."""
    return float((given.sizes(parts) - given.limits).max(initial=0.0))


def _joined(given: _Weighted, parts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return contiguous parts: each piece that is not its part's heaviest has moved to a neighbouring part."""
    n, n_parts, parts = len(parts), len(given.wanted), parts.copy()
    while True:
        inside = parts[given.sources] == parts[given.targets]
        links = coo_array((inside[inside], (given.sources[inside], given.targets[inside])), (n, n))
        n_pieces, piece = connected_components(links, directed=False)
        weights = np.bincount(piece, given.vertices, n_pieces).astype(np.float64)
        part_of = np.zeros(n_pieces, np.int64)
        part_of[piece] = parts
        order = np.lexsort((-weights, part_of))
        is_main = np.zeros(n_pieces, bool)
        is_main[order[np.append(True, np.diff(part_of[order]) > 0)]] = True
        if is_main.all():
            return parts
        # Only edges from stray pieces to main pieces count. The graph is connected, so each pass finds such edges.
        one, other = piece[given.sources], piece[given.targets]
        leaving = ~is_main[one] & is_main[other] & ~inside
        places = one[leaving], parts[given.targets[leaving]]
        towards = coo_array((given.entries[leaving], places), (n_pieces, n_parts)).tocsr()
        _move(towards, part_of, weights, given.sizes(parts), given.limits)
        parts = part_of[piece].astype(np.int32)


def _move(
    towards: csr_array,
    part_of: NDArray[np.int64],
    weights: NDArray[np.float64],
    sizes: NDArray[np.float64],
    limits: NDArray[np.float64],
) -> None:
    """Move the pieces that have entries in *towards*, the lightest first; change *part_of* and the parts' *sizes*.

    A piece goes to the part to which it has most edge weight, among the parts that have room for it; if none has, among
    all neighbouring parts.
    """
    moving = np.flatnonzero(np.diff(towards.indptr))
    for piece in moving[np.argsort(weights[moving], kind="stable")]:
        here = slice(towards.indptr[piece], towards.indptr[piece + 1])
        candidates, links = towards.indices[here], towards.data[here]
        has_room = sizes[candidates] + weights[piece] <= limits[candidates]
        best = candidates[np.lexsort((links, has_room))[-1]]
        sizes[part_of[piece]] -= weights[piece]
        sizes[best] += weights[piece]
        part_of[piece] = best


def _evened(given: _Weighted, parts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return parts after each heavy part gave vertices at its boundary to lighter neighbours, the best for the cut."""
    n, n_parts, sizes = len(parts), len(given.wanted), given.sizes(parts)
    load = sizes / np.maximum(given.wanted, 1e-300)
    links = coo_array((given.entries, (given.sources, parts[given.targets])), (n, n_parts)).tocsr().tocoo()
    vertex, towards, weight = links.row, links.col, links.data
    own = np.zeros(n, np.int64)
    own[vertex[towards == parts[vertex]]] = weight[towards == parts[vertex]]
    down = (load[parts[vertex]] > 1) & (load[towards] < load[parts[vertex]])
    vertex, towards, gain = vertex[down], towards[down], weight[down] - own[vertex[down]]
    # Each vertex has one aim: the lightest of its neighbouring parts.
    order = np.lexsort((load[towards], vertex))
    order = order[np.append(True, np.diff(vertex[order]) > 0)] if order.size else order
    vertex, towards, gain = vertex[order], towards[order], gain[order]
    pair = parts[vertex].astype(np.int64) * n_parts + towards
    order = np.lexsort((-gain, pair))
    vertex, towards, pair = vertex[order], towards[order], pair[order]
    total = np.cumsum(given.vertices[vertex])
    first = np.append(True, np.diff(pair) > 0)[: pair.size]
    before = (total - given.vertices[vertex])[np.maximum.accumulate(np.where(first, np.arange(pair.size), 0))]
    flow = (
        _FLOW * (load[parts[vertex]] - load[towards]) * np.minimum(given.wanted[parts[vertex]], given.wanted[towards])
    )
    taken = total - before <= np.maximum(flow, given.vertices[vertex])  # the first of each pair goes in any case
    evened = parts.copy()
    evened[vertex[taken]] = towards[taken]
    return evened
