"""A step that finds the predecessors on shortest paths from given distances (see cl/traversal/predecessors.cl)."""

from __future__ import annotations

import numpy as np

from clgraph.engine.plan import Plan
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status
from clgraph.runtime.graphs.device_graph import device_graph

_SOURCE = "traversal/predecessors.cl"
# If a list has at most 1024 vertices, a single work-group makes many rounds in one launch.
# A single launch of many rounds is faster on a short list of vertices than one launch per round.
_SHORT = 1024
_ROUNDS_ALONE = 4096  # A launch of a single work-group makes at most this number of rounds.
_AT_ONCE = 8  # The host enqueues this number of launches before it reads the sizes of the lists.


class Predecessors:
    """A step that finds the predecessor of every vertex: the least vertex that can precede it on a shortest path.

    Sources and unreached vertices have no predecessor. Edges that add nothing to a distance are followed in rounds over
    lists of vertices. While the lists are long, the host enqueues several launches and then reads the sizes of the
    lists. While the lists are short, a launch of a single work-group makes many rounds.
    """

    def __init__(self, plan: Plan) -> None:
        session, problem = plan.session, plan.problem
        n, sources = problem.graph.n_vertices, plan.scope["sources"]
        defines = {**device_graph(session, problem.graph).defines(), **problem.held.defines}
        self._program = program = session.program(
            _SOURCE, defines, work_group_size=max(64, session.facts.sub_group_size)
        )
        self._state = session.empty(program.constant("FOLLOW_STATE_WORDS"), np.uint32)
        # A search that is not stuck makes at most n rounds, because every round extends paths by an edge.
        self._most_rounds = n + _ROUNDS_ALONE
        scope = {
            **plan.scope, "n": n, "n_sources": sources.size, "rounds": session.empty(n, np.int32), "state": self._state,
        }  # fmt: skip
        self._find = [
            program.bind(kernel, size, scope)
            for kernel, size in (("start", n), ("find", n), ("mark_sources", sources.size))
        ]
        self._finish = program.bind("finish", n, scope)
        self._is_flat = problem.held.is_float or bool(problem.weight_range[0] == 0)
        # In a flat problem, an edge may add nothing to a distance, because the edge weighs 0 or is lost in rounding.
        if self._is_flat:
            scope["lists"] = session.empty(2 * n, np.int32)
            self._find.append(program.bind("follow_all", n, scope))
            self._follow = program.bind(
                "follow_lists", n, scope, round=0, last=0, most=_SHORT, max_groups=16 * session.facts.compute_units
            )

    def run(self) -> None:
        for launch in self._find:
            launch()
        while self._is_flat:
            state = self._state.get()
            number = int(state[self._program.constant("STATE_ROUND")])
            size = state[self._program.constant("STATE_LISTED") + ((number - 1) & 3)]
            if not size:
                break
            if number > self._most_rounds:
                check_status(STATUS_STUCK, f"follow_lists, round {number}")
            if size <= _SHORT:
                self._rounds(number, number + _ROUNDS_ALONE - 1, n_groups=1)
            else:
                for k in range(number, number + _AT_ONCE):
                    self._rounds(k, k)
        self._finish()

    def _rounds(self, first: int, last: int, n_groups: int | None = None) -> None:
        self._follow.set(round=first, last=last)
        self._follow(n_groups)
