"""Breadth-first search that the host drives level by level, for devices without a device-wide barrier."""

from __future__ import annotations

import numpy as np

from clgraph.device.facts import DeviceFacts
from clgraph.engine.plan import Plan
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.programs.program import Launch

SOURCE = "bfs/frontier.cl"
_QUEUE_SOURCE = "bfs/queue.cl"
_BUDGET = 2**23  # edges per launch of the queue kernel, which then takes a fraction of a second
_FEW_UNITS = 4
_FEW_ROWS = 4096  # On CPUs with more units, one work-item expands a frontier of up to 4096 vertices faster than all
_ANY = 2**62  # rows: no limit
_PARTS = 64  # A frontier of less than 1/64 of the vertices does not make the search turn bottom-up


class Levels:
    """Searches top-down, or bottom-up where the frontier is large; on a CPU few work-items expand small frontiers.

    It drives its launches itself: which kernel comes next depends on how many vertices and edges the last one found.

    Parameters
    ----------
    plan : Plan
        Its lists hold the frontier of turn 0 when this runs.
    alpha, beta : int
        As in :func:`bfs`; with an alpha of 0 the search is never bottom-up.
    """

    def __init__(self, plan: Plan, *, alpha: int, beta: int) -> None:
        session, graph, program = plan.session, plan.problem.graph, plan.program(SOURCE)
        facts, n, scope = session.facts, graph.n_vertices, {**plan.scope, "turn": 0, "depth": 1}
        self._n, self._n_edges, self._state, self._program = n, graph.n_edges, scope["state"], program
        self._max_depth, self._alpha, self._beta = scope["max_depth"], alpha, beta
        many = 8 * facts.compute_units * program.work_group_size
        self._expand = program.bind("expand_level", many, scope)
        self._list = program.bind("list_level", many, scope)
        if alpha:
            self._mark = program.bind("mark_level", many, scope)
            self._pull = program.bind("pull_level", many, scope)
        self._few_rows = _ANY if has_few_units(facts) else _FEW_ROWS if facts.is_cpu else 0
        if self._few_rows:
            most = min(self._few_rows, n // _PARTS) if alpha else self._few_rows
            members = queue_members(facts)
            queues = session.program(
                _QUEUE_SOURCE, {**device_graph(session, graph).defines(), "MEMBERS": members}, work_group_size=1
            )
            self._place = session.empty(queues.constant("PLACE_WORDS"), np.uint64)
            self._queue = queues.bind(
                "search_queue",
                members,
                scope,
                resumed=0,
                most_rows=most,
                budget=_BUDGET,
                place=self._place,
                meeting=session.zeros(queues.constant("MEETING_WORDS"), np.uint32),
                queue=session.empty(members * n, np.int32),
            )

    def run(self) -> None:
        """Search from the vertices in the lists."""
        turn, depth, explored = 0, 1, 0
        while depth <= self._max_depth:
            if self._few_rows == _ANY and not self._alpha:  # the number of waiting vertices is not needed
                self._expand_alone(turn, depth, explored)
                return
            light, heavy, edges, _ = self._sizes(turn)
            if not light + heavy:
                return
            if self._turns_round(edges, explored):
                turn, depth = self._step_bottom_up(turn, depth)
            elif light + heavy <= self._few_rows:
                turn, depth, edges = self._expand_alone(turn, depth, explored)
            else:
                self._launch(self._expand, turn=turn, depth=depth)
                turn, depth = turn + 1, depth + 1
            explored += edges

    def _sizes(self, turn: int) -> list[int]:
        """Return the numbers of listed vertices, pieces of long rows, edges and found vertices of a turn."""
        size = self._program.constant("SIZES")
        first = self._program.constant("STATE_SIZES") + size * (turn & 3)
        return [int(word) for word in self._state.get(first, first + 4)]

    def _turns_round(self, edges: int, explored: int) -> bool:
        return self._alpha > 0 and edges * self._alpha > max(0, self._n_edges - explored - edges)

    def _expand_alone(self, turn: int, depth: int, explored: int) -> tuple[int, int, int]:
        """Expand levels with queues; return the next turn and depth, and the number of edges that were read."""
        resumed, before = 0, (-1, -1)
        while True:
            self._launch(self._queue, resumed=resumed, turn=turn, depth=depth)
            depth, edges, following, expanded, left, status, *_ = self._place.get().tolist()
            check_status(status if (depth, expanded) > before else STATUS_STUCK, "search_queue")
            before = depth, expanded
            if not left or depth > self._max_depth:
                return turn, self._max_depth + 1, edges
            if not expanded and self._turns_round(following, explored + edges):
                return *self._step_bottom_up(turn, depth), edges
            if not expanded and left > self._few_rows:
                self._launch(self._list, turn=turn + 1, depth=depth)
                return turn + 1, depth, edges
            resumed = 1

    def _step_bottom_up(self, turn: int, depth: int) -> tuple[int, int]:
        """Search bottom-up until few vertices are found, and list these; return the next turn and depth."""
        while depth <= self._max_depth:
            self._launch(self._mark, depth=depth)
            self._launch(self._pull, turn=turn, depth=depth)
            turn, depth = turn + 1, depth + 1
            found = self._sizes(turn)[3]
            if not found:
                return turn, self._max_depth + 1
            if found * self._beta <= self._n:
                break
        self._launch(self._list, turn=turn, depth=depth)
        return turn, depth

    def _launch(self, launch: Launch, **values: int) -> None:
        launch.set(**values)
        launch()


def queue_members(facts: DeviceFacts) -> int:
    """Return the work-groups that search together, a queue each: few units rounded up to a power of two, else 1."""
    return 1 << (facts.compute_units - 1).bit_length() if has_few_units(facts) else 1


def has_few_units(facts: DeviceFacts) -> bool:
    """Return whether this is a CPU on which queues expand any frontier faster than lists, which need atomics."""
    return facts.is_cpu and facts.compute_units <= _FEW_UNITS
