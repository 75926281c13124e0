"""Supersteps in which a slot keeps an item's row of factors (cl/factorization/item_block.cl):
AGM-N and SGM of the study.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.rating_order import (
    by_descending_degree,
    enqueue_order,
    gather_ratings,
    number_runs,
    stable_order,
)
from clgraph.algorithms.factorization.schedules import supersteps
from clgraph.algorithms.factorization.schedules.matchings import find_matchings
from clgraph.algorithms.factorization.schedules.supersteps import STATUS, Supersteps, checked_barrier
from clgraph.arguments import Seed, checked_count
from clgraph.device.facts import DeviceFacts
from clgraph.errors import InputError
from clgraph.model.recipe import Recipe, Setting, Use
from clgraph.runtime.memory.arrays import DeviceArray

_SOURCE = "factorization/item_block.cl"


def matching_node(
    problem: FactorizationProblem,
    facts: DeviceFacts,
    *,
    seed: Seed = 0,
    barrier: str = "auto",
    work_group_size: int | None = None,
) -> Recipe:
    """Return the recipe of a sweep over blocks of items in number order, by matchings of all ratings together.

    Inside a block the items with the most ratings take the first slots. So the last supersteps, in which few items
    have ratings left, belong to one work-group. *seed* determines the matchings.

    *barrier* separates supersteps. With "grid" it is a grid barrier in a persistent kernel, and a block has one item
    per resident slot. With "group", for devices without a grid barrier, a single work-group runs, and a block has one
    item per slot of it. On a CPU that is one work-item with one item at a time. No parallelism is left, but the row
    stays in registers for all of an item's ratings. *work_group_size* is a multiple of the sub-group size.
    """
    return _recipe(facts, barrier, work_group_size, seed=seed, by_degree=False)


def subgraph_matching(
    problem: FactorizationProblem,
    facts: DeviceFacts,
    *,
    seed: Seed = 0,
    barrier: str = "auto",
    work_group_size: int | None = None,
) -> Recipe:
    """Return the recipe of a sweep over blocks of items of similar degree, by matchings of each block's ratings.

    Items are sorted by degree, so blocks of rare items take few supersteps. The options are the same as in
    :func:`matching_node`.
    """
    return _recipe(facts, barrier, work_group_size, seed=seed, by_degree=True)


def _recipe(facts: DeviceFacts, barrier: str, work_group_size: int | None, *, seed: Seed, by_degree: bool) -> Recipe:
    barrier = checked_barrier(facts, barrier, ("auto", "grid", "group"))
    if barrier == "auto":
        barrier = "grid" if supersteps.has_grid_barrier(facts) else "group"
    size = facts.group_size(supersteps.GRID_WG_SIZE)
    if work_group_size is not None:
        size = checked_count("work_group_size", work_group_size, facts.max_work_group_size)
        if size % facts.sub_group_size:
            raise InputError(f"work_group_size = {size}; needed: a multiple of {facts.sub_group_size}")
    step = Use(lambda plan: ItemSupersteps(plan, barrier, size, seed=seed, by_degree=by_degree))
    return Recipe((step,), partial(Setting, arrays=STATUS))


def _by_number_and_degree(degrees: NDArray[np.int64], block_size: int) -> NDArray[np.int64]:
    order = by_descending_degree(degrees)
    # numpy sorts int16 by radix, which takes a tenth of the time of sorting int32.
    block = np.empty(degrees.size, np.int16 if order.size < 2**15 * block_size else np.int32)
    block[np.flatnonzero(degrees)] = np.arange(order.size) // block_size
    return order[np.argsort(block[order], kind="stable")]


def _ranks_and_blocks(
    plan: FactorizationPlan, items: DeviceArray, by_rank: NDArray[np.int64], block_size: int
) -> tuple[DeviceArray, DeviceArray]:
    """Return, for each rating, the rank of its item and the number of the item's block."""
    session, ratings = plan.session, plan.problem.ratings
    item_ranks = np.zeros(ratings.n_items, np.uint32)
    item_ranks[by_rank] = np.arange(by_rank.size)
    ranks, blocks = (session.empty(ratings.n_ratings, np.uint32) for _ in range(2))
    enqueue_order(
        plan,
        "superstep_order",
        "rank_items",
        block_size=block_size,
        items=items,
        item_ranks=session.upload(item_ranks),
        ranks=ranks,
        blocks=blocks,
    )
    return ranks, blocks


def _is_wide(
    plan: FactorizationPlan, ranks: DeviceArray, steps: DeviceArray, n_steps: int, block_size: int, n_slots: int
) -> NDArray[np.bool_]:
    """Return a mask of the supersteps whose ratings occupy the slots of more than one work-group."""
    is_wide = plan.session.zeros(n_steps, np.uint32)
    enqueue_order(
        plan,
        "superstep_order",
        "mark_wide",
        block_size=block_size,
        n_slots=n_slots,
        ranks=ranks,
        steps=steps,
        is_wide=is_wide,
    )
    wide: NDArray[np.bool_] = is_wide.get() != 0
    return wide


class ItemSupersteps(Supersteps):
    """A training sweep over blocks of items, one block after the other.

    A slot keeps an item's row during a block.

    The supersteps of a block are the matchings that contain its ratings. With *by_degree*, blocks are filled by
    descending degree, and each block has matchings of its own. Otherwise blocks are filled in the order of item
    numbers, and the matchings are made of all ratings together.
    """

    def __init__(
        self, plan: FactorizationPlan, barrier: str, work_group_size: int, *, seed: Seed, by_degree: bool
    ) -> None:
        super().__init__(plan, barrier)
        session, ratings = plan.session, plan.problem.ratings
        program = plan.build(_SOURCE, work_group_size, LINGER=supersteps.LINGER)
        degrees = np.diff(ratings.item_offsets)
        slots = program.work_group_size // plan.lanes
        n_rated = int(np.count_nonzero(degrees))
        most_groups = supersteps.GROUPS_PER_UNIT * session.facts.compute_units if barrier == "grid" else 1
        n_groups = max(1, min(most_groups, -(-n_rated // slots)))
        block_size = n_groups * slots
        by_rank = by_descending_degree(degrees) if by_degree else _by_number_and_degree(degrees, block_size)
        given = plan.upload_ratings()
        ranks, blocks = _ranks_and_blocks(plan, given["items"], by_rank, block_size)
        users, n_users = given["users"], ratings.n_users
        if by_degree:
            # Each block gets its own copies of the users, so that one search finds the matchings of all blocks.
            # The ratings stay sorted by user within each block.
            by_block, _ = stable_order(plan, blocks, -(-ratings.n_items // block_size))
            users, copies = number_runs(plan, by_block, blocks, users)
            n_users = copies.size - 1
        colours, n_matchings = find_matchings(plan, (given["items"], ratings.n_items), (users, n_users), seed=seed)
        by_matching, _ = stable_order(plan, colours, n_matchings)
        self.order, block_offsets = stable_order(plan, blocks, -(-n_rated // block_size), by_matching)
        steps, offsets = number_runs(plan, self.order, blocks, colours)
        self.offsets = offsets.get().astype(np.int64)
        n_steps = self.offsets.size - 1
        by_item, item_offsets = stable_order(plan, ranks, n_rated, self.order)
        ordered = gather_ratings(plan, given | {"items": steps}, by_item)
        block_of = np.searchsorted(block_offsets.get()[1:], self.offsets[:-1], side="right")
        joins = np.ones(n_steps, bool) if n_groups == 1 else ~_is_wide(plan, ranks, steps, n_steps, block_size, slots)
        joins[1:] &= joins[:-1] & (np.diff(block_of) == 0)
        self.cut(np.ones(n_steps, np.int64), joins)
        self.bind_persistent(program, "item_blocks", n_groups, {
            "n_groups": n_groups, "n_ranks": n_rated, "by_rank": session.upload(by_rank.astype(np.int32)),
            "offsets": item_offsets, "blocks": session.upload(block_of[self.segments[:-1]].astype(np.uint32)),
            "users": ordered["users"], "steps": ordered["items"], "values": ordered["values"],
        })  # fmt: skip
