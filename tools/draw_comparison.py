"""Draw docs/comparison.png: how much longer the best public CUDA code takes, from the table in docs/results.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from clgraph.figure import figure_file

_DOCS = Path(__file__).resolve().parent.parent / "docs"
_HEAD = re.compile(r"^\| algorithm \| CUDA code \| (.*) \|$", re.MULTILINE)
_MARKERS, _COLORS = "osD^vP*", ("#1b6ca8", "#d9601a", "#2a9d5c", "#b84592", "#8a6d00", "#4c4c9d", "#c0392b")
_ROW = re.compile(r"^\| \[`(\w+)`\]\(\S+\) \| ([^|]+) \| (.*) \|$", re.MULTILINE)


def read_comparison(page: Path = _DOCS / "results.md") -> dict[str, tuple[str, list[tuple[float, float]]]]:
    """Return for each algorithm the CUDA code, and our and its milliseconds on each graph."""
    table = {}
    for algorithm, code, cells in _ROW.findall(page.read_text(encoding="utf-8")):
        ours, theirs = zip(*(map(float, cell.split(" / ")) for cell in cells.split(" | ")), strict=True)
        table[algorithm] = code, list(zip(ours, theirs, strict=True))
    return table


def graph_names(page: Path = _DOCS / "results.md") -> list[str]:
    """Return the names of the table's graphs."""
    found = _HEAD.search(page.read_text(encoding="utf-8"))
    assert found is not None
    return found[1].split(" | ")


def draw(path: Path) -> None:
    table, graphs = read_comparison(), graph_names()
    names = [f"{algorithm}\n{code}" for algorithm, (code, _) in table.items()]
    ratios = [np.array([theirs / ours for ours, theirs in cells]) for _, cells in table.values()]
    means = [np.exp(np.log(one).mean()) for one in ratios]
    with figure_file(path, 7, 3.7) as figure:
        axes = figure.subplots()
        axes.barh(names, np.array(means) - 1, left=1, height=0.72, color="#dbe6f1", label="geometric mean")
        places = np.arange(len(names))
        for k, graph in enumerate(graphs):
            shift = 0.26 * (2 * k / (len(graphs) - 1) - 1)  # Dots of one row do not hide each other.
            style = {"marker": _MARKERS[k], "color": _COLORS[k], "markersize": 5, "linestyle": ""}
            axes.plot([one[k] for one in ratios], places + shift, label=graph, **style)
        for y, mean in enumerate(means):
            axes.text(17, y, f"{mean:.1f}x", va="center", ha="right", fontweight="bold")
        axes.axvline(1, color="black", linewidth=1)
        axes.set_xscale("log")
        axes.set_xlim(0.7, 18)
        axes.set_xticks([1, 2, 5, 10], ["as fast", "2x", "5x", "10x"])
        axes.minorticks_off()
        axes.invert_yaxis()
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title("CUDA code's time / clgraph's on one NVIDIA H200", fontsize=10)
        figure.legend(loc="outside lower center", ncols=4, fontsize=8, frameon=False)


if __name__ == "__main__":
    draw(_DOCS / "comparison.png")
