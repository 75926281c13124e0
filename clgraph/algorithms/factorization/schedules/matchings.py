"""Partition the edges of a bipartite graph into maximal matchings, one after the other
(cl/factorization/matchings.cl).
"""

from __future__ import annotations

import logging

import numpy as np

from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.rating_order import stable_order
from clgraph.arguments import Seed, checked_seed
from clgraph.primitives.compact import Compact
from clgraph.primitives.fill import iota
from clgraph.primitives.reduce import reduce
from clgraph.primitives.sort import sort
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch

logger = logging.getLogger(__name__)

SOURCE = "factorization/matchings.cl"
_GROUP_SIZE = 512  # The single work-group processes this number of rows at a time.
# Rows that the group processes at a time on devices without sub-groups, where a scan over a work-group is slow.
_NARROW_GROUP_SIZE = 64
FEW_ROWS = 1 << 12  # A single work-group finishes a round of fewer than 4096 rows in less time than a launch takes.
# Turns per launch of the single work-group, on GPUs and on CPUs. Such a launch takes less than 0.2 s.
_GROUP_TURNS, _CPU_TURNS = 1 << 14, 1 << 20
_TURNS = 16  # While a round has many rows, the host reads the state of the search after this number of turns.

Side = tuple[DeviceArray, int]


def find_matchings(plan: FactorizationPlan, a: Side, b: Side, *, seed: Seed) -> tuple[DeviceArray, int]:
    """Return a partition of the edges of a bipartite graph without parallel edges into maximal matchings.

    Matching t is maximal among the edges that are in none of the earlier matchings. The result depends only on the
    graph and the seed, not on the device.

    Parameters
    ----------
    plan : FactorizationPlan
        A plan with the device and the type of offsets to use.
    a, b : (DeviceArray of int32, int)
        The ends of the edges on either side, and the number of vertices there.
    seed : int

    Returns
    -------
    colours : DeviceArray
        The matching of each edge, uint32.
    n_matchings : int
    """
    session, n = plan.session, a[0].size
    if not n:
        return session.zeros(0, np.uint32), 0
    search = _Search(plan, a, b, seed)
    if not session.facts.is_cpu:
        search.run_many(FEW_ROWS)
    search.run_few()
    n_matchings = int(reduce(session, search.colours, "max").item()) + 1
    logger.debug("%d edges in %d matchings; the largest degree is %d", n, n_matchings, search.max_degree)
    return search.colours, n_matchings


class _Search:
    def __init__(self, plan: FactorizationPlan, a: Side, b: Side, seed: Seed) -> None:
        session = self._session = plan.session
        n = a[0].size
        self._defines = {"OFFSET_T": plan.offset_name}
        program = self._program = session.program(SOURCE, self._defines)
        degrees, most = [], []
        for ends, n_vertices in (a, b):
            degrees.append(session.zeros(n_vertices, np.uint32))
            program.bind("count_edges", n, n=n, ends=ends, degrees=degrees[-1])()
            most.append(int(reduce(session, degrees[-1], "max").item()))
        # The side with the busiest vertex proposes, because the busiest vertex then makes one proposal per round.
        # On the side that receives proposals, the busiest vertex would get proposals from all its neighbours at once.
        (rows, n_rows), (columns, n_columns) = (a, b) if most[0] >= most[1] else (b, a)
        row_degrees = degrees[int(most[0] < most[1])]
        self.max_degree, self._n_rows = max(most), n_rows
        vertices = session.empty(n_rows, np.int32)
        iota(session, vertices)
        _, by_degree = sort(session, row_degrees, vertices, end_bit=self.max_degree.bit_length())
        edges, row_offsets = stable_order(plan, rows, n_rows)
        words = session.empty(2 * n_columns, np.uint32)
        words.fill(program.constant("NOBODY"))
        self._alive, self._left = session.empty(n_rows, np.int32), session.empty(n_rows, np.uint32)
        self._alive_at, self._round_at = map(program.constant, ("STATE_ALIVE", "STATE_ROUND"))
        self._state = session.zeros(program.constant("STATE_WORDS"), np.uint32)
        self._state.set(np.array([n_rows]), offset=self._alive_at)
        self._state.set(np.array([1]), offset=program.constant("STATE_DISPLACED"))
        self.colours = session.empty(n, np.uint32)
        self._scope = {
            "begin": session.empty(n_rows, plan.problem.offset_type), "alive": self._alive, "left": self._left,
            "cursor": session.empty(n_rows, np.uint32), "tried": session.empty(n_rows, np.uint32), "edges": edges,
            "edge_columns": session.empty(n, np.int32), "words": words, "state": self._state, "colours": self.colours,
        }  # fmt: skip
        program.bind("list_columns", n, self._scope, n=n, columns=columns)()
        program.bind(
            "start_rows",
            n_rows,
            self._scope,
            n_rows=n_rows,
            seed=checked_seed(seed) % 2**64,
            by_degree=by_degree,
            row_offsets=row_offsets,
        )()

    def run_many(self, few_rows: int) -> None:
        """Run rounds of the search for matchings, with a launch for each step,
        until at most *few_rows* rows have edges left.
        """
        n_alive = self._n_rows
        compact = Compact(self._session, n_alive, self._alive, predicate="left_[i] > 0u", arrays={"left_": self._left})
        before, turns = -1, 0
        while n_alive > few_rows:
            turn = self._turn(n_alive)
            for _ in range(_TURNS):
                for launch in turn:
                    launch()
            compact.run_checked()
            n_alive, number = int(compact.size.item()), self._state.item(self._round_at)
            turns = 0 if number != before else turns + _TURNS
            # The search for matchings is stuck, because each turn settles at least one row of the round.
            if turns > n_alive + _TURNS:
                check_status(STATUS_STUCK, f"round {number} of matchings")
            before = number
        self._state.set(np.array([n_alive]), offset=self._alive_at)

    def _turn(self, n_alive: int) -> list[Launch]:
        bind, scope = self._program.bind, {**self._scope, "n_alive": n_alive}
        return [
            *(bind("propose", n_alive, scope, first=k) for k in range(self._program.constant("PROPOSALS"))),
            bind("settle", n_alive, scope),
            bind("next_round", 1, scope),
        ]

    def run_few(self, work_group_size: int | None = None) -> None:
        """Run all remaining rounds of the search for matchings on a single work-group."""
        facts = self._session.facts
        size = work_group_size or (facts.group_size(_GROUP_SIZE if facts.sub_group_size > 1 else _NARROW_GROUP_SIZE))
        launch = self._session.program(SOURCE, self._defines, work_group_size=size).bind(
            "match_group", 1, self._scope, budget=_CPU_TURNS if facts.is_cpu else _GROUP_TURNS
        )
        state, progresses = self._state.get(), True
        while state[self._alive_at]:
            if not progresses:  # The search is stuck, because each launch must finish at least one chunk of rows.
                check_status(STATUS_STUCK, "match_group")
            launch()
            before, state = state, self._state.get()
            progresses = not np.array_equal(before, state)
