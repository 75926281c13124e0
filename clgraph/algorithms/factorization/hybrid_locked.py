"""One pass of node locking, then edge locking on the ratings that it left."""
from __future__ import annotations

import numpy as np

from clgraph.algorithms.factorization.edge_locked import EdgePasses
from clgraph.algorithms.factorization.factors import DeviceModel
from clgraph.algorithms.factorization.node_locked import ItemTeams, Team
from clgraph.algorithms.factorization.order import ordered_ratings
from clgraph.algorithms.factorization.passes import launch_slices
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.arguments import Seed
from clgraph.data.ratings import Ratings
from clgraph.runtime.session import Session


class HybridLocked(FactorizationPlan):
    """Walk each item's ratings once, locking users; then lock both vertices of each rating that was put off.

    Parameters
    ----------
    per, locks, shuffle, seed
        The same as for :class:`NodeLocked`.

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
        edges = EdgePasses(self)
        self.user_locks, self._passes = edges.user_locks, edges.passes
        self.launches = ItemTeams(self, per, locks, DEFER_TO_LIST=1).bind_all(
            pending=edges.lists[0], n_pending=session.empty(1, self.offset_type), next_list=session.empty(1, np.int32)
        )

    def run(self) -> None:
        """Sweep once; waits until all ratings are done."""
        if not self.ratings.n_ratings:
            return
        self._passes.clear()
        launch_slices(self.session, self.launches)
        self._passes.finish(self.ratings.n_ratings)
