"""A lock on each user, while a team of work-items owns an item (cl/factorization/node_locked.cl)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

import numpy as np

from clgraph.algorithms.factorization.passes import Passes, launch_slices, list_sizes, slice_size
from clgraph.algorithms.factorization.plan import FactorizationPlan, clear
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.rating_order import by_descending_degree, ordered_ratings
from clgraph.arguments import Seed, check_choice, checked_count
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Array, Recipe, Setting, Use
from clgraph.primitives.types import MAX_ITEMS
from clgraph.runtime.program import Launch

_SOURCE = "factorization/node_locked.cl"
_MANY_RATINGS = 8  # a mean item must have so many if a sub-group is to own it
Team = Literal["work_item", "sub_group"]


def node_locked(
    problem: FactorizationProblem,
    facts: DeviceFacts,
    *,
    per: Team | None = None,
    locks: int | None = None,
    shuffle: bool = True,
    seed: Seed = 0,
) -> Recipe:
    """Walk the ratings of an item with its row at hand and lock the users only; put off who is locked.

    *per* names what owns an item: the slot that shares a row ("work_item"), or a whole "sub_group", the default where
    items have enough ratings for its work-items. It locks at most *locks* users at a time. With *shuffle* an item's
    ratings are visited in the order that *seed* draws; else by user, where items wait for the same users.
    """

    def prepare(plan: FactorizationPlan) -> dict[str, Any]:
        ordered = ordered_ratings(plan, shuffle=shuffle, seed=seed, by_item=True)
        return {**ordered, "sizes": list_sizes(plan, _SOURCE)}

    return Recipe(
        (
            clear("sizes"),
            Use(lambda plan: ItemTeams(plan, per, locks)),
            Use(lambda plan: plan.used[-1].later_passes()),
        ),
        lambda: Setting(
            arrays={
                "user_locks": Array(problem.stats.n_users, np.uint32, zeroed=True),
                "n_pending": Array(problem.stats.n_items, problem.offset_type),
                "pending": Array(problem.n, problem.offset_type),
                "next_list": Array(problem.n_rated_items, np.int32),
                "list_after": Array(problem.n_rated_items, np.int32),
            },
            prepare=prepare,
        ),
    )  # fmt: skip


class ItemTeams:
    """The first pass of node locking, over all items; the ratings in the scope of *plan* are sorted by item."""

    def __init__(self, plan: FactorizationPlan, per: Team | None, locks: int | None, **defines: int) -> None:
        ratings, session = plan.problem.ratings, plan.session
        if per is None:
            per = "sub_group" if ratings.stats.mean_item_degree >= _MANY_RATINGS else "work_item"
        check_choice("per", per, ("work_item", "sub_group"))
        self._plan, self._team = plan, session.facts.sub_group_size if per == "sub_group" else plan.lanes
        most = self._team if locks is None else min(self._team, checked_count("locks", locks, MAX_ITEMS))
        self._program = plan.build(_SOURCE, PER_SUB_GROUP=int(per == "sub_group"), MOST_LOCKS=most, **defines)
        degrees = np.diff(ratings.item_offsets)
        order = by_descending_degree(degrees)  # the longest start first
        size = slice_size(plan.problem, session.facts)
        cuts = np.searchsorted(np.cumsum(degrees[order]), np.arange(size, ratings.n_ratings, size))
        plan.scope["offsets"] = session.upload(ratings.item_offsets.astype(plan.problem.offset_type))
        items, self._n_items = session.upload(order.astype(np.int32)), order.size
        self._launches = [
            self._bind(first, last, list=items)
            for first, last in pairwise(np.unique([0, *cuts, self._n_items]).tolist())
        ]

    def _bind(self, first: int = 0, last: int = 0, **lists: Any) -> Launch:
        own = {"pass_number": 0, "first": first, "last": last, **lists}
        return self._program.bind("lock_users", (last - first) * self._team, self._plan.scope, **own)

    def run(self) -> None:
        """Enqueue the pass."""
        launch_slices(self._plan.session, self._launches)

    def later_passes(self) -> Passes:
        """Return the passes over the items that still have ratings."""
        lists = self._plan.arrays["next_list"], self._plan.arrays["list_after"]
        launches = tuple(self._bind(list=read, next_list=written) for written, read in (lists, lists[::-1]))
        group = self._program.work_group_size
        return Passes(self._plan, launches, lambda n_left: max(1, -(-n_left * self._team // group)), self._n_items)
