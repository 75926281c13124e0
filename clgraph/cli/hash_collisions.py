"""``clgraph hash_collisions GRAPH``: collisions of hash colourings."""
from __future__ import annotations

import argparse
from pathlib import Path

from clgraph.cli.options import (
    add_device,
    add_graph,
    add_json,
    add_plot,
    add_strategy,
    add_verify,
    check_plot,
    open_session,
    read_graph,
)
from clgraph.cli.terminal import busy, print_fields, print_json, run_document, run_fields

HELP = "count the collisions of hash colourings of a graph"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_graph(parser)
    parser.add_argument("--distance", type=int, choices=(1, 2), default=1, help="of vertices that collide (1)")
    parser.add_argument(
        "--hashes", metavar="H", type=hashes, default=15,
        help="how many of the known hash functions, or names with commas between them (15)",
    )  # fmt: skip
    parser.add_argument(
        "--bits", metavar="B", type=bits, default=tuple(range(1, 11)),
        help="bits of a colour: numbers and ranges with commas between them (1-10)",
    )  # fmt: skip
    parser.add_argument(
        "--max-colors", metavar="N", type=int, help="name the best colouring of at most so many colours"
    )
    add_strategy(parser)
    add_device(parser)
    add_verify(parser)
    add_plot(parser, "the collisions")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.algorithms.hash_collisions import hash_collisions

    check_plot(args)
    graph = read_graph(args.graph, args)
    session = open_session(args)
    with busy(f"running on {session.facts.name}"):
        table = hash_collisions(
            graph, distance=args.distance, hashes=args.hashes, bit_widths=args.bits, strategy=args.strategy,
            session=session, verify=args.verify,
        )
    best = table.best(max_colors=args.max_colors)
    if args.plot is not None:
        from clgraph.cli.collisions_plot import plot_collisions

        plot_collisions(table, args.plot, Path(args.graph).name)
    if args.json:
        print_json({
            "graph": args.graph, "n_vertices": graph.n_vertices, "n_edges": graph.n_edges, "distance": args.distance,
            "hashes": table.hashes, "bit_widths": table.bit_widths, "total": table.total, "maximum": table.maximum,
            "best": best._asdict(), "verified": args.verify, **run_document(table.info),
        })  # fmt: skip
        return 0
    print(table, end="\n\n")
    fields = {
        "best": f"{best.hash} of {best.bits} bits: {best.total:,} collisions, {best.maximum:,} in the largest row",
        **run_fields(table.info, args.strategy),
    }
    if args.plot is not None:
        fields["plot"] = args.plot
    print_fields({**fields, **({"verified": "yes"} if args.verify else {})})
    return 0


def hashes(text: str) -> int | list[str]:
    return int(text) if text.isdigit() else text.split(",")


def bits(text: str) -> tuple[int, ...]:
    """Read ``1-4,8`` as 1, 2, 3, 4, 8; argparse names this function if it cannot."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        found += range(int(first), int(last if dash else first) + 1)
    return tuple(found)
