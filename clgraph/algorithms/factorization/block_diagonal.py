"""Blocks of the matrix, block-diagonal by block-diagonal (BlkDiag; cl/factorization/block_diagonal.cl)."""
from __future__ import annotations

import operator

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.blocks import BlockPlan
from clgraph.algorithms.factorization.factors import DeviceModel
from clgraph.algorithms.factorization.work import ROW_FLAG_BYTES, block_shape, most_local_rows
from clgraph.device.facts import DeviceFacts
from clgraph.errors import InputError
from clgraph.ratings import Ratings
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
        seed: int = 0,
    ) -> None:
        super().__init__(session, ratings, model)
        del seed
        facts, row_bytes = session.facts, 4 * model.layout.padded + ROW_FLAG_BYTES
        self.shape = _checked(shape, facts, row_bytes) if shape else block_shape(
            ratings.n_users, ratings.n_items, facts, row_bytes
        )
        n_rows, n_columns = self.shape
        n_user_blocks, n_item_blocks = -(-ratings.n_users // n_rows), -(-ratings.n_items // n_columns)
        n_diagonals, n_waves = max(n_user_blocks, n_item_blocks), max(self.shape)
        per_diagonal = n_user_blocks * n_waves
        keys = self._sort("diagonal_keys", n_diagonals * per_diagonal, *map(np.uint32, (
            n_rows, n_columns, n_user_blocks, n_diagonals,
        )))
        waves = self._chosen(ratings.n_ratings, "i == 0 || keys[i] != keys[i - 1]", keys=keys)
        begins = f"i == 0 || keys[waves[i]] / {n_waves} != keys[waves[i - 1]] / {n_waves}"
        blocks, diagonals = (
            self._chosen(waves.size, begins, item, keys=keys, waves=waves)
            for item in ("i", f"keys[waves[i]] / {per_diagonal}")
        )
        on_diagonal = diagonals.get()
        self._ends = np.append(np.flatnonzero(np.diff(on_diagonal, prepend=-1)), on_diagonal.size).tolist()
        program = self.program(
            _SOURCE, work_group_size=facts.sub_group_size, N_ROWS=n_rows, N_COLUMNS=n_columns
        )
        self._superstep = program.bind(
            "block_superstep", 1, np.uint32(0), np.uint32(0), blocks, waves, np.uint32(blocks.size),
            np.uint32(waves.size), self.offset(ratings.n_ratings), self.ratings_by_key, *model.arguments(),
        )
        self._waves = waves
        session.finish()

    def run(self) -> None:
        event = None
        for first, end in zip(self._ends[:-1], self._ends[1:], strict=True):
            self._superstep.set_scalar(0, np.uint32(first))
            self._superstep.set_scalar(1, np.uint32(end))
            event = self._superstep(end - first)
            if self.session.facts.is_cpu and end - first > 1024:
                self.session.wait(event)

    def supersteps(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return positions of ratings in the order of the sweep, and where in it waves of blocks begin and end."""
        assert self._order is not None
        return self._order.get().astype(np.int64), np.append(self._waves.get(), self.ratings.n_ratings).astype(np.int64)


def _checked(shape: tuple[int, int], facts: DeviceFacts, row_bytes: int) -> tuple[int, int]:
    try:
        rows, columns = map(operator.index, shape)
    except (TypeError, ValueError):
        raise InputError(f"shape={shape!r}; two integers are needed") from None
    most = most_local_rows(facts, row_bytes)
    if rows < 1 or columns < 1 or rows + columns > most:
        raise InputError(
            f"shape={shape}; at least 1 each, and together at most {most} rows fit the local memory of {facts.name}"
        )
    return rows, columns
