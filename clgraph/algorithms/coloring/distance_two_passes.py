"""How colours at distance 2 are taken: as they are found free, or claimed in rounds; cl/coloring/distance_two.cl."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.primitives.compact import Compact
from clgraph.primitives.types import power_of_two_at_most
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.failure import STATUS_TIMEOUT, check_status
from clgraph.runtime.program import Launch, Program

if TYPE_CHECKING:
    from clgraph.algorithms.coloring.distance_two import DistanceTwo

SOURCE = "coloring/distance_two.cl"
_MOST_AT_ONCE = 32  # steps enqueued between two looks at whether they have ended
_SLICES_AT_ONCE = 8  # likewise, while new vertices come in every round
_MOST_SLICES, _LEAST_SLICE = 512, 64
_LEAST_SLOTS, _LONG_NET = 8, 256
_CLAIM_BYTES = 1 << 27  # of all nets, if that leaves them so many
_OFFERED = 4  # shares of what is left that are offered a window, if it has colours for one
_PATIENCE = 1000  # looks at windows in which nothing was coloured
_WHAT = "colouring at distance 2"


class _Part(NamedTuple):
    """Vertices that are taken by teams of one kind: launches of the first step, and of others in turn."""

    launches: list[Launch]
    state: DeviceArray
    size: int


class Windows:
    """Each step colours what it can in a window of colours, and lists the others for the next."""

    def __init__(self, plan: DistanceTwo, long_row: int) -> None:
        self._plan = plan
        self._parts = self._all_parts(long_row)

    def _all_parts(self, long_row: int) -> list[_Part]:
        plan, session = self._plan, self._plan.session
        if int(plan.rows.degrees.max()) <= long_row:
            return [self._part(plan.program, plan.team, plan.vertices, plan.n)]
        group = min(session.facts.max_work_group_size, 256)
        for_long = session.program(SOURCE, {**plan.defines, **plan.sizes, "WG_SIZE": group, "GROUP_TEAM": 1})
        parts = []
        for program, team, comparison in ((for_long, group, ">"), (plan.program, plan.team, "<=")):
            vertices = session.empty(plan.n, np.int32)
            chosen = Compact(
                session, plan.n, vertices, item="items[i]",
                arrays={"items": plan.vertices, "row_offsets": plan.scope["row_offsets"]},
                predicate=f"row_offsets[items[i] + 1] - row_offsets[items[i]] {comparison} {long_row}",
            )
            chosen.run_checked()
            if size := chosen.size.item():
                parts.append(self._part(program, team, vertices, size))
        return parts

    def _part(self, program: Program, team: int, vertices: DeviceArray, size: int) -> _Part:
        plan, session = self._plan, self._plan.session
        lists, state = [session.empty(size, np.int32) for _ in range(2)], session.empty(plan.n_lists, np.uint32)
        return _Part([
            program.bind(
                "color_vertices", -(-size // plan.items) * team, plan.scope, step=0, base=0, prefer=0, list=source,
                next=target, state=state, max_groups=plan.max_groups,
            )
            for source, target in ((vertices, lists[0]), (lists[0], lists[1]), (lists[1], lists[0]))
        ], state, size)

    def run(self) -> dict[str, Any]:
        """Colour the vertices; return what the run tells of itself."""
        plan = self._plan
        for part in self._parts:
            part.state.fill(0)
            part.state.fill(part.size, 0, 1)
        plan.used.fill(0)
        step = window = 0
        if plan.prefers:
            self._step(0, 0, prefer=True)
            step = 1
        left, idle = plan.n, 0
        while left:
            for _ in range(min(1 + window // 2, _MOST_AT_ONCE)):
                if window:
                    plan.used.fill(0)
                self._step(step, 32 * plan.words * window)
                step, window = step + 1, window + 1
            before, left = left, sum(part.state.item(step % plan.n_lists) for part in self._parts)
            idle = idle + 1 if left == before else 0
            if idle > _PATIENCE:
                check_status(STATUS_TIMEOUT, _WHAT)
        return {"windows": window, "window_colors": 32 * plan.words}

    def _step(self, step: int, base: int, prefer: bool = False) -> None:
        for part in self._parts:
            launch = part.launches[0 if not step else 2 - step % 2]
            launch.set(step=step, base=base, prefer=prefer)
            launch()


class Rounds:
    """In each round some vertices claim colours, and the winners take them: the same on every device."""

    def __init__(self, plan: DistanceTwo) -> None:
        self._plan, session, n = plan, plan.session, plan.n
        key_bits = (n - 1).bit_length()
        self._epoch_shift = key_bits + plan.program.constant("CLASS_BITS")
        self._n_epochs = 1 << max(0, 32 - self._epoch_shift)
        # Of the vertices in as many rounds of the first window: few that have a net in common.
        self._slices = max(1, min(_MOST_SLICES, 8 * plan.members, n // _LEAST_SLICE))
        # Words of claims a net: long nets have many members in a round.
        slots = min(32 * plan.words, _CLAIM_BYTES // (4 * n)) if plan.members > _LONG_NET else 0
        slots = power_of_two_at_most(max(_LEAST_SLOTS, slots))
        self._claims = session.empty(n * slots, np.uint32)
        self._state = session.empty(plan.n_lists, np.uint32)
        losers, self._left = ([session.empty(n, np.int32) for _ in range(2)] for _ in range(2))
        scope = {
            **plan.scope, **dict.fromkeys(("step", "first", "stride", "count", "round_key"), 0), "key_bits": key_bits,
            "slots": slots, "claims": self._claims, "choices": session.empty(n, np.int32), "state": self._state,
        }  # fmt: skip
        self._launches = {}
        for turn, order in enumerate((plan.vertices, *self._left)):
            for old, new in ((0, 1), (1, 0)):
                scope |= {"order": order, "losers": losers[old]}
                self._launches[turn, old] = (
                    plan.program.bind(
                        "claim_colors", n * plan.team, scope, prefer=0, spread=1, max_groups=plan.max_groups
                    ),
                    plan.program.bind(
                        "settle_colors", n * plan.team, scope, base=0, next=losers[new], max_groups=plan.max_groups
                    ),
                )

    def run(self) -> dict[str, Any]:
        """Colour the vertices; return what the run tells of itself."""
        plan = self._plan
        self._state.fill(0)
        self._round, self._spread, left, window, order = 0, 1, plan.n, 0, 0
        plan.used.fill(0)
        if plan.prefers and left:
            self._claim(0, 0, (0, 1, left), prefer=True)
            self._state.fill(0)  # the losers are what is left
            order, left = self._uncolored(0, left)
        while left:
            if window:
                plan.used.fill(0)
            self._window(order, left, window)
            before = left
            order, left = self._uncolored(order, left)
            if left == before and window:  # hash colours may fill the first one
                check_status(STATUS_TIMEOUT, _WHAT)
            window += 1
        return {"rounds": self._round, "windows": window, "window_colors": 32 * plan.words}

    def _uncolored(self, order: int, n: int) -> tuple[int, int]:
        """Make an order of those of the first *n* of an order that have no colour; return its number and size."""
        plan, following = self._plan, 1 + order % 2
        source = (plan.vertices, *self._left)[order]
        compact = Compact(
            plan.session, n, self._left[following - 1], item="items[i]",
            predicate=f"colors[items[i]] == {plan.no_color}", arrays={"items": source, "colors": plan.colors},
        )
        compact.run_checked()
        return following, compact.size.item()

    def _window(self, order: int, n: int, window: int) -> None:
        """Colour those of the order's *n* vertices that find a colour in the window."""
        colors = 32 * self._plan.words
        base = colors * window
        needed = -(-(self._plan.members - base) // colors)  # windows, by the longest net
        slices = min(n, max(self._slices >> window, needed)) or 1
        # Of the many that a window has no room for, some wait: they would look at all of its words in vain.
        for i in range(-(-slices * _OFFERED // max(needed, _OFFERED)) if window else slices):
            if self._plan.order == "natural":
                items = i, slices, -(-(n - i) // slices)
            else:
                items = i * n // slices, 1, (i + 1) * n // slices - i * n // slices
            self._claim(order, base, items)
            if i % _SLICES_AT_ONCE == _SLICES_AT_ONCE - 1:
                self._repeat(order, base, items[2])
        self._repeat(order, base, 0)

    def _repeat(self, order: int, base: int, most: int) -> None:
        """Let losers claim again until at most so many are left."""
        losers, at_once = self._state.item(self._round % self._plan.n_lists), 1
        while losers > most:
            for _ in range(at_once):
                self._claim(order, base, (0, 1, 0))
            before, losers = losers, self._state.item(self._round % self._plan.n_lists)
            if losers >= before:  # the highest key wins in every round
                check_status(STATUS_TIMEOUT, _WHAT)
            is_slow = 2 * losers > before
            at_once = 1 if is_slow else min(2 * at_once, _MOST_AT_ONCE)
            self._spread = min(2 * self._spread, 32 * self._plan.words) if is_slow else max(1, self._spread // 2)

    def _claim(self, order: int, base: int, items: tuple[int, int, int], prefer: bool = False) -> None:
        epoch = self._round % self._n_epochs
        if not epoch:
            self._claims.fill(0)
        key, (first, stride, count) = epoch << self._epoch_shift & 0xFFFFFFFF, items
        claim, settle = self._launches[order, self._round % 2]
        claim.set(prefer=prefer, spread=self._spread)
        settle.set(base=base)
        for launch in (claim, settle):
            launch.set(step=self._round, first=first, stride=stride, count=count, round_key=key)
            launch()
        self._round += 1
