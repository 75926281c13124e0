"""``clgraph sssp GRAPH --source ID``: shortest paths by the weights of the edges."""
from __future__ import annotations

import argparse

from clgraph.cli.options import add_graph, open_session, read_graph
from clgraph.cli.paths import add_run, add_sources, read_sources, show
from clgraph.cli.terminal import busy

HELP = "find the shortest paths from a vertex by the weights of the edges"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_graph(parser)
    add_sources(parser)
    parser.add_argument("--limit", metavar="DISTANCE", type=number, help="go at most this far")
    add_run(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.algorithms.sssp import sssp

    graph = read_graph(args.graph, args)
    sources = read_sources(args, graph)
    session = open_session(args)
    with busy(f"running on {session.facts.name}"):
        result = sssp(
            graph, sources, strategy=args.strategy, limit=args.limit, predecessors=args.predecessors, session=session,
            verify=args.verify,
        )  # fmt: skip
    show(args, result)
    return 0


def number(text: str) -> float:
    """Return an integer exactly."""
    try:
        return int(text)
    except ValueError:
        return float(text)
