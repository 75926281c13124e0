"""The commands ``clgraph bfs`` and ``clgraph sssp``: searches from source vertices."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.options import vertex_ids, write_result
from clgraph.cli.terminal import busy, table
from clgraph.errors import InputError

if TYPE_CHECKING:
    from clgraph.algorithms.bfs.load_balance import BalanceProfile
    from clgraph.data.graphs.graph import Graph

_OUTPUT = (
    "each vertex, its distance (-1 or inf if unreached) and, on request, its predecessor (- if there is none) (an "
    "array of distances if FILE ends in .npy)"
)


def _add_sources(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source", metavar="ID", action="append", required=True,
        help="vertex to start from, by its id in the file; may be given more than once, and then the nearest counts",
    )  # fmt: skip
    parser.add_argument("--predecessors", action="store_true", help="write the vertex before each on its path, too")


def read_ids(given: list[str], graph: Graph) -> list[int | str]:
    """Return the ids of an option, as numbers if the graph's ids are numbers."""
    ids: list[int | str] = list(given)
    if graph.ids is None or graph.ids.dtype.kind in "iu":
        for i, text in enumerate(given):
            with contextlib.suppress(ValueError):
                ids[i] = int(text)
    return ids


def _show(run: Run) -> Shown:
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


def _write(path: str, run: Run) -> None:
    ids, result = vertex_ids(run.graph), run.result
    columns: list[Any] = [ids, result.distances]
    if run.args.predecessors:
        columns.append(ids[v] if v >= 0 else "-" for v in result.predecessors.tolist())
    write_result(path, result.distances, zip(*columns, strict=True))


def _add_bfs_settings(parser: argparse.ArgumentParser) -> None:
    _add_sources(parser)
    parser.add_argument("--max-depth", metavar="N", type=int, help="go at most N edges far")
    parser.add_argument(
        "--profile-balance", action="store_true",
        help="search by rounds over all vertices, too, and count the edges of each work-group before and after large "
        "vertices are split",
    )  # fmt: skip


def _bfs_settings(args: argparse.Namespace, graph: Graph) -> dict[str, Any]:
    if args.plot is not None and not args.profile_balance:
        raise InputError("--plot draws what --profile-balance counts: give both")
    return {"source": read_ids(args.source, graph), "max_depth": args.max_depth}


def _show_bfs(run: Run) -> Shown:
    from clgraph.algorithms.bfs.load_balance import plot_balance, profile_balance
    from clgraph.algorithms.bfs.problem import as_problem

    args, shown = run.args, _show(run)
    if not args.profile_balance:
        return shown
    with busy(f"counting on {run.session.facts.name}"):
        profile = profile_balance(run.session, as_problem(run.graph, **_bfs_settings(args, run.graph)))
    if args.plot is not None:
        plot_balance(profile, args.plot, Path(args.graph).name)
    rounds = {"before": profile.before, "after": profile.after}
    document = {"mda": profile.mda, **{when: [asdict(row) for row in rows] for when, rows in rounds.items()}}
    return replace(shown, document={**shown.document, "balance_profile": document}, below="\n".join(_balance(profile)))


def _balance(profile: BalanceProfile) -> Iterator[str]:
    headers = "round", "edges", "groups", "least", "mean", "most", "most / mean"
    for when, rows in (("before splitting", profile.before), (f"with at most {profile.mda} edges", profile.after)):
        yield f"\nEdges per work-group {when}"
        yield table(headers, (
            (row.round, row.edges, row.groups, row.least, f"{row.mean:.4g}", row.most,
             f"{row.most / row.mean:.3g}" if row.mean else "-")
            for row in rows
        ))  # fmt: skip


def _add_sssp_settings(parser: argparse.ArgumentParser) -> None:
    _add_sources(parser)
    parser.add_argument("--limit", metavar="DISTANCE", type=number, help="go at most this far")
    parser.add_argument(
        "--dtype",
        choices=("int64", "float64", "float32"),
        help="type of the distances (int64 by integer weights; float64 by others, or float32 by those of a file with "
        "float32 weights, which is less exact)",
    )


def number(text: str) -> float:
    """Return *text* as an int if possible, which is exact, else as a float."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _sssp_settings(args: argparse.Namespace, graph: Graph) -> dict[str, Any]:
    names = "limit", "predecessors", "dtype"
    return {"source": read_ids(args.source, graph), **{name: getattr(args, name) for name in names}}


BFS = GraphCommand(
    "bfs", "find the distances from a vertex in edges", _show_bfs, _add_bfs_settings, _bfs_settings,
    output=_OUTPUT, write=_write, plot="what --profile-balance counts",
)  # fmt: skip
SSSP = GraphCommand(
    "sssp", "find the shortest paths from a vertex by the weights of the edges", _show, _add_sssp_settings,
    _sssp_settings, output=_OUTPUT, write=_write,
)  # fmt: skip
