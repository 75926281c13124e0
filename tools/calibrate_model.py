#!/usr/bin/env python3
"""Compare the cost model with recorded runs, kernel by kernel, and fit the weights of kernels.

    tools/calibrate_model.py pocl.json intel.json h200.json --facts h200-facts.json
    tools/calibrate_model.py … --write                # clgraph/model/kernel_weights.py gets the fitted weights

The files are those of ``benchmarks/bench_cost_model.py --json``. Their graphs are made again, and everything is
predicted anew by the code as it is, so a change of the model is judged without measuring again. Only rows of the kinds
in ``unseen.TUNE`` count. A weight is by how much longer a kernel takes on CPUs, or on GPUs, than probed rates say: the
geometric mean of measured over predicted seconds, drawn towards 1 as one more run of each kind would. It is validated
on kinds and on devices that were left out; a part of a processor is a device, too, with the rates that were probed
there, if they were.
"""
from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    kind_and_size,
    predicted_seconds,
    rates_of,
    weighted,
)

import bench_cost_model  # isort: skip
import unseen  # isort: skip
from tabulate import tabulate

from clgraph.device.facts import DeviceFacts
from clgraph.report import geometric_mean, read_rows
from clgraph.runtime.selection import devices

WEIGHTS = ROOT / "clgraph" / "model" / "kernel_weights.py"
_PRIOR_RUNS = 2.0  # of weight 1, beside those measured
_LEAST_RUNS = 4
_TRIMMED = 0.1  # share of the runs at either end that do not count: other processes were running


def fitted(found: Sequence[Case]) -> tuple[float, float]:
    """Return the logarithm of the weight and its standard error."""
    left = sorted(found, key=lambda case: case.ratio)
    outer = int(_TRIMMED * len(left))
    left = left[outer : len(left) - outer]
    whole = sum(case.share for case in left) + 1e-9
    mean = sum(case.share * case.ratio for case in left) / (whole + _PRIOR_RUNS)
    variance = sum(case.share * (case.ratio - mean) ** 2 for case in left) / whole
    return mean, math.sqrt(variance / max(1, len(left) - 1))


def fit(found: Iterable[Case]) -> Weights:
    """Return the weight of each kernel by class of device, its error as a factor, and from how many runs it is."""
    groups: dict[tuple[bool, str], list[Case]] = defaultdict(list)
    for case in found:
        groups[case.is_cpu, case.kernel].append(case)
    return {
        key: (math.exp(mean), math.exp(error), len(group))
        for key, group in sorted(groups.items()) if len(group) >= _LEAST_RUNS
        for mean, error in [fitted(group)]
    }  # fmt: skip


def left_out_regrets(
    rows: Sequence[Mapping[str, Any]], found: Sequence[Case], known: Mapping[str, DeviceFacts]
) -> str:
    """Return the :func:`regrets` of each device with weights from the others of its class: 1 where there is none."""
    lines: list[str] = []
    for device in dict.fromkeys(map(device_of, rows)):
        with weighted(fit(case for case in found if case.device != device)):
            table = regrets([row for row in rows if device_of(row) == device], known).splitlines()
        lines += table[2:] if lines else table
    return "\n".join(lines)


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


def regrets(rows: Sequence[Mapping[str, Any]], known: Mapping[str, DeviceFacts]) -> str:
    """Return how good the picks of the model as it is would have been, a line for each algorithm and device."""
    groups: dict[tuple[str, str], dict[str, list[tuple[float, float, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in map(bench_cost_model.as_one_run, rows):
        if not row.get("kind"):
            continue
        groups[row["benchmark"], device_of(row)][row["graph"]].append(
            (predicted_seconds(row, facts_of(row, known)), float(row["least_wall_seconds"]), row["strategy"])
        )
    cells = []
    for (benchmark, device), by_graph in groups.items():
        lost = {name: min(runs)[1] / min(run[1] for run in runs) for name, runs in by_graph.items()}
        ratios = [run[0] / run[1] for runs in by_graph.values() for run in runs]
        worst = sorted(lost, key=lost.__getitem__)[-3:][::-1]
        cells.append([
            benchmark, device, len(lost), f"{geometric_mean(lost.values()):.3f}",
            ", ".join(f"{lost[name]:.2f} {name} ({min(by_graph[name])[2]})" for name in worst),
            _with_range(ratios),
        ])
    headers = ["algorithm", "device", "inputs", "pick / best", "worst", "predicted / measured"]
    return tabulate(cells, headers, tablefmt="github", disable_numparse=True)


def _with_range(ratios: Sequence[float]) -> str:
    """Return the geometric mean, and the range without the outer twentieths."""
    ordered, outer = sorted(ratios), len(ratios) // 20
    return f"{geometric_mean(ordered):.2f} ({ordered[outer]:.2f} … {ordered[-1 - outer]:.2f})"


def kernel_errors(found: Sequence[Case], weights: Weights) -> str:
    """Return the weight of each kernel, and predicted over measured seconds with it on each device."""
    table = []
    for (on_cpu, kernel), (weight, error, n) in weights.items():
        of_kernel = [case for case in found if case.is_cpu == on_cpu and case.kernel == kernel]
        for device in dict.fromkeys(case.device for case in of_kernel):
            ratios = [math.exp(case.error(weight)) for case in of_kernel if case.device == device]
            table.append([kernel, f"{weight:.3g}", f"{error:.2f}", n, device, _with_range(ratios)])
    headers = ["kernel", "weight", "error", "runs", "device", "predicted / measured"]
    return tabulate(table, headers, tablefmt="github", disable_numparse=True)


def write(weights: Weights) -> None:
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


def main() -> None:
    """Read the files, compare, fit, and write if that is asked for."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--facts", nargs="*", default=[], metavar="FILE", help="facts of devices that are not here")
    parser.add_argument("--kinds", choices=("tune", "judge"), default="tune", help="fits are from tune only")
    parser.add_argument("--kernels", action="store_true", help="list how kernels are predicted")
    parser.add_argument("--left-out", action="store_true", help="tell the regret of each device by weights of others")
    parser.add_argument("--write", action="store_true", help="write the fitted weights")
    args = parser.parse_args()
    halves = {"tune": (unseen.TUNE, unseen.TUNE_RATINGS), "judge": (unseen.JUDGE, unseen.JUDGE_RATINGS)}
    wanted = {*halves[args.kinds][0], *halves[args.kinds][1]}
    rows = [row for path in args.files for row in read_rows(path) if kind_and_size(row)[0] in wanted]
    known = {facts.name: facts for facts in map(facts_in, args.facts)}
    known |= {info.facts.name: info.facts for info in devices() if info.facts is not None}
    if args.kinds == "tune":
        found = [case for row in rows if not row.get("cut") for on in [facts_of(row, known)]
                 for case in cases(row, on, rates_of(on))]
        weights = fit(found)
        if args.kernels:
            print(kernel_errors(found, weights))
        print(f"kernels: predicted / measured is off by a factor of {spread(found, lambda _: 1.0):.2f} without, "
              f"{spread(found, lambda case: weights.get((case.is_cpu, case.kernel), (1.0,))[0]):.2f} with weights, "
              f"{left_out(found, lambda case: case.kind):.2f} on kinds and "
              f"{left_out(found, lambda case: case.device):.2f} on devices that were left out")  # fmt: skip
        if args.write:
            write(weights)
        if args.left_out:
            print(f"with weights from other devices:\n\n{left_out_regrets(rows, found, known)}\n")
    print(regrets(rows, known))


if __name__ == "__main__":
    main()
