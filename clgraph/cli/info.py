"""The command ``clgraph info GRAPH``, which shows the statistics of a graph that the cost model uses."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from clgraph.cli.options import add_graph, add_json, read_graph
from clgraph.cli.terminal import busy, print_fields, print_json

HELP = "show the statistics of a graph"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_graph(parser)
    parser.add_argument("--diameter", action="store_true", help="add a lower bound on the diameter (by two searches)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.data.graphs.searches import diameter_bound

    graph = read_graph(args.graph, args)
    stats = asdict(graph.stats)
    if args.diameter:
        with busy("searching for a long path"):
            stats["diameter_bound"] = diameter_bound(graph)
    if args.json:
        print_json({"graph": args.graph, **stats})
        return 0
    vertices, edges = stats.pop("degree_vertex_counts"), stats.pop("degree_edge_counts")
    print_fields({name: _shown(value) for name, value in stats.items()})
    print("\ndegree              vertices         entries")
    for k, (n, m) in enumerate(zip(vertices, edges, strict=True)):
        span = "0" if k == 0 else "1" if k == 1 else f"{1 << (k - 1)} to {(1 << k) - 1}"
        print(f"{span:<15}{n:>13,}{m:>16,}")
    return 0


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
