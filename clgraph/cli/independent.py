"""``clgraph maximal_independent_set`` and ``clgraph maximal_matching``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.options import vertex_ids, write_result
from clgraph.cli.paths import read_ids

if TYPE_CHECKING:
    from clgraph.data.graphs.graph import Graph


def _add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, help="of the hash that orders what is equal (0)")


def _add_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--order", default="smallest_first", help="smallest_first (default, large sets) or random"
    )  # fmt: skip
    parser.add_argument(
        "--include", metavar="ID", action="append",
        help="vertex that must be in the set, by its id in the file; may be given more than once",
    )  # fmt: skip
    _add_seed(parser)


def _set_settings(args: argparse.Namespace, graph: Graph) -> dict[str, Any]:
    include = None if args.include is None else read_ids(args.include, graph)
    return {"order": args.order, "include": include, "seed": args.seed}


def _show_set(run: Run) -> Shown:
    size = run.result.size
    return Shown({"size": size}, {"members": f"{size:,} of {run.graph.n_vertices:,} vertices"})


def _write_set(path: str, run: Run) -> None:
    write_result(path, run.result.members, ((vertex,) for vertex in run.result.vertices.tolist()))


INDEPENDENT_SET = GraphCommand(
    "maximal_independent_set", "find a maximal set of vertices without edges between them", _show_set, _add_set,
    _set_settings, write=_write_set,
    output="the vertices of the set (a bool array that marks them if FILE ends in .npy)",
)  # fmt: skip


def _add_matching(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--unweighted", action="store_true", help="ignore the weights of the edges")
    _add_seed(parser)


def _matching_settings(args: argparse.Namespace, _graph: Graph) -> dict[str, Any]:
    return {"seed": args.seed, **({"weight": None} if args.unweighted else {})}


def _show_matching(run: Run) -> Shown:
    found = run.result
    return Shown(
        {"n_matched": found.n_matched, "weight": found.weight},
        {"edges": f"{found.n_matched:,}", "weight": f"{found.weight:,}"},
    )


def _write_matching(path: str, run: Run) -> None:
    ids = vertex_ids(run.graph)
    write_result(path, run.result.mates, ((ids[u], ids[v]) for u, v in run.result.edges.tolist()))


MATCHING = GraphCommand(
    "maximal_matching", "match vertices along edges, the heaviest first", _show_matching, _add_matching,
    _matching_settings, write=_write_matching,
    output="the two ends of each edge (an int32 array of the mates of all vertices, -1 for none, if FILE ends in .npy)",
)  # fmt: skip
