"""All levels of a small graph in one launch, and the quality that moves change."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.communities.levels import CLIMB, Launches, Level
from clgraph.runtime.driver.failure import check_status
from clgraph.runtime.memory.arrays import DeviceArray

REFINING_ROUNDS = 4
# The search ends after an iteration that raises the modularity by less than this, and a level after two successive
# rounds that together raise it by less than a tenth of this. Lower values take longer, and hardly raise the quality.
_LEAST_GAIN, _FINER = 1e-4, 10
_MIN_ROUNDS = 5
# If the first contraction of an iteration keeps more than this share of the entries, the next iteration ends at a level
# that has more than this share of them, and that gains at most half of _LEAST_GAIN.
_SHARE, _CALMER = 2 / 3, 2
ALL_ENTRIES = 2**32 - 1
# The array `merged` of a launch has room for the groups of levels with _ROOM times the vertices of the first level in
# all, and for the gaps between _LEVELS levels.
_ROOM, _LEVELS = 4, 16


def _words(x: int) -> list[int]:
    """Return the two words of a wide integer, the high one first, as signed integers of 64 bits."""
    high, low = x >> 64, x % 2**64
    return [high, low - 2**64 if low >= 2**63 else low]


class Climbing(Launches):
    """Searches on a level, and on all coarser levels at once."""

    def __init__(self, plan: Any) -> None:
        super().__init__(plan)
        self._inside = self._products = 0
        self._largest = ALL_ENTRIES  # an iteration may end at a level with more entries
        is_modularity = plan.problem.objective == "modularity"
        self._least_gain = int(self._integers.scale * _LEAST_GAIN) if is_modularity else 0
        if self._max_climbed >= 0:
            constant, names = plan.program(CLIMB).constant, ("LEVELS", "LEFT", "N", "M", "WORDS", "LEVEL_WORDS")
            self._climbed = {name: constant(f"CLIMBED_{name}") for name in names}
            self._step, self._status = constant("MERGED_STEP"), constant("GRID_STATUS")
            self._control = self._session.zeros(constant("GRID_CONTROL_WORDS"), np.uint32)
        self._calm_gain = self._least_gain // _CALMER
        self._next: dict[str, DeviceArray] = {}

    def _gain(self) -> int:
        gain: int = self._integers.gain(self._inside, self._products)
        return gain

    def _limit(self, levels: list[Level]) -> None:
        """Set from the *levels* of an iteration at which levels the next one may end."""
        least = int(_SHARE * levels[0].m)
        self._largest = least if len(levels) > 1 and levels[1].m > least else ALL_ENTRIES

    def _seed(self, depth: int) -> int:
        return int(self.plan.problem.seed + 0x9E3779B9 * (depth + 1)) % 2**32

    def _judged(self) -> dict[str, int]:
        """Return the arguments by which kernels judge a round."""
        integers = self._integers
        (high, low), (calm_high, calm_low) = (_words(self._least_gain // parts) for parts in (_FINER, _CALMER))
        return {
            "penalty": integers.penalty * integers.resolution, "least_high": high, "least_low": low % 2**64,
            "min_rounds": _MIN_ROUNDS, "calm_high": calm_high, "calm_low": calm_low % 2**64,
        }  # fmt: skip

    def _begin_search(self) -> None:
        self._search.set(np.array([1, 0, 0, 1, 0, self._inside, *_words(self._products), *3 * _words(self._gain())]))

    def _end_search(self, words: Any) -> None:
        place = self._constant("SEARCH_PRODUCTS")
        self._inside = int(words[self._constant("SEARCH_INSIDE")])
        self._products = (int(words[place]) << 64) + int(words[place + 1]) % 2**64

    def _climb_at_once(self, level: Level, depth: int, rested: bool) -> tuple[list[Level], bool]:
        """Move, refine and contract in one launch, from *level* to the coarsest level.

        Return the coarser levels, and whether the last of them is left to climb from. If not, the vertices of *level*
        have got their communities.
        """
        plan, session = self.plan, self._session
        self._on = level
        # On CPUs each sub-group has a table of its own. A row of a coarser level has at most an entry for each vertex.
        row_room = 3 * max(level.longest, min(level.n, level.m))
        self._reserve(max(2 * level.m, 0 if self._divides_rows else row_room * self._sub_groups))
        self._make_next(level)
        merged = session.empty(self._merged_size(_ROOM * level.n) + _LEVELS * self._step, np.int32)
        climbed = session.zeros(
            self._climbed["WORDS"] + plan.problem.max_levels * self._climbed["LEVEL_WORDS"], np.int32
        )
        self._control.fill(0)
        self._begin_search()
        self._launch(
            CLIMB, "climb", level.n, seed=plan.problem.seed, depth=depth, max_levels=plan.problem.max_levels,
            rested=int(rested), n_rounds=REFINING_ROUNDS if plan.problem.method == "leiden" else 0, n_entries=level.m,
            largest=self._largest, row_room=row_room, room=merged.size, merged=merged, climbed=climbed,
            control=self._control, member_list=plan.arrays["members"], **self._next, **self._judged(),
        )  # fmt: skip
        self._launch(CLIMB, "descend", level.n, merged=merged, climbed=climbed, **self._next)
        words = climbed.get()
        check_status(int(self._control.item(self._status)), "climb")
        self._end_search(self._search.get())
        return self._climbed_levels(level, words, merged)

    def _climbed_levels(self, level: Level, words: Any, merged: DeviceArray) -> tuple[list[Level], bool]:
        """Complete *level*, and return the coarser levels, from the *words* that a launch has written."""
        session, begin = self._session, self._climbed["WORDS"]
        rows = words[begin:].reshape(-1, self._climbed["LEVEL_WORDS"])[: words[self._climbed["LEVELS"]]].tolist()
        levels = [level, *(Level(n, m, 0, {}) for n, m, _, _ in rows[1:])]
        is_left = bool(words[self._climbed["LEFT"]])
        if is_left:
            for inner in levels[1:]:
                inner.arrays["labels"] = session.empty(inner.n, np.int32)
            n, m = (int(words[self._climbed[name]]) for name in "NM")
            levels.append(Level(n, m, 0, self._left_arrays(n, m)))
        at = 0
        for each in levels[:-1]:
            each.groups = merged.view(at, at + each.n)
            at += self._merged_size(each.n)
        for each, (n, m, rounds, moved) in zip(levels, rows, strict=False):
            each.found = {"vertices": n, "entries": m, "rounds": rounds, "moved": moved}
        return levels[1:], is_left

    def _merged_size(self, n: int) -> int:
        return -(-n // int(self._step)) * int(self._step)

    def _make_next(self, level: Level) -> None:
        """Make the arrays that coarser levels need, if they are too small for *level*."""
        session, sizes = self._session, {"next_offsets": level.n + 1, "next_labels": level.n, "next_columns": level.m}
        if self._next and all(self._next[name].size >= size for name, size in sizes.items()):
            return
        session.check_memory({"rows": 12 * level.m + 24 * level.n})
        self._next = {name: session.empty(max(1, size), np.int32) for name, size in sizes.items()}
        self._next["next_weights"] = session.empty(max(1, level.m), np.int64)
        self._next["next_out_strengths"] = out = session.empty(level.n, np.int64)
        self._next["next_in_strengths"] = session.empty(level.n, np.int64) if self._integers.directed else out
        self._next["chunk_sums"] = session.empty(self._groups(level.n, climbs=True), np.int32)

    def _left_arrays(self, n: int, m: int) -> dict[str, DeviceArray]:
        """Return the arrays of a level that a launch has left."""
        sizes = {"next_offsets": n + 1, "next_labels": n, "next_out_strengths": n, "next_in_strengths": n}
        sizes |= dict.fromkeys(("next_columns", "next_weights"), max(1, m))
        views = {name: self._next[name].view(0, size) for name, size in sizes.items()}
        names = {"next_offsets": "row_offsets", "next_columns": "column_indices", "next_weights": "entry_weights"}
        arrays = {names.get(name, name.removeprefix("next_")): view for name, view in views.items()}
        # The next launch overwrites the labels.
        arrays["labels"] = self._session.empty(n, np.int32)
        arrays["labels"].copy_from(views["next_labels"])
        return arrays
