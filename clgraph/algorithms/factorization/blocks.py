"""Ratings packed on the device in the order of 64-bit keys: what the plans of blocks share."""
from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.factorization.factors import DeviceModel, DeviceRatings
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.primitives.compact import Compact
from clgraph.primitives.fill import iota
from clgraph.primitives.sort import sort
from clgraph.ratings import Ratings
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session

_SOURCE = "factorization/block_order.cl"


class BlockPlan(FactorizationPlan):
    """Ratings sorted by a key of their block.

    Attributes
    ----------
    ratings_by_key : DeviceArray
        int32, four for each rating: user, item, bits of the value, and 0.
    """

    def __init__(self, session: Session, ratings: Ratings, model: DeviceModel) -> None:
        super().__init__(session, ratings, model)
        self._layout = session.program(_SOURCE, {"OFFSET_T": self.defines["OFFSET_T"]})

    def _sort(self, kernel: str, n_keys: int, *args: Any) -> DeviceArray:
        """Sort by the keys below *n_keys* that *kernel* makes of *args*, users and items; return the keys."""
        session, n = self.session, self.ratings.n_ratings
        given = DeviceRatings.upload(session, self.ratings)
        keys, positions = session.empty(n, np.uint64), session.empty(n, self.offset_type)
        scalars = [a for a in args if not isinstance(a, DeviceArray)]
        arrays = [a for a in args if isinstance(a, DeviceArray)]
        self._layout.bind(kernel, n, self.offset(n), *scalars, given.users, given.items, *arrays, keys)()
        iota(session, positions)
        by_key, self._order = sort(session, keys, positions, end_bit=max(n_keys - 1, 0).bit_length())
        assert self._order is not None
        self.ratings_by_key: DeviceArray = session.empty(4 * n, np.int32)
        self._layout.bind("pack_ratings", n, self.offset(n), self._order, *given, self.ratings_by_key)()
        return by_key

    def _offsets(self, by_key: DeviceArray, width: int, n_cells: int) -> DeviceArray:
        """Return where the sorted keys // *width* are 0, 1, …, *n_cells* - 1, and the end."""
        offsets = self.session.empty(n_cells + 1, self.offset_type)
        n = by_key.size
        self._layout.bind("group_offsets", n + 1, self.offset(n), np.uint64(width), np.uint64(n_cells), by_key, offsets)()
        return offsets

    def _chosen(self, n: int, predicate: str, item: str = "i", **arrays: DeviceArray) -> DeviceArray:
        """Return *item* of the indices i below *n* for which *predicate* holds, expressions in *arrays*."""
        found = self.session.empty(n, self.offset_type)
        compact = Compact(self.session, n, found, predicate=predicate, item=item, arrays=arrays)
        compact.run_checked()
        return DeviceArray(self.session, found.buffer, found.dtype, compact.size.item())
