"""``clgraph partition GRAPH -k PARTS``: parts of like weight with few edges between them."""
from __future__ import annotations

import argparse

from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.options import write_result

_SETTINGS = ("n_parts", "imbalance", "matching", "contraction", "refinement", "effort", "seed", "deterministic")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-k", "--parts", dest="n_parts", type=int, required=True, metavar="N", help="number of parts")
    parser.add_argument(
        "--imbalance", type=float, default=0.03, metavar="SHARE",
        help="how much more than its share a part may weigh (0.03)",
    )  # fmt: skip
    parser.add_argument("--matching", default="two_hop", help="two_hop, lock_free or segmented")
    parser.add_argument("--contraction", default="hashed", help="hashed or sorted")
    parser.add_argument(
        "--refinement", default="label_propagation", help="label_propagation, buffered, permutations or noop"
    )  # fmt: skip
    parser.add_argument("--effort", default="normal", help="normal or max, which tries and crosses more partitions")
    parser.add_argument("--seed", type=int, default=0, help="of what is left to chance (0)")
    parser.add_argument("--deterministic", action="store_true", help="the same parts in every run")


def _write(path: str, run: Run) -> None:
    parts = run.result.parts
    write_result(path, parts, ((part,) for part in parts.tolist()))


def _show(run: Run) -> Shown:
    result = run.result
    weights = result.part_weights.tolist()
    return Shown(
        {
            "n_parts": len(weights), "edge_cut": result.edge_cut, "imbalance": result.imbalance,
            "part_weights": weights, "levels": result.levels,
        },
        {
            "edge cut": f"{result.edge_cut:,}", "part weights": f"{min(weights):,} … {max(weights):,}",
            "imbalance": f"{100 * result.imbalance:.2f} %", "levels": str(len(result.levels)),
        },
    )  # fmt: skip


COMMAND = GraphCommand(
    "partition", "divide the vertices into parts with few edges between them", _show, _add_settings,
    lambda args, graph: {name: getattr(args, name) for name in _SETTINGS},
    output="the part of each vertex, as METIS does (an int32 array if FILE ends in .npy)", write=_write,
)  # fmt: skip
