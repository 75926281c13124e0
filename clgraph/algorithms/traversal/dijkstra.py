"""Shortest paths by one work-item of a CPU: Dijkstra's algorithm."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.paths import PathPlan
from clgraph.device.facts import DeviceFacts
from clgraph.graph import Graph
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session

_SOURCE = "traversal/dijkstra.cl"
# Of cl/traversal/dijkstra.cl.
_CHUNK, _DIGITS, _LEVELS, _SPARE_SETS = 64, 16, {False: 8, True: 16}, 4
_OVERFLOW, _WAITING, _TOPS = 0, 1, 24
_BUDGET = 2**22  # edges of one launch: a fraction of a second


class Dijkstra(PathPlan):
    """Shortest paths from sources, vertex by vertex in the order of their distances."""

    def __init__(
        self, session: Session, graph: Graph, sources: NDArray[np.int32] | None = None, limit: float | None = None
    ) -> None:
        super().__init__(session, graph, sources, limit)
        self._bind(wide=False)

    def _bind(self, *, wide: bool) -> None:
        session, graph, n = self.session, self.graph, self.n
        on_device = device_graph(session, graph)
        defines = self._hold(wide=wide)
        held = self.held
        self.distances = session.empty(n, held.dtype)
        n_buckets = _LEVELS[held.wide] * _DIGITS
        n_chunks = (2 * n + int(graph.degrees.max(initial=0))) // _CHUNK + _SPARE_SETS * n_buckets
        # An entry is a distance and a vertex, padded to a multiple of the former.
        entries, link = session.empty(2 * _CHUNK * n_chunks, held.dtype), session.empty(n_chunks, np.uint64)
        self._state = session.empty(_TOPS + n_buckets, np.uint64)
        queue = entries, link, self._state, self.distances
        program = session.program(_SOURCE, defines, work_group_size=1)
        self._start = program.bind(
            "start", 1, np.int32(self._sources.size), np.uint64(n_chunks), session.upload(self._sources), *queue
        )
        self._search = program.bind(
            "search", 1, held.limit(self.limit), np.int64(_BUDGET), on_device.row_offsets, on_device.column_indices,
            held.weights, *queue,
        )

    def _run(self) -> None:
        self.distances.fill(np.iinfo(self.held.dtype).max)
        self._start()
        self._search()
        while self._state.item(_WAITING):
            self._search()

    def _overflowed(self) -> bool:
        return bool(self._state.item(_OVERFLOW))


def unsupported(facts: DeviceFacts) -> str | None:
    """Return why a device had better not run it, or ``None``."""
    return None if facts.is_cpu else "one work-item does all, which suits CPUs only"
