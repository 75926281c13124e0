#!/usr/bin/env python3
"""Time components, forests, factorisation and independent loads on 1, 2, 4 and 8 devices, in less than ten minutes.

    benchmarks/bench_several_gpus.py --devices nvidia:{0..7} --json several.json --plot several.png
    benchmarks/bench_several_gpus.py --devices pocl "intel(r) opencl" --any --small   # a trial, with processes of CPUs

Parts of the run, of which ``--parts`` names some:

``components``
    ``bench_multi_device.py`` with 24 replicas of R-MAT 22 (1.5e9 edges) on the devices and 6 on the host, with 12
    replicas a device (0.77e9 edges), and with R-MAT 24.
``forests``
    The minimum spanning forest of R-MAT 24.
``factorization``
    Epochs on a planted matrix of 1e8 ratings. The loss after each epoch must be close to the loss on one device. The
    rows have the time of a sweep, of preprocessing (``making_seconds``), and of 20 epochs with one loss at the end
    (``training_seconds``).
``loads``
    The nine loads of ``bench_hetero.py`` by the policy ``hass``: the median of the rounds after it has learned. Beside
    it, the policy ``static`` gives each device the same share. The arrays are new for each load, or in shared memory.

A line for each row has the time that ``links.py`` predicts from the row of one device, the measured rates of links, and
the bytes. After ``--minutes``, other rows are left out.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import bench_hetero
import bench_multi_device
import harness
import numpy as np
from links import Links

import clgraph as cg
from clgraph.algorithms.factorization.factors import initial_factors
from clgraph.algorithms.factorization.training.learning_rates import make_schedule
from clgraph.algorithms.factorization.training.process_training import ProcessFactorization
from clgraph.algorithms.factorization.training.training import Factorization
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import VerificationError
from clgraph.figure import figure_file
from clgraph.hetero import HeteroScheduler, scheduler
from clgraph.hetero.process_runner import _in_processes
from clgraph.multi_device import processes
from clgraph.report import write_rows
from clgraph.runtime.session import as_session

PARTS = ("components", "forests", "loads", "factorization")
LEARNING_ROUNDS, TIMED_ROUNDS = 6, 8
EPOCHS = cg.SGDMatrixFactorization().n_epochs
_TOUCHED = 1 << 30
ARRAYS = ("new", "shared")
RANKS = 16, 64, 128
# The loss on several devices may differ from the loss on one device by this share, since the order of steps differs.
# In epochs in which the loss falls by up to 36 %, it differs by up to 5 %; after 20 epochs, by up to 0.5 %.
LOSS_WITHIN, LAST_LOSS_WITHIN = 0.1, 0.01


class Run:
    """One run: its devices, the rates of their links, and its rows."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.started = args, time.perf_counter()
        self.counts = [count for count in (1, 2, 4, 8) if count <= len(args.devices)]
        self.session = as_session(args.devices[0])
        self.rows: list[dict[str, Any]] = []
        self.links = Links.of(processes.processes_of(processes.device_names(args.devices)), args.link_bytes)
        print(self.links)
        print(_line(None), flush=True)

    def is_late(self, name: str = "") -> bool:
        """Return whether the time is over. If so, print that the rows *name* are left out."""
        is_late = time.perf_counter() - self.started > 60 * self.args.minutes
        if is_late and name:
            print(f"left out: {name}")
        return is_late

    def add(self, row: dict[str, Any]) -> None:
        """Complete *row* by its speed-up and the model, print it, and write it."""
        same = [other for other in self.rows if (other["benchmark"], other["case"]) == (row["benchmark"], row["case"])]
        alone = same[0] if same else row
        speed_up = row["work"] / row["wall_seconds"] / (alone["work"] / alone["wall_seconds"])
        row |= {"speed_up": speed_up, "efficiency": speed_up / row["devices"]}
        row |= {"model_seconds": self.links.model(row, alone), "links": self.links.__dict__}
        self.rows.append(row)
        print(_line(row), flush=True)
        if self.args.json:
            write_rows(self.args.json, [{**row, **harness.provenance(self.session)}])

    def components(self) -> None:
        several, n = self.args.replicas, len(self.args.devices)
        for scale, kinds, k in (
            (self.args.scale, ["strong", "host"], several),
            (self.args.scale, ["weak"], several // 2 * n),
            (self.args.scale + 2, ["strong"], 1),
        ):
            self._graphs(scale, kinds, k)

    def forests(self) -> None:
        self._graphs(self.args.scale + 2, ["forest"], 1)

    def _graphs(self, scale: int, kinds: list[str], k: int) -> None:
        given = {"devices": self.args.devices, "scale": scale, "edge_factor": 16, "replicas": k, "host_share": 0.25}
        given |= {"kinds": kinds, "strategies": ["rem"], "repeats": 7, "json": None}
        measured = bench_multi_device.Measurement(argparse.Namespace(**given), self.is_late, is_shown=False)
        measured.run()
        for row in measured.rows:
            self.add({**row, "case": f"{row['kind']}, {k} x rmat-{scale}", "benchmark": "several_gpus"})

    def factorization(self) -> None:
        n, (n_users, n_items) = self.args.ratings, self.args.matrix
        ratings = cg.generators.planted_ratings(n_users, n_items, n, rank=8, noise=0.1)
        for rank in RANKS:
            self._train(ratings, rank)

    def _train(self, ratings: Ratings, rank: int) -> None:
        options = {"rank": rank, "strategy": "auto", "options": None, "deterministic": False, "n_epochs": EPOCHS}
        options |= {"storage": "float32", "biases": False, "mean": None}
        start = initial_factors(*ratings.shape, rank, scale=1.0, biases=False, rng=np.random.default_rng(0))
        given: dict[str, Any] = {"schedule": make_schedule("constant", 0.01, 0.0), "regularization": 0.05}
        losses: list[list[float]] = []
        for count in self.counts:
            if self.is_late(f"factorization of rank {rank} on {count} devices"):
                continue
            self._engine(ratings, options, count).close()  # Programs are built here.
            began = time.perf_counter()
            engine = self._engine(ratings, options, count)
            making_seconds = time.perf_counter() - began
            engine.model.set(start)
            epochs = engine.train(EPOCHS, **given)
            losses.append([epoch.loss for epoch in epochs])
            # An epoch moves all items 2n − 1 times, n times in its sweep. links.py counts n − 1 moves as one.
            between = getattr(engine, "sent_bytes", 0) / EPOCHS / (2 * count - 1) * count / max(1, count - 1)
            engine.model.set(start)
            began = time.perf_counter()
            engine.train(EPOCHS, every_loss=False, **given)  # As SGDMatrixFactorization.fit() does by default.
            training_seconds = time.perf_counter() - began
            one, several = losses[0], losses[-1]
            if not np.allclose(one, several, rtol=LOSS_WITHIN) or abs(several[-1] / one[-1] - 1) > LAST_LOSS_WITHIN:
                raise VerificationError(f"losses on {count} devices are {several}; on one {one}")
            row = {"case": f"{ratings.n_ratings:.0e} ratings, rank {rank}", "work": ratings.n_ratings, "devices": count}
            row |= {"strategy": engine.strategy, "losses": several, "calls": 1, "sent_bytes": 0, "answer_bytes": 0}
            row |= {"between_bytes": between, "wall_seconds": statistics.median(e.seconds for e in epochs[1:])}
            row |= {"making_seconds": making_seconds, "training_seconds": training_seconds, "epochs": EPOCHS}
            self.add({**row, "benchmark": "several_gpus_factorization", "graph": f"{row['case']}, {count} devices"})
            engine.close()
            self.session.release()

    def _engine(self, ratings: Ratings, options: Mapping[str, Any], count: int) -> Any:
        """Return a training on *count* devices, which derives the statistics of the ratings anew."""
        fresh = Ratings._trusted(ratings.users, ratings.items, ratings.values, *ratings.shape)
        if count == 1:
            return Factorization(self.session, fresh, **options)
        return ProcessFactorization(processes.device_names(self.args.devices[:count]), fresh, **options)

    def loads(self) -> None:
        for name, make in bench_hetero.cases(self.args.load_scale).items():
            if self.is_late(name):
                continue
            case = make()
            for arrays in self.args.arrays:
                self._take_turns(name, case, arrays)

    def _take_turns(self, name: str, case: bench_hetero.Case, arrays: str) -> None:
        """Add the rows of a load. Numbers of devices and policies take turns, since hosts change their speed."""
        kinds = [(count, policy) for count in self.counts for policy in ("hass", "static")[: 1 + (count > 1)]]
        schedulers = {kind: self._scheduler(*kind) for kind in kinds}
        same = None if arrays == "new" else _shared(case.load)
        # The results are kept, so that each result has new memory.
        done: dict[tuple[int, str], list[tuple[Any, Any]]] = {kind: [] for kind in kinds}
        for _ in range(LEARNING_ROUNDS + TIMED_ROUNDS):
            for kind, made in schedulers.items():
                (result,), report = made.run(case.work, [copy.deepcopy(case.load) if same is None else same])
                done[kind].append((result, report.rounds[0]))
        for count, policy in kinds:
            found, rounds = zip(*done[count, policy], strict=True)
            if not case.check(found[0]) or not case.check(found[-1]):
                raise VerificationError(f"{name} on {count} devices: a wrong result")
            seconds, last = [each.total_seconds for each in rounds], rounds[-1].items
            row = {"case": f"{name}, {arrays}", "strategy": policy, "devices": count, "work": 1, "calls": 3}
            row |= {"wall_seconds": statistics.median(seconds[-TIMED_ROUNDS:]), "round_seconds": seconds, "items": last}
            row |= {"answer_bytes": _bytes_of(found[-1]), "sent_bytes": _bytes_of(case.load), "between_bytes": 0}
            row |= {"benchmark": "several_gpus_loads", "graph": f"{row['case']}, {count} devices, {policy}"}
            self.add({**row, "computing": sum(n > 0 for n in last)})

    def _scheduler(self, count: int, policy: str) -> HeteroScheduler:
        devices: Any = [self.session] if count == 1 else self.args.devices[:count]
        return HeteroScheduler(devices, policy=policy, ratios=[1 / count] * count if policy == "static" else None)


def _line(row: Mapping[str, Any] | None) -> str:
    """Return a line of the table, or its head."""
    fields = {
        "ms": ("wall_seconds", 1e3), "model ms": ("model_seconds", 1e3), "speed-up": ("speed_up", 1),
        "local ms": ("local_seconds", 1e3), "merge ms": ("merge_seconds", 1e3), "collect ms": ("collect_seconds", 1e3),
        "MB sent": ("sent_bytes", 1e-6), "between": ("between_bytes", 1e-6), "computing": ("computing", 1),
        "making s": ("making_seconds", 1), "training s": ("training_seconds", 1),
    }  # fmt: skip
    if row is None:
        return f"{'case':28} strategy   devices" + "".join(f"{name:>11}" for name in fields)
    cells = ("" if row.get(of) is None else f"{factor * row[of]:.4g}" for of, factor in fields.values())
    return f"{row['case']:28} {row['strategy']:10} {row['devices']:7}" + "".join(f"{cell:>11}" for cell in cells)


def _shared(load: Any) -> Any:
    """Return *load* with its arrays in shared memory."""
    if isinstance(load, tuple):
        return tuple(map(_shared, load))
    if isinstance(load, np.ndarray):
        return cg.hetero.shared_copy(load)
    if hasattr(load, "indptr"):
        return type(load)(tuple(map(_shared, (load.data, load.indices, load.indptr))), shape=load.shape, copy=False)
    return load


def _touch(n_bytes: int) -> None:
    """Write to *n_bytes* bytes of new memory, and free them.

    A virtual machine may get its memory from its host when the memory is first used, which takes longer than a copy.
    """
    with ThreadPoolExecutor() as threads:
        memory = np.empty(n_bytes, np.uint8)
        list(threads.map(lambda first: memory[first : first + _TOUCHED].fill(1), range(0, n_bytes, _TOUCHED)))


def _bytes_of(value: Any) -> int:
    """Return the bytes of the arrays in a load or a result."""
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if hasattr(value, "indptr"):
        value = value.indptr, value.indices, value.data
    return sum(map(_bytes_of, value)) if isinstance(value, tuple | list) else int(getattr(value, "nbytes", 8))


def draw(rows: Sequence[Mapping[str, Any]], path: str) -> None:
    """Draw the speed-up of each case over the number of devices."""
    parts = {"several_gpus": "graphs", "several_gpus_factorization": "ratings", "several_gpus_loads": "loads"}
    with figure_file(path, 11.0, 4.6) as figure:
        axes = figure.subplots(1, len(parts), sharey=True)
        for axis, (part, title) in zip(axes, parts.items(), strict=True):
            own = [row for row in rows if row["benchmark"] == part]
            counts = sorted({row["devices"] for row in rows})
            axis.plot(counts, counts, color="black", linewidth=0.8, linestyle=":")
            for case in dict.fromkeys(row["case"] for row in own):
                found = [(row["devices"], row["speed_up"]) for row in own if row["case"] == case]
                axis.plot(*zip(*found, strict=True), marker="o", markersize=4, label=case)
            axis.set_title(title, fontsize=10)
            axis.set_xlabel("devices")
            axis.set_xticks(counts)
            axis.legend(fontsize=6, frameon=False)
        axes[0].set_ylabel("speed-up over one device")


def _take_any(names: list[str]) -> None:
    """Treat each of the named devices as a GPU, whatever its kind."""
    processes.MIN_GPUS = 0
    scheduler.devices_of = lambda given: _in_processes(given) if isinstance(given[0], str) else list(given)  # type: ignore[attr-defined]


def main(given: Sequence[str] | None = None) -> int:
    made = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    made.add_argument("--devices", nargs="+", required=True, metavar="NAME", help="names of 1, 2, 4 or 8 devices")
    made.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    made.add_argument(
        "--arrays", nargs="+", choices=ARRAYS, default=ARRAYS, help="new for each load, or in shared memory"
    )
    made.add_argument("--minutes", type=float, default=9.0, help="after which rows are left out (default %(default)s)")
    made.add_argument("--touch", type=int, default=0, metavar="GIB", help="write to so much memory first")
    made.add_argument("--small", action="store_true", help="a trial: everything is about a thousand times smaller")
    made.add_argument("--any", action="store_true", help="a trial: devices that are no GPUs are treated as GPUs")
    made.add_argument("--json", metavar="PATH", help="write all rows to this file")
    made.add_argument("--plot", metavar="PATH", help="draw the speed-ups")
    args = made.parse_args(given)
    args.scale, args.replicas = (12, 8) if args.small else (22, 24)
    args.ratings, args.matrix = (50_000, (1000, 500)) if args.small else (100_000_000, (1_000_000, 100_000))
    args.load_scale, args.link_bytes = (0.0002, 1 << 20) if args.small else (1.0, 1 << 28)
    if args.any:
        _take_any(args.devices)
    _touch(args.touch << 30)
    run = Run(args)
    parts: dict[str, Callable[[], None]] = {part: getattr(run, part) for part in args.parts}
    for name, part in parts.items():
        part()
        print(f"{name}: {time.perf_counter() - run.started:.0f} s since the start", flush=True)
    if args.plot:
        draw(run.rows, args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
