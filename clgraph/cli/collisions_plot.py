"""A plot of the collisions of hash colourings against the bits of a colour."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.hash_collisions import CollisionTable
from clgraph.figure import figure_file

_STYLES = ("-", "--", ":")
# 7 is coprime to the 10 colours, so a combination of marker and colour repeats only after 70 lines.
_MARKERS = "os^DvP*"


def plot_collisions(table: CollisionTable, path: str | Path, name: str) -> None:
    """Save a plot: for each hash, a line of its collisions in all rows, and a table of its most collisions in a row."""
    order = np.lexsort(table.total.T)  # The hash with the fewest collisions at the largest number of bits comes first.
    names = [table.hashes[k] for k in order]
    where = "neighbours" if table.distance == 1 else "vertices at most two edges apart"
    with figure_file(path, 14.0, 6.0) as figure:
        left, right = figure.subplots(1, 2)
        figure.suptitle(f"{name} ({table.n_vertices:,} vertices): {where} that get the same colour by a hash")
        for k, (hash_name, totals) in enumerate(zip(names, table.total[order], strict=True)):
            style = {"linestyle": _STYLES[k // 5 % 3], "marker": _MARKERS[k % 7], "markersize": 4}
            left.plot(table.bit_widths, totals, color=f"C{k % 10}", label=hash_name, **style)
        left.set_yscale("symlog", linthresh=1)
        left.set_ylim(bottom=table.total.min() / 2)
        left.yaxis.set_major_formatter("{x:,.0f}")
        left.set_ylabel("collisions of all rows")
        left.set_title("Total")
        left.grid(which="major", alpha=0.3)
        left.set_xticks(table.bit_widths)
        left.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", title="fewest first", frameon=False)
        _draw_table(right, table.maximum[order])
        right.set_xticks(range(len(table.bit_widths)), table.bit_widths)
        right.set_yticks(range(len(names)), names)
        right.set_title("Collisions of the row that has most")
        for axes in (left, right):
            axes.set_xlabel("bits of a colour (2 to that power: colours)")


def _draw_table(axes: Any, values: NDArray[np.int64]) -> None:
    """Draw *values* as a table of coloured cells. Cells with larger values are darker."""
    shades = np.log1p(values)
    axes.imshow(shades, cmap="Blues", aspect="auto", vmin=0)
    dark = 0.6 * shades.max()
    for (row, column), value in np.ndenumerate(values):
        color = "white" if shades[row, column] > dark else "black"
        axes.text(column, row, f"{value:,}", color=color, ha="center", va="center", fontsize="small")
