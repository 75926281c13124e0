"""The time that users lose by the cost model's picks: a call with strategy="auto" over the fastest call with a name.

    benchmarks/bench_picks.py -d pocl --vertices 131072 --json results.json   # on kinds that no price was fitted to
    benchmarks/bench_picks.py -d nvidia --half judge --algorithms bfs sssp   # on the judged half of unseen.py
    benchmarks/bench_picks.py --results results.json                          # the table of rows measured before

An input goes in as a graph that later calls find on the device, and as a scipy matrix. Calls of all strategies are made
in turns, after two that compile and allocate. Each is made twice, the second is timed, and the least time counts. A
strategy is left out if its prediction is above ``--patience`` seconds and above ``--hopeless`` predictions of the pick.
A row has the seconds of all calls by strategy; ``auto`` is the call without a name, and ``pick`` the strategy that it
has run.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import geometric_mean
from typing import Any

import harness
import numpy as np
from bench_cost_model import made, made_parser
from bench_factorization import RACY
from judged import takes
from tabulate import tabulate

from clgraph.algorithms.refine_mesh import ALGORITHM as REFINE_MESH
from clgraph.algorithms.table import find_algorithm
from clgraph.cli.main import guarded
from clgraph.engine.algorithm import Algorithm
from clgraph.errors import InputError
from clgraph.report import Row, read_rows, write_rows
from clgraph.runtime.session import Session

CASES: Mapping[str, Sequence[dict[str, Any]]] = {
    "connected_components": [{}],
    "minimum_spanning_forest": [{}],
    "bfs": [{}],
    "sssp": [{}],
    "color": [{"distance": 1, "prefer": "time"}, {"distance": 2, "prefer": "time"}],
    "hash_collisions": [{"distance": 1}, {"distance": 2}],
    "partition": [{"n_parts": 8}],
    "factorization": [{"rank": 16, "n_sweeps": 20}],
    "refine_mesh": [{"min_angle": 25.0}],
}
SEARCHES = "bfs", "sssp"


def inputs_of(args: argparse.Namespace) -> Iterator[tuple[str, str, Any, int, list[str]]]:
    """Yield the label of each input, its form, the input, a vertex with an edge, and the algorithms that take it."""
    for what, form in (("graphs", "graph"), ("ratings", "ratings"), ("meshes", "mesh")):
        algorithms = [name for name in args.algorithms if takes(name) == what]
        for label, data in made(args, what) if algorithms else ():
            connected = np.flatnonzero(data.degrees) if what == "graphs" else np.zeros(1, int)
            source = int(connected[connected.size // 2])
            yield label, form, data, source, algorithms
            if what == "graphs":
                yield label, "matrix", data.to_scipy(), source, algorithms


def _algorithm(name: str) -> Algorithm:
    return REFINE_MESH if name == "refine_mesh" else find_algorithm(name)


def measured(
    session: Session, algorithm: Algorithm, data: Any, settings: Mapping[str, Any], args: argparse.Namespace
) -> tuple[str, dict[str, float]]:
    """Return the pick of ``auto``, and the least seconds of a call by strategy."""
    problem = algorithm.problem(data, **settings)
    predicted, _ = algorithm.predictions(session, problem)
    pick = algorithm.choose(session, problem).strategy
    most = max(args.patience, args.hopeless * predicted[pick].seconds)
    names = ["auto", *(name for name, found in predicted.items() if found.seconds <= most and name != RACY)]

    def call(name: str) -> tuple[str, float]:
        started = time.perf_counter()
        asked = algorithm.problem(data, **settings)
        found = algorithm.solve(asked, strategy=name, session=session)
        return found.info.strategy, time.perf_counter() - started

    picks, spent, least = set[str](), dict.fromkeys(names, 0.0), dict.fromkeys(names, math.inf)
    for turn in range(2 + args.repeats):
        for name in names:
            if turn > 1 and spent[name] > args.budget:
                continue
            call(name)  # a call is faster after one of the same strategy, whose arrays are in caches
            ran, seconds = call(name)
            if name == "auto":
                picks.add(ran)
            if turn:
                spent[name] += seconds
            if turn > 1 or spent[name] > args.budget:
                least[name] = min(least[name], seconds)
    return "/".join(sorted(picks)), least


def measured_rows(args: argparse.Namespace) -> list[Row]:
    """Measure, and write the rows of each input when it is done."""
    session, rows, began = Session(args.device), list[Row](), time.perf_counter()
    origin = harness.provenance(session)
    for label, form, data, source, algorithms in inputs_of(args):
        for name in algorithms:
            for settings in CASES[name]:
                if time.perf_counter() - began > args.seconds:
                    print(f"not measured: {name} of {label}, {form}")
                    continue
                given = {**settings, "source": source} if name in SEARCHES else settings
                try:
                    pick, seconds = measured(session, _algorithm(name), data, given, args)
                except InputError as error:  # partitions limit the sum of weights
                    print(f"not measured: {name} of {label}, {form}: {error}")
                    continue
                case = ", ".join([label, form, *(f"{k} {v}" for k, v in settings.items())])
                found = {"benchmark": f"picks of {name}", "graph": case, "strategy": "auto", "pick": pick,
                         "form": form, "wall_seconds": seconds["auto"], "seconds": seconds}  # fmt: skip
                rows.append({**found, **origin})
                print(f"{name} {case}: {pick} {lost(found):.2f}", flush=True)
        if args.json:
            write_rows(args.json, rows)
        session.release()
    return rows


def lost(row: Row) -> float:
    """Return the time of the call with ``auto`` over the time of the fastest call."""
    return float(row["seconds"]["auto"] / min(row["seconds"].values()))


def lost_by_pick(row: Row) -> float:
    """Return the same for the strategy that ``auto`` runs, by the faster of its two calls."""
    seconds = row["seconds"]
    return float(
        min(seconds[name] for name in ("auto", *row["pick"].split("/")) if name in seconds) / min(seconds.values())
    )


def table(rows: Sequence[Row]) -> str:
    """Return the mean and the worst of each algorithm, device and form of input.

    ``auto`` and the name of its pick run the same code, so calls differ by noise where ``pick / best`` is 1.
    """
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["benchmark"].removeprefix("picks of "), row["device"], row["form"]].append(row)
    cells = []
    for key, group in groups.items():
        worst = max(group, key=lost_by_pick)
        best = min(worst["seconds"], key=worst["seconds"].__getitem__)
        told = f"{lost_by_pick(worst):.2f} ({worst['graph']}: {worst['pick']} for {best})"
        means = (f"{geometric_mean(map(each, group)):.3f}" for each in (lost, lost_by_pick))
        cells.append([*key, len(group), *means, told])
    headers = ["algorithm", "device", "form", "inputs", "auto / best", "pick / best", "worst"]
    return str(tabulate(cells, headers, tablefmt="github", disable_numparse=True))


def run(args: argparse.Namespace) -> int:
    rows = [row for path in args.results for row in read_rows(path)] if args.results else measured_rows(args)
    print(table(rows))
    return 0


if __name__ == "__main__":
    parser = made_parser(str(__doc__).partition("\n")[0])
    parser.set_defaults(half="fresh", patience=0.5, hopeless=20.0, budget=1.0)
    sys.exit(guarded(run, parser.parse_args()))
