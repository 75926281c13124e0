"""Shortest paths by a near frontier and a pile of far vertices."""
from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.traversal import queues
from clgraph.algorithms.traversal.plan import PathPlan
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.arguments import checked_number
from clgraph.data.graph import Graph
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session

_SOURCE = "traversal/sssp.cl"
_DEEP = 40  # levels of a search
_DEEP_HOPS, _SHALLOW_HOPS, _HUB_HOPS = 64.0, 2.0, 0.5  # Davidson et al. take 32
_HUB = 32.0  # times the mean degree
_WIDEST = 1e30  # bucket
_TURNS = 4096  # of a work-group alone in one launch
_LAST_TURN = 2**32 - 1


class NearFar(PathPlan):
    """Shortest paths from sources; light edges first if asked to."""

    def __init__(
        self, session: Session, problem: SearchProblem, *, light_first: bool, delta: float | None = None
    ) -> None:
        super().__init__(session, problem)
        self._light_first = light_first
        self._delta = _default_delta(problem.graph) if delta is None else min(checked_number("delta", delta), _WIDEST)
        self._bind(wide=False)

    def _bind(self, *, wide: bool) -> None:
        session, graph, n = self.session, self.graph, self.n
        on_device = device_graph(session, graph)
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
        lists = queues.Lists(session, graph)
        settled = queues.Lists(session, graph) if self._light_first else lists  # not used without
        self._program = program = session.program(_SOURCE, defines, work_group_size=group)
        self._state = queues.new_state(session, program, "PATH_STATE_WORDS")
        self._progress = session.empty(program.constant("PROGRESS_WORDS"), held.dtype)
        scope = {
            "n": n, **on_device.scope, "edge_weights": held.weights, **lists.scope, "settled_light": settled.light,
            "settled_heavy": settled.heavy, "piles": session.empty(2 * n, np.int32),
            "listed_in": session.empty(n, np.uint32),
            "settled_in": session.empty(n if self._light_first else 1, np.uint32), "state": self._state,
            "distances": self.distances, "progress": self._progress,
        }  # fmt: skip
        self._initialize = program.bind("initialize", max(n, self._state.size), scope)
        self._start = program.bind(
            "start", 1, scope, n_sources=self._sources.size, sources=session.upload(self._sources), delta=self._delta
        )
        self._search = program.bind(
            "search", queues.group_count(session, program) * group, scope, last_turn=_LAST_TURN,
            limit=held.limit(self.limit),
        )

    def _run(self) -> None:
        self._initialize()
        self._start()
        if not self._alone:
            self._search()
            return
        turn, last = 0, -1
        while turn > last:
            last = turn + _TURNS - 1
            self._search.set(last_turn=last)
            self._search()
            turn = self._word("PROGRESS_TURN")

    def _word(self, name: str) -> int:
        return int(self._progress.item(self._program.constant(name)))

    @property
    def n_buckets(self) -> int:
        """How often the threshold rose, after ``run()`` where one work-group does all."""
        return self._word("PROGRESS_PILE")

    def _overflowed(self) -> bool:
        return bool(self._state.item(self._program.constant("STATE_OVERFLOW")))

    def result(self) -> Any:
        """Return the distances after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        if self.n:
            queues.check_grid(self._program, self._state, "the turns of shortest paths")
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
