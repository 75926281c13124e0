"""``clgraph sssp GRAPH --source ID``: shortest paths by the weights of the edges."""

from __future__ import annotations

import argparse

from clgraph.cli.graph_command import GraphCommand
from clgraph.cli.paths import OUTPUT, add_sources, read_sources, show, write


def _add_settings(parser: argparse.ArgumentParser) -> None:
    add_sources(parser)
    parser.add_argument("--limit", metavar="DISTANCE", type=number, help="go at most this far")
    parser.add_argument(
        "--dtype",
        choices=("int64", "float64", "float32"),
        help="type of the distances (int64 by integer weights; float64 by others, or float32 by those of a file with "
        "float32 weights, which is less exact)",
    )


def number(text: str) -> float:
    """Return an integer exactly."""
    try:
        return int(text)
    except ValueError:
        return float(text)


COMMAND = GraphCommand(
    "sssp", "find the shortest paths from a vertex by the weights of the edges", show, _add_settings,
    lambda args, graph: {
        "source": read_sources(args, graph), "limit": args.limit, "predecessors": args.predecessors,
        "dtype": args.dtype,
    },
    output=OUTPUT, write=write,
)  # fmt: skip
