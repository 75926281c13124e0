"""A grid of blocks: users and items cut into parts, conflict-free parts at a time (cl/factorization/block_grid.cl)."""
from __future__ import annotations

import heapq
import math

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.blocks import BlockPlan
from clgraph.algorithms.factorization.factors import DeviceModel
from clgraph.algorithms.factorization.work import grid_groups
from clgraph.ratings import Ratings
from clgraph.runtime.failure import check_status
from clgraph.runtime.session import Session

SOURCE = "factorization/block_grid.cl"
_GRID_CONTROL_WORDS, _GRID_STATUS = 8, 4  # as in cl/common/grid_barrier.h
_DONE_STRIDE = 32  # words, as in the kernel file
_LINGER = 20000
_PLACED_ONE_BY_ONE = 8  # heaviest vertices for each part


class BlockGrid(BlockPlan):
    """Sweep over a grid of n_groups × n_groups blocks.

    Parameters
    ----------
    n_groups : int, optional
        Blocks at a time, one for each work-group.
    lanes : int, optional
        Work-items that share a rating.
    barrier : {"auto", "grid", "launch"}
        What stands between blocks: a barrier inside a persistent kernel, or the end of a kernel.
    seed : int
        Of the order in which users and items are dealt to parts.
    """

    def __init__(
        self, session: Session, ratings: Ratings, model: DeviceModel, *, n_groups: int | None = None,
        lanes: int | None = None, barrier: str = "auto", seed: int = 0,
    ) -> None:
        super().__init__(session, ratings, model)
        facts, layout = session.facts, model.layout
        vectors = layout.vectors * layout.lanes
        if lanes is None:  # two lanes a rating, and no more than eight vectors a lane
            lanes = min(2, facts.sub_group_size, math.gcd(vectors, 2))
            while vectors // lanes > 8 and vectors % (2 * lanes) == 0 and lanes < facts.sub_group_size:
                lanes *= 2
        self.tiled = self.program(
            SOURCE, work_group_size=facts.sub_group_size, LINGER=_LINGER, LANES=lanes, VECTORS=vectors // lanes
        )
        self.n_groups = n_groups or grid_groups(ratings.stats, facts)
        self._uses_grid = barrier == "grid" or (barrier == "auto" and facts.dialect.has_grid_barrier)
        self._control = session.zeros(_GRID_CONTROL_WORDS, np.uint32)
        self._done = session.zeros(_DONE_STRIDE * self.n_groups, np.uint32)
        rng = np.random.default_rng(seed)
        parts = [
            session.upload(balanced_parts(np.diff(offsets), self.n_groups, rng))
            for offsets in (ratings.user_offsets, ratings.item_offsets)
        ]
        width, n_blocks = ratings.n_items, self.n_groups**2
        by_key = self._sort("grid_keys", n_blocks * width, np.uint64(width), np.uint32(self.n_groups), *parts)
        self.block_offsets = self._offsets(by_key, width, n_blocks)
        arguments = (self.block_offsets, self.ratings_by_key)
        self.tiled.bind("cut_tiles", n_blocks, self.offset(n_blocks), *arguments)()
        session.finish()
        head = (np.uint32(self.n_groups),)
        arguments += tuple(model.arguments())
        items = self.n_groups * facts.sub_group_size
        if self._uses_grid:
            self.launches = [self.tiled.bind("block_sweep", items, *head, *arguments, self._control, self._done)]
        else:
            self._step = self.tiled.bind("block_step", items, *head, np.uint32(0), *arguments)

    def run(self) -> None:
        if self._uses_grid:
            self._control.fill(0)
            self._done.fill(0)
            super().run()
            return
        for step in range(self.n_groups):
            self._step.set_scalar(1, np.uint32(step))
            self._step()

    def serial_order(self) -> NDArray[np.int64]:
        """Return positions of ratings in an order whose sequential sweep is this one."""
        assert self._order is not None
        ends = self.block_offsets.get().astype(np.int64)
        by_step = np.arange(self.n_groups**2).reshape(self.n_groups, -1).T.ravel()
        order = self._order.get().astype(np.int64)
        return np.concatenate([order[ends[b] : ends[b + 1]] for b in by_step.tolist()])

    def check(self) -> None:
        """Wait for the device.

        Raises
        ------
        DeviceTimeoutError
            A wait of a group for the next one ran out: the last sweep is not whole.
        """
        if self._uses_grid:
            check_status(self._control.item(_GRID_STATUS), "the sweep over the block grid")


def balanced_parts(
    degrees: NDArray[np.int64], n_parts: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Deal vertices to parts of nearly equal sums of degrees; return each vertex's part.

    The heaviest go one by one to the part with the least so far (Graham's LPT rule), all others in random order
    to what room the parts have left.
    """
    part = np.empty(degrees.size, np.int32)
    n_heavy = min(degrees.size, _PLACED_ONE_BY_ONE * n_parts)
    order = rng.permutation(np.arange(degrees.size, dtype=np.int32))
    order = order[np.argpartition(-degrees[order], n_heavy - 1)] if n_heavy else order
    heavy = order[:n_heavy]
    heavy = heavy[np.argsort(-degrees[heavy], kind="stable")]
    loads = [(0, k) for k in range(n_parts)]
    for vertex, degree in zip(heavy.tolist(), degrees[heavy].tolist(), strict=True):
        load, k = loads[0]
        part[vertex] = k
        heapq.heapreplace(loads, (load + degree, k))
    light = order[n_heavy:]
    after = np.cumsum(degrees[light])
    if light.size and after[-1]:
        filled = np.zeros(n_parts)
        for filled_to, k in loads:
            filled[k] = filled_to
        room = np.maximum(0.0, (filled.sum() + after[-1]) / n_parts - filled)
        ends = np.searchsorted(after, np.cumsum(room / room.sum()) * after[-1])
        ends[-1] = light.size
        part[light] = np.repeat(np.arange(n_parts, dtype=np.int32), np.diff(ends, prepend=0))
    else:
        part[light] = 0
    return part
