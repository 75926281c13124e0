"""``clgraph hash_collisions GRAPH``: collisions of hash colourings."""

from __future__ import annotations

import argparse
from pathlib import Path

from clgraph.cli.graph_command import GraphCommand, Run, Shown


def _add_settings(parser: argparse.ArgumentParser) -> None:
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


def _show(run: Run) -> Shown:
    args, counts = run.args, run.result
    best = counts.best(max_colors=args.max_colors)
    fields = {
        "best": f"{best.hash} of {best.bits} bits: {best.total:,} collisions, {best.maximum:,} in the largest row"
    }
    if args.plot is not None:
        from clgraph.cli.collisions_plot import plot_collisions

        plot_collisions(counts, args.plot, Path(args.graph).name)
        fields["plot"] = args.plot
    document = {
        "distance": args.distance, "hashes": counts.hashes, "bit_widths": counts.bit_widths, "total": counts.total,
        "maximum": counts.maximum, "best": best._asdict(),
    }  # fmt: skip
    return Shown(document, fields, above=str(counts))


def hashes(text: str) -> int | list[str]:
    return int(text) if text.isdigit() else text.split(",")


def bits(text: str) -> tuple[int, ...]:
    """Read ``1-4,8`` as 1, 2, 3, 4, 8; argparse names this function if it cannot."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        found += range(int(first), int(last if dash else first) + 1)
    return tuple(found)


COMMAND = GraphCommand(
    "hash_collisions", "count the collisions of hash colourings of a graph", _show, _add_settings,
    lambda args, graph: {"distance": args.distance, "hashes": args.hashes, "bit_widths": args.bits},
    plot="the collisions",
)  # fmt: skip
