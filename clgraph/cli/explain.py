"""The command ``clgraph explain ALGORITHM FILE``, which shows the strategy that the cost model would pick, and why."""

from __future__ import annotations

import argparse

from clgraph.cli.options import (
    READING,
    add_device,
    add_json,
    add_reading,
    add_strategy,
    open_session,
    read_graph,
    read_rating_file,
)
from clgraph.cli.terminal import busy, print_json
from clgraph.errors import InputError

HELP = "show the predicted time of every strategy, why one is picked, and what its kernels cost"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("algorithm", metavar="ALGORITHM", help="such as connected_components or factorization")
    parser.add_argument("file", metavar="FILE", help="graph file, or for factorization a file of ratings")
    add_reading(parser)
    parser.add_argument("--distance", type=int, choices=(1, 2), help="of colourings and hash collisions")
    add_strategy(parser)
    parser.add_argument("--measure", action="store_true", help="run it, and show the times of its kernels, too")
    add_device(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.algorithms.explain import explain
    from clgraph.algorithms.table import find_algorithm

    kind = find_algorithm(args.algorithm).takes
    if kind == "ratings" and (given := [name for name in READING if getattr(args, name) is not None]):
        named = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise InputError(f"{named}: only for graph files, and factorization takes ratings")
    data = read_rating_file(args.file, args.columns) if kind == "ratings" else read_graph(args.file, args)
    session = open_session(args)
    with busy("predicting"):
        options = {} if args.distance is None else {"distance": args.distance}
        choice = explain(args.algorithm, data, strategy=args.strategy, measure=args.measure, session=session, **options)
    if args.json:
        print_json({
            "algorithm": args.algorithm, kind: args.file, "device": session.facts.name,
            "profile": session.profile.origin, "strategy": choice.strategy,
            "predicted": {
                name: {"seconds": e.seconds, "parts": dict(e.parts)} for name, e in choice.predicted.items()
            },
            "unsupported": dict(choice.unsupported), "kernels": [kernel._asdict() for kernel in choice.kernels],
        })  # fmt: skip
        return 0
    print(choice)
    return 0
