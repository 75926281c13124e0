#!/usr/bin/env python3
"""Time epochs of the factorisation on one device and on several, and compare their errors.

    benchmarks/bench_team_factorization.py --devices nvidia:0 nvidia:1 --inputs NFLIX --scale 4 --json team.json
    benchmarks/bench_team_factorization.py --devices pocl/1/1 --inputs ml-100k      # a CPU cut into two parts

A tenth of the ratings is held out. A row has the median seconds of an epoch, the first one left out, the error on what
was held out after each epoch, and how long the preparation took.

Several devices step on the ratings in another order than one, and so does each strategy: after six epochs on a
sixty-fourth of NFLIX at rank 16, errors on one device are 0.198 by `node_locked`, 0.210 by `edge_locked` and 0.215 by
`block_grid`, and fall by 8 % an epoch. So the error of several devices must differ from that of one by no more than one
device gains in its last epoch, or than RMSE_WITHIN.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import harness
import numpy as np
import ratings_inputs
from bench_hetero import sessions_named

from clgraph.algorithms.factorization.factors import initial_factors
from clgraph.algorithms.factorization.training.learning_rates import make_schedule
from clgraph.algorithms.factorization.training.team_training import TeamFactorization
from clgraph.algorithms.factorization.training.training import Factorization
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import VerificationError

RMSE_WITHIN = 0.03
RATE, REGULARIZATION = 0.01, 0.05


def measure(name: str, pair: tuple[Ratings, Ratings], sessions: list[Any], args: argparse.Namespace) -> dict[str, Any]:
    """Return the row of one input on *sessions*."""
    train, test = pair
    options: dict[str, Any] = {"rank": args.rank, "strategy": args.strategy, "n_epochs": args.epochs}
    if len(sessions) == 1:
        make: Callable[[], Any] = partial(Factorization, sessions[0], train, **options)
    else:
        others = {"options": None, "deterministic": False, "storage": "float32", "biases": False, "mean": None}
        make = partial(TeamFactorization, sessions, train, **options, **others)
    engine, (prepared,) = harness.timed_calls(make, 1)
    engine.model.set(initial_factors(*train.shape, args.rank, scale=0.2, biases=False, rng=np.random.default_rng(0)))
    schedule = make_schedule("constant", RATE, 0.0)
    epochs = engine.train(args.epochs, schedule=schedule, regularization=REGULARIZATION, eval_ratings=test)
    seconds = statistics.median(epoch.seconds for epoch in epochs[1:])
    return {
        "benchmark": "team_factorization",
        "input": name,
        "scale": args.scale,
        "rank": args.rank,
        "devices": [session.facts.name for session in sessions],
        "strategy": engine.strategy,
        "epoch_seconds": seconds,
        "steps_per_second": train.n_ratings / seconds,
        "prepared_seconds": prepared,
        "loss": epochs[-1].loss,
        "eval_loss": epochs[-1].eval_loss,
        "epochs": args.epochs,
        "eval_losses": [epoch.eval_loss for epoch in epochs],
        "bytes_sent": getattr(engine, "sent_bytes", 0),
        "ratings": train.n_ratings,
    }


def main() -> int:
    made = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    made.add_argument("--devices", nargs="+", required=True, metavar="NAME", help="names, or pocl/1/1 for its parts")
    made.add_argument("--inputs", nargs="+", default=["ml-100k"], metavar="NAME")
    made.add_argument("--scale", type=int, default=1, help="by which generated inputs are divided")
    made.add_argument("--rank", type=int, default=16)
    made.add_argument("--epochs", type=int, default=6)
    made.add_argument("--strategy", default="auto")
    made.add_argument("--json", metavar="PATH")
    args = made.parse_args()
    sessions, rows = sessions_named(args.devices), list[dict[str, Any]]()
    for name in args.inputs:
        scale = args.scale if name in ratings_inputs.GENERATED else 1
        pair = ratings_inputs.load(name, scale=scale, workers=4).split(0.1, seed=0)
        for count in range(1, len(sessions) + 1):
            rows.append(measure(name, pair, sessions[:count], args))
            one = next(row for row in rows if row["input"] == name)
            row = rows[-1]
            row["speed_up"] = one["epoch_seconds"] / row["epoch_seconds"]
            last_gain = one["eval_losses"][-2] - one["eval_loss"] if args.epochs > 1 else 0.0
            if not abs(row["eval_loss"] - one["eval_loss"]) <= max(RMSE_WITHIN * one["eval_loss"], last_gain):
                raise VerificationError(f"{name} on {count} devices: {row['eval_loss']}; on one {one['eval_loss']}")
            if args.json:
                harness.write_document(args.json, {"command": harness.command(), "rows": rows})
    columns: dict[str, harness.Column] = {"input": "input", "devices": "n_devices", "strategy": "strategy"}
    columns |= {"epoch ms": harness.milliseconds("epoch_seconds"), "speed-up": ("speed_up", 1, ".3f")}
    columns |= {"RMSE held out": ("eval_loss", 1, ".3f"), "prepared s": ("prepared_seconds", 1, ".3f")}
    columns["MB sent"] = "bytes_sent", 1e-6, ".3f"
    print(harness.table_of(({**row, "n_devices": len(row["devices"])} for row in rows), columns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
