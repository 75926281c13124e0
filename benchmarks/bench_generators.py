"""Time the generators of graphs on a device, and beside them on the host.

    benchmarks/bench_generators.py --device nvidia --entries 100000000 --json generators.json

A row is one generator by ``strategy`` "device" or "host": seconds as ``harness.py`` says, those of the host wall time
only, and ``entries_per_second`` of the wall time. The first call, which compiles, is not timed. Unless ``--no-host``,
the arrays of both are compared.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import harness
import numpy as np
from tabulate import tabulate

from clgraph import generators
from clgraph.cli.main import guarded
from clgraph.cli.terminal import busy
from clgraph.data.graph import Graph
from clgraph.errors import VerificationError
from clgraph.report import write_rows
from clgraph.runtime.session import Session

_ARRAYS = ("row_offsets", "column_indices", "edge_weights")
_COLUMNS = {
    "kernel_seconds": ("kernels, ms", 1e3),
    "span_seconds": ("span, ms", 1e3),
    "wall_seconds": ("wall, ms", 1e3),
    "least_wall_seconds": ("least wall, ms", 1e3),
    "entries_per_second": ("M entries/s", 1e-6),
}
Maker = Callable[[Session | None], Graph]


def makers(entries: int) -> dict[str, Maker]:
    """Return a maker for each generator of a graph of about so many entries, which takes a session or ``None``."""
    scale, side = max(1, round(math.log2(entries / 32))), max(1, math.isqrt(entries // 4))
    small = max(1, math.isqrt(entries // 32))
    made: dict[str, Callable[..., Graph]] = {
        "rmat": partial(generators.rmat, scale, 16),
        "uniform_random": partial(generators.uniform_random, max(1, entries // 32), entries // 2),
        "grid": partial(generators.grid, side, side),
        "tree": partial(generators.tree, entries // 2),
        "road_like": partial(generators.road_like, round(entries / 2.4)),
        "random_geometric": partial(generators.random_geometric, entries // 14),
        "random_geometric, random ids": partial(generators.random_geometric, entries // 14, ids="random"),
    }
    named: dict[str, Maker] = {name: lambda session, make=make: make(session=session) for name, make in made.items()}
    for name, make in (
        ("random_weights", partial(generators.random_weights, high=2**20)),
        ("random_weights, float32", partial(generators.random_weights, dtype="float32")),
    ):
        named[name] = _of(made["rmat"], make)
    named["expanded"] = _of(partial(generators.grid, small, small), lambda graph: graph.expanded(8))
    return named


def _of(source: Callable[..., Graph], make: Callable[[Graph], Graph]) -> Maker:
    """Return what makes a graph of the one that *source* makes once for each place, outside the timing."""
    known: dict[Session | None, Graph] = {}

    def made(session: Session | None) -> Graph:
        if session not in known:
            known[session] = source(session=session)
        return make(known[session])

    return made


def measure(
    session: Session, name: str, make: Maker, *, repeats: int, budget_seconds: float, with_host: bool
) -> list[dict[str, Any]]:
    """Return the rows of a generator."""
    with busy(f"timing {name} on {session.facts.name}"):
        made = make(session)
        timing = harness.time_run(session, lambda: make(session), repeats=repeats, budget_seconds=budget_seconds)
    rows = [{"strategy": "device", **asdict(timing)}]
    if with_host:
        with busy(f"timing {name} on the host"):
            host, seconds = make(None), list[float]()
            while not seconds or (len(seconds) < repeats and sum(seconds) < budget_seconds):
                started = time.perf_counter()
                make(None)
                seconds.append(time.perf_counter() - started)
        check_same(name, made, host)
        walls = {"wall_seconds": statistics.median(seconds), "least_wall_seconds": min(seconds)}
        rows.append({"strategy": "host", **walls, "repeats": len(seconds)})
    rows = [{**row, "entries_per_second": made.n_edges / row["wall_seconds"], "verified": with_host} for row in rows]
    return harness.described(rows, "generators", name, made)


def check_same(name: str, made: Graph, wanted: Graph) -> None:
    """Raise unless both graphs have the same arrays."""
    for array in _ARRAYS:
        if not np.array_equal(getattr(made, array), getattr(wanted, array)):
            raise VerificationError(f"{name}: {array} on the device are others than on the host")


def table(rows: list[dict[str, Any]]) -> str:
    body = [
        [row["graph"], row["strategy"], row["n_vertices"], row["n_edges"],
         *(row[key] * factor if key in row else None for key, (_, factor) in _COLUMNS.items())]
        for row in rows
    ]  # fmt: skip
    titles = ["generator", "made on", "vertices", "entries", *(title for title, _ in _COLUMNS.values())]
    return tabulate(body, titles, "github", floatfmt=".4g", intfmt=",")


def run(args: argparse.Namespace) -> int:
    session = Session(args.device)
    origin, rows = harness.provenance(session), list[dict[str, Any]]()
    all_makers = makers(args.entries or (10**7 if session.facts.is_cpu else 10**8))
    for name in args.generators or all_makers:
        found = measure(
            session, name, all_makers[name], repeats=args.repeats, budget_seconds=args.budget, with_host=args.host
        )
        rows += [{**row, **origin} for row in found]
        if args.json:
            write_rows(args.json, rows)
        session.release()
    print(table(rows))
    return 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    made.add_argument("-d", "--device", help="as for `clgraph`; the default is the best device")
    made.add_argument("--entries", type=int, metavar="M", help="about so many in a graph (10**8; on CPUs 10**7)")
    made.add_argument("--generators", nargs="+", choices=list(makers(1000)), metavar="NAME", help="(default: all)")
    made.add_argument("--host", action=argparse.BooleanOptionalAction, default=True, help="make them on the host too")
    made.add_argument("--repeats", type=int, default=harness.REPEATS, help="timed runs (default %(default)s)")
    made.add_argument("--budget", type=float, default=60.0, metavar="SECONDS", help="(default %(default)s a generator)")
    made.add_argument("--json", metavar="FILE", help="add the rows to this result file")
    return made


if __name__ == "__main__":
    sys.exit(guarded(run, parser().parse_args()))
