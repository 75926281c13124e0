"""Run the levels of a communities search: move vertices, refine, contract, and project back."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.communities.climbing import ALL_ENTRIES, REFINING_ROUNDS, Climbing
from clgraph.algorithms.communities.levels import CONTRACT, GIANT, MOVE, REFINE, Level
from clgraph.runtime.memory.arrays import DeviceArray


class Multilevel(Climbing):
    """One run of a search for communities.

    The host launches its kernels and compares qualities.

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
        self.levels, self.merged, self._largest = [], [], ALL_ENTRIES
        self._enter(self._zero)
        self._inside, self._products = self._measure()
        for _ in range(problem.iterations):
            before = self._gain()
            levels = self._climb()
            self._descend(levels)
            self._limit(levels)
            self.levels = [level.found for level in levels]
            self.merged = [level.groups for level in levels if level.groups is not None]
            if self._gain() - before <= self._least_gain:
                break
        self._split()
        self.quality = self._integers.quality(*self._measure())

    def _measure(self) -> tuple[int, int]:
        """Return the weight inside the communities of level 0, and the sum of the products of strengths."""
        level = self._on
        assert level is not None
        self._fill()
        self._launch(MOVE, "measure_rows", level.n)
        self._launch(MOVE, "measure_products", level.n)
        words = self._state.get(0, self._words)
        high, middle, low = (int(words[self._constant(f"ROUND_{name}")]) for name in ("HIGH", "MIDDLE", "LOW"))
        return int(words[self._constant("ROUND_WEIGHT")]), (high << 40) + (middle << 20) + low

    def _fill(self) -> None:
        level = self._on
        assert level is not None
        self._state.fill(0)
        self._launch(MOVE, "clear_level", level.n)
        self._launch(MOVE, "fill_level", level.n)

    def _climb(self) -> list[Level]:
        """Move, refine and contract until a level does not shrink.

        After two levels in which no vertex moves, whole communities become the vertices of the next level. Return the
        levels, the finest first.
        """
        problem, level, levels, rested = self.plan.problem, self._zero, [self._zero], False
        level.groups = None
        while True:
            if max(level.n, level.m) <= self._max_climbed:
                climbed, is_left = self._climb_at_once(level, len(levels) - 1, rested)
                self._keep_labels(level)
                levels += climbed
                if not is_left:
                    break
                level, rested = levels[-1], levels[-2].found["moved"] == 0
                continue
            self._enter(level)
            before = self._gain()
            self._move(len(levels) - 1)
            is_calm = level.m > self._largest and self._gain() - before <= self._calm_gain
            if len(levels) == problem.max_levels or is_calm:
                break
            moved = level.found["moved"] > 0
            refines, rested = problem.method == "leiden" and (moved or not rested), not moved
            if refines:
                self._refine(len(levels) - 1)
                n_groups = self._number(self.plan.arrays["groups"])
            else:
                n_groups = self._number(level.arrays["labels"])
            if n_groups == level.n:
                break
            coarser = self._contract(n_groups, refines)
            self._keep_labels(level)
            level = coarser
            levels.append(level)
        return levels

    def _keep_labels(self, level: Level) -> None:
        """Release all arrays of *level* but its labels, unless it is the finest level."""
        if level is not self._zero:
            level.arrays = {"labels": level.arrays["labels"]}

    def _move(self, depth: int) -> None:
        """Move the vertices of the current level until the quality hardly rises."""
        level = self._on
        assert level is not None
        self._fill()
        self._begin_search()
        seed, done, undone = self._seed(depth), self._constant("SEARCH_DONE"), self._constant("SEARCH_UNDONE")
        of_hubs = ("weigh_hubs", "choose_for_hubs") if self._divides_rows else ()
        names = ("decide", *of_hubs, "apply_moves", "measure_moves")
        phases = [self._bound(MOVE, name, level.n, seed=seed) for name in names]
        phases.append(self._bound(MOVE, "judge_round", 1, **self._judged()))
        undo = self._bound(MOVE, "undo_moves", level.n, seed=seed)
        words = {done: 0}
        while not words[done]:
            for phase in phases:
                phase()
            words = self._search.get()
            if words[undone]:
                undo()
        self._end_search(words)
        rounds, moved = (int(words[self._constant(f"SEARCH_{name}")]) for name in ("ROUND", "MOVED"))
        level.found = {"vertices": level.n, "entries": level.m, "rounds": rounds, "moved": moved}

    def _refine(self, depth: int) -> None:
        level = self._on
        assert level is not None
        seed = (self.plan.problem.seed + 0x85EBCA6B * (depth + 1)) % 2**32
        self._launch(REFINE, "start_refinement", level.n, seed=seed)
        join = self._bound(REFINE, "join_groups", level.n, seed=seed)
        for number in range(1, REFINING_ROUNDS + 1):
            self._launch(REFINE, "choose_group", level.n, round=number, seed=seed)
            join()

    def _number(self, labels: DeviceArray) -> int:
        """Number the used *labels* in ``numbers``, and return how many there are."""
        level, arrays = self._on, self.plan.arrays
        assert level is not None
        arrays["used"].view(0, level.n).fill(0)
        self._launch(CONTRACT, "mark_used", level.n, labels=labels)
        self._scan("used", "numbers", level.n)
        return int(arrays["numbers"].item(level.n))

    def _contract(self, n_groups: int, is_refined: bool) -> Level:
        """Return the level whose vertices are the groups that :meth:`_number` has numbered."""
        level, arrays, session = self._on, self.plan.arrays, self._session
        assert level is not None
        level.groups = session.empty(level.n, np.int32)
        sums = ("out_group_sums", "in_group_sums") if is_refined else ("out_sums", "in_sums")
        labels = arrays["groups"] if is_refined else level.arrays["labels"]
        self._launch(CONTRACT, "renumber", level.n, labels=labels, groups=level.groups)
        strengths = {"out_strengths": session.empty(n_groups, np.int64)}
        both = self._integers.directed
        strengths["in_strengths"] = session.empty(n_groups, np.int64) if both else strengths["out_strengths"]
        self._launch(
            CONTRACT, "carry_strengths", level.n, out_group_sums=arrays[sums[0]],
            in_group_sums=arrays[sums[both]], **{f"next_{name}": array for name, array in strengths.items()},
        )  # fmt: skip
        begins = self._list_members(n_groups)
        counts, offsets = arrays["counts"].view(0, n_groups), session.empty(n_groups + 1, np.int32)
        groups = {"groups": level.groups, "n_groups": n_groups, "counts": counts}
        if self._divides_rows:
            self._long["n_long_groups"].fill(0)
            self._launch(CONTRACT, "list_groups", n_groups, n_groups=n_groups, slot_begins=begins["slot_begins"])
        self._launch(CONTRACT, "insert_members", n_groups, **groups, **begins)
        has_giants = self._divides_rows and level.m > GIANT
        if has_giants:
            self._launch(CONTRACT, "insert_giants", level.n, **groups, **begins)
        self._scan("counts", "numbers", n_groups)
        offsets.copy_from(arrays["numbers"].view(0, n_groups + 1))
        m = int(offsets.item(n_groups))
        next_arrays = {
            "row_offsets": offsets, "column_indices": session.empty(max(1, m), np.int32),
            "entry_weights": session.empty(max(1, m), np.int64), **strengths,
        }  # fmt: skip
        written = {
            "n_groups": n_groups, "slot_begins": begins["slot_begins"], "next_offsets": offsets,
            "next_columns": next_arrays["column_indices"], "next_weights": next_arrays["entry_weights"],
        }  # fmt: skip
        self._launch(CONTRACT, "write_rows", n_groups, **written)
        if has_giants:
            self._launch(CONTRACT, "write_giants", level.m, **written, counts=counts)
        next_arrays["labels"] = self._carried_labels(n_groups, is_refined)
        longest = int(counts.get().max(initial=0)) if session.facts.is_cpu else 0
        return Level(n_groups, m, longest, next_arrays)

    def _list_members(self, n_groups: int) -> dict[str, DeviceArray]:
        """List the members of each group, and find where the slots of its table begin."""
        level, arrays = self._on, self.plan.arrays
        assert level is not None
        members_of, entries_of = (arrays[name].view(0, n_groups) for name in ("members_of", "entries_of"))
        members_of.fill(0)
        entries_of.fill(0)
        groups: dict[str, Any] = {"groups": level.groups}
        self._launch(CONTRACT, "count_members", level.n, **groups)
        begins = {name: arrays[name].view(0, n_groups + 1) for name in ("member_begins", "slot_begins")}
        self._scan("members_of", "member_begins", n_groups)
        self._scan("entries_of", "slot_begins", n_groups)
        self._launch(CONTRACT, "place_members", level.n, **groups, **begins)
        return begins

    def _carried_labels(self, n_groups: int, is_refined: bool) -> DeviceArray:
        """Return the community of each vertex of the next level, numbered without gaps."""
        level, session = self._on, self._session
        assert level is not None
        if not is_refined:
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
        levels = [level for level in levels if level.arrays]
        for level, coarser in zip(levels[-2::-1], levels[:0:-1], strict=True):
            self._on = level
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
