#!/usr/bin/env python3
"""Compare the cost model with recorded runs, kernel by kernel, and fit the weights of kernels.

    tools/calibrate_model.py pocl.json intel.json h200.json --facts h200-facts.json
    tools/calibrate_model.py … --write                # clgraph/model/kernel_weights.json gets the fitted weights

The files are those of ``benchmarks/bench_cost_model.py --json``. Their graphs are made again, and everything is
predicted anew by the code as it is, so a change of the model is judged without measuring again. Weights are fitted to
rows of the kinds in ``unseen.TUNE``. A weight is the geometric mean of measured over predicted seconds of a kernel, on
GPUs or by one runtime of CPUs, drawn towards 1 as two more runs would. Only kernels of strategies that auto weighs get
one. The fit is validated on kinds that were left out.
"""
from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from recorded_runs import (
    ROOT,
    Case,
    Weights,
    cases,
    device_of,
    facts_in,
    facts_of,
    is_contender,
    kind_and_size,
    predicted_seconds,
    rates_of,
    weight_of,
    weighted,
)

import picks  # isort: skip
import unseen  # isort: skip
from tabulate import tabulate

from clgraph.device.facts import DeviceFacts
from clgraph.model.kernel_weights import tables
from clgraph.report import geometric_mean, read_rows
from clgraph.runtime.selection import devices

WEIGHTS = ROOT / "clgraph" / "model" / "kernel_weights.json"
_PRIOR_RUNS = 2.0  # of weight 1, beside those measured
_LEAST_RUNS = 4
_TRIMMED = 0.1  # share of the runs at either end that do not count: other processes were running


def fitted(found: Sequence[Case]) -> float:
    """Return the logarithm of the weight; few runs leave it near 0."""
    left = sorted(found, key=lambda case: case.ratio)
    outer = int(_TRIMMED * len(left))
    left = left[outer : len(left) - outer]
    return sum(case.share * case.ratio for case in left) / (sum(case.share for case in left) + _PRIOR_RUNS)


def fit(found: Iterable[Case]) -> Weights:
    """Return the weight of each kernel by table."""
    groups: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in found:
        groups[case.table, case.kernel].append(case)
    return {
        key: math.exp(fitted(group)) for key, group in sorted(groups.items())
        if len(group) >= _LEAST_RUNS and any(case.is_contender for case in group)
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
                predicted[id(case)] = weight_of(case, known)
    return spread(found, lambda case: predicted[id(case)])


def regrets(rows: Sequence[Mapping[str, Any]], known: Mapping[str, DeviceFacts]) -> str:
    """Return how good the picks of the model as it is would have been, a line for each algorithm and device."""
    groups: dict[tuple[str, str], dict[str, list[tuple[float, float, str, bool]]]]
    groups = defaultdict(lambda: defaultdict(list))
    for row in map(picks.as_one_run, rows):
        if not row.get("kind"):
            continue
        on, measured = facts_of(row, known), float(row["least_wall_seconds"])
        groups[row["benchmark"], device_of(row)][row["graph"]].append(
            (predicted_seconds(row, on), measured, row["strategy"], is_contender(row, on))
        )
    cells = []
    for (benchmark, device), by_graph in groups.items():
        picked = {name: min(run for run in runs if run[3]) for name, runs in by_graph.items()}
        lost = {name: picked[name][1] / min(run[1] for run in runs) for name, runs in by_graph.items()}
        ratios = [run[0] / run[1] for runs in by_graph.values() for run in runs]
        worst = sorted(lost, key=lost.__getitem__)[-3:][::-1]
        cells.append([
            benchmark, device, len(lost), f"{geometric_mean(lost.values()):.3f}",
            ", ".join(f"{lost[name]:.2f} {name} ({picked[name][2]})" for name in worst),
            _with_range(ratios),
        ])
    headers = ["algorithm", "device", "inputs", "pick / best", "worst", "predicted / measured"]
    return tabulate(cells, headers, tablefmt="github", disable_numparse=True)


def _with_range(ratios: Sequence[float]) -> str:
    """Return the geometric mean, and the range without the outer twentieths."""
    ordered, outer = sorted(ratios), len(ratios) // 20
    return f"{geometric_mean(ordered):.2f} ({ordered[outer]:.2f} … {ordered[-1 - outer]:.2f})"


def kernel_errors(found: Sequence[Case], weights: Weights) -> str:
    """Return the weight of each kernel, and predicted over measured seconds with it."""
    cells = []
    for (table, kernel), weight in weights.items():
        ratios = [math.exp(case.error(weight)) for case in found if (case.table, case.kernel) == (table, kernel)]
        cells.append([kernel, f"{weight:.2g}", table, len(ratios), _with_range(ratios)])
    return tabulate(cells, ["kernel", "weight", "table", "runs", "predicted / measured"], tablefmt="github")


def write(weights: Weights) -> None:
    """Write the weights into the package; those of kernels without a recorded run stay."""
    whole = {table: dict(known) for table, known in tables().items()}
    for (table, kernel), weight in weights.items():
        whole.setdefault(table, {})[kernel] = float(f"{weight:.2g}")
    text = json.dumps({table: dict(sorted(known.items())) for table, known in whole.items()}, indent=1)
    WEIGHTS.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Read the files, compare, fit, and write if that is asked for."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--facts", nargs="*", default=[], metavar="FILE", help="facts of devices that are not here")
    parser.add_argument("--kinds", choices=("tune", "judge"), default="tune", help="fits are from tune only")
    parser.add_argument("--algorithms", nargs="+", metavar="NAME", help="only rows of these count (default: of all)")
    parser.add_argument("--kernels", action="store_true", help="list how kernels are predicted")
    parser.add_argument("--write", action="store_true", help="write the fitted weights")
    args = parser.parse_args()
    halves = {"tune": (unseen.TUNE, unseen.TUNE_RATINGS), "judge": (unseen.JUDGE, unseen.JUDGE_RATINGS)}
    wanted = {*halves[args.kinds][0], *halves[args.kinds][1]}
    rows = [row for path in args.files for row in read_rows(path) if kind_and_size(row)[0] in wanted
            and (args.algorithms is None or row["benchmark"] in args.algorithms)]  # fmt: skip
    known = {facts.name: facts for facts in map(facts_in, args.facts)}
    known |= {info.facts.name: info.facts for info in devices() if info.facts is not None}
    weights: Weights = {}
    if args.kinds == "tune":
        found = [case for row in rows if not row.get("cut") for on in [facts_of(row, known)]
                 for case in cases(row, on, rates_of(on))]
        weights = fit(found)
        if args.kernels:
            print(kernel_errors(found, weights))
        print(f"kernels: predicted / measured is off by a factor of {spread(found, lambda _: 1.0):.2f} without, "
              f"{spread(found, lambda case: weight_of(case, weights)):.2f} with weights, "
              f"{left_out(found, lambda case: case.kind):.2f} on kinds that were left out")
        if args.write:
            write(weights)
    with weighted(weights) if args.write else nullcontext():
        print(regrets(rows, known))


if __name__ == "__main__":
    main()
