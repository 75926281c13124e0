"""``clgraph communities``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.options import vertex_ids, write_result

if TYPE_CHECKING:
    from clgraph.data.graphs.graph import Graph


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--method", choices=("leiden", "louvain"), default="leiden", help="leiden (the default) or louvain"
    )
    parser.add_argument(
        "--objective", choices=("modularity", "cpm"), default="modularity",
        help="modularity (the default), or cpm, the constant Potts model",
    )  # fmt: skip
    parser.add_argument("--resolution", type=float, default=1.0, help="higher values give smaller communities (1)")
    parser.add_argument("--iterations", type=int, default=8, help="how often to start from what was found, at most (8)")
    parser.add_argument("--seed", type=int, default=0, help="of all random choices (0)")


def _show(run: Run) -> Shown:
    import numpy as np

    found = run.result
    largest = int(np.bincount(found.labels).max(initial=0))
    return Shown(
        {"n_communities": found.n_communities, "quality": found.quality, "largest": largest},
        {"communities": f"{found.n_communities:,}", "quality": f"{found.quality:.6g}", "largest": f"{largest:,}"},
    )


def _settings(args: argparse.Namespace, _graph: Graph) -> dict[str, Any]:
    return {name: getattr(args, name) for name in ("method", "objective", "resolution", "iterations", "seed")}


def _write(path: str, run: Run) -> None:
    labels = run.result.labels
    write_result(path, labels, zip(vertex_ids(run.graph), labels.tolist(), strict=True))


COMMUNITIES = GraphCommand(
    "communities", "find communities by Leiden or Louvain", _show, _add_settings, _settings,
    output="each vertex and its community", write=_write,
)  # fmt: skip
