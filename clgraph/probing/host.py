"""Trials on the host: compiled routines of numpy and scipy, run on random input of known size."""

from __future__ import annotations

from collections.abc import Callable
from timeit import repeat
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, dijkstra, minimum_spanning_tree

from clgraph.probing.trials import Trial

_VERTEX_BYTES = 16  # bytes per vertex that the cost model counts
_DEGREE = 2  # entries per vertex, enough for a search of a random graph to reach most vertices
_SEED = 1
_LESSER_BYTES, _LESSER_CALLS = 1 << 8, 20  # working set and number of the tiny calls that show a call's overhead
_MIN_SHARE = 0.1  # Of a call's time, at least this share counts after the overhead is subtracted.


def host_trial(way: str, working_set_bytes: int) -> Trial:
    """Return the trial for one way of :attr:`DeviceRates.host_items_per_second`, with this working set."""
    items, call = _call(way, working_set_bytes)
    _, lesser = _call(way, _LESSER_BYTES)
    beside = min(repeat(lesser, number=1, repeat=_LESSER_CALLS))  # overhead of a call

    def run(turns: int) -> tuple[float, float]:
        least = min(repeat(call, number=1, repeat=turns))  # the minimum, which other work on the host disturbs least
        return float(turns * items), turns * max(least - beside, _MIN_SHARE * least)

    return Trial(run)


def _call(way: str, working_set_bytes: int) -> tuple[int, Callable[[], Any]]:
    """Return the number of items (numbers, vertices + entries, or keys) that a routine processes, and the call."""
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
