"""What the probe runs on the host: the compiled routines of numpy and scipy on random input of known size."""

from __future__ import annotations

from collections.abc import Callable
from timeit import repeat
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, dijkstra, minimum_spanning_tree

from clgraph.probing.trials import Trial

_VERTEX_BYTES = 16  # which the cost model counts for a vertex
_DEGREE = 2  # most vertices of a random graph are reached then
_SEED = 1
_LESSER_BYTES, _LESSER_CALLS = 1 << 8, 20
_LEAST_SHARE = 0.1  # of the time of a call, though the clock may show less


def host_trial(way: str, working_set_bytes: int) -> Trial:
    """Return the trial of one way of :attr:`DeviceRates.host_items_per_second` in so many bytes."""
    items, call = _call(way, working_set_bytes)
    _, lesser = _call(way, _LESSER_BYTES)
    beside = min(repeat(lesser, number=1, repeat=_LESSER_CALLS))  # what a call takes beside its items

    def run(turns: int) -> tuple[float, float]:
        least = min(repeat(call, number=1, repeat=turns))  # the host has other work, too, which is not to be counted
        return float(turns * items), turns * max(least - beside, _LEAST_SHARE * least)

    return Trial(run)


def _call(way: str, working_set_bytes: int) -> tuple[int, Callable[[], Any]]:
    """Return how many numbers, vertices and entries, or keys, a routine takes, and the call."""
    if way == "scan":
        numbers = np.ones(working_set_bytes // 8)
        sums = np.empty_like(numbers)
        return numbers.size, lambda: np.add(numbers, 1.0, out=sums)
    n = working_set_bytes // _VERTEX_BYTES
    rng = np.random.default_rng(_SEED)
    degree = 1 if way == "sort" else _DEGREE
    columns = rng.integers(0, n, degree * n, dtype=np.int32)
    offsets = np.arange(0, degree * n + 1, degree, dtype=np.int32)
    graph = csr_array((rng.random(degree * n), columns, offsets), shape=(n, n))
    calls: dict[str, Callable[[], Any]] = {
        "traverse": lambda: breadth_first_order(graph, 0),
        "union": lambda: connected_components(graph, directed=False),
        "heap": lambda: dijkstra(graph, indices=0),
        "sort": lambda: minimum_spanning_tree(graph),
    }
    return n if way == "sort" else n + degree * n, calls[way]
