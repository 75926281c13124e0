"""Matchings of all ratings, walked through in blocks of items (AGM-N of the study)."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import DeviceRatings
from clgraph.algorithms.factorization.item_block import ItemSlots
from clgraph.algorithms.factorization.matchings import Matchings, find_matchings
from clgraph.algorithms.factorization.order import by_descending_degree
from clgraph.arguments import Seed
from clgraph.runtime.arrays import DeviceArray


class MatchingNode(ItemSlots):
    """Sweep over blocks of items in the order of their numbers; the supersteps are matchings of all ratings.

    Inside a block the items with the most ratings take the first slots: steps that only few items still have are
    then those of one work-group. Options as :class:`ItemSlots` has them.
    """

    def _ranked(self, degrees: NDArray[np.int64]) -> NDArray[np.int64]:
        order = by_descending_degree(degrees)
        # int16 where it fits: numpy sorts that by radix, ten times as fast
        block = np.empty(degrees.size, np.int16 if order.size < 2**15 * self._block_size else np.int32)
        block[np.flatnonzero(degrees)] = np.arange(order.size) // self._block_size
        return order[np.argsort(block[order], kind="stable")]

    def _matchings(self, given: DeviceRatings, blocks: DeviceArray, seed: Seed) -> Matchings:
        del blocks
        ratings = self.ratings
        return find_matchings(self, (given.items, ratings.n_items), (given.users, ratings.n_users), seed=seed)
