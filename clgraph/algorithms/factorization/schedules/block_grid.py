"""Training sweeps over a grid of blocks.

Blocks that run together share no user or item (cl/factorization/block_grid.cl).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import RowLayout, row_layout
from clgraph.algorithms.factorization.plan import FactorizationPlan, clear, slice_size, wait_by_slices
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.rating_order import enqueue_order, find_offsets, pack, sort_by_block
from clgraph.algorithms.factorization.schedules import supersteps
from clgraph.algorithms.factorization.schedules.supersteps import checked_barrier, launch_over
from clgraph.arguments import Seed, checked_count, checked_seed
from clgraph.data.ratings.stats import RatingsStats
from clgraph.device.facts import DeviceFacts
from clgraph.errors import InputError
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Use
from clgraph.runtime.memory.arrays import DeviceArray

_SOURCE = "factorization/block_grid.cl"
_LINGER = 20000  # A work-group polls this often while it waits for the other work-groups to start.
_STREAMS = 4  # A work-item processes a block in four parts, a step of each in turn, so that memory latencies overlap.
_MAX_GROUPS = 4096  # Greatest number of work-groups. The number of blocks is its square, which fits 32 bits.
_LONG_ROW = 16  # If a row of factors has at least 16 vectors, four work-items share a rating by default.
_MAX_VECTORS = 8  # Greatest number of a row's vectors per work-item, if more work-items can share the row.
# A work-item that holds at most 6 vectors of a row can compute two products at a time in 256 registers.
_MAX_CHAINED_VECTORS = 6
_PLACED_ONE_BY_ONE = 8  # The heaviest vertices are placed one by one, up to this number for each part.


def block_grid(
    problem: FactorizationProblem,
    facts: DeviceFacts,
    *,
    n_groups: int | None = None,
    lanes: int | None = None,
    barrier: str = "auto",
    seed: Seed = 0,
) -> Recipe:
    """Return the recipe of a training sweep over a grid of *n_groups* × *n_groups* blocks of the matrix.

    In each step *n_groups* blocks without a common vertex run at the same time, one per work-group. By default the
    number suits the ratings and the device.

    *lanes* work-items share a rating. The number is a power of two that divides the vectors of a row. It is at most the
    sub-group size, and large enough that the rows of a sub-group's ratings fit the local memory. The default is two,
    or four for rows of at least 16 vectors, or more if a work-item would hold more than eight vectors.

    *barrier* separates steps: the end of a kernel ("launch"), or a wait for one other group inside a persistent kernel
    ("grid", only on devices with a grid barrier). *seed* determines the order in which users and items are dealt to
    parts.
    """
    seed = checked_seed(seed)
    if checked_barrier(facts, barrier, ("auto", "launch", "grid")) == "auto":
        barrier = "grid" if supersteps.has_grid_barrier(facts) else "launch"
    layout = row_layout(problem.rank, facts)
    vectors = layout.vectors * layout.lanes
    lanes = _default_lanes(vectors, facts.sub_group_size) if lanes is None else _checked_lanes(lanes, layout, facts)
    n_groups = grid_groups(problem.stats, facts) if n_groups is None else n_groups
    n_groups = checked_count("n_groups", n_groups, _MAX_GROUPS)
    in_one_launch = (
        clear("control"),
        clear("done"),
        Phase(f"{_SOURCE}:block_sweep", 0, groups=n_groups, status="control[GRID_STATUS]"),
    )
    return Recipe(
        in_one_launch if barrier == "grid" else (Use(BlockSteps),),
        lambda: Setting(
            arrays={
                "control": Array("GRID_CONTROL_WORDS", np.uint32), "done": Array(f"DONE_STRIDE * {n_groups}", np.uint32)
            } if barrier == "grid" else {},
            values={"n_groups": n_groups},
            defines={
                "LINGER": _LINGER, "LANES": lanes, "VECTORS": vectors // lanes, "CHAIN": _chain(vectors // lanes),
            },
            work_group_size=facts.sub_group_size,
            prepare=partial(_deal, seed=seed),
        ),
    )  # fmt: skip


def _deal(plan: FactorizationPlan, *, seed: int) -> dict[str, DeviceArray]:
    """Deal users and items to the parts of a block grid, sort the ratings by block, and cut the blocks into tiles.

    Returns
    -------
    dict of str to DeviceArray
        The packed ``ratings`` in the order of the sweep, their ``weights`` if there are any, their original positions
        (``order``), and the positions at which blocks begin (``offsets``).
    """
    session, ratings, n_groups = plan.session, plan.problem.ratings, plan.setting.values["n_groups"]
    rng, given = np.random.default_rng(seed), plan.upload_ratings()
    user_part, item_part = (
        session.upload(balanced_parts(np.diff(offsets), n_groups, rng))
        for offsets in (ratings.user_offsets, ratings.item_offsets)
    )
    width, n_blocks = max(1, ratings.n_items), n_groups**2
    by_key, order = sort_by_block(
        plan,
        given,
        "grid_keys",
        n_blocks * width,
        n_items=width,
        n_groups=n_groups,
        user_part=user_part,
        item_part=item_part,
    )
    offsets = find_offsets(plan, by_key, n_blocks, width)
    if session.facts.sub_group_size == 1:
        # Training steps on the same item depend on each other, and steps on different items do not.
        # A work-item alternates between four parts of a block, so that successive steps are on different items.
        in_turn = session.empty(order.size, order.dtype)
        enqueue_order(
            plan,
            "block_order",
            "interleave",
            width=width,
            n_streams=_STREAMS,
            keys=by_key,
            offsets=offsets,
            order=order,
            interleaved=in_turn,
        )
        order = in_turn
    packed = pack(plan, given, order)
    made = {"ratings": packed, "offsets": offsets}
    if plan.problem.weights is not None:
        made["weights"] = session.empty(plan.problem.n, np.float32)
    plan.program(_SOURCE).bind("cut_tiles", n_blocks, made, n_blocks=n_blocks)()
    return {**made, "order": order}


def grid_groups(stats: RatingsStats, facts: DeviceFacts) -> int:
    """Return the default number of parts into which block_grid cuts the users, and likewise the items.

    Each step costs a wait, and each group processes its share of the ratings. So the best number is near
    √(n_ratings / w), if w ratings take the time of a wait. More groups than fit on the device do not help.
    """
    wait, most = (2000, 8 * facts.compute_units) if facts.is_cpu else (60, 4 * facts.compute_units)
    wanted = math.isqrt(stats.n_ratings // wait)
    return max(1, min(most, max(wanted, facts.compute_units if facts.is_cpu else 1), stats.n_users, stats.n_items))


class BlockSteps:
    """A training sweep over a grid of blocks, with one launch per step, or several launches for a long step."""

    def __init__(self, plan: FactorizationPlan) -> None:
        self._plan, self._n_groups = plan, plan.setting.values["n_groups"]
        self._step = plan.program(_SOURCE).bind("block_step", 1, plan.scope, step=0, first_group=0)

    def run(self) -> None:
        """Enqueue one training sweep over the grid of blocks."""
        wait_by_slices(self._plan, self._steps())

    def _steps(self) -> Iterator[tuple[Any, int]]:
        """Enqueue the steps of a sweep over a block grid.

        Yield the event and the approximate ratings of each launch.
        """
        problem, facts, all_groups = self._plan.problem, self._plan.session.facts, self._n_groups
        n_cuts, units = -(-problem.n // (all_groups * slice_size(problem, facts))), facts.compute_units
        together = all_groups if n_cuts <= 1 else max(1, all_groups // (n_cuts * units)) * units
        for step in range(all_groups):
            for first in range(0, all_groups, together):
                n_groups = min(together, all_groups - first)
                event = launch_over(self._step, n_groups, step=step, first_group=first)
                yield event, n_groups * problem.n // all_groups**2


def _chain(vectors: int) -> int:
    """Return the number of successive steps that compute their products together: two, or one if registers are few."""
    return 1 if vectors > _MAX_CHAINED_VECTORS else 2


def _default_lanes(vectors: int, sub_group_size: int) -> int:
    lanes = min(math.gcd(vectors, 4 if vectors >= _LONG_ROW else 2), sub_group_size)
    while vectors // lanes > _MAX_VECTORS and vectors % (2 * lanes) == 0 and lanes < sub_group_size:
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
    """Return the local memory of a work-group in bytes: ``shared_t`` of the kernel file, alignment, and other words."""
    width = facts.sub_group_size
    if lanes == width:
        return 0
    return 4 * (layout.padded // lanes * (width + lanes) + width + 1 + layout.vector_width + 2)


def balanced_parts(degrees: NDArray[np.int64], n_parts: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return the part of each user or item, such that the parts have nearly equal numbers of ratings.

    The vertices of the highest degrees go one by one to the part with the least sum so far (Graham's LPT rule). The
    other vertices fill up the parts in random order.
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
