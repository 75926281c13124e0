#!/usr/bin/env python3
"""Compare the cost model with recorded runs, kernel by kernel, and fit the weights of kernels.

    tools/calibrate_model.py pocl.json intel.json h200.json --facts h200-facts.json
    tools/calibrate_model.py … --write                # clgraph/model/kernel_weights.py gets the fitted weights

The files are those of ``benchmarks/bench_cost_model.py --json``. Their graphs are made again, and everything is
predicted anew by the code as it is, so a change of the model is judged without measuring again. Only rows of the kinds
in ``unseen.TUNE`` count. A weight is by how much longer a kernel takes on CPUs, on GPUs, or by one of several runtimes
of CPUs, than probed rates say: the geometric mean of measured over predicted seconds, drawn towards 1, or for a runtime
towards the weight of all, as two more runs would. It is validated
on kinds and on devices that were left out; a part of a processor is a device, too, with the rates that were probed
there, if they were.
"""
from __future__ import annotations

import argparse
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
from clgraph.model import kernel_weights
from clgraph.report import geometric_mean, read_rows
from clgraph.runtime.selection import devices

WEIGHTS = ROOT / "clgraph" / "model" / "kernel_weights.py"
_PRIOR_RUNS = 2.0  # of weight 1, beside those measured
_LEAST_RUNS = 4
_TRIMMED = 0.1  # share of the runs at either end that do not count: other processes were running


def fitted(found: Sequence[Case], prior: float = 0.0) -> tuple[float, float]:
    """Return the logarithm of the weight and its standard error; few runs leave it near the *prior*."""
    left = sorted(found, key=lambda case: case.ratio)
    outer = int(_TRIMMED * len(left))
    left = left[outer : len(left) - outer]
    whole = sum(case.share for case in left) + 1e-9
    mean = (sum(case.share * case.ratio for case in left) + _PRIOR_RUNS * prior) / (whole + _PRIOR_RUNS)
    variance = sum(case.share * (case.ratio - mean) ** 2 for case in left) / whole
    return mean, math.sqrt(variance / max(1, len(left) - 1))


def fit(found: Iterable[Case]) -> Weights:
    """Return the weight of each kernel by table, its error as a factor, and from how many runs it is.

    A platform has a table where its class of devices has others. Its weights are drawn towards those of the class.
    """
    groups: dict[tuple[str, str], list[Case]] = defaultdict(list)
    platforms: dict[str, set[str]] = defaultdict(set)
    for case in found:
        of_class, of_platform = case.tables
        platforms[of_class].add(of_platform)
        groups[of_class, case.kernel].append(case)
        groups[of_platform, case.kernel].append(case)
    weights: Weights = {}
    for of_class, names in sorted(platforms.items()):
        for table in [of_class, *(sorted(names) if len(names) > 1 else [])]:
            for key, group in sorted(groups.items()):
                if key[0] == table and len(group) >= _LEAST_RUNS:
                    mean, error = fitted(group, math.log(weights.get((of_class, key[1]), (1.0,))[0]))
                    weights[key] = math.exp(mean), math.exp(error), len(group)
    return weights


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
                predicted[id(case)] = weight_of(case, known)
    return spread(found, lambda case: predicted[id(case)])


def regrets(rows: Sequence[Mapping[str, Any]], known: Mapping[str, DeviceFacts]) -> str:
    """Return how good the picks of the model as it is would have been, a line for each algorithm and device."""
    groups: dict[tuple[str, str], dict[str, list[tuple[float, float, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in map(picks.as_one_run, rows):
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
    for (in_table, kernel), (weight, error, n) in weights.items():
        of_kernel = [
            case for case in found
            if case.kernel == kernel and in_table == next(t for t in case.tables[::-1] if (t, kernel) in weights)
        ]  # fmt: skip
        for device in dict.fromkeys(case.device for case in of_kernel):
            ratios = [math.exp(case.error(weight)) for case in of_kernel if case.device == device]
            table.append([kernel, f"{weight:.3g}", f"{error:.2f}", n, device, _with_range(ratios)])
    headers = ["kernel", "weight", "error", "runs", "device", "predicted / measured"]
    return tabulate(table, headers, tablefmt="github", disable_numparse=True)


def with_those_known(weights: Weights) -> Weights:
    """Return *weights*, and those of the package for kernels that no file has runs of."""
    known = {"CPU": kernel_weights.CPU, "GPU": kernel_weights.GPU, **kernel_weights.PLATFORMS}
    whole = {(table, kernel): found for table, kernels in known.items() for kernel, found in kernels.items()} | weights
    return {key: whole[key] for table in dict.fromkeys(known) | dict.fromkeys(key[0] for key in weights)
            for key in sorted(whole) if key[0] == table}  # fmt: skip


def write(weights: Weights) -> None:
    """Put the weights into the source that has them."""
    text = WEIGHTS.read_text(encoding="utf-8")
    head, tail = text.partition("CPU: Mapping")[0], text[text.index("\n\ndef weights_of") :]
    tables: dict[str, str] = defaultdict(str)
    for (table, kernel), (weight, error, n) in weights.items():
        indent = "" if table in ("CPU", "GPU") else "    "
        tables[table] += f'{indent}    "{kernel}": ({weight:.3g}, {error:.2f}, {n}),\n'
    classes = "".join(
        f"{name}: Mapping[str, tuple[float, float, int]] = {{\n{tables.pop(name, '')}}}\n" for name in ("CPU", "GPU")
    )
    platforms = "".join(f'    "{name}": {{\n{lines}    }},\n' for name, lines in tables.items())
    classes += f"PLATFORMS: Mapping[str, Mapping[str, tuple[float, float, int]]] = {{\n{platforms}}}\n"
    WEIGHTS.write_text(head + classes + tail, encoding="utf-8")


def main() -> None:
    """Read the files, compare, fit, and write if that is asked for."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--facts", nargs="*", default=[], metavar="FILE", help="facts of devices that are not here")
    parser.add_argument("--kinds", choices=("tune", "judge"), default="tune", help="fits are from tune only")
    parser.add_argument("--algorithms", nargs="+", metavar="NAME", help="only rows of these count (default: of all)")
    parser.add_argument("--kernels", action="store_true", help="list how kernels are predicted")
    parser.add_argument("--left-out", action="store_true", help="tell the regret of each device by weights of others")
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
              f"{left_out(found, lambda case: case.kind):.2f} on kinds and "
              f"{left_out(found, lambda case: case.device):.2f} on devices that were left out")  # fmt: skip
        if args.write:
            weights = with_those_known(weights)
            write(weights)
        if args.left_out:
            print(f"with weights from other devices:\n\n{left_out_regrets(rows, found, known)}\n")
    with weighted(weights) if args.write else nullcontext():
        print(regrets(rows, known))


if __name__ == "__main__":
    main()
