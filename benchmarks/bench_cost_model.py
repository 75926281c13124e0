"""How much time the cost model's picks lose: time of the pick / time of the best strategy.

    benchmarks/bench_cost_model.py --json results.json           # all algorithms, on kinds that it was not tuned for
    benchmarks/bench_cost_model.py --half tune --algorithms bfs sssp --vertices 1000000
    benchmarks/bench_cost_model.py --graphs road-FLA mine.mtx    # on graphs that are named
    benchmarks/bench_cost_model.py --results FILE …              # from rows measured before, of any algorithm
    benchmarks/bench_cost_model.py --results own.json --against shipped.json  # which picks other rates change

Picks are judged by the time that the model predicts and the user waits for: the least wall time of later calls on a
resident graph, with the answer on the host; of factorisation, preparation and 20 sweeps. A second figure judges them by
runs alone, which leave the answer on the device. The inputs come from ``unseen.py``. The algorithm's own benchmark
makes the row, with the times of calls. A strategy is left out if its prediction is above both ``--patience`` seconds
and ``--hopeless`` times the prediction of the pick. A strategy that is not done after ``--limit`` seconds is killed
with its process; its row has ``cut`` and the limit as its time. Before that, compiling and preparing may take ten times
the limit.
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import zip_longest
from multiprocessing import get_context
from typing import Any

import harness
import inputs
from judged import SETTINGS, Judge, label_of, takes
from limited import LimitedCalls, LimitError
from picks import changed, late, plot, quality
from unseen import HALVES, load

from clgraph.cli.main import guarded
from clgraph.report import Row, by_benchmark, read_rows, tabulate_rows, write_rows

_WRITTEN_SECONDS = 10.0  # The time between two writings, since a file of many rows takes long to write.
_BUILDING_FACTOR = 10.0  # Compiling and preparing may take 10 × the limit of a timed strategy.


def made(args: argparse.Namespace, what: str) -> Iterator[tuple[str, Any]]:
    """Yield the labels and the inputs of ``--half``: *what* is "graphs", "ratings" or "meshes".

    "both" takes turns. Several processes make them at once. Nothing is measured meanwhile, since they take the cores
    and the memory of a device that is a CPU.
    """
    halves = [getattr(HALVES[name], what) for name in (("tune", "judge") if args.half == "both" else [args.half])]
    names = [name for names in zip_longest(*halves) for name in names if name is not None]
    with ProcessPoolExecutor(args.workers, get_context("spawn")) as pool:
        found = list(pool.map(partial(load, what, n=args.vertices, seed=args.seed), names))
    yield from zip((f"{name}-{args.vertices}" for name in names), found, strict=True)


def labelled(args: argparse.Namespace) -> Iterator[tuple[str, Any, list[tuple[str, dict[str, Any]]]]]:
    """Yield the label of each input, the input, and the algorithms and settings to measure on it."""
    for what in ("ratings", "meshes", "graphs"):
        names = [name for name in args.algorithms if takes(name) == what]
        wanted = [(name, settings) for name in names for settings in SETTINGS[name]]
        if what == "graphs" and args.graphs:
            inputs.prepare(args.graphs, args.workers)
            yield from ((name, inputs.load(name), wanted) for name in args.graphs)
        elif wanted and not args.graphs:
            yield from ((label, data, wanted) for label, data in made(args, what))


def measured_case(
    calls: LimitedCalls, label: str, data: Any, benchmark: str, settings: dict[str, Any], args: argparse.Namespace
) -> list[Row]:
    """Measure the strategies that are worth it; one that takes longer than it may has a row that says so."""
    timing = {"repeats": args.repeats, "budget_seconds": args.budget}

    def call(method: Callable[..., Any], *given: Any, limit: float | None) -> Any:
        if not calls.is_running:
            calls(Judge.take, label, data)
        return calls(method, benchmark, settings, *given, limit_seconds=limit)

    building = None if args.limit is None else _BUILDING_FACTOR * args.limit
    picked, predicted = call(Judge.predicted, limit=building)
    most, rows = max(args.patience, args.hopeless * predicted[picked]), []
    for name in (name for name, seconds in predicted.items() if seconds <= most or name == picked):
        try:
            call(Judge.build, name, limit=building)
            rows += call(Judge.measure, name, timing, args.check_limit, limit=args.limit)
        except LimitError as error:
            about = {"benchmark": benchmark, "graph": label_of(benchmark, label, settings), **settings}
            about |= {"strategy": name, "kind": "online", "picked": name == picked, "cut": True}
            walls = {"wall_seconds": error.seconds, "least_wall_seconds": error.seconds}
            rows.append({**about, "predicted_seconds": predicted[name], **walls})
    return rows


def measured_rows(args: argparse.Namespace) -> list[Row]:
    """Measure until all is done or the time is over, and write the new rows every few seconds and at the end."""
    rows: list[Row] = []
    missed: dict[str, list[str]] = defaultdict(list)
    began, written, n_written = time.monotonic(), time.monotonic(), 0
    with LimitedCalls(Judge, args.device, args.units, args.probe) as calls:
        origin = calls(Judge.provenance)
        try:
            for label, data, wanted in labelled(args):
                if calls.is_running:
                    calls(Judge.take, label, data)
                for benchmark, settings in wanted:
                    started = time.monotonic()
                    case = " ".join([benchmark, *(f"{key} {value}" for key, value in settings.items())])
                    if started - began > args.seconds:
                        missed[case].append(label)
                        continue
                    try:
                        found = measured_case(calls, label, data, benchmark, settings, args)
                        rows += [{**row, **origin} for row in found]
                    except LimitError as error:
                        missed[case].append(f"{label} (prediction {error})")
                    now = time.monotonic()
                    print(f"{now - began:.0f} s: {case} {label} {now - started:.1f} s", flush=True)
                    if args.json and time.monotonic() - written > _WRITTEN_SECONDS:
                        write_rows(args.json, rows[n_written:])
                        written, n_written = time.monotonic(), len(rows)
        finally:
            if args.json:
                write_rows(args.json, rows[n_written:])
    for case, labels in missed.items():
        print(f"not measured: {case}: {', '.join(labels)}")
    return rows


def run(args: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    if args.results:
        rows = [row for path in args.results for row in read_rows(path)]
        for benchmark, group in by_benchmark(rows).items():
            print(f"{benchmark}:\n\n{tabulate_rows(group, 'regret', 'github')}\n")
    else:
        rows = measured_rows(args)
        print(late(rows) + "\n")
    print(quality(rows))
    if args.against:
        print(f"\n{changed(rows, read_rows(args.against))}")
    if args.plot:
        plot(rows, args.plot)
    return 0


def made_parser(module: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that choose inputs and strategies; *module* is a docstring."""
    made = harness.parser(module)
    made.add_argument("--results", nargs="+", metavar="FILE", help="use these rows; measure nothing")
    halves = "kinds of unseen.py, or fresh (default: %(default)s)"
    made.add_argument("--half", choices=(*HALVES, "both"), default="judge", help=halves)
    made.add_argument("--vertices", type=int, default=1 << 17, metavar="N", help="size of each (default 131072)")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--algorithms", nargs="+", choices=[*SETTINGS], default=[*SETTINGS], help="(default: all)")
    made.add_argument("--patience", type=float, default=1.0, help="seconds that any may be predicted to take")
    made.add_argument("--hopeless", type=float, default=30.0, help="times as long as the pick that any may be, too")
    made.add_argument("--seconds", type=float, default=math.inf, help="begin nothing later")
    return made


if __name__ == "__main__":
    parser = made_parser(__doc__)
    parser.add_argument("--check-limit", type=int, default=20_000_000, help="check answers up to so many entries")
    parser.add_argument("--units", type=int, metavar="N", help="on a part of a CPU, of so many compute units")
    parser.add_argument("--probe", action="store_true", help="measure the rates of the device, or of its part, first")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="a strategy that takes longer is cut off")
    parser.add_argument("--against", metavar="FILE", help="tell which picks differ from those of that file")
    parser.add_argument("--plot", metavar="FILE", help="draw how much each pick loses")
    sys.exit(guarded(run, parser.parse_args()))
