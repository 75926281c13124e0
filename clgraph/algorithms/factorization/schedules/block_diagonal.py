"""Training sweeps over blocks of the matrix, one block-diagonal at a time (BlkDiag;
cl/factorization/block_diagonal.cl).
"""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import Any

import numpy as np

from clgraph.algorithms.factorization.factors import row_layout
from clgraph.algorithms.factorization.plan import FactorizationPlan, slice_size, wait_by_slices
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.rating_order import pack, sort_by_block
from clgraph.algorithms.factorization.schedules.supersteps import launch_over
from clgraph.arguments import Seed, checked_seed, refusing
from clgraph.device.facts import DeviceFacts
from clgraph.errors import InputError
from clgraph.model.recipe import Recipe, Setting, Use
from clgraph.primitives.compact import Compact
from clgraph.runtime.memory.arrays import DeviceArray

_SOURCE = "factorization/block_diagonal.cl"
_LOCAL_SHARE = 0.9  # Share of the local memory that a block may use. Drivers need the rest.
# On a CPU, the rows of a block take at most 256 KiB, so that the rows stay in a core's cache.
_CPU_LOCAL_BYTES = 1 << 18
_BLOCKS_PER_UNIT = 4  # A block-diagonal has at least this number of blocks per compute unit.


def block_diagonal(
    problem: FactorizationProblem, facts: DeviceFacts, *, shape: tuple[int, int] | None = None, seed: Seed = 0
) -> Recipe:
    """Return the recipe of a sweep over block-diagonals, in which a work-group keeps its block's rows in local memory.

    *shape* is the number of users and of items of a block. By default blocks fill the local memory, or are smaller so
    that a block-diagonal has blocks for every compute unit. The order is fixed, so *seed* has no effect.
    """
    checked_seed(seed)
    shape = block_shape(problem, facts) if shape is None else _checked_shape(shape, problem, facts)
    return Recipe(
        (Use(BlockDiagonals),),
        lambda: Setting(defines={"N_ROWS": shape[0], "N_COLUMNS": shape[1]}, work_group_size=facts.sub_group_size),
    )


class BlockDiagonals:
    """A training sweep over the block-diagonals of the matrix, with one or several launches per block-diagonal.

    Attributes
    ----------
    order : DeviceArray
        Positions of the ratings in the order of the sweep.
    waves : DeviceArray
        Indices into *order* at which a wave of a block begins. The ratings of a wave share no vertex.
    """

    def __init__(self, plan: FactorizationPlan) -> None:
        ratings, n, self._plan = plan.problem.ratings, plan.problem.n, plan
        program = plan.program(_SOURCE)
        n_rows, n_columns = (program.constant(name) for name in ("N_ROWS", "N_COLUMNS"))
        n_user_blocks, n_item_blocks = -(-ratings.n_users // n_rows), -(-ratings.n_items // n_columns)
        n_diagonals, n_waves = max(n_user_blocks, n_item_blocks), max(n_rows, n_columns)
        per_diagonal = max(1, n_user_blocks * n_waves)
        given = plan.upload_ratings()
        keys, self.order = sort_by_block(
            plan,
            given,
            "diagonal_keys",
            n_diagonals * per_diagonal,
            n_rows=n_rows,
            n_columns=n_columns,
            n_user_blocks=n_user_blocks,
            n_diagonals=n_diagonals,
        )
        self.waves = waves = _chosen(plan, n, "i == 0 || keys[i] != keys[i - 1]", keys=keys)
        is_first = f"i == 0 || keys[waves[i]] / {n_waves} != keys[waves[i - 1]] / {n_waves}"
        blocks, begins, diagonals = (
            _chosen(plan, waves.size, is_first, item, keys=keys, waves=waves)
            for item in ("i", "waves[i]", f"keys[waves[i]] / {per_diagonal}")
        )
        starts = begins.get().astype(np.int64)
        slices = starts // slice_size(plan.problem, plan.session.facts)
        cuts = np.flatnonzero((np.diff(diagonals.get(), prepend=-1) != 0) | (np.diff(slices, prepend=-1) != 0))
        ends = np.append(starts[cuts], n)
        self._cuts: list[int] = [*cuts.tolist(), starts.size]
        self._n_ratings: list[int] = np.diff(ends).tolist()
        self._superstep = program.bind(
            "block_superstep",
            1,
            plan.scope,
            first_block=0,
            end_block=0,
            blocks=blocks,
            waves=waves,
            n_blocks_all=blocks.size,
            n_waves_all=waves.size,
            n=n,
            ratings=pack(plan, given, self.order),
        )

    def run(self) -> None:
        """Enqueue one training sweep over the block-diagonals."""
        launches = (
            (launch_over(self._superstep, end - first, first_block=first, end_block=end), n_ratings)
            for (first, end), n_ratings in zip(pairwise(self._cuts), self._n_ratings, strict=True)
        )
        wait_by_slices(self._plan, launches)


def _chosen(plan: FactorizationPlan, n: int, predicate: str, item: str = "i", **arrays: DeviceArray) -> DeviceArray:
    """Return, for each i below *n* that satisfies *predicate*, the value of *item*; both are kernel expressions.

    *item* and *predicate* are expressions of ``i`` and *arrays*.
    """
    found = plan.session.empty(n, plan.problem.offset_type)
    compact = Compact(plan.session, n, found, predicate=predicate, item=item, arrays=arrays)
    compact.run_checked()
    found.size = compact.size.item()
    return found


def block_shape(problem: FactorizationProblem, facts: DeviceFacts) -> tuple[int, int]:
    """Return the default numbers of users and items of a block: powers of two whose rows fit the local memory."""
    most, wanted = _most_rows(problem, facts), _BLOCKS_PER_UNIT * facts.compute_units
    rows, columns = (1 << max(4, min(most // 2, n // wanted)).bit_length() - 1 for n in problem.ratings.shape)
    return rows, columns


def _most_rows(problem: FactorizationProblem, facts: DeviceFacts) -> int:
    """Return the number of float32 rows of factors, of users and items together, that fit the local memory."""
    room = min(facts.local_mem_bytes, _CPU_LOCAL_BYTES) if facts.is_cpu else facts.local_mem_bytes
    # In local memory, a user or item takes a row of factors, a bias and a flag.
    row_bytes = 4 * row_layout(problem.rank, facts).padded + 8
    return max(8, int(_LOCAL_SHARE * room) // row_bytes)


def _checked_shape(shape: Any, problem: FactorizationProblem, facts: DeviceFacts) -> tuple[int, int]:
    with refusing("shape", shape, "two integers"):
        rows, columns = map(operator.index, shape)
    most = _most_rows(problem, facts)
    if rows < 1 or columns < 1 or rows + columns > most:
        raise InputError(
            f"shape = {shape}; at least 1 each, and together at most {most} rows fit the local memory of {facts.name}"
        )
    return rows, columns
