"""How much time the cost model's picks lose: time of the pick / time of the best strategy.

    benchmarks/bench_cost_model.py --json results.json           # all algorithms, on kinds that nobody tuned it for
    benchmarks/bench_cost_model.py --half tune --algorithms bfs sssp --vertices 1000000
    benchmarks/bench_cost_model.py --graphs road-FLA mine.mtx    # on graphs that are named
    benchmarks/bench_cost_model.py --results FILE …              # from rows measured before, of any algorithm

What counts is the least wall time of a run on a resident graph; of factorisation, preparation and 20 sweeps. The inputs
are those of ``unseen.py``. A row is as that algorithm's own benchmark writes it. A strategy that is predicted to take
both more than ``--patience`` seconds and ``--hopeless`` times as long as the pick is left out.
"""
from __future__ import annotations

import argparse
import math
import signal
import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, zip_longest
from multiprocessing import get_context
from typing import Any

import bench_bfs
import bench_color
import bench_connected_components
import bench_factorization
import bench_hash_collisions
import bench_minimum_spanning_forest
import bench_sssp
import harness
import inputs
import unseen
from graph_benchmark import GraphBenchmark
from tabulate import tabulate

from clgraph.cli.main import guarded
from clgraph.figure import figure_file
from clgraph.model.cost import Estimate
from clgraph.report import Row, by_benchmark, geometric_mean, read_rows, regrets, tabulate_rows, write_rows
from clgraph.runtime.session import Session

GRAPHS: Mapping[str, tuple[GraphBenchmark, Sequence[dict[str, Any]]]] = {
    "connected_components": (bench_connected_components.BENCHMARK, [{}]),
    "minimum_spanning_forest": (bench_minimum_spanning_forest.BENCHMARK, [{}]),
    "bfs": (bench_bfs.BENCHMARK, [{}]),
    "sssp": (bench_sssp.BENCHMARK, [{}]),
    "color": (bench_color.BENCHMARK, [{"distance": 1}, {"distance": 2}]),
    "hash_collisions": (bench_hash_collisions.BENCHMARK, [{"distance": 1}, {"distance": 2}]),
}
RATINGS = "factorization"
HALVES = {"tune": (unseen.TUNE, unseen.TUNE_RATINGS), "judge": (unseen.JUDGE, unseen.JUDGE_RATINGS)}
N_SWEEPS = 20
RANK = 16
_WRITTEN_SECONDS = 10.0  # between two writings: a file of many rows takes long


def kinds(half: str, which: int) -> list[str]:
    """Return the kinds of *half*: of graphs, or with a *which* of 1 of ratings; "both" takes turns."""
    halves = [HALVES[name][which] for name in (HALVES if half == "both" else [half])]
    return [name for names in zip_longest(*halves) for name in names if name is not None]


def made(make: Callable[[str, int, int], Any], names: Sequence[str], args: argparse.Namespace) -> Iterator[Any]:
    """Yield what is of the *names*, in order, made by several processes at once."""
    with ProcessPoolExecutor(args.workers, get_context("spawn")) as pool:
        ahead = deque(pool.submit(make, name, args.vertices, args.seed) for name in names[: args.workers])
        for left in range(len(names), 0, -1):
            if left > len(ahead):
                ahead.append(pool.submit(make, names[len(ahead) - left], args.vertices, args.seed))
            yield ahead.popleft().result()


def graph_rows(session: Session, args: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure the algorithms on graphs, a graph after the other."""
    names = args.graphs or kinds(args.half, 0)
    if args.graphs:
        inputs.prepare(names, args.workers)
    graphs = map(inputs.load, names) if args.graphs else made(unseen.load, names, args)
    for name, graph in zip(names, graphs, strict=True):
        label = name if args.graphs else f"{name}-{args.vertices}"
        for benchmark, cases in (GRAPHS[key] for key in args.algorithms if key in GRAPHS):
            for settings in cases:
                problem = benchmark.problem(label, graph, **settings)
                predicted = benchmark.algorithm.choose(session, problem).predicted
                yield benchmark.measure(
                    session, label, graph, strategies=_worth_a_try(predicted, args.patience, args.hopeless),
                    check_limit=args.check_limit, repeats=args.repeats, budget_seconds=args.budget, **settings,
                )
        session.release()


def _worth_a_try(predicted: Mapping[str, Estimate], patience: float, hopeless: float) -> list[str]:
    most = max(patience, hopeless * next(iter(predicted.values())).seconds)
    return [name for name, guess in predicted.items() if guess.seconds <= most]


def ratings_rows(session: Session, args: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure factorisation, an input after the other."""
    names = kinds(args.half, 1)
    for name, ratings in zip(names, made(unseen.load_ratings, names, args), strict=True):
        model = bench_factorization.model_says(session, ratings, RANK, "float32")
        predicted = {key: N_SWEEPS * row["predicted_seconds"] + row["predicted_preparation_seconds"]
                     for key, row in model.items()}
        predicted.pop(bench_factorization.RACY, None)
        most = max(args.patience, args.hopeless * min(predicted.values()))
        yield bench_factorization.measure(
            session, f"{name}-{args.vertices}", ratings, model, rank=RANK, storage="float32",
            strategies=[key for key, seconds in predicted.items() if seconds <= most], repeats=args.repeats,
            budget_seconds=args.budget, verified=ratings.n_ratings <= args.check_limit,
        )
        session.release()


def as_one_run(row: Row) -> Row:
    """Return a row of factorisation with the times of what the model decides on; others are returned as they are."""
    if row["benchmark"] != RATINGS:
        return row
    if row["strategy"] == bench_factorization.RACY:  # it loses steps, so that "auto" must not take it
        return {**row, "kind": ""}
    times = {
        f"{prefix}_seconds": row[preparation] + N_SWEEPS * row[f"{prefix}_seconds"]
        for prefix, preparation in (
            ("wall", "preparation_seconds"), ("least_wall", "preparation_seconds"),
            ("predicted", "predicted_preparation_seconds"),
        )
    }  # fmt: skip
    return {**row, **times}


def quality(rows: Sequence[Row]) -> str:
    """Return how good the picks are, a line for each algorithm and device.

    The columns are the geometric mean and the worst of pick / best; the mean of best / pick, which is the share of what
    an oracle would get; how often the best strategy was the first, and among the first two, by prediction; and
    predicted over measured seconds of all strategies: the geometric mean and the range without the outer twentieths.
    """
    cells = []
    for benchmark, group in by_benchmark(map(as_one_run, rows)).items():
        judged = [row for row in group if row.get("kind") and row.get("predicted_seconds")]
        lost = regrets(judged, "least_wall")
        by_input: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in judged:
            by_input[row["device"], row["graph"]].append(row)
        for device in dict.fromkeys(row["device"] for row in judged):
            ratios = {graph: ratio for (where, graph), (*_, ratio) in lost.items() if where.startswith(device)}
            if not ratios:
                continue
            places = [
                sorted(found, key=lambda row: float(row["predicted_seconds"])).index(
                    min(found, key=lambda row: float(row["least_wall_seconds"]))
                )
                for (where, _), found in by_input.items() if where == device
            ]  # fmt: skip
            errors = sorted(
                row["predicted_seconds"] / row["least_wall_seconds"] for row in judged if row["device"] == device
            )
            outer = len(errors) // 20
            worst = max(ratios, key=ratios.__getitem__)
            cells.append([
                benchmark, device, len(ratios), f"{geometric_mean(ratios.values()):.3f}",
                f"{ratios[worst]:.2f} ({worst})", f"{sum(1 / ratio for ratio in ratios.values()) / len(ratios):.3f}",
                f"{sum(place == 0 for place in places) / len(places):.0%}",
                f"{sum(place <= 1 for place in places) / len(places):.0%}",
                f"{geometric_mean(errors):.2f} ({errors[outer]:.2f} … {errors[-1 - outer]:.2f})",
            ])
    headers = [
        "algorithm", "device", "inputs", "pick / best", "worst", "share of oracle", "first", "first two",
        "predicted / measured",
    ]  # fmt: skip
    return str(tabulate(cells, headers, tablefmt="github", disable_numparse=True))


def plot(rows: Sequence[Row], path: str) -> None:
    """Draw for each algorithm pick / best of all inputs, the worst first."""
    with figure_file(path, 8.0, 5.0) as figure:
        axes = figure.add_subplot()
        for benchmark, group in by_benchmark(map(as_one_run, rows)).items():
            ratios = sorted((ratio for *_, ratio in regrets(group, "least_wall").values()), reverse=True)
            axes.step(range(len(ratios)), ratios, where="post", label=benchmark)
        axes.set_yscale("log")
        axes.set_xlabel("inputs, the worst first")
        axes.set_ylabel("time of the pick / time of the best strategy")
        axes.legend()


def measured_rows(args: argparse.Namespace, session: Session, origin: Mapping[str, Any]) -> list[Row]:
    """Measure until all is done or the time is over, and write what there is every few seconds and at the end."""
    some_graphs, some_ratings = set(args.algorithms) & set(GRAPHS), RATINGS in args.algorithms and not args.graphs
    measures = [*([ratings_rows] if some_ratings else []), *([graph_rows] if some_graphs else [])]
    rows: list[Row] = []
    began, written, n_written = time.monotonic(), time.monotonic(), 0
    try:
        for found in chain.from_iterable(measure(session, args) for measure in measures):
            rows += [{**row, **origin} for row in found]
            print(f"{time.monotonic() - began:.0f} s: {found[0]['benchmark']} {found[0]['graph']}", flush=True)
            if args.json and time.monotonic() - written > _WRITTEN_SECONDS:
                write_rows(args.json, rows[n_written:])
                written, n_written = time.monotonic(), len(rows)
            if time.monotonic() - began > args.seconds:
                break
    finally:
        if args.json:
            write_rows(args.json, rows[n_written:])
    return rows


def run(args: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    if args.results:
        rows = [row for path in args.results for row in read_rows(path)]
        for benchmark, group in by_benchmark(rows).items():
            print(f"{benchmark}:\n\n{tabulate_rows(group, 'regret', 'github')}\n")
    else:
        session = Session(args.device)
        rows = measured_rows(args, session, harness.provenance(session))
    print(quality(rows))
    if args.plot:
        plot(rows, args.plot)
    return 0


if __name__ == "__main__":
    parser = harness.parser(str(__doc__).partition("\n")[0])
    parser.add_argument("--results", nargs="+", metavar="FILE", help="use these rows; measure nothing")
    parser.add_argument(
        "--half", choices=(*HALVES, "both"), default="judge", help="which kinds of unseen.py (default: judge)"
    )
    parser.add_argument("--vertices", type=int, default=1 << 17, metavar="N", help="size of each (default 131072)")
    parser.add_argument("--seed", type=int, default=0)
    algorithms = [*GRAPHS, RATINGS]
    parser.add_argument("--algorithms", nargs="+", choices=algorithms, default=algorithms, help="(default: all)")
    parser.add_argument("--check-limit", type=int, default=20_000_000, help="check answers up to so many entries")
    parser.add_argument("--patience", type=float, default=1.0, help="seconds that any may be predicted to take")
    parser.add_argument("--hopeless", type=float, default=30.0, help="times as long as the pick that any may be, too")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin nothing later")
    parser.add_argument("--plot", metavar="FILE", help="draw how much each pick loses")
    sys.exit(guarded(run, parser.parse_args()))
