"""What the sub-commands that search from sources share."""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING, Any

from clgraph.cli.graph_command import Run, Shown
from clgraph.cli.options import vertex_ids, write_result

if TYPE_CHECKING:
    from clgraph.data.graph import Graph

OUTPUT = (
    "each vertex, its distance (-1 or inf if unreached) and, on request, its predecessor (- if there is none) (an "
    "array of distances if FILE ends in .npy)"
)


def add_sources(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source", metavar="ID", action="append", required=True,
        help="vertex to start from, by its id in the file; may be given more than once, and then the nearest counts",
    )  # fmt: skip
    parser.add_argument("--predecessors", action="store_true", help="write the vertex before each on its path, too")


def read_sources(args: argparse.Namespace, graph: Graph) -> list[int | str]:
    """Return the ids of ``--source``: numbers where the graph has such ids."""
    ids: list[int | str] = list(args.source)
    if graph.labels is None or graph.labels.dtype.kind in "iu":
        for i, text in enumerate(args.source):
            with contextlib.suppress(ValueError):
                ids[i] = int(text)
    return ids


def show(run: Run) -> Shown:
    distances = run.result.distances
    reached = distances[(distances >= 0) & (distances < float("inf"))]
    greatest = reached.max()
    return Shown(
        {"sources": run.args.source, "n_reached": reached.size, "greatest_distance": greatest},
        {
            "reached": f"{reached.size:,} of {run.graph.n_vertices:,} vertices",
            "greatest distance": f"{greatest:,}",
        },
    )


def write(path: str, run: Run) -> None:
    ids, result = vertex_ids(run.graph), run.result
    columns: list[Any] = [ids, result.distances]
    if run.args.predecessors:
        columns.append(ids[v] if v >= 0 else "-" for v in result.predecessors.tolist())
    write_result(path, result.distances, zip(*columns, strict=True))
