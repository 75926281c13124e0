"""``clgraph connected_components GRAPH``: connected components."""
from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from numpy.typing import NDArray

HELP = "find the connected components of a graph"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_graph(parser)
    add_strategy(parser)
    add_device(parser)
    add_verify(parser)
    add_output(parser, "each vertex and the number of its component (an int32 array of numbers if FILE ends in .npy)")
    parser.add_argument(
        "--largest", metavar="K", type=int, default=5, help="how many of the largest sizes to show (5)"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.algorithms.components import connected_components

    graph = read_graph(args.graph, args)
    session = open_session(args)
    with busy(f"running on {session.facts.name}"):
        result = connected_components(graph, strategy=args.strategy, session=session, verify=args.verify)
    if args.output is not None:
        write_result(args.output, result.labels, zip(vertex_ids(graph), result.labels.tolist(), strict=True))
    sizes = _largest_sizes(result.labels, args.largest)
    if args.json:
        print_json({
            "graph": args.graph, "n_vertices": graph.n_vertices, "n_edges": graph.n_edges,
            "n_components": result.n_components, "largest": sizes, "verified": args.verify,
            **run_document(result.info),
        })  # fmt: skip
    elif args.output != "-":
        fields = {
            "components": f"{result.n_components:,}",
            "largest": ", ".join(f"{size:,}" for size in sizes) or "none",
            **run_fields(result.info, args.strategy),
        }
        print_fields({**fields, **({"verified": "yes"} if args.verify else {})})
    return 0


def _largest_sizes(labels: NDArray[Any], k: int) -> list[int]:
    import numpy as np

    sizes = np.sort(np.bincount(labels))[::-1][: max(0, k)] if labels.size else labels
    return [int(size) for size in sizes if size]
