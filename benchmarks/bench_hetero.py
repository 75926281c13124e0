#!/usr/bin/env python3
"""Time the policies by which several devices share loads, beside the best split that a search finds.

    benchmarks/bench_hetero.py --devices nvidia pocl --rounds 8 --json hetero.json --plot rounds
    benchmarks/bench_hetero.py --devices pocl/3/1 --scale 0.02   # a CPU cut into parts of 3 units and 1 unit
    benchmarks/bench_hetero.py --devices pocl/1 "intel(r) opencl/1" --round-seconds 0.25 --steps 10   # a core each

For each load it times each device alone (where that would take long, on a 64th of the load), then splits on a grid, and
once more around the best of them, with the policy ``static``; splits are left out in which a device alone would take
much longer than the best so far. With ``--round-seconds`` loads are cut so that the faster device needs about as long
for one alone. Then come the rounds of each policy, which begins with nothing learned. Answers are checked. A row has
the seconds of all rounds, the median of those from round 4 on, this over the best split (``of_best``) and over the
fastest device alone (``of_single``), and the efficiency: the speed over the sum of the speeds of the devices alone.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import harness
import hetero_loads
import numpy as np
from tabulate import tabulate

from clgraph.errors import VerificationError
from clgraph.hetero import POLICIES, HeteroScheduler, Work, map_rows
from clgraph.hetero.report import RoundReport
from clgraph.report import write_rows
from clgraph.runtime.session import Session

LEARNING_ROUNDS = 4
TIMED_ROUNDS = 4
LONG_SECONDS = 1.0  # If a round takes longer than this, one timed round is enough.
TOO_LONG_SECONDS = 3.0  # A device that needs longer alone is timed on a smaller load.
PART = 64
FIRST_SCALE, GROWTH = 1 / 512, 8  # The search for the size of a load starts at 1/512 and grows by 8.
HOPELESS_FACTOR = 1.5  # A split is left out if one device alone would need 1.5 × the time of the best split so far.
TRAINING = (0.1, 0.2, 0.3)
QUALITIES = ("of_best", "of_single", "efficiency")
SUM_OF_ROW = "result = 0; for (int k = 0; k < length; k++) result += row[k] * row[k];"
PATTERNS = [b"needle", b"stack", b"th", b"quicksort", b"heterogeneous"]


@dataclass
class Case:
    """A load, the work on it, and a function that checks the result."""

    work: Work
    load: Any
    check: Callable[[Any], bool]


def _close(wanted: Any) -> Callable[[Any], bool]:
    def check(found: Any) -> bool:
        return found.shape == wanted.shape and bool(np.all(np.abs(found - wanted) <= 1e-3 + 1e-3 * np.abs(wanted)))

    return check


def _search(n_bytes: int, patterns: Sequence[bytes]) -> Case:
    text = hetero_loads.text_with(patterns, n_bytes)
    wanted = hetero_loads.count_in(text, patterns)
    return Case(hetero_loads.string_search(patterns), text, lambda found: found.tolist() == wanted)


def _product(n: int) -> Case:
    rng = np.random.default_rng(0)
    left, right = rng.random((n, n), np.float32), rng.random((n, n), np.float32)
    probe = rng.random(n, np.float32)
    wanted = left @ (right @ probe)
    return Case(hetero_loads.matrix_multiply(), (left, right), lambda found: _close(wanted)(found @ probe))


def _sparse(n_rows: int, mean: float) -> Case:
    matrix = hetero_loads.power_law_matrix(n_rows, n_rows, mean)
    vector = np.random.default_rng(1).random(n_rows, np.float32)
    return Case(hetero_loads.sparse_product(vector), matrix, _close(matrix @ vector))


def _polynomial(n: int, n_terms: int) -> Case:
    x = np.random.default_rng(2).random(n, np.float32)
    return Case(hetero_loads.polynomial(n_terms), x, _close(hetero_loads.polynomial_of(x, n_terms)))


def _rows(n_rows: int, width: int) -> Case:
    matrix = np.random.default_rng(3).random((n_rows, width), np.float32)
    return Case(map_rows(SUM_OF_ROW, dtype=np.float32), matrix, _close((matrix * matrix).sum(1)))


def cases(scale: float) -> dict[str, Callable[[], Case]]:
    """Return the loads by name; *scale* is the part of the study's work."""

    def side(n: int) -> int:
        return max(64, round(n * scale ** (1 / 3)))

    def size(n: float) -> int:
        return max(4096, round(n * scale))

    return {
        "search, 1 pattern": lambda: _search(size(50e6), PATTERNS[:1]),
        "search, 5 patterns": lambda: _search(size(50e6), PATTERNS),
        "product, 6000": lambda: _product(side(6000)),
        "product, 10000": lambda: _product(side(10_000)),
        "power-law rows, mean 16": lambda: _sparse(size(4e6), 16),
        "power-law rows, mean 64": lambda: _sparse(size(1e6), 64),
        "polynomial, 4 terms": lambda: _polynomial(size(64e6), 4),
        "polynomial, 64 terms": lambda: _polynomial(size(64e6), 64),
        "rows of 32": lambda: _rows(size(2e6), 32),
    }


class Timer:
    """Times one load on some devices."""

    def __init__(self, name: str, case: Case, sessions: Sequence[Session]) -> None:
        self.name, self.case, self.sessions = name, case, sessions

    def check(self, found: Any, options: Any) -> None:
        if not self.case.check(found):
            raise VerificationError(f"{self.name}: {options} has found a wrong result")

    def alone(self, session: Session, part: Timer) -> float:
        """Return the seconds of a device by itself; *part* is a load of a 64th of the work."""
        predicted = PART * part.seconds([session])
        return predicted if predicted > TOO_LONG_SECONDS else self.seconds([session])

    def seconds(self, sessions: Sequence[Session], **options: Any) -> float:
        """Return the median over some rounds, the first of which warms up and is checked."""
        scheduler, taken = HeteroScheduler(sessions, policy="static", **options), list[float]()
        while len(taken) < TIMED_ROUNDS and (len(taken) < 2 or taken[-1] < LONG_SECONDS):
            (found,), report = scheduler.run(self.case.work, [self.case.load])
            if not taken:
                self.check(found, options)
            taken.append(report.rounds[0].total_seconds)
        return statistics.median(taken[1:])

    def best_split(self, steps: int, alone: Sequence[float]) -> tuple[float, tuple[float, ...]]:
        """Return the least time that a split reaches, and its shares."""
        n = len(self.sessions)
        tried = {tuple(float(k == device) for k in range(n)): seconds for device, seconds in enumerate(alone)}

        def longest(split: tuple[float, ...]) -> float:
            """Return the seconds of the slowest device if the devices did not disturb each other."""
            return max(share * seconds for share, seconds in zip(split, alone, strict=True))

        def look(splits: Iterable[tuple[float, ...]]) -> tuple[float, ...]:
            for split in sorted(splits, key=longest):
                if split not in tried and longest(split) < HOPELESS_FACTOR * min(tried.values()):
                    tried[split] = self.seconds(self.sessions, ratios=split)
            return min(tried, key=tried.__getitem__)

        speeds = [1 / seconds for seconds in alone]
        best = look([*compositions(n, steps), tuple(speed / sum(speeds) for speed in speeds)])
        # A slow device may deserve less than a step.
        near = (
            [max(0.0, share + d / steps) for share, d in zip(best, moves, strict=True)]
            for moves in itertools.product((-0.5, -0.25, 0.0, 0.25, 0.5), repeat=n)
            if abs(sum(moves)) < 1e-9
        )
        best = look(tuple(share / sum(split) for share in split) for split in near)
        return tried[best], best


def scale_for(name: str, sessions: Sequence[Session], seconds: float, most: float) -> float:
    """Return the part of the full work, at most *most*, for which the fastest of the devices takes about *seconds*."""
    scale = min(most, FIRST_SCALE)
    while True:
        timer = Timer(name, cases(scale)[name](), sessions)
        taken = min(timer.seconds([session]) for session in sessions)
        if taken > seconds / GROWTH or scale == most:
            return min(most, scale * seconds / taken)
        scale = min(most, scale * GROWTH)


def compositions(n: int, steps: int) -> Iterator[tuple[float, ...]]:
    """Yield all shares of *n* devices that are whole numbers of one of *steps* parts."""
    for cuts in itertools.combinations(range(steps + n - 1), n - 1):
        edges = (-1, *cuts, steps + n - 1)
        yield tuple((stop - first - 1) / steps for first, stop in itertools.pairwise(edges))


def measure(
    timer: Timer, part: Timer, policies: dict[str, dict[str, Any]], args: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Yield a row for each policy."""
    alone = [timer.alone(session, part) for session in timer.sessions]
    best, split = timer.best_split(args.steps, alone)
    for name, options in policies.items():
        scheduler, rounds = HeteroScheduler(timer.sessions, **options), list[RoundReport]()
        for number in range(args.rounds):
            # Each result is dropped before the second next load, as where a device is timed by itself.
            (found,), report = scheduler.run(timer.case.work, [timer.case.load])
            rounds += report.rounds
            if number in (0, args.rounds - 1):
                timer.check(found, options)
        seconds = [done.total_seconds for done in rounds]
        late = statistics.median(seconds[min(LEARNING_ROUNDS, len(seconds) - 1) :])
        row = {"load": timer.name, "policy": name, "devices": list(report.devices), "verified": True}
        row |= {"seconds": late, "wall_seconds": sum(seconds), "round_seconds": seconds}
        row |= {"alone_seconds": alone, "best_seconds": best, "best_split": split}
        row |= {"of_best": late / best, "of_single": late / min(alone)}
        row["efficiency"] = 1 / (late * sum(1 / each for each in alone))
        yield row | {part: [getattr(done, part) for done in rounds] for part in ("items", "steals", "idle")}
        if args.plot:
            stem = f"{timer.name.replace(', ', '-').replace(' ', '-')}-{name}"
            replace(report, rounds=tuple(rounds)).plot(Path(f"{args.plot}-{stem}.png"))


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the geometric means over the loads, a line a policy."""

    def mean(name: str, of: str) -> float:
        return geometric_mean(row[of] for row in rows if row["policy"] == name)

    body = [[name, *(mean(name, of) for of in QUALITIES)] for name in dict.fromkeys(row["policy"] for row in rows)]
    return tabulate(body, ["policy", *QUALITIES], "github", floatfmt=".3f")


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    made.add_argument("--devices", nargs="+", required=True, metavar="NAME", help="names, or pocl/3/1 for its parts")
    made.add_argument("--loads", nargs="+", metavar="TEXT", help="only the loads whose names begin so")
    made.add_argument("--policies", nargs="+", choices=sorted(POLICIES), default=sorted(POLICIES))
    made.add_argument("--rounds", type=int, default=8, help="of each policy (default %(default)s)")
    made.add_argument("--steps", type=int, default=20, help="of the search for the best split (default %(default)s)")
    made.add_argument("--scale", type=float, default=1.0, help="part of the full work (default %(default)s)")
    made.add_argument("--round-seconds", type=float, metavar="S", help="cut loads so that a device takes S alone")
    made.add_argument("--plot", metavar="PATH", help="draw the rounds into files that begin so")
    made.add_argument("--json", metavar="PATH", help="write all rows to this file")
    args = made.parse_args()
    sessions = harness.sessions_named(args.devices)
    policies: dict[str, dict[str, Any]] = {}
    for name in args.policies:
        several = {f"qilin {part:.0%}": {"policy": "qilin", "training": part} for part in TRAINING}
        policies |= several if name == "qilin" else {name: {"policy": name}}
    rows: list[dict[str, Any]] = []
    for name in cases(args.scale):
        if args.loads and not name.startswith(tuple(args.loads)):
            continue
        scale = args.scale
        if args.round_seconds:
            scale = scale_for(name, sessions, args.round_seconds, args.scale)
        part = Timer(name, cases(scale / PART)[name](), sessions)
        whole = Timer(name, cases(scale)[name](), sessions)
        where = {"benchmark": "hetero", "graph": f"{name}, on {' + '.join(args.devices)}", "scale": scale}
        where |= {"drivers": [session.facts.driver_version for session in sessions], **harness.provenance(sessions[0])}
        new = [{**where, "strategy": row["policy"], **row} for row in measure(whole, part, policies, args)]
        rows += new
        body = [
            [row["policy"], *(1e3 * s for s in row["round_seconds"]), *(row[of] for of in QUALITIES)] for row in new
        ]
        alone = ", ".join(f"{1e3 * each:.2f}" for each in new[0]["alone_seconds"])
        split = ", ".join(f"{share:.1%}" for share in new[0]["best_split"])
        print(f"\n{name}: alone {alone} ms; best split {split} {1e3 * new[0]['best_seconds']:.2f} ms; rounds in ms")
        rounds = [str(k) for k in range(args.rounds)]
        print(tabulate(body, ["policy", *rounds, "of best", "of single", "efficiency"], "github", floatfmt=".3f"))
        sys.stdout.flush()
        if args.json:
            write_rows(args.json, new)
    print(f"\ngeometric means over {len({row['load'] for row in rows})} loads\n{summary(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
