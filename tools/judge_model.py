#!/usr/bin/env python3
"""Tell how good the picks of the cost model as it is would have been in recorded runs.

    tools/judge_model.py benchmarks/results/cost_model-pocl.json --kinds judge
    tools/judge_model.py benchmarks/results/cost_model-h100.json --facts h100-facts.json

The files are those of ``benchmarks/bench_cost_model.py --json``. Their inputs are made again, and everything is
predicted anew, so a change of the model is judged without a device. A line has the time of the pick over that of the
best of all strategies, and predicted over measured seconds: geometric means, the worst inputs, and the range without
the outer twentieths.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import geometric_mean
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import judged  # noqa: E402
import picks  # noqa: E402
import unseen  # noqa: E402
from tabulate import tabulate  # noqa: E402

from clgraph.algorithms.factorization import ALGORITHM as FACTORIZATION  # noqa: E402
from clgraph.algorithms.factorization import as_problem as ratings_problem  # noqa: E402
from clgraph.device.facts import DeviceFacts, Dialect  # noqa: E402
from clgraph.device.profile import DeviceRates, load_profile  # noqa: E402
from clgraph.engine.algorithm import Algorithm  # noqa: E402
from clgraph.model.strategy import priced  # noqa: E402
from clgraph.report import read_rows  # noqa: E402
from clgraph.runtime.selection import devices  # noqa: E402

Row = Mapping[str, Any]


@cache
def _input(kind: str, size: int, ratings: bool) -> Any:
    return (unseen.load_ratings if ratings else unseen.load)(kind, size)


def device_of(row: Row) -> str:
    """Return the name of the device of a row, with its units."""
    return f"{row['device']}, {row['compute_units']} units"


def facts_of(row: Row, known: Mapping[str, DeviceFacts]) -> DeviceFacts:
    """Return the facts of the device of a row, or of the part of it that was used."""
    return replace(known[row["device"]], compute_units=row["compute_units"])


def kind_and_size(row: Row) -> tuple[str, int]:
    """Return what input a row is of."""
    kind, _, size = str(row["graph"]).partition(",")[0].rpartition("-")
    return kind, int(size)


@cache
def _problem(benchmark: str, kind: str, size: int, settings: tuple[tuple[str, Any], ...]) -> Any:
    data = _input(kind, size, benchmark == "factorization")
    if benchmark == "factorization":
        return ratings_problem(data, rank=judged.RANK, n_sweeps=judged.N_SWEEPS)
    problem = judged.GRAPHS[benchmark][0].problem(kind, data, **dict(settings))
    assert problem.stats  # prices of the host depend on whether statistics are known
    return problem


def algorithm_and_problem(row: Row) -> tuple[Algorithm, Any]:
    """Return the algorithm of a row, and its problem, whose input is made again."""
    benchmark = row["benchmark"]
    if benchmark == "factorization":
        return FACTORIZATION, _problem(benchmark, *kind_and_size(row), ())
    entry = judged.GRAPHS[benchmark][0]
    return entry.algorithm, _problem(
        benchmark, *kind_and_size(row), tuple((name, row[name]) for name in entry.settings)
    )


def facts_in(path: str) -> DeviceFacts:
    """Return the facts that a device was found to have."""
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    return DeviceFacts(**{**document, "dialect": Dialect(**document["dialect"])})


@cache
def rates_of(facts: DeviceFacts, is_whole: bool) -> DeviceRates:
    """Return shipped rates; of a part of a processor those that the user's cache has, if it has any."""
    return load_profile(facts, measured=not is_whole).rates


def regrets(rows: Sequence[Row], known: Mapping[str, DeviceFacts]) -> str:
    """Return how good the picks would have been, a line for each algorithm and device."""
    groups: dict[tuple[str, str], dict[str, list[tuple[float, float, str, bool]]]]
    groups = defaultdict(lambda: defaultdict(list))
    for row in map(picks.as_one_run, rows):
        if not row.get("kind"):
            continue
        on, measured, name = facts_of(row, known), float(row["least_wall_seconds"]), row["strategy"]
        algorithm, problem = algorithm_and_problem(row)
        rates = rates_of(on, on.compute_units == known[row["device"]].compute_units)
        predicted = priced(algorithm.strategies[name], problem, on, rates).seconds
        groups[row["benchmark"], device_of(row)][row["graph"]].append(
            (predicted, measured, name, name in algorithm.contenders(problem, on))
        )
    cells = []
    for (benchmark, device), by_graph in groups.items():
        picked = {name: min(run for run in runs if run[3]) for name, runs in by_graph.items()}
        lost = {name: picked[name][1] / min(run[1] for run in runs) for name, runs in by_graph.items()}
        ratios = sorted(run[0] / run[1] for runs in by_graph.values() for run in runs)
        outer, worst = len(ratios) // 20, sorted(lost, key=lost.__getitem__)[-3:][::-1]
        cells.append(
            [
                benchmark,
                device,
                len(lost),
                f"{geometric_mean(lost.values()):.3f}",
                ", ".join(f"{lost[name]:.2f} {name} ({picked[name][2]})" for name in worst),
                f"{geometric_mean(ratios):.2f} ({ratios[outer]:.2f} … {ratios[-1 - outer]:.2f})",
            ]
        )
    headers = ["algorithm", "device", "inputs", "pick / best", "worst", "predicted / measured"]
    return tabulate(cells, headers, tablefmt="github", disable_numparse=True)


def main() -> None:
    """Read the files, predict, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--facts", nargs="*", default=[], metavar="FILE", help="facts of devices that are not here")
    parser.add_argument("--kinds", choices=("tune", "judge"), default="judge", help="half of the inputs")
    parser.add_argument("--algorithms", nargs="+", metavar="NAME", help="only rows of these count (default: of all)")
    args = parser.parse_args()
    halves = {"tune": (unseen.TUNE, unseen.TUNE_RATINGS), "judge": (unseen.JUDGE, unseen.JUDGE_RATINGS)}
    wanted = {*halves[args.kinds][0], *halves[args.kinds][1]}
    rows = [row for path in args.files for row in read_rows(path) if kind_and_size(row)[0] in wanted
            and (args.algorithms is None or row["benchmark"] in args.algorithms)]  # fmt: skip
    known = {facts.name: facts for facts in map(facts_in, args.facts)}
    known |= {info.facts.name: info.facts for info in devices() if info.facts is not None}
    print(regrets(rows, known))


if __name__ == "__main__":
    main()
