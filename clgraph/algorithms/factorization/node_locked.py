"""A lock on each user, while a team of work-items owns an item (cl/factorization/node_locked.cl)."""
from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

import numpy as np

from clgraph.algorithms.factorization.factors import DeviceModel
from clgraph.algorithms.factorization.order import by_descending_degree, ordered_ratings
from clgraph.algorithms.factorization.passes import Passes, launch_slices, slice_size
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.arguments import Seed, check_choice, checked_count
from clgraph.data.ratings import Ratings
from clgraph.primitives.types import MAX_ITEMS
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session

Team = Literal["work_item", "sub_group"]
_MANY_RATINGS = 8  # of a mean item, for a sub-group


class ItemTeams:
    """The kernel of node locking, and its first pass over all items.

    Parameters
    ----------
    plan : FactorizationPlan
        The ratings in its scope are sorted by item.
    per : {"work_item", "sub_group"}, optional
        What owns an item: the slot that shares a row, or a whole sub-group, the default where items have enough
        ratings for its work-items.
    locks : int, optional
        Users that a team locks at a time, at most one for each of its work-items.
    """

    def __init__(self, plan: FactorizationPlan, per: Team | None, locks: int | None, **defines: int) -> None:
        if per is None:
            per = "sub_group" if plan.ratings.stats.mean_item_degree >= _MANY_RATINGS else "work_item"
        check_choice("per", per, ("work_item", "sub_group"))
        session = plan.session
        self.team = session.facts.sub_group_size if per == "sub_group" else plan.lanes
        most = self.team if locks is None else min(self.team, checked_count("locks", locks, MAX_ITEMS))
        self.program = plan.program(
            "factorization/node_locked.cl", PER_SUB_GROUP=int(per == "sub_group"), MOST_LOCKS=most, **defines
        )
        degrees = np.diff(plan.ratings.item_offsets)
        order = by_descending_degree(degrees)  # the longest start first
        ends = np.cumsum(degrees[order])
        cuts = np.searchsorted(ends, np.arange(slice_size(plan), plan.ratings.n_ratings, slice_size(plan)))
        self.n_items = order.size
        self._cuts = np.unique([0, *cuts, self.n_items]).tolist()
        self._plan = plan
        self._items = session.upload(order.astype(np.int32))
        plan.scope["offsets"] = session.upload(plan.ratings.item_offsets.astype(plan.offset_type))

    def bind(self, first: int = 0, last: int = 0, **arguments: Any) -> Launch:
        """Bind the kernel, by default to what a later pass finds in its list."""
        return self.program.bind(
            "lock_users", (last - first) * self.team, self._plan.scope, pass_number=0, first=first, last=last,
            **arguments,
        )

    def bind_all(self, **arguments: Any) -> list[Launch]:
        """Bind the kernel to pass 0, over all items."""
        return [self.bind(first, last, list=self._items, **arguments) for first, last in pairwise(self._cuts)]

    def n_groups(self, n_items: int) -> int:
        """Work-groups for *n_items* items."""
        return max(1, -(-n_items * self.team // self.program.work_group_size))


class NodeLocked(FactorizationPlan):
    """Walk the ratings of an item with its row at hand and lock the users only; put off who is locked.

    Parameters
    ----------
    per : {"work_item", "sub_group"}, optional
        What owns an item: the slot that shares a row, or a whole sub-group, the default where items have enough
        ratings for its work-items.
    locks : int, optional
        Users locked at a time for one item.
    shuffle : bool
        Visit an item's ratings in random order; else by user, where items wait for the same users.
    seed : int
        Seed of that order.

    Attributes
    ----------
    user_locks : DeviceArray
        One uint32 word a user, 0 when free.
    """

    def __init__(
        self, session: Session, ratings: Ratings, model: DeviceModel, *, per: Team | None = None,
        locks: int | None = None, shuffle: bool = True, seed: Seed = 0,
    ) -> None:
        super().__init__(session, ratings, model)
        self.scope |= ordered_ratings(self, shuffle=shuffle, seed=seed, by_item=True).scope
        teams = ItemTeams(self, per, locks)
        self._n_items = teams.n_items
        self._passes = Passes(session, teams.program, "node_locked", teams.n_groups)
        self.user_locks = session.zeros(model.n_users, np.uint32)
        self.scope |= {
            "user_locks": self.user_locks, "sizes": self._passes.sizes,
            "n_pending": session.empty(model.n_items, self.offset_type),
            "pending": session.empty(ratings.n_ratings, self.offset_type),
        }  # fmt: skip
        a, b = (session.empty(teams.n_items, np.int32) for _ in range(2))
        self.launches = teams.bind_all(next_list=a)
        self._passes.launches = teams.bind(list=b, next_list=a), teams.bind(list=a, next_list=b)

    def run(self) -> None:
        """Sweep once; waits until all ratings are done."""
        if not self.ratings.n_ratings:
            return
        self._passes.clear()
        launch_slices(self.session, self.launches)
        self._passes.finish(self._n_items)
