"""The plan of PageRank on one device, and the blocks of rows that its kernels process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph import progress
from clgraph.engine.plan import Plan
from clgraph.model.recipe import Phase
from clgraph.runtime.graphs.device_graph import device_graph

ROWS = "pagerank/rows.cl"
_BATCH = 8  # rounds that the host enqueues on a GPU before it reads whether the ranks have converged


class PageRankPlan(Plan):
    """A plan that ranks the vertices of a graph.

    Kernels read the rows of the reversed graph.
    """

    def _given(self) -> tuple[Mapping[str, int | str], Mapping[str, Any]]:
        rows = device_graph(self.session, self.problem.graph.reverse)
        return rows.defines(), rows.scope

    def result(self) -> tuple[NDArray[Any], int, float]:
        """Return the ranks, the number of iterations, and the sum of the changes in the last one, after ``run()``."""
        if not self.arrays:  # The graph has no vertices.
            return np.zeros(0, self.problem.dtype), 0, 0.0
        ranks, totals, control = self.read(
            *((self.arrays[name], 0, self.arrays[name].size) for name in ("ranks", "totals", "control"))
        )
        constant = self.program(ROWS).constant
        return ranks, int(control[constant("ROUNDS")]), float(totals[constant("CHANGE")])


class Inputs:
    """The step that copies the problem's settings and distributions to the device, since they differ between runs."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def run(self) -> None:
        problem, arrays = self._plan.problem, self._plan.arrays
        settings = [problem.alpha, 1 / problem.graph.n_vertices, problem.tol]  # in the order of cl/pagerank/state.h
        arrays["settings"].set(np.array(settings, arrays["settings"].dtype))
        for name in ("home", "refuge", "initial"):
            if (given := getattr(problem, name)) is not None:
                arrays[name].set(given.astype(problem.dtype))
        arrays["control"].fill(0)


class PowerIteration:
    """The step that repeats rounds until the ranks have converged or the greatest number of rounds is reached.

    Parameters
    ----------
    plan : Plan
    rounds : tuple of Phase
        The launches of a round, which has the parameter ``round``.
    """

    def __init__(self, plan: Plan, rounds: tuple[Phase, ...]) -> None:
        self._plan, self._rounds = plan, [plan.bound(phase) for phase in rounds]
        self._done = plan.program(ROWS).constant("DONE")
        self._batch = 1 if plan.session.facts.is_cpu else _BATCH

    def run(self) -> None:
        most, control = self._plan.problem.max_iter, self._plan.arrays["control"]
        tell = progress.begin("ranking", most, "iterations")
        for first in range(1, most + 1, self._batch):
            last = min(first + self._batch - 1, most)
            for number in range(first, last + 1):
                for launch in self._rounds:
                    launch.set(round=number)
                    launch()
            tell(last)
            if control.item(self._done):
                return


class Blocks(NamedTuple):
    """Consecutive rows in blocks of similar numbers of entries, and the pieces of long rows.

    Attributes
    ----------
    first_rows : int32 array, shape (n_blocks + 1,)
        The first row of each block, and the number of rows.
    first_pieces : int32 array, shape (n_blocks + 1,)
        The number of the first piece of a block that is one long row; else -1.
    pieces : int32 array, shape (n_pieces, 2)
        The row of each piece, and the piece's number within its row.
    """

    first_rows: NDArray[np.int32]
    first_pieces: NDArray[np.int32]
    pieces: NDArray[np.int32]


def cut_rows(row_offsets: NDArray[Any], size: int, piece: int) -> Blocks:
    """Cut rows into blocks of at most *size* entries and rows, not counting the last row of a block.

    A row of more than *size* entries is a block by itself, and is cut into pieces of *piece* entries.
    """
    n = row_offsets.size - 1
    lengths = np.diff(row_offsets)
    is_long = lengths > size
    number = (row_offsets[:-1].astype(np.int64) + np.arange(n)) // size
    starts = np.ones(n, bool)
    starts[1:] = (number[1:] != number[:-1]) | is_long[1:] | is_long[:-1]
    first_rows = np.append(np.flatnonzero(starts), n).astype(np.int32)
    long_rows = np.flatnonzero(is_long)
    n_pieces = -(-lengths[long_rows] // piece)
    first_piece = np.append(0, np.cumsum(n_pieces))
    first_pieces = np.full(first_rows.size, -1, np.int32)
    first_pieces[np.searchsorted(first_rows, long_rows)] = first_piece[:-1]
    rows = np.repeat(long_rows, n_pieces)
    within = np.arange(rows.size) - np.repeat(first_piece[:-1], n_pieces)
    return Blocks(first_rows, first_pieces, np.stack((rows, within), axis=1).astype(np.int32))
