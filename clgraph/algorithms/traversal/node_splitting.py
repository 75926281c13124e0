"""How many edges vertices may keep that are split, and how many parts that makes; cl/traversal/node_splitting.cl."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.errors import InputError

_MAX_PARTS = 2**31 - 2**12
_BUCKETS = 10


def histogram_mda(degrees: NDArray[Any]) -> int:
    """Return the largest degree that falls in the fullest of ten buckets of equal width over 0 … the largest degree."""
    most = int(degrees.max(initial=0))
    counts, edges = np.histogram(degrees, _BUCKETS, (0, max(1, most)))
    fullest = int(counts.argmax())
    inside = degrees[(degrees >= edges[fullest]) & ((degrees < edges[fullest + 1]) | (fullest == _BUCKETS - 1))]
    return max(1, int(inside.max(initial=0)))


def part_count(degrees: NDArray[Any], mda: int) -> int:
    """Return how many vertices and children there are where a vertex keeps at most *mda* edges."""
    large = degrees[degrees > mda].astype(np.int64)
    n_parts = degrees.size + int(((large - 1) // mda).sum())
    if n_parts > _MAX_PARTS:
        raise InputError(f"mda={mda} makes {n_parts} vertices; at most {_MAX_PARTS} are possible")
    return n_parts
