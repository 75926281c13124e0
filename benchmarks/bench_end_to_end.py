"""Time calls from the user's array to the user's answer, and split them into their parts.

    benchmarks/bench_end_to_end.py --device pocl --graphs rmat-16 grid-300 --json results.json
    benchmarks/bench_end_to_end.py --data FOLDER      # with road-NY, road-FLA and web-NotreDame, if it has them
    benchmarks/bench_end_to_end.py --graphs grid-300 --inputs Graph --caches new cold warm
    benchmarks/bench_end_to_end.py --small 10000      # look for calls that take much longer than scipy's
    clgraph report results.json --table parts

The input is a scipy CSR array of float64, which scipy takes as it is, a ``Graph``, or a networkx graph of at most
``--networkx`` edges. A row is one of three calls:

``cold process``
    A new process, from its start to the answer, without the time in which it loads the input. It finds the caches on
    disk as the user has them. With ``--caches`` they are ``new`` (empty: drivers and device are tested, too), ``cold``
    (the verdicts of these tests are known) or ``warm`` (the quickest of several processes counts).
``first call``
    With an object that no call has seen; the kernels are built.
``later call``
    With that object again.

Other rows have the same call of scipy and networkx. Each answer is compared with scipy's, a colouring with the edges.
Besides the fields of ``harness.py`` a row holds ``algorithm``, ``input``, ``call``, ``ran`` (the strategy), and the
parts of the quickest call: ``check_seconds``, ``convert_seconds`` (of networkx graphs), ``statistics_seconds``,
``upload_seconds``, ``kernel_seconds``, ``read_seconds``, ``compile_seconds`` and ``python_seconds``, the rest, which
includes a strategy that runs on the host. The kernels that check and measure the input count as check and statistics.
``span_seconds`` are from the start of the first kernel to the end of the last one.
``scipy_seconds`` and ``networkx_seconds`` are the times of these libraries. scipy's breadth-first search returns an
order, so its time includes the distances, which numpy computes from the order by ``clgraph.reference.bfs.depths``.
Beside a later call scipy gets a matrix that it has had, beside others a new copy, as we do: caches that are warm from
the last call save up to a third. ``bus_seconds`` is the time that a GPU's bus needs for the input and the answer at the
rate of pinned memory, measured in the same run. ``peak_bytes`` is the memory that a call in a process of its own takes
on top of the memory in use before; it includes arrays on a CPU device. The parts of a new process are
``import_seconds``, ``session_seconds`` and ``first_call_seconds``.

With ``--small``, graphs of 10 vertices on, each about three times as large as the one before, go in as scipy CSR arrays
that no call has seen, neither ours nor scipy's. A call may take 1.25 times scipy's time and 0.2 ms more; the script
returns 1 if one takes longer. Times are the least of several calls, ours and scipy's in turns. ``--graphs`` then names
kinds. A row has ``scipy_seconds`` and ``allowed_seconds``.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import first_answer
import harness
import inputs
import numpy as np
from call_parts import measured_call, pinned_bandwidth
from end_to_end_calls import ALGORITHMS, Calls

from clgraph import generators
from clgraph.cli.main import guarded
from clgraph.cli.terminal import busy
from clgraph.data.graphs.graph import Graph
from clgraph.runtime.session import Session

INPUTS = ("scipy", "Graph", "networkx")
FILES = ("road-NY", "road-FLA", "web-NotreDame")
GRAPHS = (
    "grid-32", "rmat-16", "grid-300", "geometric-18", "rmat-18", "grid-1000", "rmat-20", "grid-4096", "rmat-22", *FILES,
)  # fmt: skip
SMALL: dict[str, Callable[[int], Graph]] = {
    "grid": lambda n: generators.grid(max(2, round(n**0.5)), max(2, round(n**0.5))),
    "random": lambda n: generators.uniform_random(n, 4 * n),
    "star": generators.star,
    "path": generators.path,
    "tree": generators.tree,
}
SMALL_SIZES = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)


def measure(
    args: argparse.Namespace, session: Session, name: str, graph: Graph, calls: Calls, bandwidth: tuple[float, float]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one algorithm on one graph."""
    source, what = inputs.source(name, graph), f"{calls.name} of {name}"
    matrix = graph.to_scipy().astype(np.float64)
    wanted = [given for given in args.inputs if given != "networkx" or graph.n_edges // 2 <= args.networkx]
    network = graph.to_networkx() if "networkx" in wanted else None
    others: dict[str, float] = {}
    again: dict[str, float] = {}  # scipy's seconds with a matrix that it has had before
    expected = None
    for library, call, given in (("scipy", calls.scipy, matrix), ("networkx", calls.networkx, network)):
        if call is None or given is None:
            continue
        with busy(f"timing {library}: {what}"):
            found, seconds = harness.timed_calls(partial(call, given, source), args.repeats, args.budget)
        yield {"strategy": library, **harness.walls(seconds)}
        others[f"{library}_seconds"] = min(seconds)
        if library == "scipy":
            expected, again = found, {"scipy_seconds": min(seconds)}
            on_new = partial(lambda call, taken: call(taken, source), call)
            others["scipy_seconds"] = min(harness.timed_calls(on_new, args.repeats, args.budget, matrix.copy)[1])
    fresh: dict[str, Callable[[], Any]] = {
        "scipy": matrix.copy,
        "Graph": lambda: Graph._trusted(
            graph.row_offsets.copy(), graph.column_indices.copy(),
            None if graph.edge_weights is None else graph.edge_weights.copy(), sorted_rows=graph.has_sorted_rows,
        ),
        "networkx": lambda: network,
    }  # fmt: skip
    for given in wanted:
        with busy(f"timing {what} as {given}"):
            found, timed = timed_twice(args, session, fresh[given], partial(calls.ours, source=source))
        with harness.naming(f"{what} as {given}"):
            answer = calls.check(graph, found, expected)
        limits = {}
        if not session.facts.is_cpu:
            weights = matrix.data if given == "scipy" else graph.edge_weights
            read = [graph.row_offsets, graph.column_indices, *([weights] if calls.is_weighted else [])]
            limits["bus_seconds"] = sum(array.nbytes for array in read) / bandwidth[0] + answer.nbytes / bandwidth[1]
        about = {"kind": found.info.kind, "ran": found.info.strategy, "verified": True, "algorithm": calls.name,
                 "input": given, **others, **limits}  # fmt: skip
        for call_name, fields in cold_processes(args, calls, given, graph, source):
            yield {"strategy": f"{given}, {call_name}", "call": "cold process", **about, **fields}
        for call_name, runs in timed.items():
            least = min(runs, key=lambda run: run["wall"])
            parts = {f"{part}_seconds": value for part, value in least.items() if part != "wall"}
            about |= {"strategy": f"{given}, {call_name}", "call": call_name}
            about |= again if call_name == "later call" else {}
            yield {**about, **harness.walls([run["wall"] for run in runs]), **parts}


def timed_twice(
    args: argparse.Namespace, session: Session, make: Callable[[], Any], call: Callable[..., Any]
) -> tuple[Any, dict[str, list[dict[str, float]]]]:
    """Return the last answer, and the times of first calls with new objects and of later calls with each of them."""
    found = call(make(), session=session)  # builds the kernels
    timed: dict[str, list[dict[str, float]]] = {"first call": [], "later call": []}
    started = time.perf_counter()
    for k in range(args.repeats):
        if k and time.perf_counter() - started > args.budget:
            break
        taken = make()
        for runs in timed.values():
            found, parts = measured_call(session, partial(call, taken, session=session))
            runs.append(parts)
    return found, timed


def cold_processes(
    args: argparse.Namespace, calls: Calls, given: str, graph: Graph, source: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and fields of each call in a process of its own; with warm caches the quickest process counts."""
    arrays = {name: getattr(graph, name) for name in ("row_offsets", "column_indices", "edge_weights")}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph.npz"
        np.savez(file, **{name: array for name, array in arrays.items() if array is not None})
        options = [calls.name, given, str(file), str(source), args.device or ""]
        for caches in () if args.skip_cold else args.caches:
            with busy(f"a new process: {calls.name} as {given}"):
                n = args.repeats if caches == "warm" else 1
                runs = [first_answer.timed_process(options, caches, Path(folder)) for _ in range(n)]
            least = min(runs, key=lambda run: run["wall_seconds"])
            name = "cold process" if caches is None else f"cold process, {caches} caches"
            yield name, {**least, **harness.walls([run["wall_seconds"] for run in runs])}


def measure_small(args: argparse.Namespace, session: Session, name: str, calls: Calls, graph: Graph) -> dict[str, Any]:
    """Return the row of one algorithm on one small graph: our first call and scipy's, in turns."""
    matrix, source = graph.to_scipy().astype(np.float64), graph.n_vertices // 2
    assert calls.scipy is not None
    found, expected = calls.ours(matrix.copy(), source, session), calls.scipy(matrix, source)  # builds kernels
    calls.check(graph, found, expected)
    ours, scipys = list[float](), list[float]()
    for _ in range(args.repeats):
        ours += harness.timed_calls(partial(calls.ours, source=source, session=session), 1, math.inf, matrix.copy)[1]
        scipys += harness.timed_calls(lambda fresh: calls.scipy(fresh, source), 1, math.inf, matrix.copy)[1]
    about = {"strategy": "scipy, first call", "algorithm": calls.name, "ran": found.info.strategy, "verified": True}
    limits = {"scipy_seconds": min(scipys), "allowed_seconds": 1.25 * min(scipys) + 2e-4}
    row = {**about, **harness.walls(ours), **limits}
    return harness.described([row], "small_inputs", f"{name}: {calls.name}", graph)[0]


def table_of_late(rows: list[dict[str, Any]]) -> str:
    """Return a table of the rows that take longer than they may, and their number."""
    late = [row for row in rows if row["least_wall_seconds"] > row["allowed_seconds"]]
    if not late:
        return f"none of {len(rows)} calls takes longer than it may"
    columns: dict[str, harness.Column] = {"graph": "graph", "strategy": "ran", "ms": ("least_wall_seconds", 1e3, ".3g")}
    columns |= {name: (f"{name}_seconds", 1e3, ".3g") for name in ("scipy", "allowed")}
    return f"{harness.table_of(late, columns)}\n\n{len(late)} of {len(rows)} calls take longer than they may"


def run_small(args: argparse.Namespace) -> int:
    """Measure the small graphs; return 1 if a call takes longer than it may."""
    session, rows = Session(args.device), list[dict[str, Any]]()
    for kind in args.graphs or SMALL:
        for n in (n for n in SMALL_SIZES if n <= args.small):
            graph = SMALL[kind](n)
            weighted = generators.random_weights(graph, low=1, high=1025)
            for calls in (ALGORITHMS[name] for name in args.algorithms):
                if calls.scipy is not None:
                    given = weighted if calls.is_weighted else graph
                    rows.append(measure_small(args, session, f"{kind} {n}", calls, given))
    harness.finish(args, session, rows, table_of_late)
    return int(any(row["least_wall_seconds"] > row["allowed_seconds"] for row in rows))


def run(args: argparse.Namespace) -> int:
    if args.small is not None:
        return run_small(args)
    if args.data:
        inputs.DATA = Path(args.data)
    there = {path.name.partition(".")[0] for path in inputs.DATA.glob("*")}
    names = args.graphs or [name for name in GRAPHS if name not in FILES or name in there]
    inputs.prepare(names, args.workers)
    session = Session(args.device)
    bandwidth = (np.inf, np.inf) if session.facts.is_cpu else pinned_bandwidth(session)
    pinned = {"pinned_upload_bytes_per_second": bandwidth[0], "pinned_read_bytes_per_second": bandwidth[1]}
    rates = {} if session.facts.is_cpu else pinned
    for name in names:
        for calls in (ALGORITHMS[algorithm] for algorithm in args.algorithms):
            graph = inputs.weighted(name, high=1024) if calls.is_weighted else inputs.undirected(name)
            rows = [{**row, **rates} for row in measure(args, session, name, graph, calls, bandwidth)]
            harness.finish(
                args, session, harness.described(rows, "end_to_end", f"{name}: {calls.name}", graph), "parts"
            )
            session.release()
    return 0


if __name__ == "__main__":
    parser = harness.parser(__doc__)
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS), metavar="NAME")
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, default=list(INPUTS), metavar="INPUT")
    parser.add_argument("--data", metavar="FOLDER", help="where files of graphs lie")
    most = "make networkx graphs of at most EDGES edges (1,000,000)"
    parser.add_argument("--networkx", type=int, default=1_000_000, metavar="EDGES", help=most)
    parser.add_argument("--skip-cold", action="store_true", help="start no processes")
    states, some = first_answer.CACHES, "caches of kernels that new processes get (default: those of the user)"
    parser.add_argument("--caches", nargs="+", choices=states, default=[None], metavar="STATE", help=some)
    parser.add_argument("--cold-caches", dest="caches", action="store_const", const=["new"], help="as `--caches new`")
    small = f"small graphs beside scipy, up to this size ({SMALL_SIZES[-1]:,})"
    parser.add_argument("--small", type=int, nargs="?", const=SMALL_SIZES[-1], metavar="VERTICES", help=small)
    sys.exit(guarded(run, parser.parse_args()))
