"""A plot of the collisions of hash colourings by the bits of a colour."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.hash_collisions import CollisionTable
from clgraph.figure import figure_file

_FARTHEST = 2.0  # binary logarithm of the ratio to the median hash from which on a colour does not change
_PALE = 1.2  # Texts on cells with a ratio below this one are black.
_PREFIXES = ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k"))  # the least number with this unit, unit, prefix


def plot_collisions(table: CollisionTable, path: str | Path, name: str) -> None:
    """Save a plot: for each hash and number of bits, the collisions in all rows, and of the row that has most.

    Cells are coloured by their ratio to the median of all hashes with the same bits, so that a hash which is better or
    worse than others stands out.
    """
    order = np.lexsort(table.total.T)  # The hash with the fewest collisions at the largest number of bits comes first.
    names = [table.hashes[k] for k in order]
    where = "neighbours" if table.distance == 1 else "vertices at most two edges apart"
    width = max(14.0, 5.0 + 1.2 * len(table.bit_widths))
    with figure_file(path, width, max(3.5, 2.0 + 0.3 * len(names))) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        figure.suptitle(f"{name} ({table.n_vertices:,} vertices): {where} that get the same colour by a hash")
        _draw_table(left, table.total[order])
        drawn = _draw_table(right, table.maximum[order])
        left.set_yticks(range(len(names)), names)
        left.set_ylabel("hash, fewest collisions first")
        left.set_title("Collisions of all rows")
        right.set_title("Collisions of the row that has most")
        for axes in (left, right):
            axes.set_xticks(range(len(table.bit_widths)), table.bit_widths)
            axes.set_xlabel("bits of a colour (2 to that power: colours)")
        ticks = np.arange(-_FARTHEST, _FARTHEST + 1)
        bar = figure.colorbar(drawn, ax=[left, right], ticks=ticks, label="over the median of the hashes", pad=0.01)
        bar.ax.set_yticklabels([f"{2.0**tick:g}x" for tick in ticks])


def _draw_table(axes: Any, values: NDArray[np.int64]) -> Any:
    """Draw *values* as a table of coloured cells: red above the median of a column, blue below it."""
    ratios = np.log2((values + 1) / (np.median(values, axis=0) + 1))  # 1 is added, since counts may be 0.
    drawn = axes.imshow(ratios, cmap="RdBu_r", aspect="auto", vmin=-_FARTHEST, vmax=_FARTHEST)
    for (row, column), value in np.ndenumerate(values):
        color = "black" if abs(ratios[row, column]) < _PALE else "white"
        axes.text(column, row, _short(int(value)), color=color, ha="center", va="center", fontsize="small")
    return drawn


def _short(value: int) -> str:
    """Return *value* in at most five characters."""
    for least, unit, prefix in _PREFIXES:
        if value >= least:
            return f"{value / unit:.3g}{prefix}"
    return f"{value:,}"
