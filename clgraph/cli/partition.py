"""``clgraph partition GRAPH -k PARTS``: parts of like weight with few edges between them."""

from __future__ import annotations

import argparse
import warnings
from typing import TYPE_CHECKING

from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.options import write_result
from clgraph.errors import InputError

if TYPE_CHECKING:
    from clgraph.data.graph import Graph

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
    parser.add_argument(
        "--scale-weights", type=float, metavar="FACTOR",
        help="multiply the weights of the edges and round them to the integers that a partition needs",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of what is left to chance (0)")
    parser.add_argument("--deterministic", action="store_true", help="the same parts in every run")


def _rounded(args: argparse.Namespace, graph: Graph) -> Graph:
    """Return *graph* with its weights times ``--scale-weights``, rounded to integers."""
    import numpy as np

    from clgraph.algorithms.partition.problem import _MAX_CUT
    from clgraph.arguments import checked_number
    from clgraph.data.graph import Graph

    weights, factor = graph.edge_weights, args.scale_weights
    if weights is None or (factor is None and weights.dtype.kind == "i"):
        if factor is not None:
            raise InputError("--scale-weights: the graph has no weights")
        return graph
    # In 64 bits: the sum of 32-bit weights may wrap round. 0.995 covers the rounding to three digits in the text.
    total = float(np.abs(weights, dtype=np.float64).sum()) / (1 if graph.directed else 2)
    most = f"at most {0.995 * _MAX_CUT / total:.3g}" if total else "any number"
    if factor is None:
        raise InputError(
            "the weights are real numbers, and a partition needs integers: --scale-weights FACTOR multiplies and "
            f"rounds them; {most} here"
        )
    scaled = np.rint(weights * checked_number("--scale-weights", factor, above=True))
    if not np.abs(scaled).sum() < 2.0**63:
        raise InputError(f"--scale-weights {factor:g}: the weights add up beyond 64 bits; allowed: {most}")
    if n_lost := int(np.count_nonzero((scaled == 0) & (weights != 0))):
        warnings.warn(f"--scale-weights {factor:g}: {n_lost} entries round to 0", stacklevel=2)
    return Graph(
        graph.row_offsets, graph.column_indices, scaled.astype(np.int64), graph.directed, graph.labels, copy=False
    )


def _write(path: str, run: Run) -> None:
    parts = run.result.parts
    write_result(path, parts, ((part,) for part in parts.tolist()))


def _show(run: Run) -> Shown:
    result, factor = run.result, run.args.scale_weights
    weights = result.part_weights.tolist()
    return Shown(
        {
            "n_parts": len(weights), "edge_cut": result.edge_cut, "imbalance": result.imbalance,
            "part_weights": weights, "levels": result.levels, "scale_weights": factor,
        },
        {
            "edge cut": f"{result.edge_cut:,}" + (f" ({result.edge_cut / factor:g} before scaling)" if factor else ""),
            "part weights": f"{min(weights):,} … {max(weights):,}",
            "imbalance": f"{100 * result.imbalance:.2f} %", "levels": str(len(result.levels)),
        },
    )  # fmt: skip


COMMAND = GraphCommand(
    "partition", "divide the vertices into parts with few edges between them", _show, _add_settings,
    lambda args, graph: {name: getattr(args, name) for name in _SETTINGS},
    prepare=_rounded, write=_write,
    output="the part of each vertex in the order of their ids, as METIS does (an int32 array if FILE ends in .npy)",
)  # fmt: skip
