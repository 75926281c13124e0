"""Ratings on the device in random order, by item, or both."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import DeviceRatings
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.arguments import Seed, checked_flag, checked_seed
from clgraph.primitives.fill import iota
from clgraph.primitives.sort import sort
from clgraph.runtime.arrays import DeviceArray


def ordered_ratings(plan: FactorizationPlan, *, shuffle: bool, seed: Seed, by_item: bool = False) -> DeviceRatings:
    """Copy the ratings of *plan* to the device.

    Parameters
    ----------
    plan : FactorizationPlan
    shuffle : bool
        Permute them at random; else they stay sorted by user, then item.
    seed : int
        Of the permutation; the same one on every device.
    by_item : bool
        Sort them by item; equal items keep their order.
    """
    shuffle, seed = checked_flag("shuffle", shuffle), checked_seed(seed)
    session, n = plan.session, plan.ratings.n_ratings
    ratings = DeviceRatings.upload(session, plan.ratings)
    if not n or not (shuffle or by_item):
        return ratings
    program, count = plan.program("factorization/order.cl"), plan.offset(n)
    order, keys = session.empty(n, plan.offset_type), session.empty(n, np.uint32)
    iota(session, order)

    def by_keys(end_bit: int = 32) -> DeviceArray:
        _, values = sort(session, keys, order, end_bit=end_bit)
        assert values is not None
        return values

    if shuffle:
        program.bind("draw_keys", n, count, np.uint64(seed % 2**64), keys)()
        order = by_keys()
    if by_item:
        program.bind("gather_keys", n, count, order, ratings.items, keys)()
        order = by_keys((plan.ratings.n_items - 1).bit_length())
    moved = DeviceRatings(*(session.empty(n, array.dtype) for array in ratings))
    program.bind("gather_ratings", n, count, order, *ratings, *moved)()
    session.finish()
    return moved


def by_descending_degree(degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the vertices that have ratings, those of most ratings first; equal ones as they are."""
    rated = np.flatnonzero(degrees)
    keys = -degrees[rated]
    if degrees.max(initial=0) < 2**15:
        keys = keys.astype(np.int16)  # numpy sorts these by radix, ten times as fast
    return rated[np.argsort(keys, kind="stable")]
