"""Time plans and describe the measurements as rows of JSON.

A plan is built, its graph uploaded and run once, outside the timing unless that run took the whole budget. Then come
warm-up runs, then the timed ones, and what the last of them left is verified. A row holds, besides what it was
measured on:

``wall_seconds, least_wall_seconds``
    Median and least host time of ``run()`` until the device is idle: what the cost model predicts.
``kernel_seconds, least_kernel_seconds``
    Median and least sum of the kernels' device times, without the gaps between them.
``span_seconds, least_span_seconds``
    Median and least time from the start of the first kernel to the end of the last one.
``predicted_seconds``
    The cost model's estimate, and ``picked`` whether it chose this strategy.
``kernels``
    Launches and seconds of each kernel in the run with the least host time.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import inputs
import numpy as np
from checkout import ROOT

from clgraph.cli.terminal import busy
from clgraph.data.graph import Graph
from clgraph.errors import InputError, VerificationError
from clgraph.model.cost import Estimate
from clgraph.model.strategy import Choice, Strategy
from clgraph.report import read_rows, tabulate_rows, write_rows
from clgraph.runtime.session import Session
from clgraph.runtime.timing import Recorder, Seconds

REPEATS = 7
WARM_UPS = 2


@dataclass(frozen=True)
class Timing:
    """Median and least seconds over ``repeats`` runs; see the module."""

    wall_seconds: float
    least_wall_seconds: float
    kernel_seconds: float
    least_kernel_seconds: float
    span_seconds: float
    least_span_seconds: float
    repeats: int
    kernels: dict[str, tuple[int, float]]


def time_run(
    session: Session, run: Callable[[], Any], *, repeats: int = REPEATS, budget_seconds: float = 60.0
) -> Timing:
    """Time *run*; a slow one is repeated less once the budget is spent, but at least once."""
    started = time.perf_counter()
    timed: list[Seconds] = []
    kernels: dict[str, tuple[int, float]] = {}
    for i in range(WARM_UPS + repeats):
        late = time.perf_counter() - started > budget_seconds
        if late and timed:
            break
        with session.measure() as recorder:
            run()
        if i >= WARM_UPS or late:
            assert recorder.seconds is not None
            if recorder.seconds.total < min((seconds.total for seconds in timed), default=np.inf):
                kernels = recorder.kernels()
            timed.append(recorder.seconds if recorder.kernel_events else _on_host(recorder.seconds))
    columns = ([getattr(seconds, part) for seconds in timed] for part in ("total", "kernel", "span"))
    return Timing(*(number for each in columns for number in (statistics.median(each), min(each))), len(timed), kernels)


def one_run(recorder: Recorder) -> Timing:
    """Return what *recorder* has seen as the timing of one run, without what was compiled."""
    assert recorder.seconds is not None
    seconds = replace(recorder.seconds, total=recorder.seconds.total - recorder.seconds.compile)
    seconds = seconds if recorder.kernel_events else _on_host(seconds)
    parts = (number for number in (seconds.total, seconds.kernel, seconds.span) for _ in range(2))
    return Timing(*parts, 1, recorder.kernels())


def _on_host(seconds: Seconds) -> Seconds:
    """Return *seconds* of a run without kernels: what it computes, the host computes."""
    return replace(seconds, kernel=seconds.total, span=seconds.total)


def kernel_seconds(session: Session, call: Callable[[], Any]) -> float:
    """Return the least device time of the kernels of *call*."""
    seconds = []
    for _ in range(REPEATS):
        with session.measure() as recorder:
            call()
        assert recorder.seconds is not None
        seconds.append(recorder.seconds.kernel)
    return min(seconds)


def time_strategies(
    session: Session,
    problem: Any,
    strategies: Mapping[str, Strategy],
    choice: Choice,
    verify: Callable[[Any], None],
    *,
    names: Iterable[str] = (),
    repeats: int = REPEATS,
    budget_seconds: float = 60.0,
) -> list[dict[str, Any]]:
    """Return one row for each strategy this device can run (or those in *names*), in *choice*'s order.

    *verify* is called with each plan after the timed runs, and raises if the result of the last one is wrong.
    """
    wanted = set(names) or set(choice.predicted)
    rows = []
    for name in (name for name in choice.predicted if name in wanted):
        with busy(f"timing {name} on {session.facts.name}"):
            plan = strategies[name].plan(session, problem)
            with session.measure() as first:
                plan.run()
            timing = one_run(first)  # if its kernels were slow: drivers compile when a kernel is launched first
            if timing.kernel_seconds <= budget_seconds:
                timing = time_run(session, plan.run, repeats=repeats, budget_seconds=budget_seconds)
            with naming(name):
                verify(plan)
            plan.release()
        rows.append(
            {
                "strategy": name,
                "kind": strategies[name].kind,
                "picked": name == choice.strategy,
                "predicted_seconds": _of_a_run(choice.predicted[name]),
                "verified": True,
                **asdict(timing),
            }
        )
    return rows


def _of_a_run(predicted: Estimate) -> float:
    """Return what is predicted of a plan's run, without what a call takes beside it."""
    return predicted.seconds - predicted.parts.get("call", 0.0)


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Begin the error of a check inside the block with *what* was checked."""
    try:
        yield
    except VerificationError as error:
        raise VerificationError(f"{what}: {error}") from error


def described(rows: Iterable[Mapping[str, Any]], benchmark: str, name: str, graph: Graph) -> list[dict[str, Any]]:
    """Return *rows* with the benchmark, the graph *name* and its size."""
    sizes = {"n_vertices": graph.n_vertices, "n_edges": graph.n_edges}
    return [{"benchmark": benchmark, "graph": name, **sizes, **row} for row in rows]


def recheck(
    paths: Iterable[str],
    wanted: Callable[[dict[str, Any]], bool],
    answer: Callable[[str, dict[str, Any]], dict[str, Any]],
    workers: int | None,
    what: str,
) -> int:
    """Set ``verified`` of rows that another machine measured, and say of each whether it agrees.

    The rows are those *wanted*. ``answer(name, row)`` returns the columns as they must be of all rows of one graph,
    the first of which is *row*, and *what* names them in the error if some differ. What ``graph`` says after a comma
    is no part of the input's name.
    """
    rows = {path: [row for row in read_rows(path) if wanted(row)] for path in paths}
    first: dict[str, dict[str, Any]] = {}
    for row in (row for group in rows.values() for row in group):
        first.setdefault(row["graph"], row)
    if not first:
        raise InputError(f"no rows to compare with {what}")
    inputs.prepare((name.partition(",")[0] for name in first), workers)
    n_wrong = 0
    for name, known in first.items():
        with busy(f"checking {name}"):
            right = answer(name.partition(",")[0], known)
        for path, group in rows.items():
            checked = [{**row, "verified": row | right == row} for row in group if row["graph"] == name]
            write_rows(path, checked)
            for row in checked:
                print(f"{path}: {name} {row['strategy']} {'agrees' if row['verified'] else 'DIFFERS'}", flush=True)
            n_wrong += sum(not row["verified"] for row in checked)
    if n_wrong:
        raise VerificationError(f"{n_wrong} rows differ from {what}")
    return 0


def command() -> str:
    """Return the command that runs; folders of absolute paths are dropped, they say nothing elsewhere."""
    arguments = [Path(a).name if Path(a).is_absolute() else a for a in sys.argv[1:]]
    return shlex.join([f"benchmarks/{Path(sys.argv[0]).name}", *arguments])


def provenance(session: Session) -> dict[str, Any]:
    """Return what every row says of device, code and command."""
    facts = session.facts
    return {
        "device": facts.name,
        "platform": facts.platform,
        "driver": facts.driver_version,
        "compute_units": facts.compute_units,
        "profile": session.profile.origin,
        "commit": commit(),
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "command": command(),
    }


def commit() -> str:
    """Return the commit of the checkout, ``+`` added if files differ; ``CLGRAPH_COMMIT`` where git is not."""
    try:
        described_as = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get("CLGRAPH_COMMIT", "unknown")
    return described_as


def parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options all benchmarks share."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("-d", "--device", help="as for `clgraph`; the default is the best device")
    made.add_argument("--graphs", nargs="+", metavar="GRAPH", help="names of benchmarks/inputs.py, or files")
    made.add_argument("--repeats", type=int, default=REPEATS, help=f"timed runs (default {REPEATS})")
    made.add_argument(
        "--budget",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="repeat a strategy less once it took this long (default 60)",
    )
    made.add_argument("--workers", type=int, default=os.cpu_count(), help="processes that generate graphs")
    made.add_argument("--json", metavar="FILE", help="add the rows to this result file")
    return made


def measure_graphs(
    args: argparse.Namespace,
    graphs: Iterable[str],
    load: Callable[..., Graph],
    measure: Callable[[Session, str, Graph], Iterable[list[dict[str, Any]]]],
    table: str | Callable[[list[dict[str, Any]]], str] = "rows",
) -> list[dict[str, Any]]:
    """Measure the graphs of ``--graphs``, or else *graphs*, one after the other, and return all rows.

    ``measure(session, name, graph)`` gives lists of rows, which are printed and stored as soon as they come.
    """
    names = args.graphs or list(graphs)
    inputs.prepare((name for name in names if not (args.on_device and inputs.is_born(name))), args.workers)
    session = Session(args.device)
    origin = provenance(session)
    rows: list[dict[str, Any]] = []
    for name in names:
        for found in measure(session, name, load(name, session=session if args.on_device else None)):
            measured = [{**row, **origin} for row in found]
            rows += measured
            finish(args, measured, table)
        session.release()
    return rows


def finish(
    args: argparse.Namespace, rows: list[dict[str, Any]], table: str | Callable[[list[dict[str, Any]]], str] = "rows"
) -> None:
    """Print the rows as a table, of :func:`tabulate_rows` or one's own, and add them to the file of ``--json``."""
    print(tabulate_rows(rows, table, "github") if isinstance(table, str) else table(rows), flush=True)
    if args.json:
        write_rows(args.json, rows)


def print_regret(args: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    """Print what the picks cost, unless only some strategies were timed."""
    if not args.strategies:
        print(f"\nWhat picks cost:\n\n{tabulate_rows(rows, 'regret', 'github')}")
