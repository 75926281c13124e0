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
import time
from pathlib import Path
from typing import Any

import harness
import numpy as np

from clgraph import generators
from clgraph.algorithms.factorization import STRATEGIES, FactorizationProblem
from clgraph.algorithms.factorization.factors import initial_factors
from clgraph.algorithms.factorization.training import Errors
from clgraph.cli.main import guarded
from clgraph.data.ratings import Ratings
from clgraph.runtime.session import Session

RANKS = (16, 32, 64, 128)
SWEEPS = (5, 45)  # The difference of two runs of LIBMF is the time of 40 sweeps.
RATE, REGULARIZATION = 0.1, 0.05


def _libmf_seconds(program: str, data: Path, rank: int, threads: int, sweeps: int) -> float:
    command = [
        program, "--quiet", "-s", str(threads), "-k", str(rank), "-t", str(sweeps), "-r", str(RATE), "-l2",
        str(REGULARIZATION), str(data), str(data.with_suffix(".model")),
    ]  # fmt: skip
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def _measure(
    session: Session, ratings: Ratings, rank: int, strategy: str, program: str, data: Path, repeats: int
) -> list[dict[str, Any]]:
    threads, n = session.facts.compute_units, ratings.n_ratings
    plan = STRATEGIES[strategy].plan(session, FactorizationProblem(ratings, rank, mean=0.0))
    start = initial_factors(*ratings.shape, rank, scale=0.2, biases=False, rng=np.random.default_rng(0))
    plan.model.set(start)
    plan.model.set_hyper(RATE / 2, REGULARIZATION)
    ours: list[float] = []
    theirs: dict[int, list[float]] = {sweeps: [] for sweeps in SWEEPS}
    for _ in range(repeats):
        for sweeps in SWEEPS:
            theirs[sweeps].append(_libmf_seconds(program, data, rank, threads, sweeps))
        plan.sweep()
        session.finish()
        started = time.perf_counter()
        for _ in range(SWEEPS[1] - SWEEPS[0]):
            plan.sweep()
        session.finish()
        ours.append((time.perf_counter() - started) / (SWEEPS[1] - SWEEPS[0]))
    libmf = (min(theirs[SWEEPS[1]]) - min(theirs[SWEEPS[0]])) / (SWEEPS[1] - SWEEPS[0])
    error = Errors(session, ratings, plan.model).rmse()
    common = {"benchmark": "libmf", "graph": f"planted 1 M, rank {rank}", "rank": rank, "n_ratings": n}
    rows = [
        {**common, "strategy": strategy, "kind": STRATEGIES[strategy].kind, "wall_seconds": min(ours), "rmse": error},
        {**common, "strategy": f"LIBMF, {threads} threads", "wall_seconds": libmf},
    ]
    return [{**row, "updates_per_second": n / row["wall_seconds"], "repeats": repeats} for row in rows]


def run(args: argparse.Namespace) -> int:
    session = Session(args.device)
    ratings = generators.planted_ratings(20_000, 5_000, 1_000_000, rank=8, noise=0.1)
    order = np.random.default_rng(0).permutation(ratings.n_ratings)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "planted.txt"
        columns = (ratings.users[order], ratings.items[order], ratings.values[order])
        np.savetxt(data, np.column_stack(columns), "%d %d %.4f")
        rows = list[dict[str, Any]]()
        for rank in RANKS:
            rows += _measure(session, ratings, rank, args.strategy, args.mf_train, data, args.repeats)
    harness.finish(args, session, rows, "strategies")
    return 0


if __name__ == "__main__":
    parser = harness.parser(__doc__)
    parser.add_argument("--mf-train", required=True, metavar="PATH", help="LIBMF's program")
    parser.add_argument("--strategy", choices=STRATEGIES, default="block_grid")
    parser.set_defaults(repeats=3)
    sys.exit(guarded(run, parser.parse_args()))
