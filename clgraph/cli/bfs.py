"""``clgraph bfs GRAPH --source ID``: breadth-first search."""
from __future__ import annotations

import argparse

from clgraph.cli.options import add_graph, open_session, read_graph
from clgraph.cli.paths import add_run, add_sources, read_sources, show
from clgraph.cli.terminal import busy

HELP = "find the distances from a vertex in edges"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_graph(parser)
    add_sources(parser)
    parser.add_argument("--max-depth", metavar="N", type=int, help="go at most N edges far")
    add_run(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.algorithms.traversal.bfs import bfs

    graph = read_graph(args.graph)
    sources = read_sources(args, graph)
    session = open_session(args)
    with busy(f"running on {session.facts.name}"):
        result = bfs(
            graph, sources, strategy=args.strategy, max_depth=args.max_depth, session=session, verify=args.verify
        )
    show(args, result)
    return 0
