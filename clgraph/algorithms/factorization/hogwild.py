"""No locks: the baseline that does not keep the serial semantics (cl/factorization/hogwild.cl)."""
from __future__ import annotations

from clgraph.algorithms.factorization.factors import DeviceModel
from clgraph.algorithms.factorization.order import ordered_ratings
from clgraph.algorithms.factorization.passes import launch_slices, slices
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.arguments import Seed
from clgraph.data.ratings import Ratings
from clgraph.runtime.session import Session


class Hogwild(FactorizationPlan):
    """Step on all ratings at once; steps that meet at a vertex may undo each other.

    Parameters
    ----------
    shuffle : bool
        Visit the ratings in random order; else by user, then item, where neighbours meet.
    seed : int
        Seed of that order.
    """

    def __init__(
        self, session: Session, ratings: Ratings, model: DeviceModel, *, shuffle: bool = True, seed: Seed = 0
    ) -> None:
        super().__init__(session, ratings, model)
        self.scope |= ordered_ratings(self, shuffle=shuffle, seed=seed).scope
        program = self.program("factorization/hogwild.cl")
        self.launches = [
            program.bind("hogwild", (end - begin) * self.lanes, self.scope, begin=begin, end=end)
            for begin, end in slices(self)
        ]

    def run(self) -> None:
        launch_slices(self.session, self.launches)
