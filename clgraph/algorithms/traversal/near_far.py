"""Shortest paths by a near frontier and a pile of far vertices."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal import queues
from clgraph.algorithms.traversal.paths import PathPlan
from clgraph.arguments import checked_number
from clgraph.graph import Graph
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.failure import check_status
from clgraph.runtime.session import Session

_SOURCE = "traversal/sssp.cl"
# Words of cl/traversal/sssp.cl.
_OVERFLOW, _STATE_WORDS, _BUCKETS, _TURN, _PROGRESS_WORDS = 608, 640, 5, 8, 11
_DEEP = 40  # levels of a search
_DEEP_HOPS, _SHALLOW_HOPS, _HUB_HOPS = 64.0, 2.0, 0.5  # Davidson et al. take 32
_HUB = 32.0  # times the mean degree
_WIDEST = 1e30  # bucket
_TURNS = 4096  # of a work-group alone in one launch
_LAST_TURN = 2**32 - 1


class NearFar(PathPlan):
    """Shortest paths from sources; light edges first if asked to."""

    def __init__(
        self, session: Session, graph: Graph, sources: NDArray[np.int32] | None = None, limit: float | None = None, *,
        light_first: bool, delta: float | None = None,
    ) -> None:
        super().__init__(session, graph, sources, limit)
        self._light_first = light_first
        self._delta = _default_delta(graph) if delta is None else min(checked_number("delta", delta), _WIDEST)
        self._bind(wide=False)

    def _bind(self, *, wide: bool) -> None:
        session, graph, n = self.session, self.graph, self.n
        on_device = device_graph(session, graph)
        rows = on_device.row_offsets, on_device.column_indices
        held_as = self._hold(wide=wide)
        held = self.held
        self.distances = session.empty(n, held.dtype)
        self._alone = not session.facts.dialect.has_grid_barrier
        short = not self._light_first and not self._alone and int(graph.degrees.max(initial=0)) <= queues.PIECE
        is_deep, degree = graph.stats.estimated_depth > _DEEP, graph.stats.mean_degree
        group = queues.group_size(session, 1024)
        defines: dict[str, int | str] = {
            **held_as, **queues.queue_defines(session, graph, group, 256, entry_bytes=16 if held.wide else 8),
            "LIGHT_FIRST": int(self._light_first),
            "FEW_ROWS": 4096 if is_deep else 131072, "ONLY_SHORT_ROWS": int(short), "ALONE": int(self._alone),
            "STEPS": 4 if self._alone or not is_deep else 1 if degree < 8 else 2,
        }  # fmt: skip
        lists = queues.Lists(session, graph, _STATE_WORDS)
        settled = queues.Lists(session, graph, 1) if self._light_first else lists  # not used without
        piles = session.empty(2 * n, np.int32)
        stamps = session.empty(n, np.uint32), session.empty(n if self._light_first else 1, np.uint32)
        self._state, self._progress = lists.state, session.empty(_PROGRESS_WORDS, held.dtype)
        program = session.program(_SOURCE, defines, work_group_size=group)
        self._initialize = program.bind(
            "initialize", max(n, _STATE_WORDS), np.int32(n), self.distances, *stamps, self._state, self._progress
        )
        self._start = program.bind(
            "start", 1, np.int32(self._sources.size), np.float32(self._delta), *lists.arguments,
            session.upload(self._sources), rows[0], lists.light, lists.heavy, stamps[0], lists.state, self.distances,
            self._progress,
        )
        groups = queues.group_count(session)
        self._search = program.bind(
            "search", groups * group, np.int32(n), np.uint32(_LAST_TURN), held.limit(self.limit), *lists.arguments,
            *rows, held.weights, lists.light, lists.heavy, settled.light, settled.heavy, piles,
            *stamps, self._state, self.distances, self._progress,
        )

    def _run(self) -> None:
        self._initialize()
        self._start()
        turn = 0
        while self._alone:
            self._search.set_scalar(1, np.uint32(turn + _TURNS - 1))
            self._search()
            progress = self._progress.get()
            if int(progress[_TURN]) < turn + _TURNS:
                return
            turn = int(progress[_TURN])
        self._search()

    @property
    def n_buckets(self) -> int:
        """How often the threshold rose, after ``run()`` where one work-group does all."""
        return int(self._progress.item(_BUCKETS))

    def _overflowed(self) -> bool:
        return bool(self._state.item(_OVERFLOW))

    def result(self) -> Any:
        """Return the distances after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        if self.n:
            check_status(self._state.item(queues.GRID_STATUS), "the turns of shortest paths")
        return super().result()


def _default_delta(graph: Graph) -> float:
    """A multiple of the mean weight over the mean degree: large where searches are deep, small in small worlds,
    and least where hubs reach many at once."""
    if not graph.n_edges:
        return 1.0
    stats = graph.stats
    shallow = _HUB_HOPS if stats.max_degree > _HUB * stats.mean_degree else _SHALLOW_HOPS
    hops = _DEEP_HOPS if stats.estimated_depth > _DEEP else shallow
    weights = np.ones(1) if graph.edge_weights is None else graph.edge_weights[:: max(1, graph.n_edges >> 16)]
    finite = weights[np.isfinite(weights)]
    with np.errstate(over="ignore"):  # it is cut below
        mean = float(finite.mean(dtype=np.float64)) if finite.size else 1.0
    delta = min(hops * mean * graph.n_vertices / graph.n_edges, _WIDEST)
    return max(1.0, delta) if weights.dtype.kind != "f" or graph.edge_weights is None else delta
