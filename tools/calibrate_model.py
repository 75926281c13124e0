#!/usr/bin/env python3
"""Compare the cost model with recorded runs, kernel by kernel, and fit the weights of kernels.

    tools/calibrate_model.py pocl.json intel.json h200.json --facts h200-facts.json
    tools/calibrate_model.py … --write                # clgraph/model/weights.json gets the fitted weights

The files are those of ``benchmarks/bench_cost_model.py --json``. Their graphs are made again, and everything is
predicted anew by the code as it is, so a change of the model is judged without measuring again. Only rows of the kinds
in ``unseen.TUNE`` count. A weight is by how much longer a kernel takes on CPUs, or on GPUs, than probed rates say: the
geometric mean of measured over predicted seconds, drawn towards 1 as one more run of each kind would. It is validated
on kinds and on devices that were left out.
"""
from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import bench_cost_model  # noqa: E402
import unseen  # noqa: E402
from tabulate import tabulate  # noqa: E402

from clgraph.algorithms.factorization import RECIPES, STRATEGIES  # noqa: E402
from clgraph.algorithms.factorization import as_problem as ratings_problem  # noqa: E402
from clgraph.device.facts import DeviceFacts, Dialect  # noqa: E402
from clgraph.device.profile import DeviceRates, load_profile  # noqa: E402
from clgraph.model.cost import estimate  # noqa: E402
from clgraph.model.recipe import Recipe  # noqa: E402
from clgraph.report import geometric_mean, read_rows  # noqa: E402
from clgraph.runtime.selection import devices  # noqa: E402

WEIGHTS = ROOT / "clgraph" / "model" / "kernel_weights.py"
_PRIOR_RUNS = 2.0  # of weight 1, beside those measured
_LEAST_RUNS = 4
_LEAST_LEFT = 0.1  # share of the measured time that is not said to be barriers
_KERNEL_SHARE = 0.5  # of the cost of a launch, which the least kernel takes
_TRIMMED = 0.1  # share of the runs at either end that do not count: other processes were running


@dataclass(frozen=True)
class Case:
    """A kernel in a recorded run.

    Attributes
    ----------
    measured, fixed, rest : float
        Seconds measured, those of barriers and of the least kernel, which have no weight, and predicted seconds of what
        has one.
    share : float
        Of the time of the run, the mean of what was measured and predicted, without what is fixed: what takes little
        says little.
    """

    device: str
    is_cpu: bool
    kind: str
    kernel: str
    measured: float
    fixed: float
    rest: float
    share: float

    @property
    def ratio(self) -> float:
        """The logarithm of the weight with which the prediction would be right."""
        return math.log(max(self.measured - self.fixed, _LEAST_LEFT * self.measured) / self.rest)

    def error(self, weight: float) -> float:
        """The logarithm of predicted over measured."""
        return math.log((self.fixed + weight * self.rest) / self.measured)


@cache
def _input(kind: str, size: int, ratings: bool) -> Any:
    return (unseen.load_ratings if ratings else unseen.load)(kind, size)


def kind_and_size(row: Mapping[str, Any]) -> tuple[str, int]:
    kind, _, size = str(row["graph"]).partition(",")[0].rpartition("-")
    return kind, int(size)


@cache
def _problem(benchmark: str, kind: str, size: int, settings: tuple[tuple[str, Any], ...]) -> Any:
    data = _input(kind, size, benchmark == "factorization")
    if benchmark == "factorization":
        return ratings_problem(data, rank=bench_cost_model.RANK, n_sweeps=bench_cost_model.N_SWEEPS)
    return bench_cost_model.GRAPHS[benchmark][0].problem(kind, data, **dict(settings))


def problem_of(row: Mapping[str, Any]) -> Any:
    """Return the problem of a row, whose input is made again."""
    benchmark = row["benchmark"]
    names = () if benchmark == "factorization" else bench_cost_model.GRAPHS[benchmark][0].settings
    return _problem(benchmark, *kind_and_size(row), tuple((name, row[name]) for name in names))


def recipe_of(row: Mapping[str, Any], facts: DeviceFacts) -> Recipe | None:
    """Return what the strategy of a row launches; a strategy of the host has nothing."""
    name = row["strategy"]
    if row["benchmark"] == "factorization":
        return RECIPES[name][1](problem_of(row), facts)
    strategy = bench_cost_model.GRAPHS[row["benchmark"]][0].algorithm.strategies[name]
    return None if strategy.recipe is None else strategy.recipe(problem_of(row), facts)


def cases(row: Mapping[str, Any], facts: DeviceFacts, rates: DeviceRates) -> Iterator[Case]:
    """Yield the kernels of a row that were both predicted and measured."""
    kind, recipe = kind_and_size(row)[0], recipe_of(row, facts)
    if recipe is None:
        return
    measured = {name: float(seconds) for name, (_, seconds) in row["kernels"].items()}
    by_kernel = recipe.by_key()
    names = {key: key.rpartition(":")[2] for key in by_kernel}
    rest_of_run = sum(seconds for name, seconds in measured.items() if name not in names.values())
    drivers = [key for key in by_kernel if ":" not in key and key != "other kernels"]
    found = []
    for key, work in by_kernel.items():
        seconds = measured.get(names[key]) or (rest_of_run if drivers == [key] else 0.0)
        parts = estimate(work, rates).parts
        serial = parts["chain"] + parts["locks"] + parts["contention"]
        rest = max(parts["streaming"] + parts["gathers"] + parts["atomics"], serial)
        if seconds and rest > 0.0:
            fixed = parts["grid_barriers"] + _KERNEL_SHARE * parts["launches"]
            found.append(Case(row["device"], facts.is_cpu, kind, key, seconds, fixed, rest, 0.0))
    whole, predicted = sum(case.measured for case in found), sum(case.fixed + case.rest for case in found)
    for case in found:
        of_run = (case.measured / whole + (case.fixed + case.rest) / predicted) / 2
        yield replace(case, share=of_run * case.rest / (case.fixed + case.rest))


def fitted(found: Sequence[Case]) -> tuple[float, float]:
    """Return the logarithm of the weight and its standard error."""
    left = sorted(found, key=lambda case: case.ratio)
    outer = int(_TRIMMED * len(left))
    left = left[outer : len(left) - outer]
    whole = sum(case.share for case in left) + 1e-9
    mean = sum(case.share * case.ratio for case in left) / (whole + _PRIOR_RUNS)
    variance = sum(case.share * (case.ratio - mean) ** 2 for case in left) / whole
    return mean, math.sqrt(variance / max(1, len(left) - 1))


def fit(found: Iterable[Case]) -> dict[tuple[bool, str], tuple[float, float, int]]:
    """Return the weight of each kernel by class of device, its error as a factor, and from how many runs it is."""
    groups: dict[tuple[bool, str], list[Case]] = defaultdict(list)
    for case in found:
        groups[case.is_cpu, case.kernel].append(case)
    return {
        key: (math.exp(mean), math.exp(error), len(group))
        for key, group in sorted(groups.items()) if len(group) >= _LEAST_RUNS
        for mean, error in [fitted(group)]
    }  # fmt: skip


def spread(found: Sequence[Case], weight_of: Callable[[Case], float]) -> float:
    """Return the root of the mean square of log(predicted / measured), by shares of runs, as a factor."""
    errors = sum(case.share * case.error(weight_of(case)) ** 2 for case in found)
    return math.exp(math.sqrt(errors / sum(case.share for case in found)))


def left_out(found: Sequence[Case], part: Callable[[Case], str]) -> float:
    """Return the spread where each part is predicted with weights from the others."""
    predicted: dict[int, float] = {}
    for name in sorted({part(case) for case in found}):
        known = fit(case for case in found if part(case) != name)
        for case in found:
            if part(case) == name:
                predicted[id(case)] = known.get((case.is_cpu, case.kernel), (1.0,))[0]
    return spread(found, lambda case: predicted[id(case)])


def regrets(rows: Sequence[Mapping[str, Any]], facts: Mapping[str, DeviceFacts]) -> str:
    """Return how good the picks of the model as it is would have been, a line for each algorithm and device."""
    groups: dict[tuple[str, str], dict[str, list[tuple[float, float, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in map(bench_cost_model.as_one_run, rows):
        if not row.get("kind"):
            continue
        on = facts[row["device"]]
        groups[row["benchmark"], row["device"]][row["graph"]].append(
            (predicted_seconds(row, on), float(row["least_wall_seconds"]), row["strategy"])
        )
    cells = []
    for (benchmark, device), by_graph in groups.items():
        lost = {name: min(runs)[1] / min(run[1] for run in runs) for name, runs in by_graph.items()}
        ratios = sorted(run[0] / run[1] for runs in by_graph.values() for run in runs)
        worst = sorted(lost, key=lost.__getitem__)[-3:][::-1]
        cells.append([
            benchmark, device[:14], len(lost), f"{geometric_mean(lost.values()):.3f}",
            ", ".join(f"{lost[name]:.2f} {name} ({min(by_graph[name])[2]})" for name in worst),
            f"{geometric_mean(ratios):.2f} ({ratios[len(ratios) // 20]:.2f} … {ratios[-1 - len(ratios) // 20]:.2f})",
        ])
    headers = ["algorithm", "device", "inputs", "pick / best", "worst", "predicted / measured"]
    return tabulate(cells, headers, tablefmt="github", disable_numparse=True)


def predicted_seconds(row: Mapping[str, Any], facts: DeviceFacts) -> float:
    """Return what the model as it is says of the run of a row, and of what a call takes beside it."""
    rates, problem, name = rates_of(facts), problem_of(row), row["strategy"]
    if row["benchmark"] == "factorization":
        strategy = STRATEGIES[name]
    else:
        strategy = bench_cost_model.GRAPHS[row["benchmark"]][0].algorithm.strategies[name]
    seconds = estimate(strategy.work(problem, facts), rates).seconds
    return seconds if strategy.kind == "sequential" else seconds + rates.call_seconds


def write(weights: Mapping[tuple[bool, str], tuple[float, float, int]]) -> None:
    """Put the weights into the source that has them."""
    text = WEIGHTS.read_text(encoding="utf-8")
    head, tail = text.partition("CPU: Mapping")[0], text[text.index("\n\ndef weights_of") :]
    tables = []
    for name, is_cpu in (("CPU", True), ("GPU", False)):
        lines = [
            f'    "{kernel}": ({weight:.3g}, {error:.2f}, {n}),\n'
            for (on_cpu, kernel), (weight, error, n) in weights.items() if on_cpu == is_cpu
        ]
        tables.append(f"{name}: Mapping[str, tuple[float, float, int]] = {{\n{''.join(lines)}}}\n")
    WEIGHTS.write_text(head + "".join(tables) + tail, encoding="utf-8")


def facts_in(path: str) -> DeviceFacts:
    """Return the facts that a device was found to have."""
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    return DeviceFacts(**{**document, "dialect": Dialect(**document["dialect"])})


def main() -> None:
    """Read the files, compare, fit, and write if that is asked for."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--facts", nargs="*", default=[], metavar="FILE", help="facts of devices that are not here")
    parser.add_argument("--kinds", choices=("tune", "judge"), default="tune", help="fits are from tune only")
    parser.add_argument("--kernels", action="store_true", help="list how kernels are predicted")
    parser.add_argument("--write", action="store_true", help="write the fitted weights")
    args = parser.parse_args()
    halves = {"tune": (unseen.TUNE, unseen.TUNE_RATINGS), "judge": (unseen.JUDGE, unseen.JUDGE_RATINGS)}
    wanted = {*halves[args.kinds][0], *halves[args.kinds][1]}
    rows = [row for path in args.files for row in read_rows(path) if kind_and_size(row)[0] in wanted]
    known = {facts.name: facts for facts in map(facts_in, args.facts)}
    known |= {info.facts.name: info.facts for info in devices() if info.facts is not None}
    if args.kinds == "tune":
        found = [case for row in rows for case in cases(row, known[row["device"]], rates_of(known[row["device"]]))]
        weights = fit(found)
        if args.kernels:
            table = [
                ["CPU" if on_cpu else "GPU", kernel, f"{weight:.3g}", f"{error:.2f}", n]
                for (on_cpu, kernel), (weight, error, n) in weights.items()
            ]
            print(tabulate(table, ["class", "kernel", "weight", "error", "runs"], tablefmt="github"))
        print(f"kernels: predicted / measured is off by a factor of {spread(found, lambda _: 1.0):.2f} without, "
              f"{spread(found, lambda case: weights.get((case.is_cpu, case.kernel), (1.0,))[0]):.2f} with weights, "
              f"{left_out(found, lambda case: case.kind):.2f} on kinds and "
              f"{left_out(found, lambda case: case.device):.2f} on devices that were left out")  # fmt: skip
        if args.write:
            write(weights)
    print(regrets(rows, known))


@cache
def rates_of(facts: DeviceFacts) -> DeviceRates:
    return load_profile(facts, measured=False).rates


if __name__ == "__main__":
    main()
