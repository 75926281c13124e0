"""The plan of PageRank and its relatives on one device, and the blocks of rows that their kernels process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph import progress
from clgraph.engine.plan import Plan
from clgraph.model.recipe import Phase
from clgraph.runtime.graphs.device_graph import device_graph

START = "pagerank/start.cl"
_BATCH = 8  # iterations that the host enqueues on a GPU before it reads whether the values have converged


class PowerPlan(Plan):
    """A plan that gives values to the vertices of a graph by iteration.

    The kernels of each pull read the rows of one of the problem's graphs; the plan's own rows are those of the first.
    """

    def _given(self) -> tuple[Mapping[str, int | str], Mapping[str, Any]]:
        rows = device_graph(self.session, self.problem.pulls[0])
        return rows.defines(), rows.scope

    def result(self) -> tuple[Any, ...]:
        """Return the values that each pull makes, those of the last pull first, the number of iterations, and the sum
        of the changes of the last pull in the last one, after ``run()``.
        """
        pulls = range(len(self.problem.pulls))
        if not self.arrays:  # The graph has no vertices.
            return *(np.zeros(0, self.problem.dtype) for _ in pulls), 0, 0.0
        n = self.problem.graph.n_vertices
        parts = [(self.arrays[name_in_pull("ranks", pull)], 0, n) for pull in reversed(pulls)]
        if self.problem.n_lanes > 1:
            parts = [(self.arrays["shares"], 0, n * len(self.problem.home))]  # The kernel separate left them there.
        parts += [(self.arrays[name], 0, self.arrays[name].size) for name in ("totals", "control")]
        *values, totals, control = self.read(*parts)
        constant = self.program(START).constant
        changes = totals.reshape(constant("TEAM"), 2, -1)[:, constant("CHANGE")]
        return *values, int(control[constant("ROUNDS")]) // len(pulls), float(changes.max())


def name_in_pull(name: str, pull: int) -> str:
    """Return the name of the array or number of a pull that kernels call *name*."""
    return f"{name}_{pull}" if pull else name


class Inputs:
    """The step that copies the problem's settings and distributions to the device, since they differ between runs."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def run(self) -> None:
        problem, arrays = self._plan.problem, self._plan.arrays
        arrays["settings"].set(np.array(problem.numbers, arrays["settings"].dtype))
        for name in ("home", "refuge", "initial"):
            if (given := getattr(problem, name)) is None:
                continue
            if name == "home" and problem.n_lanes > 1:
                for lane in range(problem.n_lanes):  # The last distribution is repeated for lanes without one.
                    row = given[min(lane, len(given) - 1)].astype(problem.dtype)
                    arrays["shares"].set(row, offset=lane * row.size)  # The kernel interleave reads them there.
            else:
                arrays[name].set(given.astype(problem.dtype).ravel())
        arrays["control"].fill(0)


class PowerIteration:
    """The step that repeats iterations until the values have converged or the greatest number of them is reached.

    Parameters
    ----------
    plan : Plan
    pulls : tuple of tuple of Phase
        The launches of each pull of an iteration, which have the parameter ``round``.
    """

    def __init__(self, plan: Plan, pulls: tuple[tuple[Phase, ...], ...]) -> None:
        self._plan, self._pulls = plan, [[plan.bound(phase) for phase in pull] for pull in pulls]
        self._done = plan.program(START).constant("DONE")
        self._batch = 1 if plan.session.facts.is_cpu else _BATCH

    def run(self) -> None:
        most, control = self._plan.problem.max_iter, self._plan.arrays["control"]
        tell = progress.begin("ranking", most, "iterations")
        number = 0  # of the pull
        for first in range(0, most, self._batch):
            last = min(first + self._batch, most)
            for launches in (last - first) * self._pulls:
                number += 1
                for launch in launches:
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
