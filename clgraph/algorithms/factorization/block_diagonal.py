"""Blocks of the matrix, block-diagonal by block-diagonal (BlkDiag; cl/factorization/block_diagonal.cl)."""
from __future__ import annotations

import operator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.blocks import BlockPlan
from clgraph.algorithms.factorization.factors import DeviceModel
from clgraph.algorithms.factorization.passes import slice_size, wait_by_slices
from clgraph.algorithms.factorization.sizes import block_shape, local_row_bytes, most_local_rows
from clgraph.algorithms.factorization.supersteps import launch_over
from clgraph.arguments import Seed, checked_seed, refusing
from clgraph.data.ratings import Ratings
from clgraph.device.facts import DeviceFacts
from clgraph.errors import InputError
from clgraph.runtime.session import Session

_SOURCE = "factorization/block_diagonal.cl"


class BlockDiagonal(BlockPlan):
    """Sweep over block-diagonals; a work-group has the rows of its block in local memory.

    Parameters
    ----------
    shape : (int, int), optional
        Users and items of a block. By default as many as local memory holds, but few enough that a block-diagonal
        has blocks for every compute unit.
    seed : int
        Not used: there is one such order.
    """

    def __init__(
        self, session: Session, ratings: Ratings, model: DeviceModel, *, shape: tuple[int, int] | None = None,
        seed: Seed = 0,
    ) -> None:
        super().__init__(session, ratings, model)
        checked_seed(seed)  # which nothing depends on
        facts, row_bytes, n = session.facts, local_row_bytes(model.layout.padded), ratings.n_ratings
        self.shape = (
            block_shape(ratings.n_users, ratings.n_items, facts, row_bytes) if shape is None
            else _checked_shape(shape, facts, row_bytes)
        )  # fmt: skip
        n_rows, n_columns = self.shape
        n_user_blocks, n_item_blocks = -(-ratings.n_users // n_rows), -(-ratings.n_items // n_columns)
        n_diagonals, n_waves = max(n_user_blocks, n_item_blocks), max(self.shape)
        per_diagonal = max(1, n_user_blocks * n_waves)
        keys = self._sort(
            "diagonal_keys", n_diagonals * per_diagonal, n_rows=n_rows, n_columns=n_columns,
            n_user_blocks=n_user_blocks, n_diagonals=n_diagonals,
        )
        self._pack()
        self._waves = waves = self._chosen(n, "i == 0 || keys[i] != keys[i - 1]", keys=keys)
        is_first = f"i == 0 || keys[waves[i]] / {n_waves} != keys[waves[i - 1]] / {n_waves}"
        blocks, begins, diagonals = (
            self._chosen(waves.size, is_first, item, keys=keys, waves=waves)
            for item in ("i", "waves[i]", f"keys[waves[i]] / {per_diagonal}")
        )
        self._cut(diagonals.get(), begins.get().astype(np.int64))
        program = self.program(_SOURCE, work_group_size=facts.sub_group_size, N_ROWS=n_rows, N_COLUMNS=n_columns)
        self._superstep = program.bind(
            "block_superstep", 1, self.scope, first_block=0, end_block=0, blocks=blocks, waves=waves,
            n_blocks_all=blocks.size, n_waves_all=waves.size, n=n, ratings=self.packed_ratings,
        )
        session.finish()

    def _cut(self, diagonals: NDArray[Any], begins: NDArray[np.int64]) -> None:
        """Cut the blocks, on *diagonals* and with ratings from *begins* on, into launches: long ones are several."""
        is_first = (np.diff(diagonals, prepend=-1) != 0) | (np.diff(begins // slice_size(self), prepend=-1) != 0)
        cuts = np.append(np.flatnonzero(is_first), begins.size)
        ends = np.append(begins, self.ratings.n_ratings)[cuts]
        self._cuts: list[int] = cuts.tolist()
        self._n_ratings: list[int] = np.diff(ends).tolist()

    def run(self) -> None:
        """Enqueue one sweep; nothing is read back, but long ones are waited for, so that Ctrl-C is heard."""
        wait_by_slices(
            self,
            (
                (launch_over(self._superstep, end - first, first_block=first, end_block=end), n_ratings)
                for (first, end), n_ratings in zip(pairwise(self._cuts), self._n_ratings, strict=True)
            ),
        )

    def supersteps(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return positions of ratings in the order of the sweep, and where in it waves of blocks begin and end."""
        return self._sorted_positions(), np.append(self._waves.get(), self.ratings.n_ratings).astype(np.int64)


def _checked_shape(shape: tuple[int, int], facts: DeviceFacts, row_bytes: int) -> tuple[int, int]:
    with refusing("shape", shape, "two integers"):
        rows, columns = map(operator.index, shape)
    most = most_local_rows(facts, row_bytes)
    if rows < 1 or columns < 1 or rows + columns > most:
        raise InputError(
            f"shape = {shape}; at least 1 each, and together at most {most} rows fit the local memory of {facts.name}"
        )
    return rows, columns
