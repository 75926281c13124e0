"""Measurements of the host, which time compiled routines of numpy and scipy on random input of known size."""

from __future__ import annotations

from collections.abc import Callable
from timeit import repeat
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, dijkstra, minimum_spanning_tree

from clgraph.probing.trials import Trial

_VERTEX_BYTES = 16  # Bytes of a search's working set per vertex, as the cost model (engine/host.py) assumes.
_DEGREE = 2  # Entries per vertex, enough for a search of a random graph to reach most vertices.
_SEED = 1
# The overhead of a call is measured by 20 calls with a working set of 256 bytes.
_LESSER_BYTES, _LESSER_CALLS = 1 << 8, 20
# At least a tenth of a call's time counts as its work, even if the measured overhead is nearly the whole time.
_MIN_SHARE = 0.1


def host_trial(way: str, working_set_bytes: int) -> Trial:
    """Return a trial that times the host routine *way*, a key of :attr:`DeviceRates.host_items_per_second`."""
    items, call = _call(way, working_set_bytes)
    _, lesser = _call(way, _LESSER_BYTES)
    # The least time of a call on the tiny working set is the overhead of a call.
    beside = min(repeat(lesser, number=1, repeat=_LESSER_CALLS))

    def run(turns: int) -> tuple[float, float]:
        # The minimum of several times is taken, because other work on the host disturbs the minimum least.
        least = min(repeat(call, number=1, repeat=turns))
        return float(turns * items), turns * max(least - beside, _MIN_SHARE * least)

    return Trial(run)


def _call(way: str, working_set_bytes: int) -> tuple[int, Callable[[], Any]]:
    """Return the number of items that the host routine *way* processes per call, and a function that calls the routine.

    The items are numbers, keys, or vertices and entries.
    """
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
