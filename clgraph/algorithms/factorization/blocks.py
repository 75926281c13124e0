"""Ratings packed on the device in the order of 64-bit keys: what the plans of blocks share."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import DeviceModel, DeviceRatings
from clgraph.algorithms.factorization.order import enqueue_order
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.data.ratings import Ratings
from clgraph.primitives.compact import Compact
from clgraph.primitives.fill import iota
from clgraph.primitives.sort import sort
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session


class BlockPlan(FactorizationPlan):
    """Ratings sorted by a key of their block (cl/factorization/block_order.cl).

    Attributes
    ----------
    packed_ratings : DeviceArray
        int32, four for each rating: user, item, bits of the value, and 0.
    """

    def __init__(self, session: Session, ratings: Ratings, model: DeviceModel) -> None:
        super().__init__(session, ratings, model)
        self.packed_ratings: DeviceArray
        self._order: DeviceArray

    def _sort(self, kernel: str, n_keys: int, **arguments: Any) -> DeviceArray:
        """Sort the ratings by the keys below *n_keys* that *kernel* gives them; return the sorted keys."""
        session, n = self.session, self.ratings.n_ratings
        given = DeviceRatings.upload(session, self.ratings)
        keys, positions = session.empty(n, np.uint64), session.empty(n, self.offset_type)
        enqueue_order(self, "block_order", kernel, {**given.scope, **arguments}, n=n, keys=keys)
        iota(session, positions)
        by_key, order = sort(session, keys, positions, end_bit=max(n_keys - 1, 0).bit_length())
        assert order is not None
        self._given, self._order = given, order
        return by_key

    def _pack(self) -> None:
        """Gather the ratings in the order found; the unordered ones on the device are not needed any more."""
        n = self.ratings.n_ratings
        self.packed_ratings = self.session.empty(4 * n, np.int32)
        enqueue_order(
            self, "block_order", "pack_ratings", self._given.scope, n=n, order=self._order, ratings=self.packed_ratings
        )
        del self._given

    def _chosen(self, n: int, predicate: str, item: str = "i", **arrays: DeviceArray) -> DeviceArray:
        """Return *item* of the indices i below *n* for which *predicate* holds, expressions in *arrays*."""
        found = self.session.empty(n, self.offset_type)
        compact = Compact(self.session, n, found, predicate=predicate, item=item, arrays=arrays)
        compact.run_checked()
        found.size = compact.size.item()
        return found

    def _sorted_positions(self) -> NDArray[np.int64]:
        """Return the positions of the ratings in the order of their keys."""
        return self._order.get().astype(np.int64)
