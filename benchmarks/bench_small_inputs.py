"""Look for calls on small graphs that take much longer than scipy's.

    benchmarks/bench_small_inputs.py -d pocl --algorithms bfs --most 10000

Graphs of 10 vertices on, each about three times as large as the one before, go in as scipy CSR arrays that no call has
seen, neither ours nor scipy's. A call may take 1.25 times as long as scipy's and 0.2 ms more; the script returns 1 if
one takes longer. Times are the least of several calls, ours and scipy's in turns. Besides the fields of ``harness.py``
a row holds ``algorithm``, ``ran`` (the strategy), ``scipy_seconds`` and ``allowed_seconds``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import harness
import numpy as np
from end_to_end_calls import ALGORITHMS, Calls

from clgraph import generators
from clgraph.cli.main import guarded
from clgraph.data.graphs.graph import Graph
from clgraph.runtime.session import Session

KINDS: dict[str, Callable[[int], Graph]] = {
    "grid": lambda n: generators.grid(max(2, round(n**0.5)), max(2, round(n**0.5))),
    "random": lambda n: generators.uniform_random(n, 4 * n),
    "star": generators.star,
    "path": generators.path,
    "tree": generators.tree,
}
SIZES = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)


def measure(args: argparse.Namespace, session: Session, name: str, calls: Calls, graph: Graph) -> dict[str, Any]:
    """Return the row of one algorithm on one graph."""
    matrix, source = graph.to_scipy().astype(np.float64), graph.n_vertices // 2
    assert calls.scipy is not None
    found, expected = calls.ours(matrix.copy(), source, session), calls.scipy(matrix, source)  # builds kernels
    calls.check(graph, source, found, expected)
    ours, scipys = [], []
    for _ in range(args.repeats):
        fresh, started = matrix.copy(), time.perf_counter()
        found = calls.ours(fresh, source, session)
        ours.append(time.perf_counter() - started)
        fresh, started = matrix.copy(), time.perf_counter()
        calls.scipy(fresh, source)
        scipys.append(time.perf_counter() - started)
    limits = {"scipy_seconds": min(scipys), "allowed_seconds": 1.25 * min(scipys) + 2e-4}
    about = {"strategy": "scipy, first call", "algorithm": calls.name, "ran": found.info.strategy, "verified": True}
    row = {**about, **harness.walls(ours), **limits}
    return harness.described([row], "small_inputs", f"{name}: {calls.name}", graph)[0]


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows that take longer than they may, and how many there are."""
    late = [row for row in rows if row["least_wall_seconds"] > row["allowed_seconds"]]
    if not late:
        return f"none of {len(rows)} calls takes longer than it may"
    columns: dict[str, harness.Column] = {"graph": "graph", "strategy": "ran", "ms": ("least_wall_seconds", 1e3, ".3g")}
    columns |= {name: (f"{name}_seconds", 1e3, ".3g") for name in ("scipy", "allowed")}
    return f"{harness.table_of(late, columns)}\n\n{len(late)} of {len(rows)} calls take longer than they may"


def run(args: argparse.Namespace) -> int:
    session = Session(args.device)
    rows = []
    for kind in args.graphs or KINDS:
        for n in (n for n in SIZES if n <= args.most):
            graph = KINDS[kind](n)
            weighted = generators.random_weights(graph, low=1, high=1025)
            for algorithm in args.algorithms:
                calls = ALGORITHMS[algorithm]
                given = weighted if calls.is_weighted else graph
                rows.append(measure(args, session, f"{kind} {n}", calls, given))
    harness.finish(args, session, rows, table)
    return int(any(row["least_wall_seconds"] > row["allowed_seconds"] for row in rows))


if __name__ == "__main__":
    parser = harness.parser(__doc__)
    names = [name for name, calls in ALGORITHMS.items() if calls.scipy is not None]
    parser.add_argument("--algorithms", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--most", type=int, default=SIZES[-1], metavar="VERTICES", help="leave out larger graphs")
    sys.exit(guarded(run, parser.parse_args()))
