"""``clgraph cc GRAPH``: connected components."""
from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.cli.options import add_device, add_graph, add_json, open_session, read_graph
from clgraph.cli.terminal import busy, milliseconds, print_fields, print_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.graph import Graph

HELP = "find the connected components of a graph"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_graph(parser)
    parser.add_argument(
        "-s", "--strategy", default="auto", help="strategy to force; the default takes the cost model's pick"
    )
    add_device(parser)
    parser.add_argument("--verify", action="store_true", help="check the result against the definition")
    parser.add_argument(
        "-o", "--output", metavar="FILE",
        help="write each vertex and the number of its component: an int32 array of numbers if FILE ends "
        "in .npy, else text; - is stdout",
    )  # fmt: skip
    parser.add_argument(
        "--largest", metavar="K", type=int, default=5, help="how many of the largest sizes to show (5)"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.algorithms.components import connected_components

    graph = read_graph(args.graph)
    session = open_session(args)
    with busy(f"running on {session.facts.name}"):
        result = connected_components(graph, strategy=args.strategy, session=session, verify=args.verify)
    if args.output is not None:
        _write_labels(args.output, graph, result.labels)
    info, sizes = result.info, _largest_sizes(result.labels, args.largest)
    if args.json:
        document = {
            "graph": args.graph, "n_vertices": graph.n_vertices, "n_edges": graph.n_edges,
            "n_components": result.n_components, "largest": sizes, "verified": args.verify, **asdict(info),
        }  # fmt: skip
        document["seconds"]["host"] = info.seconds.host
        print_json(document)
    elif args.output != "-":
        seconds = info.seconds
        parts = ("compile", "transfer", "kernel", "host")
        fields = {
            "components": f"{result.n_components:,}",
            "largest": ", ".join(f"{size:,}" for size in sizes) or "none",
            "strategy": f"{info.strategy} ({info.kind}, {'picked' if args.strategy == 'auto' else 'forced'})",
            "device": f"{info.device} ({info.why})",
            "time": f"{milliseconds(seconds.total)} ms: "
            + ", ".join(f"{part} {milliseconds(getattr(seconds, part))}" for part in parts),
        }
        if predicted := info.predicted_seconds.get(info.strategy):
            fields["predicted"] = f"{milliseconds(predicted)} ms for the kernels and the waits between them"
        print_fields({**fields, **({"verified": "yes"} if args.verify else {})})
    return 0


def _largest_sizes(labels: NDArray[Any], k: int) -> list[int]:
    import numpy as np

    sizes = np.sort(np.bincount(labels))[::-1][: max(0, k)] if labels.size else labels
    return [int(size) for size in sizes if size]


def _write_labels(path: str, graph: Graph, labels: NDArray[Any]) -> None:
    from clgraph.io.text import replacing

    ids = range(graph.n_vertices) if graph.labels is None else graph.labels.tolist()
    lines = (f"{name}\t{label}\n" for name, label in zip(ids, labels.tolist(), strict=True))
    if path == "-":
        sys.stdout.writelines(lines)
        return
    with replacing(Path(path)) as stream:
        if path.endswith(".npy"):
            import numpy as np

            np.save(stream, labels)
        else:
            stream.writelines(line.encode() for line in lines)
