"""``clgraph explain ALGORITHM FILE``: what the cost model would pick, and why."""
from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

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
from clgraph.cli.terminal import busy, milliseconds, print_json, print_table
from clgraph.errors import InputError

if TYPE_CHECKING:
    from clgraph.algorithms.explain import KernelCost
    from clgraph.model.cost import Estimate
    from clgraph.model.strategy import Choice

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
        choice = explain(
            args.algorithm, data, strategy=args.strategy, measure=args.measure, session=session, **options
        )
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
    facts = session.facts
    print(f"{args.algorithm} on {facts.name} ({facts.platform}), rates: {session.profile.origin}\n")
    best = choice.predicted[choice.strategy]
    print_table(
        ["", "strategy", "predicted ms", "of which ms", "against the pick"],
        [
            ["->" if name == choice.strategy else "", name, milliseconds(e.seconds), _parts(e), _why(e, best)]
            for name, e in choice.predicted.items()
        ],
    )
    _print_unsupported(choice)
    if choice.kernels:
        print(f"\nKernels of {choice.strategy}")
        measured = ["launches made", "measured ms"] if args.measure else []
        print_table(
            ["kernel", "launches", "predicted ms", "limit", *measured],
            [_kernel(cost)[: 4 + len(measured)] for cost in choice.kernels],
        )
    return 0


def _kernel(cost: KernelCost) -> list[object]:
    launches = "" if cost.launches is None else f"{cost.launches:.3g}"
    predicted, measured = (
        "" if s is None else milliseconds(s) for s in (cost.predicted_seconds, cost.measured_seconds)
    )
    made = "" if cost.measured_launches is None else cost.measured_launches
    return [cost.kernel, launches, predicted, cost.limit, made, measured]


def _parts(estimate: Estimate) -> str:
    """Name the parts of at least a twentieth of the whole, largest first."""
    large = sorted(estimate.parts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {milliseconds(s)}" for name, s in large if s > 0.05 * estimate.seconds)


def _why(estimate: Estimate, best: Estimate) -> str:
    if estimate is best:
        return "picked"
    more = {name: seconds - best.parts.get(name, 0.0) for name, seconds in estimate.parts.items()}
    part = max(more, key=more.__getitem__)
    return f"{estimate.seconds / best.seconds:.2f} x, {milliseconds(more[part])} ms more of {part}"


def _print_unsupported(choice: Choice) -> None:
    for name, reason in choice.unsupported.items():
        print(f"{name}: left out: {reason}")
