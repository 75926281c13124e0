"""Statistics of a graph on a device, computed by two kernels and one read-back."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.searches import N_STARTS, NEIGHBORHOOD, ROW_PARTS, SHORT_LOOKS, SHORT_SEEN, Search, reach
from clgraph.data.graphs.stats import DEEP_HOOKS, FAR_DISTANCE, MAX_CLIMB, N_SAMPLES, GraphStats
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_SOURCE = "data/graph_stats.cl"
_NONE = 2**32 - 1
_SEARCH_WORDS = "LEVELS", "SEEN", "FRONTIER", "EARLIER"


class StatsRun:
    """The kernels that compute the statistics of a graph of *n* vertices and *m* entries.

    The constructor enqueues the kernels. *rows* are the graph's arrays by the names of the kernel parameters. The
    kernels do nothing unless the three words of *checked* are ~0, which means that a check of the arrays found no
    error.
    """

    def __init__(
        self, session: Session, n: int, m: int, rows: Mapping[str, DeviceArray], checked: DeviceArray | None = None
    ) -> None:
        self._n, self._m = n, m
        self._program = program = session.program(
            _SOURCE,
            {
                "OFFSET_T": "long" if rows["row_offsets"].dtype.itemsize == 8 else "int", "N_SAMPLES": N_SAMPLES,
                "FAR_DISTANCE": FAR_DISTANCE, "MAX_CLIMB": MAX_CLIMB, "NEIGHBORHOOD": NEIGHBORHOOD,
                "ROW_PARTS": ROW_PARTS, "N_STARTS": N_STARTS, "SHORT_SEEN": SHORT_SEEN, "SHORT_LOOKS": SHORT_LOOKS,
            },
            work_group_size=session.facts.group_size(None),
        )  # fmt: skip
        at = program.constant
        self._state = session.zeros(at("STATE_WORDS"), np.uint32)
        self._state.fill(_NONE, at("STATE_LEAST"), at("STATE_SEARCHES"))
        if not n:
            return
        if checked is None:
            checked = session.empty(3, np.uint32)
            checked.fill(_NONE)
        n_chunks = 4 * session.facts.compute_units
        connected = session.empty(n_chunks, np.uint32)
        scope = {"n": n, "m": m, "state": self._state, "connected": connected, "checked": checked, **rows}
        program.bind("measure_rows", n_chunks * program.work_group_size, scope)()
        program.bind(
            "measure_reach",
            1 + program.work_group_size,
            scope,
            n_chunks=n_chunks,
            seen=session.zeros(-(-n // 32), np.uint32),
            list=session.empty(min(n, 33 * NEIGHBORHOOD), np.int32),
        )()

    @property
    def part(self) -> tuple[DeviceArray, int, int]:
        """The range of the device array whose values :meth:`read` needs."""
        return self._state, 0, self._state.size

    def read(
        self, words: NDArray[np.uint32] | None = None, *, directed: bool, weighted: bool, has_sorted_rows: bool
    ) -> GraphStats:
        """Wait for the kernels and return the graph's statistics.

        *words* are the values of :attr:`part`, if already read.

        In large graphs, the kernels sample other vertices and entries than the host does.
        """
        at, n, m = self._program.constant, self._n, self._m
        words = self._state.get() if words is None else words
        pairs = words[: 2 * at("N_PAIRS")].astype("<u4").view("<u8").astype(np.int64)

        def counted(name: str) -> int:
            return int(pairs[at(name)])

        def by_degree(name: str) -> tuple[int, ...]:
            return tuple(pairs[at(name) : at(name) + n_bins].tolist())

        bins = np.flatnonzero(pairs[at("PAIR_VERTICES") : at("PAIR_VERTICES") + at("N_BINS")])
        n_bins = int(bins[-1]) + 1 if bins.size else 0
        n_isolated = counted("PAIR_VERTICES")
        n_sampled = m if m <= N_SAMPLES else at("N_ENTRIES")
        mean, second_moment = m / max(1, n), counted("PAIR_SQUARES") / max(1, n)
        roots = words[at("STATE_ROOTS") : at("STATE_DEPTHS")][: min(n, at("N_CLIMBS"))]
        depths = words[at("STATE_DEPTHS") :][: roots.size][roots != _NONE]
        roots = roots[roots != _NONE]
        tree_share = counted("PAIR_ROOTS") / max(1, counted("PAIR_SAMPLED"))
        first, n_searches = at("STATE_SEARCHES"), 1 + N_STARTS
        words_each = words[first : at("STATE_ROOTS")].reshape(n_searches, -1).tolist()
        searches = [Search(*(found[at(f"SEARCH_{name}")] for name in _SEARCH_WORDS)) for found in words_each]
        depth = float(depths.mean()) if depths.size else 0.0
        giant = int(np.unique(roots, return_counts=True)[1].max()) / roots.size if roots.size else 0.0
        return GraphStats(
            n_vertices=n,
            n_edges=m,
            directed=directed,
            weighted=weighted,
            min_degree=int(words[at("STATE_LEAST")]) if n else 0,
            max_degree=_NONE - int(words[at("STATE_GREATEST")]),
            mean_degree=mean,
            degree_std=math.sqrt(max(0.0, second_moment - mean**2)),
            degree_second_moment=second_moment,
            n_isolated=n_isolated,
            degree_vertex_counts=by_degree("PAIR_VERTICES"),
            degree_edge_counts=by_degree("PAIR_ENTRIES"),
            has_sorted_rows=has_sorted_rows,
            mean_log2_neighbor_distance=counted("PAIR_DISTANCE") / at("SCALE") / max(1, n_sampled),
            far_neighbor_share=counted("PAIR_FAR") / max(1, n_sampled),
            first_hook_tree_share=tree_share,
            first_hook_giant_share=giant if tree_share or not m or depth <= DEEP_HOOKS else 1.0,
            first_hook_depth=depth,
            **reach(searches, n - n_isolated),
        )
