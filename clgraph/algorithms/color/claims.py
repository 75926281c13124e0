"""Deterministic colouring of graphs at distance 2 by claims; ``cl/color/distance_two_claims.cl`` explains it."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.engine.plan import Plan
from clgraph.primitives.compact import Compact
from clgraph.primitives.types import power_of_two_at_most
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status

_SOURCE = "color/distance_two_claims.cl"
_MAX_AT_ONCE = 32  # The host enqueues at most 32 rounds before it reads the number of vertices that lost their claim.
# While each round adds a slice of new vertices, the host reads the number of losers after 8 rounds.
_SLICES_AT_ONCE = 8
_MAX_SLICES, _MIN_SLICE = 512, 64  # Greatest number of slices of the vertices, and least number of vertices per slice.
# A net has at least _MIN_SLOTS claim slots, and more if the largest net has more than _LONG_NET members.
_MIN_SLOTS, _LONG_NET = 8, 256
_CLAIM_BYTES = 1 << 27  # Bytes of the claim slots of all nets, at most. _MIN_SLOTS slots per net are always allowed.
# A later window of colours suffices for a share of the vertices. It is offered to up to 4 times that share.
_OFFERED = 4
_WHAT = "colouring at distance 2"


class Claims:
    """A step that colours in rounds.

    In each round some vertices claim colours, and the winners keep their colours.

    Attributes
    ----------
    details : dict
        ``rounds``, ``windows``, and ``window_colors``, the number of colours per window.
    """

    def __init__(self, plan: Plan, *, words: int, team: int, most_groups: int, prefers: bool) -> None:
        self._plan, session, n, program = plan, plan.session, plan.setting.values["n"], plan.program(_SOURCE)
        self._n, self._words, self._prefers, self._members = n, words, prefers, plan.problem.members
        self._no_color, self._n_lists = map(program.constant, ("NO_COLOR", "N_LISTS"))
        self._rounds, self.details = 0, dict[str, Any]()
        key_bits = (n - 1).bit_length()
        self._epoch_shift = key_bits + program.constant("CLASS_BITS")
        self._n_epochs = 1 << max(0, 32 - self._epoch_shift)
        # Number of slices of the vertices in the first window. In a round's slice, few vertices share a net.
        self._slices = max(1, min(_MAX_SLICES, 8 * self._members, n // _MIN_SLICE))
        # A large net has many members in each round, so the net needs more claim slots.
        slots = min(32 * words, _CLAIM_BYTES // (4 * n)) if self._members > _LONG_NET else 0
        slots = power_of_two_at_most(max(_MIN_SLOTS, slots))
        self._claims, self._state = session.empty(n * slots, np.uint32), session.empty(self._n_lists, np.uint32)
        losers, left = ([session.empty(n, np.int32) for _ in range(2)] for _ in range(2))
        self._orders = plan.scope["vertices"], *left
        scope = {
            **plan.scope, "keys": {"bits": key_bits, "seed": plan.problem.seed, "slots": slots},
            "round": dict.fromkeys(("step", "first", "stride", "count", "key"), 0), "spread": 1, "base": 0,
            "claims": self._claims, "choices": session.empty(n, np.int32), "state": self._state,
        }  # fmt: skip
        items, limit = n * team, {"max_groups": most_groups}
        self._launches = {}
        for number, order in enumerate(self._orders):
            for old, new in ((0, 1), (1, 0)):
                here = {**scope, "order": order, "losers": losers[old]}
                self._launches[number, old] = (
                    program.bind("claim_colors", items, here, **limit),
                    program.bind("settle_colors", items, here, next=losers[new], **limit),
                )
        self._prefer = program.bind("claim_preferred", items, {**scope, "order": self._orders[0]}, **limit)

    def run(self) -> None:
        plan, left, window, order = self._plan, self._n, 0, 0
        plan.arrays["colors"].fill(self._no_color)
        self._state.fill(0)
        plan.arrays["used"].fill(0)
        self._rounds, self._spread = 0, 1
        if self._prefers:
            self._claim(0, 0, (0, 1, left), prefer=True)
            self._state.fill(0)  # The losers stay uncoloured here, and the loop below colours them.
            order, left = self._uncolored(0, left)
        while left:
            if window:
                plan.arrays["used"].fill(0)
            self._window(order, left, window)
            before = left
            order, left = self._uncolored(order, left)
            # A window is a range of colours. The first window may colour no vertex at all.
            # Initial colours, which come from hashes, may have taken all colours of the first window.
            if left == before and window:
                check_status(STATUS_STUCK, _WHAT)
            window += 1
        self.details = {"rounds": self._rounds, "windows": window, "window_colors": 32 * self._words}

    def _uncolored(self, order: int, n: int) -> tuple[int, int]:
        """List the uncoloured vertices among the first *n* of an order.

        Return the index and the length of the new list.
        """
        plan, following = self._plan, 1 + order % 2
        arrays = {"items": self._orders[order], "colors": plan.arrays["colors"]}
        predicate, target = f"colors[items[i]] == {self._no_color}", self._orders[following]
        compact = Compact(plan.session, n, target, item="items[i]", predicate=predicate, arrays=arrays)
        compact.run_checked()
        return following, compact.size.item()

    def _window(self, order: int, n: int, window: int) -> None:
        """Colour vertices among the first *n* of the order, if they find a free colour in this window of colours."""
        colors = 32 * self._words
        base = colors * window
        needed = -(-(self._members - base) // colors)  # windows of colours that the largest net still needs
        slices = min(n, max(self._slices >> window, needed)) or 1
        # A later window has enough colours for only a part of the vertices.
        # Some uncoloured vertices skip a later window, because they would search the whole window in vain.
        for i in range(-(-slices * _OFFERED // max(needed, _OFFERED)) if window else slices):
            if self._plan.problem.order in (None, "natural"):
                items = i, slices, -(-(n - i) // slices)
            else:
                items = i * n // slices, 1, (i + 1) * n // slices - i * n // slices
            self._claim(order, base, items)
            if i % _SLICES_AT_ONCE == _SLICES_AT_ONCE - 1:
                self._repeat(order, base, items[2])
        self._repeat(order, base, 0)

    def _repeat(self, order: int, base: int, most: int) -> None:
        """Repeat rounds in which vertices that lost their claims claim again, until at most *most* losers are left."""
        losers, at_once = self._state.item(self._rounds % self._n_lists), 1
        while losers > most:
            for _ in range(at_once):
                self._claim(order, base, (0, 1, 0))
            before, losers = losers, self._state.item(self._rounds % self._n_lists)
            # The rounds are stuck, because in each round at least the vertex with the highest key wins.
            if losers >= before:
                check_status(STATUS_STUCK, _WHAT)
            is_slow = 2 * losers > before
            at_once = 1 if is_slow else min(2 * at_once, _MAX_AT_ONCE)
            self._spread = min(2 * self._spread, 32 * self._words) if is_slow else max(1, self._spread // 2)

    def _claim(self, order: int, base: int, items: tuple[int, int, int], prefer: bool = False) -> None:
        epoch = self._rounds % self._n_epochs
        if not epoch:
            self._claims.fill(0)
        first, stride, count = items
        key = epoch << self._epoch_shift & 0xFFFFFFFF
        claim, settle = self._launches[order, self._rounds % 2]
        if prefer:
            claim = self._prefer
        else:
            claim.set(spread=self._spread)
        settle.set(base=base)
        for launch in (claim, settle):
            launch.set(round={"step": self._rounds, "first": first, "stride": stride, "count": count, "key": key})
            launch()
        self._rounds += 1
