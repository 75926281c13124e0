"""A grid of blocks: users and items cut into parts, conflict-free parts at a time (cl/factorization/block_grid.cl)."""
from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.blocks import BlockPlan
from clgraph.algorithms.factorization.factors import DeviceModel, RowLayout
from clgraph.algorithms.factorization.order import enqueue_order, find_offsets
from clgraph.algorithms.factorization.passes import slice_size, wait_by_slices
from clgraph.algorithms.factorization.sizes import grid_groups
from clgraph.algorithms.factorization.supersteps import check_barrier, has_grid_barrier, launch_over
from clgraph.arguments import Seed, checked_count, checked_seed
from clgraph.data.ratings import Ratings
from clgraph.device.facts import DeviceFacts
from clgraph.errors import InputError
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.failure import check_status
from clgraph.runtime.session import Session

SOURCE = "factorization/block_grid.cl"
_BARRIERS = ("auto", "launch", "grid")
_LINGER = 20000
_STREAMS = 4  # parts of a block between which a lone work-item alternates
_MOST_GROUPS = 4096  # their blocks are numbered in 32 bits
_LONG_ROW = 16  # vectors, from which on four work-items share a rating
_MOST_VECTORS = 8  # of a row that a work-item holds, where the row can be shared by more
_MOST_CHAINED_VECTORS = 6  # of a row, for two products at a time in 256 registers
_PLACED_ONE_BY_ONE = 8  # heaviest vertices for each part


class BlockGrid(BlockPlan):
    """Sweep over a grid of n_groups × n_groups blocks, of which n_groups share no vertex.

    Parameters
    ----------
    n_groups : int, optional
        Blocks at a time, one for each work-group. By default what suits the ratings and the device.
    lanes : int, optional
        Work-items that share a rating: a power of two that divides the vectors of a row, at most the sub-group, and
        so many that the rows of a sub-group's ratings fit the local memory. By default two, from 16 vectors on four,
        and so many that none of them holds more than eight.
    barrier : {"auto", "launch", "grid"}
        What stands between blocks: the end of a kernel, or, where the device has device-wide barriers, a wait for
        one other group inside a persistent kernel.
    seed : int
        Seed of the order in which users and items are dealt to parts.
    """

    def __init__(
        self, session: Session, ratings: Ratings, model: DeviceModel, *, n_groups: int | None = None,
        lanes: int | None = None, barrier: str = "auto", seed: Seed = 0,
    ) -> None:
        super().__init__(session, ratings, model)
        check_barrier(session, barrier, _BARRIERS)
        self.barrier = ("grid" if has_grid_barrier(session) else "launch") if barrier == "auto" else barrier
        facts, vectors = session.facts, model.layout.vectors * model.layout.lanes
        if lanes is None:
            lanes = _default_lanes(vectors, facts.sub_group_size)
        else:
            lanes = _checked_lanes(lanes, model.layout, facts)
        if n_groups is None:
            n_groups = grid_groups(ratings.stats, facts)
        self.n_groups = checked_count("n_groups", n_groups, _MOST_GROUPS)
        rng = np.random.default_rng(checked_seed(seed))
        user_part, item_part = (
            session.upload(balanced_parts(np.diff(offsets), self.n_groups, rng))
            for offsets in (ratings.user_offsets, ratings.item_offsets)
        )
        width, n_blocks = ratings.n_items, self.n_groups**2
        by_key = self._sort(
            "grid_keys", n_blocks * width, n_items=width, n_groups=self.n_groups, user_part=user_part,
            item_part=item_part,
        )
        self._block_offsets = find_offsets(self, by_key, n_blocks, max(1, width))
        if facts.sub_group_size == 1:
            self._interleave(by_key, width)
        self._pack()
        kernels = self.program(
            SOURCE, work_group_size=facts.sub_group_size, LINGER=_LINGER, LANES=lanes, VECTORS=vectors // lanes,
            CHAIN=_chain(vectors // lanes),
        )
        self._control = session.zeros(kernels.constant("GRID_CONTROL_WORDS"), np.uint32)
        self._status_at = kernels.constant("GRID_STATUS")
        self._done = session.zeros(kernels.constant("DONE_STRIDE") * self.n_groups, np.uint32)
        self.scope |= {
            "n_groups": self.n_groups, "offsets": self._block_offsets, "ratings": self.packed_ratings,
            "control": self._control, "done": self._done,
        }  # fmt: skip
        kernels.bind("cut_tiles", n_blocks, self.scope, n_blocks=n_blocks)()
        n_lanes = self.n_groups * facts.sub_group_size
        if self.barrier == "grid":
            self.launches = [kernels.bind("block_sweep", n_lanes, self.scope)]
        else:
            self._step = kernels.bind("block_step", n_lanes, self.scope, step=0, first_group=0)
        session.finish()

    def _interleave(self, by_key: DeviceArray, width: int) -> None:
        """Go through four parts of a block in turn: steps on one item wait for each other, those on four do not."""
        n, sorted_order = self.ratings.n_ratings, self._order
        self._order = self.session.empty(n, sorted_order.dtype)
        enqueue_order(
            self, "block_order", "interleave", n=n, width=max(1, width), n_streams=_STREAMS, keys=by_key,
            offsets=self._block_offsets, order=sorted_order, interleaved=self._order,
        )

    def run(self) -> None:
        """Enqueue one sweep; nothing is read back.

        Under barrier="launch" long sweeps are waited for, so that Ctrl-C is heard; under "grid" a sweep is one launch.
        """
        if self.barrier == "grid":
            self._control.fill(0)
            self._done.fill(0)
            super().run()
        else:
            wait_by_slices(self, self._steps())

    def _steps(self) -> Iterator[tuple[Any, int]]:
        """Enqueue the steps, long ones as several launches; yield the events and, about, how many ratings they take."""
        n_cuts = -(-self.ratings.n_ratings // (self.n_groups * slice_size(self))) or 1
        units = self.session.facts.compute_units
        together = self.n_groups if n_cuts == 1 else max(1, self.n_groups // (n_cuts * units)) * units
        per_group = self.ratings.n_ratings // self.n_groups**2
        for step in range(self.n_groups):
            for first in range(0, self.n_groups, together):
                n_groups = min(together, self.n_groups - first)
                yield launch_over(self._step, n_groups, step=step, first_group=first), n_groups * per_group

    def serial_order(self) -> NDArray[np.int64]:
        """Return the positions of the ratings in an order whose sequential sweep is this one."""
        order, ends = self._sorted_positions(), self._block_offsets.get().astype(np.int64)
        by_step = np.arange(self.n_groups**2).reshape(self.n_groups, -1).T.ravel()
        return np.concatenate([order[ends[b] : ends[b + 1]] for b in by_step.tolist()])

    def check(self) -> None:
        """Wait for the device.

        Raises
        ------
        DeviceTimeoutError
            A wait of a group for the next one ran out: the last sweep is not whole.
        """
        check_status(self._control.item(self._status_at), "the sweep over the block grid")


def _chain(vectors: int) -> int:
    """Steps of a run whose products are made together: two, except where they do not fit the registers."""
    return 1 if vectors > _MOST_CHAINED_VECTORS else 2


def _default_lanes(vectors: int, sub_group_size: int) -> int:
    lanes = min(math.gcd(vectors, 4 if vectors >= _LONG_ROW else 2), sub_group_size)
    while vectors // lanes > _MOST_VECTORS and vectors % (2 * lanes) == 0 and lanes < sub_group_size:
        lanes *= 2
    return lanes


def _checked_lanes(lanes: int, layout: RowLayout, facts: DeviceFacts) -> int:
    lanes = checked_count("lanes", lanes, facts.sub_group_size)
    vectors, powers = layout.vectors * layout.lanes, (1 << k for k in range(facts.sub_group_size.bit_length()))
    allowed = [n for n in powers if vectors % n == 0 and _local_bytes(n, layout, facts) <= facts.local_mem_bytes]
    if lanes not in allowed:
        raise InputError(
            f"lanes = {lanes}; rows of {vectors} vectors and {facts.local_mem_bytes} bytes of local memory on "
            f"{facts.name} allow {allowed}"
        )
    return lanes


def _local_bytes(lanes: int, layout: RowLayout, facts: DeviceFacts) -> int:
    """Bytes of a group: shared_t of the kernel file, with room for alignment and the words beside it."""
    width = facts.sub_group_size
    if lanes == width:
        return 0
    return 4 * (layout.padded // lanes * (width + lanes) + width + 1 + layout.vector_width + 2)


def balanced_parts(degrees: NDArray[np.int64], n_parts: int, rng: np.random.Generator) -> NDArray[np.int32]:
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
    loads = [(0, k) for k in range(n_parts)]  # a heap
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
