"""``clgraph bfs GRAPH --source ID``: breadth-first search."""
from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.cli.options import add_graph, add_plot, check_plot, open_session, read_graph
from clgraph.cli.paths import add_run, add_sources, read_sources, show
from clgraph.cli.terminal import busy, print_table
from clgraph.errors import InputError

if TYPE_CHECKING:
    from clgraph.algorithms.bfs.load_balance import BalanceProfile

HELP = "find the distances from a vertex in edges"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_graph(parser)
    add_sources(parser)
    parser.add_argument("--max-depth", metavar="N", type=int, help="go at most N edges far")
    add_run(parser)
    parser.add_argument(
        "--profile-balance", action="store_true",
        help="search by rounds over all vertices, too, and count the edges of each work-group before and after large "
        "vertices are split",
    )  # fmt: skip
    add_plot(parser, "what --profile-balance counts")


def run(args: argparse.Namespace) -> int:
    from clgraph.algorithms.bfs import ALGORITHM, bfs
    from clgraph.algorithms.bfs.load_balance import plot_balance, profile_balance

    if args.plot is not None and not args.profile_balance:
        raise InputError("--plot draws what --profile-balance counts: give both")
    check_plot(args)
    graph = read_graph(args.graph, args)
    sources = read_sources(args, graph)
    session = open_session(args)
    with busy(f"running on {session.facts.name}"):
        result = bfs(
            graph, sources, strategy=args.strategy, max_depth=args.max_depth, session=session, verify=args.verify
        )
    if not args.profile_balance:
        show(args, result)
        return 0
    with busy(f"counting on {session.facts.name}"):
        profile = profile_balance(session, ALGORITHM.problem(graph, source=sources, max_depth=args.max_depth))
    if args.plot is not None:
        plot_balance(profile, args.plot, Path(args.graph).name)
    rounds = {"before": profile.before, "after": profile.after}
    show(args, result, balance_profile={
        "mda": profile.mda, **{when: [asdict(row) for row in rows] for when, rows in rounds.items()}
    })  # fmt: skip
    if not args.json and args.output != "-":
        _print_balance(profile)
    return 0


def _print_balance(profile: BalanceProfile) -> None:
    headers = "round", "edges", "groups", "least", "mean", "most", "most / mean"
    for when, rows in (("before splitting", profile.before), (f"with at most {profile.mda} edges", profile.after)):
        print(f"\nEdges per work-group {when}")
        print_table(headers, (
            (row.round, row.edges, row.groups, row.least, f"{row.mean:.4g}", row.most,
             f"{row.most / row.mean:.3g}" if row.mean else "-")
            for row in rows
        ))  # fmt: skip
