"""A matching is a superstep (AGM-E of the study; cl/factorization/superstep.cl)."""
from __future__ import annotations

from clgraph.algorithms.factorization.factors import DeviceModel, DeviceRatings
from clgraph.algorithms.factorization.matchings import find_matchings
from clgraph.algorithms.factorization.supersteps import RatingSlots
from clgraph.arguments import Seed
from clgraph.data.ratings import Ratings
from clgraph.runtime.session import Session


class MatchingEdge(RatingSlots):
    """Sweep over maximal matchings of the ratings, one after the other; a slot takes a rating.

    Parameters
    ----------
    seed : int
        Seed of the matchings.
    barrier : {"auto", "launch", "grid"}
        See :class:`RatingSlots`.
    """

    def __init__(
        self, session: Session, ratings: Ratings, model: DeviceModel, *, seed: Seed = 0, barrier: str = "auto"
    ) -> None:
        super().__init__(session, ratings, model, barrier)
        given = DeviceRatings.upload(session, ratings)
        found = find_matchings(self, (given.items, ratings.n_items), (given.users, ratings.n_users), seed=seed)
        self._prepare(given, found.colours, found.n_matchings)
