"""Time the generators of graphs on a device, and beside them on the host.

    benchmarks/bench_generators.py --device nvidia --entries 100000000 --json generators.json

A row is one generator by ``strategy`` "device" or "host": seconds as ``harness.py`` says (on the host, wall time only),
and ``entries_per_second`` of the wall time. The first call, which compiles, is not timed. Unless ``--no-host``,
the arrays of both are compared.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import harness
import numpy as np

from clgraph import generators
from clgraph.cli.main import guarded
from clgraph.cli.terminal import busy
from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.runtime.session import Session

_ARRAYS = ("row_offsets", "column_indices", "edge_weights")
COLUMNS: dict[str, harness.Column] = {
    "generator": "graph",
    "made on": "strategy",
    "vertices": ("n_vertices", 1, ","),
    "entries": ("n_edges", 1, ","),
    "kernels, ms": ("kernel_seconds", 1e3, ".4g"),
    "span, ms": ("span_seconds", 1e3, ".4g"),
    "wall, ms": ("wall_seconds", 1e3, ".4g"),
    "least wall, ms": ("least_wall_seconds", 1e3, ".4g"),
    "M entries/s": ("entries_per_second", 1e-6, ".4g"),
}
Maker = Callable[[Session | None], Graph]


def makers(entries: int) -> dict[str, Maker]:
    """Return a maker for each generator, of a graph of about *entries* entries; it takes a session or ``None``."""
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
    """Return a maker that applies *make* to a graph of *source*, which is made once per session, outside the timing."""
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
            make(None)
            host, seconds = harness.timed_calls(lambda: make(None), repeats, budget_seconds)
        for array in _ARRAYS:
            if not np.array_equal(getattr(made, array), getattr(host, array)):
                raise VerificationError(f"{name}: {array} on the device are others than on the host")
        rows.append({"strategy": "host", **harness.walls(seconds)})
    rows = [{**row, "entries_per_second": made.n_edges / row["wall_seconds"], "verified": with_host} for row in rows]
    return harness.described(rows, "generators", name, made)


def run(args: argparse.Namespace) -> int:
    session = Session(args.device)
    all_makers = makers(args.entries or (10**7 if session.facts.is_cpu else 10**8))
    for name in args.generators or all_makers:
        found = measure(
            session, name, all_makers[name], repeats=args.repeats, budget_seconds=args.budget, with_host=args.host
        )
        harness.finish(args, session, found, COLUMNS)
        session.release()
    return 0


if __name__ == "__main__":
    parser = harness.parser(__doc__, graphs=False)
    parser.add_argument("--entries", type=int, metavar="M", help="approximate entries of a graph (10**8; CPUs: 10**7)")
    parser.add_argument("--generators", nargs="+", choices=list(makers(1000)), metavar="NAME", help="(default: all)")
    parser.add_argument("--host", action=argparse.BooleanOptionalAction, default=True, help="make them on the host too")
    sys.exit(guarded(run, parser.parse_args()))
