"""Choose the hash function that gives first colours, from a sample of entries (distance 1) or nets (distance 2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.vertex_hashes import HASHES

MOST_BITS, MOST_BITS_AT_DISTANCE_TWO = 16, 10
_CANDIDATES = ("murmur3", "fibonacci", "xorshift", "identity", "gray")
_N_SAMPLES = 1 << 14  # At distance 1, at most this number of CSR entries is sampled.
# At distance 2: the number of sampled rows, and the greatest number of entries that are read per sampled row.
_SAMPLED_ROWS, _SAMPLED_ENTRIES = 64, 1024
# Colours count as few up to 1.1 times the number of members of the largest net.
# Collisions count as few if less than 1 % of the members of nets would have to change their colour.
_MAX_COLORS, _FEW_COLLISIONS = 1.1, 0.01


class HashStart(NamedTuple):
    """A hash function that gives first colours at distance 2, and its collisions in a sample of nets."""

    hash: str
    bits: int
    collisions: float  # Share of the members of sampled nets that would have to change their colour.
    members: int  # Number of distinct members of the largest sampled net, all of which need different colours.

    @property
    def suffices(self) -> bool:
        """True if the hash function uses few colours and rarely collides, as on some stencils."""
        return is_few(self.bits, self.members) and self.collisions < _FEW_COLLISIONS


def least_bits(members: int) -> int:
    """Return the fewest bits (at most 10) with which the colours of a net of *members* vertices can all differ."""
    return min(MOST_BITS_AT_DISTANCE_TWO, max(1, (members - 1).bit_length()))


def is_few(bits: int, members: int) -> bool:
    """Return whether ``2**bits`` colours are at most 10 % more than a net of *members* vertices needs."""
    return 1 << bits <= _MAX_COLORS * members


def hash_start(graph: Graph, *, closed: bool, bits: int) -> HashStart:
    """Return the hash function with the fewest collisions in sampled nets, if its low *bits* are the colours."""
    m, offsets = graph.n_edges, graph.row_offsets
    if not m:
        return HashStart(next(iter(HASHES)), bits, 0.0, int(closed))
    entries = np.random.default_rng(0).integers(m, size=_SAMPLED_ROWS).astype(offsets.dtype)
    rows = np.unique(np.searchsorted(offsets, entries, "right") - 1)
    nets = [
        np.unique(np.append(graph.column_indices[a : min(b, a + _SAMPLED_ENTRIES)], [row] * closed))
        for row, a, b in zip(rows, offsets[rows], offsets[rows + 1], strict=True)
    ]
    where = np.repeat(np.arange(len(nets)) << 32, [net.size for net in nets])
    vertices = np.concatenate(nets).astype(np.uint32)
    colors = {name: np.unique(where | HASHES[name](vertices) & np.uint32((1 << bits) - 1)).size for name in HASHES}
    best = max(colors, key=lambda name: colors[name])
    return HashStart(best, bits, 1.0 - colors[best] / vertices.size, max(net.size for net in nets))


def default_bits(graph: Graph) -> int:
    """Return the default number of bits of a hash colour at distance 1.

    It allows about 0.4 colours per neighbour of an average vertex, like greedy colourings.
    """
    mean_degree = graph.n_edges / max(1, graph.n_vertices)
    return min(MOST_BITS, max(min(1, graph.n_edges), int(np.log2(1.0 + 0.4 * mean_degree))))


def best_hash(graph: Graph, bits: int) -> str:
    """Return the hash function that gives both ends of the fewest sampled entries the same low *bits*."""
    m = graph.n_edges
    drawn = np.random.default_rng(0).integers(m, size=_N_SAMPLES) if m > _N_SAMPLES else np.arange(m)
    # The sampled entries are sorted, because binary searches in random order would miss the caches.
    entries = np.sort(drawn)
    rows = np.searchsorted(graph.row_offsets, entries, "right") - 1
    ends = rows.astype(np.uint32), graph.column_indices[entries].astype(np.uint32)
    mask, collisions = np.uint32((1 << bits) - 1), dict[str, int]()
    for name in _CANDIDATES:
        a, b = (HASHES[name](vertices) & mask for vertices in ends)
        collisions[name] = int(np.count_nonzero(a == b))
    return min(collisions, key=collisions.__getitem__)
