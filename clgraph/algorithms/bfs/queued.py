"""Breadth-first search on a CPU: top-down with queues, or bottom-up with bitmaps.

The host decides after each level.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from clgraph.algorithms.traversal.problem import MAX_DEPTH, SearchProblem
from clgraph.algorithms.traversal.queues import has_few_units, queue_members
from clgraph.device.facts import DeviceFacts
from clgraph.engine.plan import Plan
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Use
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch

SOURCE, _BITMAPS = "bfs/queue.cl", "bfs/bitmaps.cl"
# Work-groups per CPU core in kernels over all vertices. With 16 small groups, all cores end at about the same time.
_GROUPS_PER_UNIT = 16
# Greatest number of edges per launch of the kernel search_queue, so that a launch takes only a fraction of a second.
_BUDGET = 2**23
# A frontier of fewer than 4096 vertices is expanded faster by one core without atomics than by many with atomics.
_MAX_ALONE = 4096
_ANY = 2**62  # This number of rows stands for "no limit on the number of rows".
_PARTS = 64  # The search stays top-down while the frontier has less than 1/64 of the graph's vertices.
_DEPTH, _EDGES, _NEXT, _EXPANDED, _LEFT, _STATUS, _REACHED, _SEGMENTS = range(8)  # words of cl/bfs/place.h


def recipe(problem: SearchProblem, facts: DeviceFacts, *, alpha: int, beta: int) -> Recipe:
    """Return the recipe of a breadth-first search on a CPU. With an *alpha* of 0, the search never goes bottom-up."""
    n, groups = problem.graph.n_vertices, _GROUPS_PER_UNIT * facts.compute_units
    members, n_words = queue_members(facts), -(-n // 64) if alpha else 0
    steps = (
        Phase(f"{SOURCE}:initialize", n, groups=groups), Phase(f"{SOURCE}:start", 1),
        Use(partial(QueuedSearch, groups=groups, alpha=alpha, beta=beta)),
    )  # fmt: skip
    return Recipe(steps if n else (), lambda: Setting(
        arrays={
            "distances": Array(n, np.int32), "predecessors": Array(n, np.int32), "queue": Array(members * n, np.int32),
            "place": Array("PLACE_WORDS", np.uint64), "meeting": Array("MEETING_WORDS", np.uint32, zeroed=True),
            "found": Array(2 * groups, np.uint64), "held": Array(f"{groups} * HELD", np.int32),
            "tail": Array(1, np.uint32),
            **{name: Array(n_words, np.uint64) for name in ("frontier", "next", "unreached")},
        },
        values={
            "n": n, "n_sources": problem.sources.size,
            "max_depth": min(n, MAX_DEPTH if problem.limit is None else int(problem.limit)),
        },
        defines={"MEMBERS": members},
        work_group_size=1,
        inputs={"sources": problem.upload_sources},
        prepare=partial(rows_into, bottom_up=alpha > 0),
    ))  # fmt: skip


def rows_into(plan: Plan, *, bottom_up: bool) -> dict[str, DeviceArray]:
    """Return the rows of the reversed graph for a *bottom_up* search.

    Other searches get the graph's own rows as a placeholder.
    """
    graph = plan.problem.graph
    rows = device_graph(plan.session, graph.reverse if bottom_up else graph)
    return {"in_offsets": rows.row_offsets, "in_neighbors": rows.column_indices}


class QueuedSearch:
    """A breadth-first search on a CPU. The host reads the result of each kernel and then chooses the next kernel.

    Parameters
    ----------
    plan : Plan
        A plan whose queues hold the sources when the search runs.
    groups : int
        Number of work-groups of kernels that run on all cores.
    alpha, beta : int
        As in :func:`bfs`. With an alpha of 0 the search never goes bottom-up.
    """

    def __init__(self, plan: Plan, *, groups: int, alpha: int, beta: int) -> None:
        facts, self._plan, self._groups = plan.session.facts, plan, groups
        self._n: int = plan.problem.graph.n_vertices
        self._n_edges: int = plan.problem.graph.n_edges
        self._max_depth: int = plan.scope["max_depth"]
        self._alpha, self._beta = alpha, beta
        self._push_cost = plan.program(SOURCE).constant("PUSH_COST")
        self._place, self._found, self._tail = (plan.scope[name] for name in ("place", "found", "tail"))
        self._most_alone = _ANY if has_few_units(facts) else _MAX_ALONE
        limits = {
            "m": self._n_edges, "most_rows": self._most_alone, "least_rows": self._n // _PARTS if alpha else _ANY,
            "alpha": alpha, "budget": _BUDGET,
        }  # fmt: skip
        self._search = plan.bound(Phase(f"{SOURCE}:search_queue", 1, limits, groups=queue_members(facts)))
        self._expand = self._bind(f"{SOURCE}:expand_queue", depth=1, first=0, end=0)
        self._pulls: list[Launch] = []
        self._queues: list[Launch] = []

    def _bind(self, kernel: str, *, alone: bool = False, **values: int | str) -> Launch:
        return self._plan.bound(Phase(kernel, 1, values, groups=1 if alone else self._groups))

    def run(self) -> None:
        """Run the breadth-first search, starting from the vertices in the device's queues."""
        place = self._search_alone((0, 0))
        while place[_LEFT] and place[_DEPTH] <= self._max_depth:
            # The last launch of the kernel stopped in the middle of a level, because its budget of edges was used up.
            if place[_EXPANDED]:
                place = self._search_alone((place[_DEPTH], place[_EXPANDED]))
            elif place[_NEXT] and self._is_bottom_up(place):
                if not (depth := self._search_bottom_up(place)):
                    return
                self._queue_frontier.set(depth=depth, edges=place[_EDGES], reached=place[_REACHED])
                self._queue_frontier()
                place = self._search_alone((depth, 0))
            elif place[_LEFT] > self._most_alone:
                place = self._expand_together(place)
            else:
                place = self._search_alone((place[_DEPTH], 0))

    def _is_bottom_up(self, place: list[int]) -> bool:
        """Return whether to expand the next level bottom-up, by the same
        rule as ``is_bottom_up`` in cl/bfs/queue.cl.
        """
        following, m = place[_NEXT], self._n_edges
        left, waiting = max(0, m - place[_EDGES] - following), self._n - place[_REACHED]
        looks = waiting + min(left, waiting * (m // max(following, 1)))
        return self._alpha * following > left and self._push_cost * following > looks

    def _search_alone(self, before: tuple[int, int]) -> list[int]:
        """Search on one core until a level is wide or the launch's budget of edges is used up.

        Return the new state (``place``).

        *before* is the earlier (depth, number of expanded vertices). A search that is not ahead of it is stuck.
        """
        self._search()
        place: list[int] = self._place.get().tolist()
        is_ahead = not place[_LEFT] or (place[_DEPTH], place[_EXPANDED]) > before
        check_status(place[_STATUS] if is_ahead else STATUS_STUCK, "search_queue")
        return place

    def _expand_together(self, place: list[int]) -> list[int]:
        """Expand one level of the search on all cores, which append the next level to one queue.

        Return the state (``place``).
        """
        first, end, _ = place[_SEGMENTS:]
        self._tail.fill(end)
        self._expand.set(depth=place[_DEPTH], first=first, end=end)
        self._expand()
        groups = self._groups
        found, tails = self._plan.session.read((self._found, 0, groups), (self._tail, 0, 1))
        tail, edges = int(tails[0]), place[_EDGES] + place[_NEXT]
        reached = place[_REACHED] + tail - end
        place = [place[_DEPTH] + 1, edges, int(found.sum()), 0, tail - end, place[_STATUS], reached, end, tail, tail]
        self._place.set(np.array(place, np.uint64))
        return place

    def _search_bottom_up(self, place: list[int]) -> int:
        """Search bottom-up while this is faster than top-down.

        Return the next depth, or 0 if the search has ended.

        *place* holds the state of the search, which this method updates.
        """
        if not self._pulls:
            self._bind_bitmaps()
        depth, before = place[_DEPTH], place[_LEFT]
        self._mark.set(depth=depth)
        self._mark()
        for turn in range(self._max_depth + 1 - depth):
            pull = self._pulls[turn % 2]
            pull.set(depth=depth + turn)
            pull()
            found, edges = self._found.get().reshape(-1, 2).sum(axis=0).tolist()
            if not found:
                return 0
            place[_EDGES] += place[_NEXT]
            place[_NEXT], place[_REACHED] = edges, place[_REACHED] + found
            is_small = found < before and found * self._beta <= self._n
            if (is_small or not self._is_bottom_up(place)) and depth + turn < self._max_depth:
                self._queue_frontier = self._queues[turn % 2]
                return depth + turn + 1
            before = found
        return 0

    def _bind_bitmaps(self) -> None:
        """Bind the search's bitmap kernels to their arguments.

        They are compiled only when a search first goes bottom-up.
        """
        maps = "frontier", "next"
        self._mark = self._bind(f"{_BITMAPS}:mark_bits", depth=1)
        for now, then in (maps, maps[::-1]):
            self._pulls.append(self._bind(f"{_BITMAPS}:pull_bits", depth=1, frontier=now, next=then))
            self._queues.append(
                self._bind(f"{_BITMAPS}:queue_bits", alone=True, depth=1, edges=0, reached=0, frontier=then)
            )
