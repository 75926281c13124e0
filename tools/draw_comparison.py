"""Draw docs/comparison.png: how much longer the best public CUDA code takes, from the table in docs/results.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from clgraph.figure import figure_file

_DOCS = Path(__file__).resolve().parent.parent / "docs"
_ROW = re.compile(r"^\| \[`(\w+)`\]\(\S+\) \| ([^|]+) \| (.*) \|$", re.MULTILINE)


def read_comparison(page: Path = _DOCS / "results.md") -> dict[str, tuple[str, list[tuple[float, float]]]]:
    """Return for each algorithm the CUDA code, and our and its milliseconds on each graph."""
    table = {}
    for algorithm, code, cells in _ROW.findall(page.read_text(encoding="utf-8")):
        ours, theirs = zip(*(map(float, cell.split(" / ")) for cell in cells.split(" | ")), strict=True)
        table[algorithm] = code, list(zip(ours, theirs, strict=True))
    return table


def draw(path: Path) -> None:
    table = read_comparison()
    names = [f"{algorithm}\n{code}" for algorithm, (code, _) in table.items()]
    ratios = [np.array([theirs / ours for ours, theirs in cells]) for _, cells in table.values()]
    means = [np.exp(np.log(one).mean()) for one in ratios]
    with figure_file(path, 7, 2.9) as figure:
        axes = figure.subplots()
        axes.barh(names, np.array(means) - 1, left=1, height=0.6, color="#8fb8de")
        for y, (mean, one) in enumerate(zip(means, ratios, strict=True)):
            axes.plot(one, np.full(one.size, y), "o", color="#1f4e79", markersize=4)
            axes.text(17, y, f"{mean:.1f}x", va="center", ha="right", fontweight="bold")
        axes.axvline(1, color="black", linewidth=1)
        axes.set_xscale("log")
        axes.set_xlim(0.7, 18)
        axes.set_xticks([1, 2, 5, 10], ["1x", "2x", "5x", "10x"])
        axes.minorticks_off()
        axes.invert_yaxis()
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title("CUDA code's time / clgraph's, one H200: seven graphs, and their geometric mean", fontsize=9)


if __name__ == "__main__":
    draw(_DOCS / "comparison.png")
