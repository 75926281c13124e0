"""``clgraph bfs GRAPH --source ID``: breadth-first search."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.paths import OUTPUT, add_sources, read_sources, show, write
from clgraph.cli.terminal import busy, table
from clgraph.errors import InputError

if TYPE_CHECKING:
    from clgraph.algorithms.bfs.load_balance import BalanceProfile
    from clgraph.data.graph import Graph


def _add_settings(parser: argparse.ArgumentParser) -> None:
    add_sources(parser)
    parser.add_argument("--max-depth", metavar="N", type=int, help="go at most N edges far")
    parser.add_argument(
        "--profile-balance", action="store_true",
        help="search by rounds over all vertices, too, and count the edges of each work-group before and after large "
        "vertices are split",
    )  # fmt: skip


def _settings(args: argparse.Namespace, graph: Graph) -> dict[str, Any]:
    if args.plot is not None and not args.profile_balance:
        raise InputError("--plot draws what --profile-balance counts: give both")
    return {"source": read_sources(args, graph), "max_depth": args.max_depth}


def _show(run: Run) -> Shown:
    from clgraph.algorithms.bfs.load_balance import plot_balance, profile_balance
    from clgraph.algorithms.bfs.problem import as_problem

    args, shown = run.args, show(run)
    if not args.profile_balance:
        return shown
    with busy(f"counting on {run.session.facts.name}"):
        profile = profile_balance(run.session, as_problem(run.graph, **_settings(args, run.graph)))
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


COMMAND = GraphCommand(
    "bfs",
    "find the distances from a vertex in edges",
    _show,
    _add_settings,
    _settings,
    output=OUTPUT,
    write=write,
    plot="what --profile-balance counts",
)
