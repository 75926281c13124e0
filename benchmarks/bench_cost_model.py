"""How much time the cost model's picks lose: time of the pick / time of the best strategy.

    benchmarks/bench_cost_model.py --json results.json           # all algorithms, on kinds that nobody tuned it for
    benchmarks/bench_cost_model.py --half tune --algorithms bfs sssp --vertices 1000000
    benchmarks/bench_cost_model.py --graphs road-FLA mine.mtx    # on graphs that are named
    benchmarks/bench_cost_model.py --results FILE …              # from rows measured before, of any algorithm

What counts is the least wall time of a run on a resident graph; of factorisation, preparation and 20 sweeps. The inputs
are those of ``unseen.py``. A row is as that algorithm's own benchmark writes it.
"""
from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
from clgraph.report import Row, by_benchmark, geometric_mean, read_rows, regrets, tabulate_rows
from clgraph.runtime.session import Session

GRAPHS: Mapping[str, tuple[GraphBenchmark, Sequence[dict[str, Any]]]] = {
    "connected_components": (bench_connected_components.BENCHMARK, [{}]),
    "minimum_spanning_forest": (bench_minimum_spanning_forest.BENCHMARK, [{}]),
    "bfs": (bench_bfs.BENCHMARK, [{}]),
    "sssp": (bench_sssp.BENCHMARK, [{}]),
    "color": (bench_color.BENCHMARK, [{"distance": 1}, {"distance": 2}]),
    "hash_collisions": (bench_hash_collisions.BENCHMARK, [{"distance": 1}]),
}
RATINGS = "factorization"
HALVES = {"tune": (unseen.TUNE, unseen.TUNE_RATINGS), "judge": (unseen.JUDGE, unseen.JUDGE_RATINGS)}
N_SWEEPS = 20
RANK = 16
CHECK_LIMIT = 20_000_000


def graph_rows(session: Session, args: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure the algorithms on graphs, a graph after the other."""
    names = args.graphs or list(HALVES[args.half][0])
    if args.graphs:
        inputs.prepare(names, args.workers)
    for name in names:
        graph = inputs.load(name) if args.graphs else unseen.load(name, args.vertices, args.seed)
        label = name if args.graphs else f"{name}-{args.vertices}"
        for benchmark, cases in (GRAPHS[key] for key in args.algorithms if key in GRAPHS):
            for settings in cases:
                yield benchmark.measure(
                    session, label, graph, check_limit=CHECK_LIMIT, repeats=args.repeats, budget_seconds=args.budget,
                    **settings,
                )
        session.release()


def ratings_rows(session: Session, args: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure factorisation, an input after the other."""
    for name in HALVES[args.half][1]:
        ratings = unseen.load_ratings(name, args.vertices, args.seed)
        model = bench_factorization.model_says(session, ratings, RANK, "float32")
        yield bench_factorization.measure(
            session, f"{name}-{args.vertices}", ratings, model, rank=RANK, storage="float32", strategies=list(model),
            repeats=args.repeats, budget_seconds=args.budget,
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


def run(args: argparse.Namespace) -> int:
    if args.results:
        rows = [row for path in args.results for row in read_rows(path)]
        for benchmark, group in by_benchmark(rows).items():
            print(f"{benchmark}:\n\n{tabulate_rows(group, 'regret', 'github')}\n")
    else:
        session = Session(args.device)
        origin = harness.provenance(session)
        rows = []
        for measure in (graph_rows, *([ratings_rows] if RATINGS in args.algorithms and not args.graphs else [])):
            for found in measure(session, args):
                measured = [{**row, **origin} for row in found]
                rows += measured
                harness.finish(args, measured, "regret")
    print(quality(rows))
    if args.plot:
        plot(rows, args.plot)
    return 0


if __name__ == "__main__":
    parser = harness.parser(str(__doc__).partition("\n")[0])
    parser.add_argument("--results", nargs="+", metavar="FILE", help="use these rows; measure nothing")
    parser.add_argument("--half", choices=HALVES, default="judge", help="which kinds of unseen.py (default: judge)")
    parser.add_argument("--vertices", type=int, default=1 << 17, metavar="N", help="size of each (default 131072)")
    parser.add_argument("--seed", type=int, default=0)
    algorithms = [*GRAPHS, RATINGS]
    parser.add_argument("--algorithms", nargs="+", choices=algorithms, default=algorithms, help="(default: all)")
    parser.add_argument("--plot", metavar="FILE", help="draw how much each pick loses")
    sys.exit(guarded(run, parser.parse_args()))
