"""Supersteps in which slots hold the items of a block (cl/factorization/item_block.cl)."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import DeviceModel, DeviceRatings
from clgraph.algorithms.factorization.matchings import Matchings
from clgraph.algorithms.factorization.order import enqueue_order, gather_ratings, number_runs, stable_order
from clgraph.algorithms.factorization.supersteps import GRID_WG_SIZE, GROUPS_PER_UNIT, LINGER, SuperstepPlan
from clgraph.arguments import Seed, checked_count
from clgraph.data.ratings import Ratings
from clgraph.errors import InputError
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session

SOURCE = "factorization/item_block.cl"


class ItemSlots(SuperstepPlan):
    """Blocks of items, one after the other; a slot holds an item's row while its block lasts.

    Inside a block the matchings that have ratings of it are the supersteps.

    Parameters
    ----------
    seed : int
        Seed of the matchings.
    barrier : {"auto", "grid", "group"}
        What stands between supersteps. "grid": a device-wide barrier of a persistent kernel, and a block has as
        many items as there are resident slots. "group", where the device has none: the barrier of one work-group,
        which runs alone, and a block has as many items as it has slots. On a CPU that is one work-item with one
        item at a time: no parallelism is left, but the row stays in registers for all of an item's ratings.
    work_group_size : int, optional
        A multiple of the sub-group size.
    """

    barriers = ("auto", "grid", "group")

    def __init__(
        self, session: Session, ratings: Ratings, model: DeviceModel, *, seed: Seed = 0, barrier: str = "auto",
        work_group_size: int | None = None,
    ) -> None:
        super().__init__(session, ratings, model, barrier)
        if barrier == "auto":
            self.barrier = "grid" if self._has_grid else "group"
        facts = session.facts
        size = facts.sub_group_size if facts.is_cpu else GRID_WG_SIZE
        if work_group_size is not None:
            size = checked_count("work_group_size", work_group_size, facts.max_work_group_size)
            if size % facts.sub_group_size:
                raise InputError(f"work_group_size = {size}; needed: a multiple of {facts.sub_group_size}")
        self._kernels = self.program(SOURCE, work_group_size=size, LINGER=LINGER)
        degrees = np.diff(ratings.item_offsets)
        slots = self._kernels.work_group_size // self.lanes
        n_rated = int(np.count_nonzero(degrees))
        most_groups = GROUPS_PER_UNIT * facts.compute_units if self.barrier == "grid" else 1
        self._n_groups = max(1, min(most_groups, -(-n_rated // slots)))
        self._block_size = self._n_groups * slots
        by_rank = self._ranked(degrees)
        item_ranks = np.zeros(ratings.n_items, np.uint32)
        item_ranks[by_rank] = np.arange(n_rated)
        given, n = DeviceRatings.upload(session, ratings), ratings.n_ratings
        ranks, blocks = session.empty(n, np.uint32), session.empty(n, np.uint32)
        enqueue_order(
            self, "superstep_order", "rank_items", n=n, block_size=self._block_size, items=given.items,
            item_ranks=session.upload(item_ranks), ranks=ranks, blocks=blocks,
        )
        found = self._matchings(given, blocks, seed)
        self._prepare(given, session.upload(by_rank.astype(np.int32)), ranks, blocks, found)

    def _ranked(self, degrees: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the items that have ratings, in the order in which they fill blocks."""
        raise NotImplementedError

    def _matchings(self, given: DeviceRatings, blocks: DeviceArray, seed: Seed) -> Matchings:
        """Return matchings of the ratings, whose items are in *blocks*."""
        raise NotImplementedError

    def _n_blocks(self, n_rated: int) -> int:
        return -(-n_rated // self._block_size)

    def _prepare(
        self, given: DeviceRatings, by_rank: DeviceArray, ranks: DeviceArray, blocks: DeviceArray, found: Matchings
    ) -> None:
        session, n, slots = self.session, len(given), self._block_size // self._n_groups
        by_matching, _ = stable_order(self, found.colours, found.n_matchings)
        n_blocks = self._n_blocks(by_rank.size)
        self._order, block_offsets = stable_order(self, blocks, n_blocks, by_matching)
        steps, offsets = number_runs(self, self._order, blocks, found.colours)
        self._offsets = offsets.get().astype(np.int64)
        n_steps = self._offsets.size - 1
        by_item, item_offsets = stable_order(self, ranks, by_rank.size, self._order)
        ordered = gather_ratings(self, DeviceRatings(given.users, steps, given.values), by_item)
        is_wide = session.zeros(n_steps, np.uint32)
        if self._n_groups > 1:
            enqueue_order(
                self, "superstep_order", "mark_wide", n=n, block_size=self._block_size, n_slots=slots, ranks=ranks,
                steps=steps, is_wide=is_wide,
            )
        block_of = np.searchsorted(block_offsets.get()[1:], self._offsets[:-1], side="right")
        joins = is_wide.get() == 0
        joins[1:] &= joins[:-1] & (np.diff(block_of) == 0)
        self._cut(np.ones(n_steps, np.int64), joins)
        self.scope |= {
            "n_groups": self._n_groups, "n_ranks": by_rank.size, "by_rank": by_rank, "offsets": item_offsets,
            "blocks": session.upload(block_of[self._segments[:-1]].astype(np.uint32)),
            "users": ordered.users, "steps": ordered.items, "values": ordered.values,
        }  # fmt: skip
        self._bind_persistent(self._kernels, "item_blocks", self._n_groups)
        session.finish()
