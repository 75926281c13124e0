"""Time plans and describe the measurements as rows of JSON.

A plan is built, its graph uploaded and run once, outside the timing unless that run took the whole budget. Then come
warm-up runs, then the timed ones, and the result of the last run is verified. A row holds, besides what it was
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
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import inputs
from checkout import ROOT
from tabulate import tabulate

from clgraph.cli.terminal import busy
from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.model.strategy import Choice, Strategy
from clgraph.report import tabulate_rows, write_rows
from clgraph.runtime.devices import sub_devices
from clgraph.runtime.driver.timing import Recorder, Seconds
from clgraph.runtime.session import Session, as_session

Rows: TypeAlias = list[dict[str, Any]]
Column: TypeAlias = str | tuple[str, float, str]  # a field of rows; or one, the factor of its unit, and a format
Table: TypeAlias = str | Mapping[str, Column] | Callable[[Rows], str]  # a str: the name of a table of clgraph.report
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

    @classmethod
    def of(cls, runs: Sequence[Recorder]) -> Timing:
        """Return the timing of these runs, without the time of compiling. Runs without kernels compute on the host."""
        walls = [run.seconds.total - run.seconds.compile for run in runs if run.seconds is not None]
        kernels, spans = (
            [getattr(run.seconds, part) if run.kernel_events else wall for run, wall in zip(runs, walls, strict=True)]
            for part in ("kernel", "span")
        )
        numbers = (number for each in (walls, kernels, spans) for number in (statistics.median(each), min(each)))
        return cls(*numbers, len(runs), runs[walls.index(min(walls))].kernels())


def time_run(
    session: Session, run: Callable[[], Any], *, repeats: int = REPEATS, budget_seconds: float = 60.0
) -> Timing:
    """Time *run*; a slow one is repeated less once the budget is spent, but at least once."""
    started = time.perf_counter()
    timed: list[Recorder] = []
    for i in range(WARM_UPS + repeats):
        late = time.perf_counter() - started > budget_seconds
        if late and timed:
            break
        with session.measure() as recorder:
            run()
        if i >= WARM_UPS or late:
            timed.append(recorder)
    return Timing.of(timed)


def recorded(session: Session, run: Callable[[], Any], repeats: int = REPEATS) -> Iterator[tuple[Recorder, Seconds]]:
    """Yield the record and the seconds of each of *repeats* runs, after some that warm up."""
    for i in range(WARM_UPS + repeats):
        with session.measure() as recorder:
            run()
        if i >= WARM_UPS:
            assert recorder.seconds is not None
            yield recorder, recorder.seconds


def timed_calls(
    call: Callable[..., Any], repeats: int, budget_seconds: float = 60.0, *makes: Callable[[], Any]
) -> tuple[Any, list[float]]:
    """Return the last answer of *call* and the seconds of each call; *makes* make new arguments each time."""
    seconds: list[float] = []
    while not seconds or (len(seconds) < repeats and sum(seconds) < budget_seconds):
        made = [make() for make in makes]
        started = time.perf_counter()
        found = call(*made)
        seconds.append(time.perf_counter() - started)
    return found, seconds


def walls(seconds: Sequence[float]) -> dict[str, Any]:
    """Return the fields of a row that has only times of the host."""
    return {"wall_seconds": statistics.median(seconds), "least_wall_seconds": min(seconds), "repeats": len(seconds)}


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
            timing = Timing.of([first])  # if its kernels were slow: drivers compile when a kernel is launched first
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
                # The prediction of a plan's run, without the overhead of a call.
                "predicted_seconds": choice.predicted[name].seconds - choice.predicted[name].parts.get("call", 0.0),
                "verified": True,
                **asdict(timing),
            }
        )
    return rows


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Let the error of a check inside the block begin with *what*."""
    try:
        yield
    except VerificationError as error:
        raise VerificationError(f"{what}: {error}") from error


def sessions_named(names: Sequence[str]) -> list[Session]:
    """Return a session for each name; ``pocl/3/1`` stands for two parts of pocl with 3 units and 1 unit."""
    found: list[Session] = []
    for name in names:
        whole, *units = name.split("/")
        found += sub_devices(whole, [int(unit) for unit in units]) if units else [as_session(whole)]
    return found


def described(rows: Iterable[Mapping[str, Any]], benchmark: str, name: str, graph: Graph) -> list[dict[str, Any]]:
    """Return *rows* with the benchmark, the graph *name* and its size."""
    sizes = {"n_vertices": graph.n_vertices, "n_edges": graph.n_edges}
    return [{"benchmark": benchmark, "graph": name, **sizes, **row} for row in rows]


def write_document(path: str, document: Mapping[str, Any]) -> None:
    """Write JSON that is no file of :func:`write_rows`."""
    Path(path).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def command() -> str:
    """Return the command that runs; folders of absolute paths are dropped, they say nothing elsewhere."""
    arguments = [Path(a).name if Path(a).is_absolute() else a for a in sys.argv[1:]]
    return shlex.join([f"benchmarks/{Path(sys.argv[0]).name}", *arguments])


def provenance(session: Session) -> dict[str, Any]:
    """Return the fields of every row that describe device, code and command."""
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


@cache
def commit() -> str:
    """Return the commit of the checkout, ``+`` added if files differ; ``CLGRAPH_COMMIT`` where git is not."""
    git = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        return subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get("CLGRAPH_COMMIT", "unknown")


def parser(module: str | None, *, graphs: bool = True) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks share, with *graphs* also the options of graphs."""
    made = argparse.ArgumentParser(description=str(module).partition("\n")[0])
    made.add_argument("-d", "--device", help="as for `clgraph`; the default is the best device")
    made.add_argument("--repeats", type=int, default=REPEATS, help=f"timed runs (default {REPEATS})")
    made.add_argument("--budget", type=float, default=60.0, metavar="SECONDS", help="then repeat less (default 60)")
    made.add_argument("--json", metavar="FILE", help="add the rows to this result file")
    if graphs:
        made.add_argument("--graphs", nargs="+", metavar="GRAPH", help="names of benchmarks/inputs.py, or files")
        made.add_argument("--workers", type=int, default=os.cpu_count(), help="processes that generate graphs")
    return made


def milliseconds(field: str) -> Column:
    return field, 1e3, ".3f"


def table_of(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Column]) -> str:
    """Return a table with these *columns*, by their headings; a cell is empty if its row lacks the field."""

    def cell(row: Mapping[str, Any], column: Column) -> Any:
        if isinstance(column, str):
            return row.get(column, "")
        field, factor, style = column
        return format(row[field] * factor, style) if field in row else ""

    cells = [[cell(row, column) for column in columns.values()] for row in rows]
    return str(tabulate(cells, list(columns), tablefmt="github", disable_numparse=True))


def measure_graphs(
    args: argparse.Namespace,
    graphs: Iterable[str],
    load: Callable[..., Graph],
    measure: Callable[[Session, str, Graph], Iterable[Rows]],
    table: Table = "rows",
) -> Rows:
    """Measure the graphs of ``--graphs``, or else *graphs*, one after the other, and return all rows.

    ``measure(session, name, graph)`` gives lists of rows, which are printed and stored as soon as they come.
    """
    names = args.graphs or list(graphs)
    inputs.prepare((name for name in names if not (args.on_device and inputs.is_born(name))), args.workers)
    session = Session(args.device)
    commit()  # The commit at the start counts, because the checkout may change during the run.
    rows: Rows = []
    for name in names:
        for found in measure(session, name, load(name, session=session if args.on_device else None)):
            rows += finish(args, session, found, table)
        session.release()
    return rows


def finish(args: argparse.Namespace, session: Session, rows: Iterable[dict[str, Any]], table: Table = "rows") -> Rows:
    """Print the rows as a table, and add them to the file of ``--json``.

    The rows are returned with the fields of :func:`provenance`.
    """
    rows = [{**row, **provenance(session)} for row in rows]
    if isinstance(table, str):
        print(tabulate_rows(rows, table, "github"), flush=True)
    else:
        print(table(rows) if callable(table) else table_of(rows, table), flush=True)
    if args.json:
        write_rows(args.json, rows)
    return rows
