"""A breadth-first search from the frontier, on one device."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.bfs.levels import Levels, has_few_units
from clgraph.algorithms.traversal import queues
from clgraph.algorithms.traversal.problem import MAX_DEPTH, SearchProblem
from clgraph.arguments import checked_count
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session

_SOURCE = "traversal/bfs.cl"
_ALPHA, _LATE_ALPHA = 14, 2  # Beamer et al. take the former
_LEVEL_GROUP = 64  # work-items, where levels are launches


class FrontierPlan:
    """Top-down from the frontier, and bottom-up where that looks at fewer edges, if asked to.

    Attributes
    ----------
    distances, predecessors : DeviceArray
        After ``run()``, int32, in the first ``n_vertices`` items.
    """

    def __init__(
        self, session: Session, problem: SearchProblem, *, bottom_up: bool, alpha: int | None = None, beta: int = 24
    ) -> None:
        graph, sources = problem.graph, problem.sources
        n, m = graph.n_vertices, graph.n_edges
        if alpha is None:
            alpha = _LATE_ALPHA if has_few_units(session.facts) else _ALPHA
        alpha, beta = checked_count("alpha", alpha, 2**20), checked_count("beta", beta, 2**20)
        most = MAX_DEPTH if problem.limit is None else int(problem.limit)
        self.n = n
        on_device = device_graph(session, graph)
        reverse = device_graph(session, graph.reverse) if bottom_up else on_device
        self.distances, self.predecessors = session.empty(-(-n // 4) * 4, np.int32), session.empty(n, np.int32)
        one_launch = session.facts.dialect.has_grid_barrier
        short = one_launch and not bottom_up and int(graph.degrees.max(initial=0)) <= queues.PIECE
        group = queues.group_size(session, 512 if bottom_up else 1024) if one_launch else _LEVEL_GROUP
        defines: dict[str, int | str] = {
            **on_device.defines(), **queues.queue_defines(session, graph, group, 128), "BOTTOM_UP": int(bottom_up),
            "ONE_LAUNCH": int(one_launch), "ONLY_SHORT_ROWS": int(short),
            "STEPS": 4 if not one_launch or m >= 8 * n else 1 if m < 5 * n else 2,
        }  # fmt: skip
        program = session.program(_SOURCE, defines, work_group_size=group)
        self._program, self._state = program, queues.new_state(session, program)
        scope = {
            "n": n, "m": m, "max_depth": most, **on_device.scope, "in_offsets": reverse.row_offsets,
            "in_neighbors": reverse.column_indices, **queues.Lists(session, graph).scope, "state": self._state,
            "distances": self.distances, "predecessors": self.predecessors,
        }  # fmt: skip
        self._initialize = program.bind("initialize", max(n, self._state.size), scope)
        self._start = program.bind("start", 1, scope, n_sources=sources.size, sources=session.upload(sources))
        self._search: Callable[[], object]
        if one_launch:
            groups, bits = queues.group_count(session, program, 2 if bottom_up else 1), -(-n // 32)
            self._search = program.bind(
                "search", groups * group, scope, alpha=alpha, beta=beta, bits=session.empty(bits, np.uint32)
            )
        else:
            self._search = Levels(session, graph, program, scope, most, alpha if bottom_up else 0, beta)

    def run(self) -> None:
        """Search."""
        if self.n:
            self._initialize()
            self._start()
            self._search()

    def result(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return distances and predecessors after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        if self.n:
            queues.check_grid(self._program, self._state, "the levels of a breadth-first search")
        return self.distances.get(0, self.n), self.predecessors.get()
