"""Draw the collisions of hash colourings against the bits of a colour."""
from __future__ import annotations

from pathlib import Path

from clgraph.algorithms.hash_collisions.table import CollisionTable
from clgraph.figure import figure_file


def plot_collisions(table: CollisionTable, path: str | Path) -> None:
    """Write a picture of *table*: total and largest row of every hash.

    Parameters
    ----------
    table : CollisionTable
    path : str or Path
        Its suffix gives the format: ``.png``, ``.svg``, ``.pdf``.

    Raises
    ------
    MissingExtraError, InputError
        As :func:`clgraph.figure.check_figure`.
    """
    with figure_file(path, 11.0, 6.0) as figure:
        sides = figure.subplots(1, 2)
        for axes, values, what in zip(sides, table, ("total", "maximum of a row"), strict=True):
            for k, name in enumerate(table.hashes):
                style = ("-", "--", ":")[k // 10 % 3]
                axes.plot(table.bit_widths, values[k], style, color=f"C{k % 10}", marker=".", label=name)
            axes.set_yscale("symlog", linthresh=1)
            axes.set_ylim(bottom=0)
            axes.set_xticks(table.bit_widths)
            axes.set_xlabel("bits of a colour")
            axes.set_title(f"Collisions at distance {table.distance}: {what}")
            axes.grid(which="major", alpha=0.3)
        handles, labels = sides[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize="small", frameon=False)
