"""A diagonal of the matrix is a superstep (Diag of the study; cl/factorization/superstep.cl)."""
from __future__ import annotations

import numpy as np

from clgraph.algorithms.factorization.factors import DeviceModel, DeviceRatings
from clgraph.algorithms.factorization.order import enqueue_order
from clgraph.algorithms.factorization.supersteps import RatingSlots
from clgraph.arguments import Seed, checked_seed
from clgraph.data.ratings import Ratings
from clgraph.runtime.session import Session


class Diagonal(RatingSlots):
    """Sweep over the diagonals of the matrix that hold ratings, one after the other.

    Two ratings of one diagonal, item − user, share neither. Diagonals max(n_users, n_items) apart share no
    user and no item either: they are merged, so that there are at most max(n_users, n_items) supersteps.

    The study launches rank × ratings work-items in two dimensions. Here the lanes of a slot are the dimension
    of the rank, and are neighbours, so that their loads of a row are one access and the product of two rows is
    summed up by shuffles; the model's layout makes them as many as the rank and the sub-group allow.

    Parameters
    ----------
    barrier : {"auto", "launch", "grid"}
        See :class:`RatingSlots`.
    seed : int
        Not used: there is one such order.
    """

    def __init__(
        self, session: Session, ratings: Ratings, model: DeviceModel, *, seed: Seed = 0, barrier: str = "auto"
    ) -> None:
        super().__init__(session, ratings, model, barrier)
        checked_seed(seed)  # which nothing depends on
        given, n = DeviceRatings.upload(session, ratings), ratings.n_ratings
        keys, modulus = session.empty(n, np.uint32), max(ratings.n_users, ratings.n_items)
        enqueue_order(self, "superstep_order", "diagonals", given.scope, n=n, modulus=modulus, keys=keys)
        self._prepare(given, keys, modulus)
