"""Run the levels of a communities search: move vertices, refine, contract, and project back."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.communities.levels import CONTRACT, MOVE, REFINE, Launches, Level
from clgraph.primitives.scan import Scan
from clgraph.runtime.memory.arrays import DeviceArray

_REFINING_ROUNDS = 4
# A level ends after two successive rounds that together raise the modularity by less than this. Lower values take more
# rounds, and after all iterations the quality is hardly higher.
_LEAST_GAIN = 1e-4
_MIN_ROUNDS = 5
# A round takes the active vertices whose hash has no bit of the rarity. The rarity is 1, so half of them take part. It
# grows after a round that is undone, to at most 15.
_MAX_RARITY = 15


class Multilevel(Launches):
    """One run of a search for communities. The host launches its kernels and compares qualities.

    ``run()`` leaves the communities in the plan's array ``final_labels``.
    """

    def __init__(self, plan: Any) -> None:
        super().__init__(plan)
        self.levels: list[dict[str, Any]] = []
        self.merged: list[DeviceArray] = []

    def run(self) -> None:
        """Find communities."""
        problem, session = self.plan.problem, self._session
        n = self._zero.n
        start = np.arange(n, dtype=np.int32) if problem.initial is None else problem.initial
        self._zero.arrays["labels"] = session.upload(start)
        self.levels, self.merged, best = [], [], None
        self._enter(self._zero)
        self._inside, self._products = self._measure()
        for _ in range(problem.iterations):
            before = self._gain()
            levels = self._climb()
            self._descend(levels)
            self.levels = [level.found for level in levels]
            self.merged = [level.groups for level in levels if level.groups is not None]
            if best is not None and self._gain() <= before:
                break
            best = self._gain()
        self._split()
        self.quality = self._integers.quality(*self._measure())

    def _gain(self) -> int:
        gain: int = self._integers.gain(self._inside, self._products)
        return gain

    def _measure(self) -> tuple[int, int]:
        """Return the weight inside the communities of level 0, and the products of strengths."""
        self._fill()
        self._launch(MOVE, "measure_rows", self._on.n, round=0)  # type: ignore[union-attr]
        words = self._read_round(0)
        return int(words[self._constant("ROUND_WEIGHT")]), self._products_of(words)

    def _fill(self) -> None:
        level = self._on
        assert level is not None
        self._state.fill(0)
        self._launch(MOVE, "clear_level", level.n)
        self._launch(MOVE, "fill_level", level.n)

    def _read_round(self, number: int) -> Any:
        assert self._on is not None
        self._launch(MOVE, "measure_communities", self._on.n, round=number)
        return self._state.get(number * self._words, (number + 1) * self._words)

    def _products_of(self, words: Any) -> int:
        high, middle, low = (int(words[self._constant(f"ROUND_{name}")]) for name in ("HIGH", "MIDDLE", "LOW"))
        return (high << 40) + (middle << 20) + low

    def _climb(self) -> list[Level]:
        """Move and contract until a level does not shrink. Return the levels, the finest first."""
        problem, level, levels = self.plan.problem, self._zero, [self._zero]
        while True:
            self._enter(level)
            self._move(len(levels) - 1)
            if len(levels) == problem.max_levels:
                break
            if problem.method == "leiden":
                self._refine(len(levels) - 1)
                n_groups = self._number(self.plan.arrays["groups"])
            else:
                n_groups = self._number(level.arrays["labels"])
            if n_groups == level.n:
                break
            level = self._contract(n_groups)
            levels.append(level)
        return levels

    def _move(self, depth: int) -> None:
        """Move the vertices of the current level until the quality hardly rises."""
        level = self._on
        assert level is not None
        self._fill()
        rarity, gains, moved, number, objective = 1, [self._gain()], 0, 0, self.plan.problem.objective
        least = int(self._integers.scale * _LEAST_GAIN) if objective == "modularity" else 0
        seed = (self.plan.problem.seed + 0x9E3779B9 * (depth + 1)) % 2**32
        for number in range(1, self._max_rounds):
            words = self._round(number, rarity, seed)
            inside = self._inside + int(words[self._constant("ROUND_WEIGHT")])
            products = self._products_of(words)
            gains.append(self._integers.gain(inside, products))
            is_undone = gains[-1] < gains[-2]
            if is_undone:
                self._launch(MOVE, "undo_moves", level.n)
                gains[-1], rarity = gains[-2], min(_MAX_RARITY, 2 * rarity + 1)
            else:
                self._inside, self._products = inside, products
                moved, rarity = moved + int(words[self._constant("ROUND_MOVED")]), max(1, rarity >> 1)
                if not words[self._constant("ROUND_ACTIVE")]:
                    break
            if number >= _MIN_ROUNDS and gains[-1] - gains[-3] <= least:
                break
        level.found = {"vertices": level.n, "entries": level.m, "rounds": number, "moved": moved}

    def _round(self, number: int, rarity: int, seed: int) -> Any:
        """Move vertices once, and return the words of the round."""
        level, given = self._on, {"round": number, "seed": seed}
        assert level is not None
        self._launch_on_rows(MOVE, "decide", level.n, rarity=rarity, row_room=2 * level.longest, **given)
        self._launch(MOVE, "apply_moves", level.n, round=number)
        self._launch(MOVE, "measure_moves", level.n, round=number)
        return self._read_round(number)

    def _refine(self, depth: int) -> None:
        level, row_room = self._on, 2 * self._on.longest  # type: ignore[union-attr]
        assert level is not None
        self._launch(REFINE, "start_refinement", level.n)
        seed = (self.plan.problem.seed + 0x85EBCA6B * (depth + 1)) % 2**32
        for number in range(1, _REFINING_ROUNDS + 1):
            self._launch_on_rows(REFINE, "choose_group", level.n, round=number, seed=seed, row_room=row_room)
            self._launch(REFINE, "join_groups", level.n)

    def _number(self, labels: DeviceArray) -> int:
        """Number the used *labels* in ``numbers``, and return how many there are."""
        level, arrays = self._on, self.plan.arrays
        assert level is not None
        used, numbers = arrays["used"].view(0, level.n), arrays["numbers"].view(0, level.n + 1)
        used.fill(0)
        self._launch(CONTRACT, "mark_used", level.n, labels=labels)
        Scan(self._session, used, numbers).run_checked()
        return int(numbers.item(level.n))

    def _contract(self, n_groups: int) -> Level:
        """Return the level whose vertices are the groups that :meth:`_number` has numbered."""
        level, arrays, session, is_leiden = (
            self._on,
            self.plan.arrays,
            self._session,
            self.plan.problem.method == "leiden",
        )
        assert level is not None
        level.groups = session.empty(level.n, np.int32)
        sums = ("out_group_sums", "in_group_sums") if is_leiden else ("out_sums", "in_sums")
        labels = arrays["groups"] if is_leiden else level.arrays["labels"]
        self._launch(CONTRACT, "renumber", level.n, labels=labels, groups=level.groups)
        strengths = {"out_strengths": session.empty(n_groups, np.int64)}
        both = self._integers.directed
        strengths["in_strengths"] = session.empty(n_groups, np.int64) if both else strengths["out_strengths"]
        self._launch(
            CONTRACT, "carry_strengths", level.n, out_group_sums=arrays[sums[0]],
            in_group_sums=arrays[sums[both]], **{f"next_{name}": array for name, array in strengths.items()},
        )  # fmt: skip
        begins = self._list_members(n_groups)
        groups = {"groups": level.groups, "n_groups": n_groups}
        self._list_long_rows(n_groups, begins["slot_begins"])
        self._launch_on_rows(CONTRACT, "insert_members", n_groups, **groups, **begins)
        counts, offsets = arrays["counts"].view(0, n_groups), session.empty(n_groups + 1, np.int32)
        Scan(session, counts, offsets).run_checked()
        m = int(offsets.item(n_groups))
        next_arrays = {
            "row_offsets": offsets, "column_indices": session.empty(max(1, m), np.int32),
            "entry_weights": session.empty(max(1, m), np.int64), **strengths,
        }  # fmt: skip
        self._launch(
            CONTRACT, "write_rows", n_groups, n_groups=n_groups, slot_begins=begins["slot_begins"],
            next_offsets=offsets, next_columns=next_arrays["column_indices"], next_weights=next_arrays["entry_weights"],
        )  # fmt: skip
        next_arrays["labels"] = self._carried_labels(n_groups)
        longest = int(counts.get().max(initial=0)) if session.facts.is_cpu else 0
        return Level(n_groups, m, longest, next_arrays)

    def _list_members(self, n_groups: int) -> dict[str, DeviceArray]:
        """List the members of each group, and find where the slots of its table begin."""
        level, arrays, session = self._on, self.plan.arrays, self._session
        assert level is not None
        members_of, entries_of = (arrays[name].view(0, n_groups) for name in ("members_of", "entries_of"))
        members_of.fill(0)
        entries_of.fill(0)
        groups: dict[str, Any] = {"groups": level.groups}
        self._launch(CONTRACT, "count_members", level.n, **groups)
        begins = {name: arrays[name].view(0, n_groups + 1) for name in ("member_begins", "slot_begins")}
        Scan(session, members_of, begins["member_begins"]).run_checked()
        Scan(session, entries_of, begins["slot_begins"]).run_checked()
        self._launch(CONTRACT, "place_members", level.n, **groups, **begins)
        return begins

    def _carried_labels(self, n_groups: int) -> DeviceArray:
        """Return the community of each vertex of the next level, numbered without gaps."""
        level, session = self._on, self._session
        assert level is not None
        if self.plan.problem.method == "louvain":
            singles: DeviceArray = session.upload(np.arange(n_groups, dtype=np.int32))
            return singles
        self._number(level.arrays["labels"])
        numbered: DeviceArray = self.plan.arrays["previous"].view(0, level.n)
        labels: DeviceArray = session.empty(n_groups, np.int32)
        self._launch(CONTRACT, "renumber", level.n, labels=level.arrays["labels"], groups=numbered)
        self._launch(CONTRACT, "carry_labels", level.n, groups=level.groups, labels=numbered, next_labels=labels)
        return labels

    def _descend(self, levels: list[Level]) -> None:
        """Give the vertices of each level the communities of the next level."""
        for level, coarser in zip(levels[-2::-1], levels[:0:-1], strict=True):
            self._enter(level)
            self._launch(
                CONTRACT, "project", level.n, groups=level.groups, next_labels=coarser.arrays["labels"],
                labels=level.arrays["labels"],
            )  # fmt: skip
        self._enter(self._zero)

    def _split(self) -> None:
        """Make the connected parts of each community communities of their own, and number them."""
        level, arrays = self._zero, self.plan.arrays
        parent = self._session.upload(np.arange(level.n, dtype=np.int32))
        self._launch(CONTRACT, "link_inside", level.n, parent=parent)
        self._launch(CONTRACT, "flatten", level.n, parent=parent)
        self._number(parent)
        self._launch(CONTRACT, "renumber", level.n, labels=parent, groups=arrays["final_labels"])
        level.arrays["labels"] = arrays["final_labels"]

    @property
    def details(self) -> dict[str, Any]:
        return {"levels": self.levels}
