"""Colouring at distance 2 by windows of colours; ``cl/color/distance_two.cl`` explains the algorithm.

If nets are much larger than a window, the vertices that the first window leaves get bitmaps that are large enough for
each net.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clgraph.engine.plan import Plan
from clgraph.primitives.compact import Compact
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch

_SOURCE, _LONG = "color/distance_two.cl", "color/distance_two_long.cl"
_SIZED = {_SOURCE: "color/distance_two_sized.cl", _LONG: "color/distance_two_sized_long.cl"}
_BITMAPS = "color/net_bitmaps.cl"
_MAX_AT_ONCE = 32  # The host enqueues at most 32 steps before it reads whether uncoloured vertices are left.
_PATIENCE = 1000  # After 1000 reads in a row without progress, the colouring is reported as stuck.


class _Part(NamedTuple):
    """The vertices that one kind of team processes, and the launches that colour these vertices.

    A team is a few lanes of a sub-group, or a work-group.
    """

    prefer: Launch | None
    launches: list[Launch]  # One launch for the first step, and then two launches that later steps use alternately.
    state: DeviceArray
    size: int
    # For each list of vertices, the launches that count members, find places, and colour.
    sized: list[tuple[Launch, ...]]


class Windows:
    """A loop of colouring steps.

    Each step colours vertices that find a colour in one window, and lists the others.

    Attributes
    ----------
    details : dict
        ``windows``, the number of windows, and ``window_colors``, the number of colours per window.
    """

    def __init__(
        self, plan: Plan, *, long_row: int, items: int, words: int, most_groups: int, prefers: bool, sized: bool
    ) -> None:
        self._plan, self._n, self._colors = plan, plan.setting.values["n"], 32 * words
        self._items, self._most_groups, self._prefers = items, most_groups, prefers
        self._no_color, self._n_lists = map(plan.program(_SOURCE).constant, ("NO_COLOR", "N_LISTS"))
        self.details: dict[str, Any] = {}
        self._bitmaps = self._bitmaps_of_nets() if sized else None
        self._parts = self._all_parts(long_row)

    def _bitmaps_of_nets(self) -> tuple[Launch, dict[str, DeviceArray]]:
        """Return the launch that assigns a bitmap of colours to each net, and the arrays of the bitmaps."""
        plan, session, n = self._plan, self._plan.session, self._n
        program = plan.program(_BITMAPS)
        sizes = {"counts": n, "ranks": n, "tail": program.constant("TAIL_STATE"), "places": 2 * n, "bitmaps": 2 * n}
        arrays = {name: session.empty(size, np.uint32) for name, size in sizes.items()}
        self._tail_words = program.constant("TAIL_WORDS")
        return program.bind("size_bitmaps", n, {**plan.scope, **arrays}), arrays

    def _all_parts(self, long_row: int) -> list[_Part]:
        plan, session = self._plan, self._plan.session
        if int(plan.problem.rows.degrees.max()) <= long_row:
            return [self._part(_SOURCE, plan.scope["vertices"], self._n)]
        parts = []
        for source, comparison in ((_LONG, ">"), (_SOURCE, "<=")):
            vertices = session.empty(self._n, np.int32)
            arrays = {"items": plan.scope["vertices"], "row_offsets": plan.scope["row_offsets"]}
            predicate = f"row_offsets[items[i] + 1] - row_offsets[items[i]] {comparison} {long_row}"
            chosen = Compact(session, self._n, vertices, item="items[i]", arrays=arrays, predicate=predicate)
            chosen.run_checked()
            if size := chosen.size.item():
                parts.append(self._part(source, vertices, size))
        return parts

    def _part(self, source: str, vertices: DeviceArray, size: int) -> _Part:
        plan, session = self._plan, self._plan.session
        lists, state = [session.empty(size, np.int32) for _ in range(2)], session.empty(self._n_lists, np.uint32)
        n_items = -(-size // self._items) * plan.program(source).constant("LANES")
        scope = {**plan.scope, **(self._bitmaps[1] if self._bitmaps else {}), "state": state, "step": 0, "base": 0}

        def bound(source: str, kernel: str, before: DeviceArray, after: DeviceArray) -> Launch:
            here = {**scope, "list": before, "next": after}
            return plan.program(source).bind(kernel, n_items, here, max_groups=self._most_groups)

        turns = (lists[0], lists[1]), (lists[1], lists[0])
        sized = [
            tuple(bound(_SIZED[source], kernel, *turn) for kernel in ("count_members", "find_places", "color_sized"))
            for turn in turns if self._bitmaps
        ]  # fmt: skip
        return _Part(
            bound(source, "take_preferred", vertices, lists[0]) if self._prefers else None,
            [bound(source, "color_vertices", *turn) for turn in ((vertices, lists[0]), *turns)],
            state,
            size,
            sized,
        )

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
        left, base = self._n, 0
        while left:
            for _ in range(1 if self._bitmaps else min(1 + window // 2, _MAX_AT_ONCE)):
                if window:
                    plan.arrays["used"].fill(0)
                base += self._sized_step(step, base) if window and self._bitmaps else self._step(step, base)
                step, window = step + 1, window + 1
            before, left = left, sum(part.state.item(step % self._n_lists) for part in self._parts)
            idle = idle + 1 if left == before else 0
            if idle > _PATIENCE:
                check_status(STATUS_STUCK, "colouring at distance 2")
        self.details = {"windows": window, "window_colors": self._colors}

    def _step(self, step: int, base: int) -> int:
        """Colour vertices in the window of colours that begins at *base*.

        Return the window's number of colours.
        """
        for part in self._parts:
            launch = part.launches[0 if not step else 2 - step % 2]
            launch.set(step=step, base=base)
            launch()
        return self._colors

    def _sized_step(self, step: int, base: int) -> int:
        """Colour vertices with bitmaps that begin at colour *base* and have room for all remaining members of each net.

        Return the number of colours of the largest bitmap.
        """
        assert self._bitmaps is not None
        size, arrays = self._bitmaps
        for name in ("counts", "ranks", "tail"):
            arrays[name].fill(0)
        launches = [part.sized[1 - step % 2] for part in self._parts]
        for count, _, _ in launches:
            count.set(step=step)
            count()
        size()
        for _, find, color in launches:
            find.set(step=step)
            find()
            color.set(step=step, base=base)
        for *_, color in launches:
            color()
        return 32 * int(arrays["tail"].item(self._tail_words))
