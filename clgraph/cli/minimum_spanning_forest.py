"""``clgraph minimum_spanning_forest GRAPH``: minimum spanning forest."""
from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

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
    from clgraph.algorithms.mst import SpanningForest

HELP = "find the minimum spanning forest of a graph"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_graph(parser)
    parser.add_argument("--maximum", action="store_true", help="find the forest that weighs most")
    add_strategy(parser)
    add_device(parser)
    add_verify(parser)
    add_output(
        parser,
        "the edges of the forest (an int64 array of their places among the entries of the undirected graph if FILE "
        "ends in .npy, a graph if in .mtx, .gr, .graph or .npz)",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.algorithms.mst import minimum_spanning_forest

    graph = read_graph(args.graph, args)
    session = open_session(args)
    with busy(f"running on {session.facts.name}"):
        forest = minimum_spanning_forest(
            graph, strategy=args.strategy, maximum=args.maximum, session=session, verify=args.verify
        )
    if args.output is not None:
        _write_forest(args.output, forest)
    n_edges, n_trees = forest.edges.size, graph.n_vertices - forest.edges.size
    if args.json:
        print_json({
            "graph": args.graph, "n_vertices": graph.n_vertices, "n_edges": graph.n_edges, "maximum": args.maximum,
            "weight": forest.weight, "n_forest_edges": n_edges, "n_trees": n_trees, "verified": args.verify,
            **run_document(forest.info),
        })  # fmt: skip
    elif args.output != "-":
        fields = {
            "weight": f"{forest.weight:,}",
            "edges": f"{n_edges:,}",
            "trees": f"{n_trees:,}",
            **run_fields(forest.info, args.strategy),
        }
        print_fields({**fields, **({"verified": "yes"} if args.verify else {})})
    return 0


def _write_forest(path: str, forest: SpanningForest) -> None:
    from clgraph.io import FORMATS, _suffix, write

    graph = forest.graph
    formats = {suffix for name, module in FORMATS.items() if name != "edge_list" for suffix in module.SUFFIXES}
    if _suffix(Path(path)) in formats:
        write(forest.to_graph(), path)
        return
    ids = vertex_ids(graph)
    columns = [[ids[v] for v in ends.tolist()] for ends in (forest.sources, forest.targets)]
    if forest.weights is not None:
        columns.append(forest.weights.tolist())
    write_result(path, forest.edges, zip(*columns, strict=True))
