"""Time a sweep of every strategy of factorisation and its preprocessing, and judge the pick of the cost model.

    benchmarks/bench_factorization.py --device nvidia --json results.json
    benchmarks/bench_factorization.py --results results.json     # tables of rows measured before

A row holds, beside what ``harness.py`` says: ``preparation_seconds`` of making the plan, compilation left out;
``updates_per_second`` of a sweep; ``bandwidth_share``, the bytes that a step on two rows anywhere in memory must move,
read and written, times the steps, divided by time and streaming bandwidth; ``lost_share`` of the steps that left no
trace in a sweep of equal tiny steps, with biases (0 for every strategy but ``hogwild``; what the steps added to the
rows is checked, too); ``rmse`` on the ratings after three sweeps from one start; ``predicted_seconds`` of a sweep,
``predicted_preparation_seconds``; and ``picked`` and ``picked_once`` for the choice of "auto" when 20 sweeps and when
one are wanted.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from multiprocessing import get_context
from statistics import geometric_mean
from typing import Any

import harness
import numpy as np
import ratings_inputs
from numpy.typing import NDArray
from scipy.sparse import csr_array
from tabulate import tabulate

from clgraph.algorithms.factorization import ALGORITHM, STRATEGIES, FactorizationProblem, as_problem, prices
from clgraph.algorithms.factorization.factors import Factors, initial_factors
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.problem import Storage
from clgraph.algorithms.factorization.training.evaluation import Errors
from clgraph.cli.main import guarded
from clgraph.cli.terminal import busy
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import VerificationError
from clgraph.model.cost import estimate
from clgraph.report import Row, read_rows, tabulate_rows
from clgraph.runtime.session import Session

POWER_LAW = ("STACK", "IMDB", "WIKI", "BGG", "CITP", "POKEC", "LIVEJ", "NFLIX", "ml-100k", "web-NotreDame")
ROADS = ("CAL", "E", "W", "CTR", "road-NY", "road-FLA")
SWEEPS = (1, 20)  # "auto" is judged for both numbers of sweeps.
UNSHUFFLED = "edge_locked, not shuffled"
_VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {UNSHUFFLED: ("edge_locked", {"shuffle": False})}
RACY = "hogwild"
_VALUE = 2.0**40  # no rounding: a step has no effect on rows of small integers, nor on a rating
_STEPS: dict[Storage, float] = {"float32": 2.0**-30, "float16": 2.0**-20}
_LARGEST_SUMS: dict[Storage, int] = {
    "float32": 2**24,
    "float16": 2**11,
}  # Integers up to this are exact in the storage.
_PREPARATION_BUDGET = 0.5  # seconds, after which making the plan again would not change its time much


def _plan(session: Session, name: str, problem: FactorizationProblem) -> FactorizationPlan:
    strategy, options = _VARIANTS.get(name, (name, {}))
    plan: FactorizationPlan = STRATEGIES[strategy].plan(session, problem, **options)
    return plan


def lost_share(session: Session, ratings: Ratings, name: str, rank: int, storage: Storage) -> float:
    """Return the share of steps that a sweep of strategy *name* lost; raise if a step that it made is wrong.

    Ratings are so large and the rate so tiny that every step has one size, whatever the factors are. So each bias ends
    as the number of its vertex's ratings, in units of that size. If the rows of one side begin with small integers and
    the other rows with 0, each of the others ends as the sum of the rows of its ratings. With and without biases.
    """
    equal = Ratings._trusted(ratings.users, ratings.items, np.full_like(ratings.values, _VALUE), *ratings.shape)
    degrees = [np.diff(offsets) for offsets in (ratings.user_offsets, ratings.item_offsets)]
    step, lost = _STEPS[storage], 0.0
    for has_biases in (True, False):
        plan = _plan(session, name, FactorizationProblem(equal, rank, 1, storage, has_biases, mean=0.0))
        model = plan.model
        model.set_hyper(step / _VALUE, 0.0)
        for fixed in (0, 1):
            rows = [np.zeros((n, rank), np.float32) for n in ratings.shape]
            rows[fixed][:] = _small_integers(ratings, rank)[fixed]
            model.set(Factors(*rows, *(np.zeros(n, np.float32) for n in ratings.shape)))
            plan.sweep()
            plan.check()
            factors = model.get()
            if has_biases:
                for biases, degree in zip(factors[2:], degrees, strict=True):
                    lost += np.abs(np.rint(biases / step) - degree).sum() / (4 * ratings.n_ratings)
            if name != RACY and not lost:
                sums = _sums_of_rows(ratings, rank)[1 - fixed]
                wrong = (factors[1 - fixed] != step * sums) & (sums <= _LARGEST_SUMS[storage])
                if wrong.any():
                    side, row = ("item", "user")[fixed], int(wrong.any(axis=1).argmax())
                    raise VerificationError(f"{name}: the steps on {side} {row} were not by the rows of the other side")
    return float(lost)


@lru_cache(maxsize=1)  # All strategies use the same rows.
def _small_integers(ratings: Ratings, rank: int) -> list[NDArray[np.int32]]:
    """Return a row of random numbers 1 … 4 for each user and for each item."""
    rng = np.random.default_rng(0)
    return [rng.integers(1, 5, (n, rank), np.int32) for n in ratings.shape]


@lru_cache(maxsize=1)
def _sums_of_rows(ratings: Ratings, rank: int) -> list[NDArray[np.int32]]:
    """Return for each user and for each item the sum of the other side's :func:`_small_integers` over its ratings."""
    ones = np.ones(ratings.n_ratings, np.int32)
    matrix = csr_array((ones, ratings.items, ratings.user_offsets), shape=ratings.shape)
    users, items = _small_integers(ratings, rank)
    return [matrix @ items, matrix.T @ users]


def measure(
    session: Session,
    name: str,
    ratings: Ratings,
    strategies: Sequence[str],
    *,
    rank: int,
    storage: Storage,
    verified: bool = True,
    **timing: Any,
) -> list[dict[str, Any]]:
    """Return one row for each strategy on *ratings*; *timing* is for ``harness.time_run``.

    Only if *verified*, lost steps are counted.
    """
    about = {"benchmark": "factorization", "graph": name, "rank": rank, "storage": storage}
    about |= {size: getattr(ratings, size) for size in ("n_users", "n_items", "n_ratings")}
    model, rows = model_says(session, ratings, rank, storage), []
    for strategy in strategies:
        kind = STRATEGIES[_VARIANTS.get(strategy, (strategy,))[0]].kind
        with busy(f"timing {strategy} on {name}"):
            row = _timed(session, ratings, strategy, rank, storage, **timing)
            session.release()
            lost = lost_share(session, ratings, strategy, rank, storage) if verified else 0.0
            session.release()
        if not np.isfinite(row["rmse"]) or (lost and strategy != RACY):
            raise VerificationError(f"{strategy}: error {row['rmse']} after three sweeps, {lost:.2%} of the steps lost")
        row |= {"lost_share": lost, "verified": verified and strategy != RACY}
        rows.append({**about, "strategy": strategy, "kind": kind, **row, **model.get(strategy, {})})
    return rows


def model_says(session: Session, ratings: Ratings, rank: int, storage: Storage) -> dict[str, dict[str, Any]]:
    """Return for each strategy the fields of its row that the cost model fills."""
    problems = {n: as_problem(ratings, rank=rank, storage=storage, n_sweeps=n) for n in SWEEPS}
    picks = {n: ALGORITHM.choose(session, problem).strategy for n, problem in problems.items()}
    rates, facts = session.profile.rates, session.facts
    found = {name: getattr(prices, name)(problems[1], facts) for name in STRATEGIES}
    return {
        name: {
            "predicted_seconds": estimate(price.sweep, rates).seconds,
            "predicted_preparation_seconds": estimate(price.preparation, rates).seconds,
            "picked": name == picks[20],
            "picked_once": name == picks[1],
        }
        for name, price in found.items()
    }


def _timed(
    session: Session, ratings: Ratings, strategy: str, rank: int, storage: Storage, **timing: Any
) -> dict[str, Any]:
    """Return the times of preparation and sweeps, and the error after three sweeps."""
    start = initial_factors(*ratings.shape, rank, scale=0.2, biases=False, rng=np.random.default_rng(0))
    problem = as_problem(ratings, rank=rank, storage=storage)
    preparations: list[float] = []
    while len(preparations) < 3 and sum(preparations) < _PREPARATION_BUDGET:  # the first pays for one-time work
        with session.measure() as recorder:
            plan = _plan(session, strategy, problem)
        assert recorder.seconds is not None
        preparations.append(recorder.seconds.total - recorder.seconds.compile)
    plan.model.set(start)
    plan.model.set_hyper(0.005, 0.02)
    timed = harness.time_run(session, plan.sweep, **timing)
    plan.check()
    plan.model.set(start)
    for _ in range(3):
        plan.sweep()
    plan.check()
    moved = ratings.n_ratings * (4 * rank * np.dtype(storage).itemsize + 12)
    return {
        **vars(timed),
        "preparation_seconds": min(preparations),
        "updates_per_second": ratings.n_ratings / timed.wall_seconds,
        "bandwidth_share": moved / timed.wall_seconds / session.profile.rates.stream_bytes_per_second,
        "rmse": Errors(session, ratings, plan.model).rmse(),
    }


def normalised(rows: list[Row]) -> str:
    """Return a table of seconds per sweep divided by edge_locked's, with geometric means by class of input.

    Below it stands by how much the hybrid is faster than edge_locked.
    """
    by_input: dict[str, dict[str, float]] = {}
    for row in rows:
        by_input.setdefault(row["graph"], {})[row["strategy"]] = float(row["wall_seconds"])
    names = [name for name in (*STRATEGIES, UNSHUFFLED) if any(name in times for times in by_input.values())]
    cells: list[list[str]] = []
    notes = []
    for kind, label in ((POWER_LAW, "power-law"), (ROADS, "road")):
        ratios: dict[str, list[float]] = {name: [] for name in names}
        for graph, times in by_input.items():
            if graph.partition("/")[0] not in kind or "edge_locked" not in times:
                continue
            unit = times["edge_locked"]
            for name in times:
                ratios[name].append(times[name] / unit)
            shown = (f"{times[name] / unit:.3g}" if name in times else "" for name in names)
            cells.append([graph, f"{1e3 * unit:.3g}", *shown])
        if ratios.get("edge_locked"):
            means = (f"{geometric_mean(r):.3g}" if r else "" for r in ratios.values())
            cells.append(["geometric mean", "", *means])
        if ratios.get("hybrid_locked"):
            speed_up = 1 / geometric_mean(ratios["hybrid_locked"])
            notes.append(f"hybrid_locked is {speed_up:.2f} times as fast as edge_locked on {label} inputs")
    table = tabulate(cells, ["input", "edge_locked ms", *names], tablefmt="github", disable_numparse=True)
    return "\n".join([table, "", *notes])


def regret(rows: list[Row]) -> str:
    """Return tables of the time lost by the picks of "auto", with preprocessing, for each number of sweeps.

    Only inputs on which all strategies but the racy one were timed count.
    """
    judged = [row for row in rows if row["strategy"] in STRATEGIES and row["strategy"] != RACY]
    counts = Counter(row["graph"] for row in judged)
    whole = [row for row in judged if counts[row["graph"]] == len(STRATEGIES) - 1]
    tables = []
    for n, mark in ((20, "picked"), (1, "picked_once")):
        of_n = [
            {**row, "picked": row[mark], "wall_seconds": row["preparation_seconds"] + n * row["wall_seconds"]}
            for row in whole
        ]
        if any(row["picked"] for row in of_n):
            tables.append(f"Over {n} sweeps:\n\n{tabulate_rows(of_n, 'regret', 'github')}")
    return "\n\n".join(tables)


def run(args: argparse.Namespace) -> int:
    if args.results:
        rows: list[Row] = [row for path in args.results for row in read_rows(path)]
        _report([row for row in rows if row["benchmark"] == "factorization"])
        return 0
    names = args.graphs or [*POWER_LAW, *ROADS]
    generated = [name for name in names if name in ratings_inputs.GENERATED]
    generated.sort(key=lambda name: name != "NFLIX")  # the largest first
    with ProcessPoolExecutor(args.workers, get_context("spawn")) as pool:
        list(pool.map(partial(ratings_inputs.keep, scale=args.scale), generated))
    session = Session(args.device)
    measured: list[Row] = []
    for name in names:
        ratings = ratings_inputs.load(name, scale=args.scale if name in ratings_inputs.GENERATED else 1)
        label = name if args.scale == 1 or name in ratings_inputs.FILES else f"{name}/{args.scale}"
        label += "" if args.rank == 16 and args.storage == "float32" else f", rank {args.rank} {args.storage}"
        how = {"rank": args.rank, "storage": args.storage, "repeats": args.repeats, "budget_seconds": args.budget}
        measured += harness.finish(
            args, session, measure(session, label, ratings, args.strategies, **how), "strategies"
        )
    _report(measured)
    return 0


def _report(rows: list[Row]) -> None:
    print(f"\nSeconds per sweep over edge_locked's:\n\n{normalised(rows)}\n\nWhat picks cost:\n\n{regret(rows)}")


if __name__ == "__main__":
    parser = harness.parser(__doc__)
    parser.add_argument("--results", nargs="+", metavar="FILE", help="tables of rows measured before; measure nothing")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--storage", choices=("float32", "float16"), default="float32")
    parser.add_argument("--scale", type=int, default=1, help="divide the size of generated inputs")
    names = [*STRATEGIES, UNSHUFFLED]
    parser.add_argument("--strategies", nargs="+", choices=names, default=names, metavar="NAME")
    sys.exit(guarded(run, parser.parse_args()))
