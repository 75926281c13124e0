"""What the sub-commands that search from sources share."""
from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING, Any

from clgraph.cli.options import add_device, add_json, add_output, add_strategy, add_verify, vertex_ids, write_result
from clgraph.cli.terminal import print_fields, print_json, run_document, run_fields

if TYPE_CHECKING:
    from clgraph.algorithms.bfs import BFS
    from clgraph.algorithms.sssp import ShortestPaths
    from clgraph.data.graph import Graph


def add_sources(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source", metavar="ID", action="append", required=True,
        help="vertex to start from; may be given more than once, and then the nearest counts",
    )  # fmt: skip


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the options of where and how to run, and of what to write."""
    parser.add_argument("--predecessors", action="store_true", help="write the vertex before each on its path, too")
    add_strategy(parser)
    add_device(parser)
    add_verify(parser)
    add_output(
        parser,
        "each vertex, its distance (-1 or inf if unreached) and, on request, its predecessor (- if there is none) (an "
        "array of distances if FILE ends in .npy)",
    )
    add_json(parser)


def read_sources(args: argparse.Namespace, graph: Graph) -> list[int | str]:
    """Return the ids of ``--source``: numbers where the graph has such ids."""
    ids: list[int | str] = list(args.source)
    if graph.labels is None or graph.labels.dtype.kind in "iu":
        for i, text in enumerate(args.source):
            with contextlib.suppress(ValueError):
                ids[i] = int(text)
    return ids


def show(args: argparse.Namespace, result: BFS | ShortestPaths, **more: Any) -> None:
    """Write and print *result* as *args* ask for; *more* fields of the JSON document."""
    if args.output is not None:
        _write(args.output, result, args.predecessors)
    graph, distances = result.graph, result.distances
    reached = distances[(distances >= 0) & (distances < float("inf"))]
    greatest = reached.max()
    if args.json:
        print_json({
            "graph": args.graph, "n_vertices": graph.n_vertices, "n_edges": graph.n_edges, "sources": args.source,
            "n_reached": reached.size, "greatest_distance": greatest, "verified": args.verify,
            **run_document(result.info), **more,
        })  # fmt: skip
    elif args.output != "-":
        fields = {
            "reached": f"{reached.size:,} of {graph.n_vertices:,} vertices",
            "greatest distance": f"{greatest:,}",
            **run_fields(result.info, args.strategy),
        }
        print_fields({**fields, **({"verified": "yes"} if args.verify else {})})


def _write(path: str, result: BFS | ShortestPaths, with_predecessors: bool) -> None:
    ids = vertex_ids(result.graph)
    columns: list[Any] = [ids, result.distances]
    if with_predecessors:
        assert result.predecessors is not None
        columns.append(ids[v] if v >= 0 else "-" for v in result.predecessors.tolist())
    write_result(path, result.distances, zip(*columns, strict=True))
