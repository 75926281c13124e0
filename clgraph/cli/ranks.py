"""``clgraph pagerank``, ``hits``, ``eigenvector_centrality`` and ``katz_centrality``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.options import vertex_ids, write_result
from clgraph.cli.paths import read_ids

if TYPE_CHECKING:
    from clgraph.data.graphs.graph import Graph


def _add_common(parser: argparse.ArgumentParser, max_iter: int = 100, *, weighted: bool = True) -> None:
    """Add the options that all these commands have; *weighted* is the default of the public function."""
    limit = f"greatest number of iterations ({max_iter})"
    parser.add_argument("--tol", type=float, default=1e-6, help="sum of changes below which values are final (1e-6)")
    parser.add_argument("--max-iter", metavar="N", type=int, default=max_iter, help=limit)
    if weighted:
        parser.add_argument("--unweighted", action="store_true", help="ignore the weights of the edges")
    else:
        parser.add_argument(
            "--weighted", action="store_true", help="use the weights of the edges (by default they are ignored)"
        )
    parser.add_argument("--top", metavar="K", type=int, default=5, help="how many of the first vertices to show (5)")


def _add_pagerank(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--alpha", type=float, default=0.85, help="probability of following an edge (0.85)")
    parser.add_argument(
        "--personalization", metavar="ID", action="append",
        help="vertex at which jumps end, by its id in the file; may be given more than once (all vertices)",
    )  # fmt: skip
    _add_common(parser)


def _add_eigenvector(parser: argparse.ArgumentParser) -> None:
    _add_common(parser, weighted=False)


def _add_katz(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--alpha", type=float, default=0.1, help="factor of a walk for each of its edges (0.1)")
    parser.add_argument("--beta", type=float, default=1.0, help="the value that each vertex has by itself (1)")
    _add_common(parser, 1000, weighted=False)


def _common(args: argparse.Namespace, _graph: Graph) -> dict[str, Any]:
    weighted = args.weighted if "weighted" in args else not args.unweighted
    return {"tol": args.tol, "max_iter": args.max_iter, "weight": "weight" if weighted else None}


def _pagerank(args: argparse.Namespace, graph: Graph) -> dict[str, Any]:
    ids = None if args.personalization is None else dict.fromkeys(read_ids(args.personalization, graph), 1)
    return {"alpha": args.alpha, "personalization": ids, **_common(args, graph)}


def _katz(args: argparse.Namespace, graph: Graph) -> dict[str, Any]:
    return {"alpha": args.alpha, "beta": args.beta, **_common(args, graph)}


def _shown(*names: str, what: str) -> Callable[[Run], Shown]:
    """Return a function that shows the vertices with the greatest values, for each of the result's arrays *names*."""

    def show(run: Run) -> Shown:
        import numpy as np

        found, ids = run.result, vertex_ids(run.graph)
        document, fields = {}, {}
        for name in names:
            values = getattr(found, name)
            first = np.argsort(-values, kind="stable")[: max(0, run.args.top)].tolist()
            top = [(ids[v], float(values[v])) for v in first]
            document["top" if len(names) == 1 else f"top_{name}"] = top
            text = ", ".join(f"{vertex}: {value:.4g}" for vertex, value in top) or "none"
            fields[f"highest {what if len(names) == 1 else name}"] = text
        return Shown(
            {"n_iterations": found.n_iterations, "change": found.change, **document},
            {"iterations": f"{found.n_iterations} (last change {found.change:.3g})", **fields},
        )

    return show


def _writer(*names: str) -> Callable[[str, Run], None]:
    def write(path: str, run: Run) -> None:
        arrays = [getattr(run.result, name) for name in names]
        write_result(path, arrays[0], zip(vertex_ids(run.graph), *(a.tolist() for a in arrays), strict=True))

    return write


PAGERANK = GraphCommand(
    "pagerank", "rank the vertices by the time that a random walk spends at them", _shown("ranks", what="ranks"),
    _add_pagerank, _pagerank, write=_writer("ranks"),
    output="each vertex and its rank (a float array of ranks if FILE ends in .npy)",
)  # fmt: skip
HITS = GraphCommand(
    "hits", "rate the vertices as hubs and as authorities", _shown("hubs", "authorities", what=""),
    _add_common, _common, write=_writer("hubs", "authorities"),
    output="each vertex, its hub and its authority (a float array of hubs if FILE ends in .npy)",
)  # fmt: skip
EIGENVECTOR = GraphCommand(
    "eigenvector_centrality", "find the eigenvector centrality of each vertex",
    _shown("centralities", what="centralities"), _add_eigenvector, _common, write=_writer("centralities"),
    output="each vertex and its centrality (a float array of centralities if FILE ends in .npy)",
)  # fmt: skip
KATZ = GraphCommand(
    "katz_centrality", "find the Katz centrality of each vertex", _shown("centralities", what="centralities"),
    _add_katz, _katz, write=_writer("centralities"),
    output="each vertex and its centrality (a float array of centralities if FILE ends in .npy)",
)  # fmt: skip
