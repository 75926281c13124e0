"""``clgraph pagerank``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.options import vertex_ids, write_result
from clgraph.cli.paths import read_ids

if TYPE_CHECKING:
    from clgraph.data.graphs.graph import Graph


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--alpha", type=float, default=0.85, help="probability of following an edge (0.85)")
    parser.add_argument(
        "--personalization", metavar="ID", action="append",
        help="vertex at which jumps end, by its id in the file; may be given more than once (all vertices)",
    )  # fmt: skip
    parser.add_argument("--tol", type=float, default=1e-6, help="sum of changes below which ranks are final (1e-6)")
    parser.add_argument("--max-iter", metavar="N", type=int, default=100, help="greatest number of iterations (100)")
    parser.add_argument("--unweighted", action="store_true", help="ignore the weights of the edges")
    parser.add_argument("--top", metavar="K", type=int, default=5, help="how many of the first vertices to show (5)")


def _settings(args: argparse.Namespace, graph: Graph) -> dict[str, Any]:
    ids = None if args.personalization is None else dict.fromkeys(read_ids(args.personalization, graph), 1)
    weight = {"weight": None} if args.unweighted else {}
    return {"alpha": args.alpha, "tol": args.tol, "max_iter": args.max_iter, "personalization": ids, **weight}


def _show(run: Run) -> Shown:
    import numpy as np

    ranks, ids = run.result.ranks, vertex_ids(run.graph)
    first = np.argsort(-ranks, kind="stable")[: max(0, run.args.top)].tolist()
    top = [(ids[v], float(ranks[v])) for v in first]
    return Shown(
        {"n_iterations": run.result.n_iterations, "change": run.result.change, "top": top},
        {
            "iterations": f"{run.result.n_iterations} (last change {run.result.change:.3g})",
            "highest ranks": ", ".join(f"{vertex}: {rank:.4g}" for vertex, rank in top) or "none",
        },
    )


def _write(path: str, run: Run) -> None:
    ranks = run.result.ranks
    write_result(path, ranks, zip(vertex_ids(run.graph), ranks.tolist(), strict=True))


PAGERANK = GraphCommand(
    "pagerank", "rank the vertices by the time that a random walk spends at them", _show, _add_settings,
    _settings, write=_write,
    output="each vertex and its rank (a float array of ranks if FILE ends in .npy)",
)  # fmt: skip
