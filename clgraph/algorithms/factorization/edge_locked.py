"""A lock on the user and the item of each rating (cl/factorization/edge_locked.cl)."""
from __future__ import annotations

import numpy as np

from clgraph.algorithms.factorization.factors import DeviceModel
from clgraph.algorithms.factorization.order import ordered_ratings
from clgraph.algorithms.factorization.passes import Passes, launch_slices, slices
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.arguments import Seed
from clgraph.data.ratings import Ratings
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session

_SOURCE = "factorization/edge_locked.cl"
_RATINGS_PER_SLOT = 32  # in a pass, where that leaves enough slots to fill the device
_GROUPS_PER_UNIT = 8  # most work-groups of a later pass, for each compute unit


class EdgePasses:
    """Edge locking of the ratings that the scope of *plan* has: locks, lists of what is deferred, passes over them.

    Attributes
    ----------
    passes : Passes
        Pass k reads ``lists[(k + 1) % 2]``.
    user_locks : DeviceArray
        One uint32 word a user, 0 when free.
    """

    def __init__(self, plan: FactorizationPlan) -> None:
        session, model = plan.session, plan.model
        self._plan = plan
        self._program = plan.program(_SOURCE, RATINGS_PER_SLOT=_RATINGS_PER_SLOT)
        self.user_locks, item_locks = (session.zeros(n, np.uint32) for n in (model.n_users, model.n_items))
        self.lists = tuple(session.empty(plan.ratings.n_ratings, plan.offset_type) for _ in range(2))
        self.passes = Passes(session, self._program, "edge_locked", self._n_groups)
        plan.scope |= {"user_locks": self.user_locks, "item_locks": item_locks, "sizes": self.passes.sizes}
        self.passes.launches = tuple(
            self._program.bind("lock_deferred", 1, plan.scope, pass_number=0, list=read, deferred=written)
            for written, read in (self.lists, self.lists[::-1])
        )

    def first_pass(self) -> list[Launch]:
        """Bind pass 0, over all ratings."""
        plan = self._plan
        return [
            self._program.bind(
                "lock_all", -(-(end - begin) // _RATINGS_PER_SLOT) * plan.lanes, plan.scope, begin=begin, end=end,
                deferred=self.lists[0],
            )
            for begin, end in slices(plan)
        ]

    def _n_groups(self, n_left: int) -> int:
        slots = self._program.work_group_size // self._plan.lanes
        most = _GROUPS_PER_UNIT * self._plan.session.facts.compute_units
        return max(1, min(most, -(-n_left // (slots * _RATINGS_PER_SLOT))))


class EdgeLocked(FactorizationPlan):
    """Lock both vertices of a rating, step, unlock; put off what is locked.

    Parameters
    ----------
    shuffle : bool
        Visit the ratings in random order; else by user, then item, where neighbours wait for one lock.
    seed : int
        Seed of that order.

    Attributes
    ----------
    user_locks : DeviceArray
        The locks of :class:`EdgePasses`.
    """

    def __init__(
        self, session: Session, ratings: Ratings, model: DeviceModel, *, shuffle: bool = True, seed: Seed = 0
    ) -> None:
        super().__init__(session, ratings, model)
        self.scope |= ordered_ratings(self, shuffle=shuffle, seed=seed).scope
        self._edges = EdgePasses(self)
        self.user_locks = self._edges.user_locks
        self.launches = self._edges.first_pass()

    def run(self) -> None:
        """Sweep once; waits until all ratings are done."""
        if not self.launches:
            return
        self._edges.passes.clear()
        launch_slices(self.session, self.launches)
        self._edges.passes.finish(self.ratings.n_ratings)
