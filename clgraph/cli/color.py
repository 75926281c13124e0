"""``clgraph color GRAPH``: proper colouring of the vertices."""

from __future__ import annotations

import argparse

from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.options import vertex_ids, write_result

_SETTINGS = ("distance", "order", "balanced", "deterministic", "prefer", "seed")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--distance", type=int, choices=(1, 2), default=1, help="of vertices that must differ (1)")
    parser.add_argument(
        "--order",
        help="natural, random, interleaved, largest_first or smallest_last; the default is what suits the strategy",
    )
    parser.add_argument(
        "--prefer", choices=("both", "colors", "time"), default="both",
        help="few colours in little time (the default), the fewest of several tries, or the fastest strategy",
    )  # fmt: skip
    parser.add_argument("--balanced", action="store_true", help="make the classes alike in size")
    parser.add_argument("--deterministic", action="store_true", help="the same colours in every run")
    parser.add_argument("--seed", type=int, default=0, help="of the hash that orders vertices (0)")


def _write(path: str, run: Run) -> None:
    colors = run.result.colors
    write_result(path, colors, zip(vertex_ids(run.graph), colors.tolist(), strict=True))


def _show(run: Run) -> Shown:
    n_colors, sizes = run.result.n_colors, run.result.class_sizes.tolist()
    return Shown(
        {"distance": run.args.distance, "n_colors": n_colors, "class_sizes": sizes},
        {"colors": f"{n_colors:,}", "class sizes": f"{min(sizes, default=0):,} … {max(sizes, default=0):,}"},
    )


COMMAND = GraphCommand(
    "color", "colour the vertices of a graph so that neighbours differ", _show, _add_settings,
    lambda args, graph: {name: getattr(args, name) for name in _SETTINGS},
    output="each vertex and its colour (an int32 array of colours if FILE ends in .npy)", write=_write,
)  # fmt: skip
