"""``clgraph color GRAPH``: proper colouring of the vertices."""
from __future__ import annotations

import argparse

from clgraph.cli.options import (
    add_device,
    add_graph,
    add_json,
    add_output,
    add_strategy,
    add_verify,
    open_session,
    read_graph,
    vertex_ids,
    write_result,
)
from clgraph.cli.terminal import busy, print_fields, print_json, run_document, run_fields

HELP = "colour the vertices of a graph so that neighbours differ"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_graph(parser)
    parser.add_argument("--distance", type=int, choices=(1, 2), default=1, help="of vertices that must differ (1)")
    parser.add_argument(
        "--order",
        help="natural, random, interleaved, largest_first or smallest_last; the default is what suits the strategy",
    )
    parser.add_argument("--balanced", action="store_true", help="make the classes alike in size")
    parser.add_argument("--deterministic", action="store_true", help="the same colours in every run")
    parser.add_argument("--seed", type=int, default=0, help="of the hash that orders vertices (0)")
    add_strategy(parser)
    add_device(parser)
    add_verify(parser)
    add_output(parser, "each vertex and its colour (an int32 array of colours if FILE ends in .npy)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.algorithms.coloring import color

    graph = read_graph(args.graph, args)
    session = open_session(args)
    with busy(f"running on {session.facts.name}"):
        result = color(
            graph, distance=args.distance, strategy=args.strategy, order=args.order, balanced=args.balanced,
            deterministic=args.deterministic, seed=args.seed, session=session, verify=args.verify,
        )
    if args.output is not None:
        write_result(args.output, result.colors, zip(vertex_ids(graph), result.colors.tolist(), strict=True))
    sizes = result.class_sizes.tolist()
    if args.json:
        print_json({
            "graph": args.graph, "n_vertices": graph.n_vertices, "n_edges": graph.n_edges, "distance": args.distance,
            "n_colors": result.n_colors, "class_sizes": sizes, "details": result.info.details,
            "verified": args.verify, **run_document(result.info),
        })  # fmt: skip
    elif args.output != "-":
        fields = {
            "colors": f"{result.n_colors:,}",
            "class sizes": f"{min(sizes, default=0):,} … {max(sizes, default=0):,}",
            **run_fields(result.info, args.strategy),
        }
        print_fields({**fields, **({"verified": "yes"} if args.verify else {})})
    return 0
