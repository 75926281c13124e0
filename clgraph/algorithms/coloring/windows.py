"""Colours at distance 2 as they are found free, a window at a time; ``cl/coloring/distance_two.cl`` tells how."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clgraph.engine.plan import Plan
from clgraph.primitives.compact import Compact
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.failure import STATUS_TIMEOUT, check_status
from clgraph.runtime.program import Launch

_SOURCE, _LONG = "coloring/distance_two.cl", "coloring/distance_two_long.cl"
_MOST_AT_ONCE = 32  # steps enqueued between two looks at whether they have ended
_PATIENCE = 1000  # looks at windows in which nothing was coloured


class _Part(NamedTuple):
    """Vertices that are taken by teams of one kind."""

    prefer: Launch | None
    launches: list[Launch]  # of the first step, and of others in turn
    state: DeviceArray
    size: int


class Windows:
    """Each step colours what it can in a window of colours, and lists the others for the next.

    Attributes
    ----------
    rounds : int
        How many windows the last run had.
    details : dict
    """

    def __init__(
        self, plan: Plan, *, long_row: int, items: int, words: int, most_groups: int, prefers: bool
    ) -> None:
        self._plan, self._n, self._colors = plan, plan.recipe.values["n"], 32 * words
        self._items, self._most_groups, self._prefers = items, most_groups, prefers
        self._no_color, self._n_lists = map(plan.program(_SOURCE).constant, ("NO_COLOR", "N_LISTS"))
        self.rounds, self.details = 0, dict[str, Any]()
        self._parts = self._all_parts(long_row)

    def _all_parts(self, long_row: int) -> list[_Part]:
        plan, session = self._plan, self._plan.session
        if int(plan.problem.rows.degrees.max()) <= long_row:
            return [self._part(_SOURCE, plan.scope["vertices"], self._n)]
        parts = []
        for source, comparison in ((_LONG, ">"), (_SOURCE, "<=")):
            vertices = session.empty(self._n, np.int32)
            chosen = Compact(
                session, self._n, vertices, item="items[i]",
                arrays={"items": plan.scope["vertices"], "row_offsets": plan.scope["row_offsets"]},
                predicate=f"row_offsets[items[i] + 1] - row_offsets[items[i]] {comparison} {long_row}",
            )
            chosen.run_checked()
            if size := chosen.size.item():
                parts.append(self._part(source, vertices, size))
        return parts

    def _part(self, source: str, vertices: DeviceArray, size: int) -> _Part:
        plan, session, program = self._plan, self._plan.session, self._plan.program(source)
        lists, state = [session.empty(size, np.int32) for _ in range(2)], session.empty(self._n_lists, np.uint32)
        n_items, scope = -(-size // self._items) * program.constant("LANES"), {**plan.scope, "state": state}
        prefer = program.bind(
            "take_preferred", n_items, scope, list=vertices, next=lists[0], max_groups=self._most_groups
        ) if self._prefers else None  # fmt: skip
        return _Part(prefer, [
            program.bind(
                "color_vertices", n_items, scope, step=0, base=0, list=before, next=after, max_groups=self._most_groups
            )
            for before, after in ((vertices, lists[0]), (lists[0], lists[1]), (lists[1], lists[0]))
        ], state, size)

    def run(self) -> None:
        plan = self._plan
        plan.arrays["colors"].fill(self._no_color)
        for part in self._parts:
            part.state.fill(0)
            part.state.fill(part.size, 0, 1)
        plan.arrays["used"].fill(0)
        step = window = idle = 0
        if self._prefers:
            for part in self._parts:
                assert part.prefer is not None
                part.prefer()
            step = 1
        left = self._n
        while left:
            for _ in range(min(1 + window // 2, _MOST_AT_ONCE)):
                if window:
                    plan.arrays["used"].fill(0)
                self._step(step, self._colors * window)
                step, window = step + 1, window + 1
            before, left = left, sum(part.state.item(step % self._n_lists) for part in self._parts)
            idle = idle + 1 if left == before else 0
            if idle > _PATIENCE:
                check_status(STATUS_TIMEOUT, "colouring at distance 2")
        self.rounds, self.details = window, {"windows": window, "window_colors": self._colors}

    def _step(self, step: int, base: int) -> None:
        for part in self._parts:
            launch = part.launches[0 if not step else 2 - step % 2]
            launch.set(step=step, base=base)
            launch()
