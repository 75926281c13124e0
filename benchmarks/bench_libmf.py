"""Time block_grid on a CPU beside LIBMF, on 1 M planted ratings, with one thread per compute unit.

    benchmarks/bench_libmf.py --device pocl --mf-train PATH --json results.json

LIBMF (https://github.com/cjlin1/libmf, ``mf-train`` built with AVX for this machine) is run for few and for many
sweeps, in turn with ours; the time of a sweep is the difference, so that reading and set-up drop out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import harness
import numpy as np

from clgraph import generators
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


def _libmf(program: str, data: Path, rank: int, threads: int, sweeps: int) -> None:
    command = [
        program, "--quiet", "-s", str(threads), "-k", str(rank), "-t", str(sweeps), "-r", str(RATE), "-l2",
        str(REGULARIZATION), str(data), str(data.with_suffix(".model")),
    ]  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


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


def run(args: argparse.Namespace) -> int:
    session = Session(args.device)
    ratings = generators.planted_ratings(20_000, 5_000, 1_000_000, rank=8, noise=0.1)
    order = np.random.default_rng(0).permutation(ratings.n_ratings)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "planted.txt"
        columns = (ratings.users[order], ratings.items[order], ratings.values[order])
        np.savetxt(data, np.column_stack(columns), "%d %d %.4f")
        rows = [row for rank in RANKS for row in _measure(session, ratings, rank, args, data)]
    harness.finish(args, session, rows, "strategies")
    return 0


if __name__ == "__main__":
    parser = harness.parser(__doc__)
    parser.add_argument("--mf-train", required=True, metavar="PATH", help="LIBMF's program")
    parser.add_argument("--strategy", choices=STRATEGIES, default="block_grid")
    parser.set_defaults(repeats=3)
    sys.exit(guarded(run, parser.parse_args()))
