"""A lock on each user, while a team of work-items owns an item (cl/factorization/node_locked.cl)."""
from __future__ import annotations

from typing import Any, Literal

import numpy as np

from clgraph.algorithms.factorization.factors import DeviceModel, DeviceRatings
from clgraph.algorithms.factorization.order import by_descending_degree, ordered_ratings
from clgraph.algorithms.factorization.passes import Passes, launch_slices, slice_size
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.arguments import Seed, check_choice, checked_count
from clgraph.primitives.types import MAX_ITEMS
from clgraph.ratings import Ratings
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session

Team = Literal["work_item", "sub_group"]
_MANY_RATINGS = 8  # of a mean item, for a sub-group


class ItemTeams:
    """The kernel of node locking on ratings sorted by item, and its first pass over all items.

    Parameters
    ----------
    plan : FactorizationPlan
    ratings : DeviceRatings
        Sorted by item.
    per : {"work_item", "sub_group"}, optional
        What owns an item: the slot that shares a row, or a whole sub-group, the default where items have enough
        ratings for its work-items.
    locks : int, optional
        Users that a team locks at a time, at most one for each of its work-items.
    """

    def __init__(
        self, plan: FactorizationPlan, ratings: DeviceRatings, per: Team | None, locks: int | None, **defines: int
    ) -> None:
        if per is None:
            per = "sub_group" if plan.ratings.stats.mean_item_degree >= _MANY_RATINGS else "work_item"
        check_choice("per", per, ("work_item", "sub_group"))
        session = plan.session
        self.team = session.facts.sub_group_size if per == "sub_group" else plan.lanes
        most = self.team if locks is None else min(self.team, checked_count("locks", locks, MAX_ITEMS))
        self._program = plan.program(
            "factorization/node_locked.cl", PER_SUB_GROUP=int(per == "sub_group"), MOST_LOCKS=most, **defines
        )
        self._plan = plan
        degrees = np.diff(plan.ratings.item_offsets)
        order = by_descending_degree(degrees)  # the longest start first
        ends = np.cumsum(degrees[order])
        cuts = np.searchsorted(ends, np.arange(slice_size(plan), plan.ratings.n_ratings, slice_size(plan)))
        self.n_items = order.size
        self._cuts = np.unique([0, *cuts, self.n_items]).tolist()
        self.items = session.upload(order.astype(np.int32))
        offsets = session.upload(plan.ratings.item_offsets.astype(plan.offset_type))
        self._ratings = (offsets, ratings.users, ratings.values)

    def bind(self, source: DeviceArray, *rest: Any) -> Launch:
        """Bind the kernel to the items in *source*; *rest* is what follows the model."""
        head = (np.uint32(0), np.uint32(0), np.uint32(self.n_items))
        arguments = (*head, source, *self._ratings, *self._plan.model.arguments(), *rest)
        return self._program.bind("lock_users", self.n_items * self.team, *arguments)

    def bind_all(self, *rest: Any) -> list[Launch]:
        """Bind pass 0 over all items, as :meth:`bind` does."""
        launches = []
        for first, last in zip(self._cuts[:-1], self._cuts[1:], strict=True):
            launch = self.bind(self.items, *rest)
            launch.set_scalar(1, np.uint32(first))
            launch.set_scalar(2, np.uint32(last))
            launch.n_groups = self.n_groups(last - first)
            launches.append(launch)
        return launches

    def n_groups(self, n_items: int) -> int:
        """Work-groups for *n_items* items."""
        return max(1, -(-n_items * self.team // self._program.work_group_size))


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
        Of that order.

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
        teams = ItemTeams(self, ordered_ratings(self, shuffle=shuffle, seed=seed, by_item=True), per, locks)
        self._n_items = teams.n_items
        self._passes = Passes(session, "node_locked", teams.n_groups)
        self.user_locks = session.zeros(model.n_users, np.uint32)
        lists = tuple(session.empty(teams.n_items, np.int32) for _ in range(2))
        pending = [session.empty(n, self.offset_type) for n in (model.n_items, ratings.n_ratings)]
        rest = (self.user_locks, *pending, self._passes.sizes)
        self.launches = teams.bind_all(*rest, lists[0])
        self._passes.launches = tuple(teams.bind(lists[(k + 1) % 2], *rest, lists[k % 2]) for k in range(2))

    def run(self) -> None:
        """Sweep once; waits until all ratings are done."""
        if not self.ratings.n_ratings:
            return
        self._passes.clear()
        launch_slices(self.session, self.launches)
        self._passes.finish(self._n_items)
