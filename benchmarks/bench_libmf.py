"""Time sweeps and fits on a CPU beside LIBMF, with one thread per compute unit.

    benchmarks/bench_libmf.py --device pocl --mf-train PATH --json results.json
    benchmarks/bench_libmf.py --device pocl --mf-train PATH --fit --ratings ml-100k.tsv --json results.json

LIBMF (https://github.com/cjlin1/libmf, ``mf-train`` built with AVX for this machine) is run for few and for many
sweeps, in turn with ours; the time of a sweep is the difference, so that reading and set-up drop out.

With ``--fit``, a row of LIBMF has the time of ten sweeps and the training error after them. A row of ours has the time
of a whole ``fit`` that reaches this error. The fit uses the rate of RATES that reaches it in the fewest epochs, and
stops after this number of epochs. Fits are timed on 1 M and 10 M planted ratings, and on the files of ``--ratings``: a
user, an item and a rating per line.
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import harness
import numpy as np

from clgraph import SGDMatrixFactorization, generators
from clgraph.algorithms.factorization import STRATEGIES, FactorizationProblem
from clgraph.algorithms.factorization.factors import initial_factors
from clgraph.algorithms.factorization.training.evaluation import Errors
from clgraph.cli.main import guarded
from clgraph.data.ratings.ratings import Ratings
from clgraph.report import Row
from clgraph.runtime.session import Session

RANKS = (16, 32, 64, 128)
SWEEPS = (5, 45)  # The difference of two runs of LIBMF is the time of 40 sweeps.
RATE, REGULARIZATION = 0.1, 0.05
FIT_RANKS, FIT_SWEEPS = (16, 64), 10
RATES, MOST_EPOCHS = (0.02, 0.05, 0.1), 40  # learning rates that fits try, and epochs after which one gives up


def _libmf(program: str, data: Path, rank: int, threads: int, sweeps: int) -> float:
    """Run LIBMF, and return the training error that it prints last."""
    command = [
        program, "-s", str(threads), "-k", str(rank), "-t", str(sweeps), "-r", str(RATE), "-l2",
        str(REGULARIZATION), str(data), str(data.with_suffix(".model")),
    ]  # fmt: skip
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(re.findall(r"^ *\d+ +([0-9.]+)", ran.stdout, re.MULTILINE)[-1])


def _measure(session: Session, ratings: Ratings, rank: int, args: argparse.Namespace, data: Path) -> list[Row]:
    threads, n, n_swept = session.facts.compute_units, ratings.n_ratings, SWEEPS[1] - SWEEPS[0]
    plan = STRATEGIES[args.strategy].plan(session, FactorizationProblem(ratings, rank, mean=0.0))
    start = initial_factors(*ratings.shape, rank, scale=0.2, biases=False, rng=np.random.default_rng(0))
    plan.model.set(start)
    plan.model.set_hyper(RATE / 2, REGULARIZATION)

    def swept(sweeps: int) -> None:
        for _ in range(sweeps):
            plan.sweep()
        session.finish()

    ours, short, long = list[float](), list[float](), list[float]()
    for _ in range(args.repeats):
        for sweeps, theirs in zip(SWEEPS, (short, long), strict=True):
            theirs += harness.timed_calls(partial(_libmf, args.mf_train, data, rank, threads, sweeps), 1)[1]
        swept(1)
        ours += harness.timed_calls(partial(swept, n_swept), 1)[1]
    error = Errors(session, ratings, plan.model).rmse()
    common = {"benchmark": "libmf", "graph": f"planted 1 M, rank {rank}", "rank": rank, "n_ratings": n}
    mine = {"strategy": args.strategy, "kind": STRATEGIES[args.strategy].kind, "wall_seconds": min(ours) / n_swept}
    other = {"strategy": f"LIBMF, {threads} threads", "wall_seconds": (min(long) - min(short)) / n_swept}
    rows = ({**common, **mine, "rmse": error}, {**common, **other})
    return [{**row, "updates_per_second": n / row["wall_seconds"], "repeats": args.repeats} for row in rows]


def _epochs_to(target: float, ratings: Ratings, rate: float, rank: int, session: Session) -> int | None:
    """Return the number of epochs after which the training error is at most *target*."""
    curve = list[float]()

    def note(_: int, epoch: Any) -> bool:
        curve.append(epoch.loss)
        return bool(epoch.loss <= target)

    _model(rate, rank, MOST_EPOCHS, session).fit(ratings, callback=note)
    return len(curve) if curve[-1] <= target else None


def _model(rate: float, rank: int, n_epochs: int, session: Session) -> SGDMatrixFactorization:
    return SGDMatrixFactorization(
        rank, n_epochs=n_epochs, learning_rate=rate, regularization=REGULARIZATION, random_state=0, session=session
    )


def _fits(session: Session, name: str, ratings: Ratings, args: argparse.Namespace, data: Path) -> list[Row]:
    """Return the rows of fits to the error of ten sweeps of LIBMF."""
    threads, rows = session.facts.compute_units, list[Row]()
    for rank in FIT_RANKS:
        target, short, long, ours = math.inf, list[float](), list[float](), list[float]()
        for _ in range(args.repeats):
            for sweeps, times in ((1, short), (1 + FIT_SWEEPS, long)):
                started = time.perf_counter()
                reached = _libmf(args.mf_train, data, rank, threads, sweeps)
                times.append(time.perf_counter() - started)
            target = min(target, reached)
        found = [(n, rate) for rate in RATES if (n := _epochs_to(target, ratings, rate, rank, session))]
        common = {
            "benchmark": "libmf",
            "graph": f"fit {name}, rank {rank}",
            "rank": rank,
            "n_ratings": ratings.n_ratings,
        }
        theirs = min(long) - min(short)
        rows.append({**common, "strategy": f"LIBMF, {threads} threads", "wall_seconds": theirs, "rmse": target})
        if not found:
            print(f"{name}, rank {rank}: no rate reaches {target}")
            continue
        n, rate = min(found)
        for _ in range(args.repeats):
            model = _model(rate, rank, n, session)
            ours += harness.timed_calls(partial(model.fit, ratings), 1)[1]
        rows.append(
            {**common, "strategy": model.strategy_, "wall_seconds": min(ours), "rmse": model.loss_curve_[-1],
             "n_epochs": n, "learning_rate": rate, "speedup": theirs / min(ours)}
        )  # fmt: skip
        print(f"{name}, rank {rank}: {theirs:.3f} s to {target:.4f}; ours {min(ours):.3f} s, {n} epochs at {rate}")
    return rows


def _inputs(args: argparse.Namespace) -> Iterator[tuple[str, Ratings]]:
    """Yield the names and the ratings of all fits, in random order."""
    for path in args.ratings:
        users, items, values = np.loadtxt(path, usecols=(0, 1, 2), unpack=True)
        yield path.stem, Ratings.from_triples(users.astype(np.int64), items.astype(np.int64), values)
    for millions in (1, 10):
        sizes = 20_000 * millions, 5_000 * millions, 1_000_000 * millions
        yield f"planted {millions} M", generators.planted_ratings(*sizes, rank=8, noise=0.1)


def _write(ratings: Ratings, data: Path) -> None:
    """Write the ratings in random order as LIBMF reads them."""
    order = np.random.default_rng(0).permutation(ratings.n_ratings)
    columns = (ratings.users[order], ratings.items[order], ratings.values[order])
    np.savetxt(data, np.column_stack(columns), "%d %d %.4f")


def run(args: argparse.Namespace) -> int:
    session = Session(args.device)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "ratings.txt"
        if args.fit:
            rows = list[Row]()
            for name, ratings in _inputs(args):
                _write(ratings, data)
                rows += _fits(session, name, ratings, args, data)
        else:
            ratings = generators.planted_ratings(20_000, 5_000, 1_000_000, rank=8, noise=0.1)
            _write(ratings, data)
            rows = [row for rank in RANKS for row in _measure(session, ratings, rank, args, data)]
    harness.finish(args, session, rows, "strategies")
    return 0


if __name__ == "__main__":
    parser = harness.parser(__doc__)
    parser.add_argument("--mf-train", required=True, metavar="PATH", help="LIBMF's program")
    parser.add_argument("--strategy", choices=STRATEGIES, default="block_grid")
    parser.add_argument("--fit", action="store_true", help="whole fits to the error that LIBMF reaches")
    parser.add_argument("--ratings", nargs="+", type=Path, default=[], metavar="FILE", help="files of ratings to fit")
    parser.set_defaults(repeats=3)
    sys.exit(guarded(run, parser.parse_args()))
