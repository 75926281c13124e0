"""The command ``clgraph convert IN OUT``, which reads a graph and writes it in another format."""

from __future__ import annotations

import argparse

from clgraph.cli.options import add_reading, read_graph
from clgraph.cli.terminal import busy

HELP = "convert a graph file to another format"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="IN", help="graph file; its content decides the format")
    parser.add_argument("output", metavar="OUT", help="file to write; its suffix decides the format")
    add_reading(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.io import write

    graph = read_graph(args.input, args)
    with busy(f"writing {args.output}"):
        write(graph, args.output)
    print(f"{args.output}: {graph.n_vertices:,} vertices, {graph.n_edges:,} stored entries")
    return 0
