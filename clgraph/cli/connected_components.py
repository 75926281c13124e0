"""``clgraph connected_components GRAPH``: connected components."""

from __future__ import annotations

import argparse

from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.options import vertex_ids, write_result


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--largest", metavar="K", type=int, default=5, help="how many of the largest sizes to show (5)")


def _write(path: str, run: Run) -> None:
    labels = run.result.labels
    write_result(path, labels, zip(vertex_ids(run.graph), labels.tolist(), strict=True))


def _show(run: Run) -> Shown:
    n_components, sizes = run.result.n_components, _largest_sizes(run)
    return Shown(
        {"n_components": n_components, "largest": sizes},
        {"components": f"{n_components:,}", "largest": ", ".join(f"{size:,}" for size in sizes) or "none"},
    )


def _largest_sizes(run: Run) -> list[int]:
    import numpy as np

    sizes: list[int] = np.sort(np.bincount(run.result.labels))[::-1].tolist()
    return sizes[: max(0, run.args.largest)]


COMMAND = GraphCommand(
    "connected_components", "find the connected components of a graph", _show, _add_settings,
    output="each vertex and the number of its component (an int32 array of numbers if FILE ends in .npy)", write=_write,
)  # fmt: skip
