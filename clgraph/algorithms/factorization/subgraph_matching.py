"""Matchings of each block of items by itself (SGM of the study)."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import DeviceRatings
from clgraph.algorithms.factorization.item_block import ItemSlots
from clgraph.algorithms.factorization.matchings import Matchings, find_matchings
from clgraph.algorithms.factorization.order import by_descending_degree, number_runs, stable_order
from clgraph.arguments import Seed
from clgraph.runtime.arrays import DeviceArray


class SubgraphMatching(ItemSlots):
    """Sweep over blocks of items of like degree; the supersteps are matchings of a block's ratings alone.

    Items are sorted by degree, so blocks of rare items take few supersteps. Options as :class:`ItemSlots` has them.
    """

    def _ranked(self, degrees: NDArray[np.int64]) -> NDArray[np.int64]:
        return by_descending_degree(degrees)

    def _matchings(self, given: DeviceRatings, blocks: DeviceArray, seed: Seed) -> Matchings:
        # A copy of each user for every block: then the matchings of one graph are those of all blocks.
        by_block, _ = stable_order(self, blocks, self._n_blocks(self.ratings.n_items))  # ratings come sorted by user
        copies, offsets = number_runs(self, by_block, blocks, given.users)
        return find_matchings(self, (given.items, self.ratings.n_items), (copies, offsets.size - 1), seed=seed)
