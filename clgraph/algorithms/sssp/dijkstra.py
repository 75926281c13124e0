"""Shortest paths by one work-item of a CPU: Dijkstra's algorithm."""
from __future__ import annotations

import numpy as np

from clgraph.algorithms.traversal.plan import PathPlan
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.device.facts import DeviceFacts
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session

_SOURCE = "traversal/dijkstra.cl"
_SPARE_SETS = 4  # of chunks, one for each bucket
_BUDGET = 2**22  # edges of one launch: a fraction of a second


class Dijkstra(PathPlan):
    """Shortest paths from sources, vertex by vertex in the order of their distances."""

    def __init__(self, session: Session, problem: SearchProblem) -> None:
        super().__init__(session, problem)
        self._bind(wide=False)

    def _bind(self, *, wide: bool) -> None:
        session, graph, n = self.session, self.graph, self.n
        on_device = device_graph(session, graph)
        defines = self._hold(wide=wide)
        held = self.held
        self.distances = session.empty(n, held.dtype)
        self._program = program = session.program(_SOURCE, defines, work_group_size=1)
        n_buckets, chunk = program.constant("LEVELS") * program.constant("DIGITS"), program.constant("CHUNK")
        n_chunks = (2 * n + int(graph.degrees.max(initial=0))) // chunk + _SPARE_SETS * n_buckets
        self._state = session.empty(program.constant("STATE_TOPS") + n_buckets, np.uint64)
        scope = {
            **on_device.scope, "edge_weights": held.weights, "state": self._state, "distances": self.distances,
            # An entry is a distance and a vertex, padded to a multiple of the former.
            "entries": session.empty(2 * chunk * n_chunks, held.dtype), "link": session.empty(n_chunks, np.uint64),
        }  # fmt: skip
        self._start = program.bind(
            "start", 1, scope, n_sources=self._sources.size, n_chunks=n_chunks, sources=session.upload(self._sources)
        )
        self._search = program.bind("search", 1, scope, limit=held.limit(self.limit), budget=_BUDGET)

    def _run(self) -> None:
        self.distances.fill(np.iinfo(self.held.dtype).max)
        self._start()
        self._search()
        while self._word("STATE_LEVELS"):
            self._search()

    def _overflowed(self) -> bool:
        return bool(self._word("STATE_OVERFLOW"))

    def _word(self, name: str) -> int:
        return int(self._state.item(self._program.constant(name)))


def unsupported(facts: DeviceFacts) -> str | None:
    """Return why a device had better not run it, or ``None``."""
    return None if facts.is_cpu else "one work-item does all, which suits CPUs only"
