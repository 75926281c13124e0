#!/usr/bin/env python3
"""Tell how good the picks of the present cost model would have been in recorded runs.

    tools/judge_model.py benchmarks/results/cost_model-pocl.json --kinds judge
    tools/judge_model.py benchmarks/results/cost_model-h100.json --facts h100-facts.json

The files come from ``benchmarks/bench_cost_model.py --json``. Their inputs are made again, and everything is predicted
anew, so a change of the model is judged without a device. The tables look like the tables of that script: the inputs
whose picks lose much, and a line for each algorithm and device.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import judged  # noqa: E402
import picks  # noqa: E402
import unseen  # noqa: E402

from clgraph.device.facts import DeviceFacts, Dialect  # noqa: E402
from clgraph.device.profile import DeviceRates  # noqa: E402
from clgraph.device.profile_files import load_profile  # noqa: E402
from clgraph.engine.algorithm import Algorithm  # noqa: E402
from clgraph.model.strategy import priced  # noqa: E402
from clgraph.report import read_rows  # noqa: E402
from clgraph.runtime.discovery.selection import devices  # noqa: E402

Row = Mapping[str, Any]


def kind_and_size(row: Row) -> tuple[str, int]:
    """Return kind and size of the input of a row."""
    kind, _, size = str(row["graph"]).partition(",")[0].rpartition("-")
    return kind, int(size)


_input = cache(unseen.load)


def algorithm_and_problem(row: Row) -> tuple[Algorithm, Any]:
    """Return the algorithm of a row, and its problem, whose input is made again."""
    kind, size = kind_and_size(row)
    entry = judged.GRAPHS.get(row["benchmark"])
    settings = {name: row[name] for name in entry.settings if name in row} if entry is not None else {}
    algorithm, problem = judged.posed(
        row["benchmark"], kind, _input(judged.takes(row["benchmark"]), kind, size), settings
    )
    assert problem.stats  # prices of the host depend on whether statistics are known
    return algorithm, problem


def facts_in(path: str) -> DeviceFacts:
    """Return the facts that a device was found to have."""
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    return DeviceFacts(**{**document, "dialect": Dialect(**document["dialect"])})


@cache
def rates_of(facts: DeviceFacts, is_whole: bool) -> DeviceRates:
    """Return shipped rates; for a part of a processor the rates in the user's cache, if there are any."""
    return load_profile(facts, measured=not is_whole).rates


def predicted_anew(rows: Sequence[Row], known: Mapping[str, DeviceFacts]) -> Iterator[Row]:
    """Yield the rows with the predictions and picks of the model as it is."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    left_out = Counter[str]()
    for row in map(picks.as_one_run, rows):
        if row.get("kind"):
            groups[row["benchmark"], row["device"], row["compute_units"], row["graph"]].append(row)
    for (_, device, units, _), group in groups.items():
        on = replace(known[device], compute_units=units)  # it, or the part of it that was used
        algorithm, problem = algorithm_and_problem(group[0])
        rates = rates_of(on, units == known[device].compute_units)
        names = [row["strategy"] for row in group]
        seconds = {name: priced(algorithm.strategies[name], problem, on, rates).seconds for name in names}
        if not (weighed := seconds.keys() & set(algorithm.contenders(problem, on))):
            left_out[group[0]["benchmark"]] += 1
            continue
        pick = min(weighed, key=seconds.__getitem__)
        for row in group:
            anew = {"predicted_seconds": seconds[row["strategy"]], "picked": row["strategy"] == pick}
            yield {**row, "device": f"{device}, {units} units", **anew}
    for name, n in left_out.items():
        print(f"{name}: on {n} inputs no strategy that auto weighs was recorded")


def main() -> None:
    """Read the files, predict, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--facts", nargs="*", default=[], metavar="FILE", help="facts of devices that are not here")
    parser.add_argument("--kinds", choices=("tune", "judge"), default="judge", help="half of the inputs")
    parser.add_argument("--algorithms", nargs="+", metavar="NAME", help="only rows of these count (default: of all)")
    args = parser.parse_args()
    half = unseen.HALVES[args.kinds]
    wanted = {*half.graphs, *half.ratings}
    rows = [row for path in args.files for row in read_rows(path) if kind_and_size(row)[0] in wanted]
    if args.algorithms is not None:
        rows = [row for row in rows if row["benchmark"] in args.algorithms]
    known = {facts.name: facts for facts in map(facts_in, args.facts)}
    known |= {info.facts.name: info.facts for info in devices() if info.facts is not None}
    anew = list(predicted_anew(rows, known))
    print(f"{picks.late(anew)}\n\n{picks.quality(anew)}")


if __name__ == "__main__":
    main()
