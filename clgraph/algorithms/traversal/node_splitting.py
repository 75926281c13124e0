"""How many edges vertices may keep that are split, and how many parts that makes; cl/traversal/node_splitting.cl."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.prices import n_rounds, part_bytes, round_work
from clgraph.data.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import DeviceRates
from clgraph.errors import InputError
from clgraph.model.cost import Work, estimate

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


def model_mda(stats: GraphStats, facts: DeviceFacts, rates: DeviceRates, distance_bytes: float) -> int:
    """Return the power of two, or the largest degree, predicted to be the best maximum; of equals the largest."""
    largest = max(1, stats.max_degree)
    powers = (1 << k for k in range(largest.bit_length(), 1, -1))

    def seconds(mda: int) -> float:
        is_split = mda < stats.max_degree
        one = round_work(stats, facts, distance_bytes, mda) + Work(launches=1.0 + is_split)
        all_rounds = one.times(n_rounds(stats, facts))
        once = Work(launches=4.0, streamed_bytes=(12.0 + distance_bytes) * stats.n_vertices + part_bytes(stats, mda))
        return estimate(all_rounds + once if is_split else all_rounds, rates).seconds

    return min((largest, *powers), key=seconds)
