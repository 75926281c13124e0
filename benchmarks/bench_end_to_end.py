"""Time calls from the user's array to the user's answer, and split them into their parts.

    benchmarks/bench_end_to_end.py --device pocl --graphs rmat-16 grid-300 --json results.json
    benchmarks/bench_end_to_end.py --data FOLDER      # with road-NY, road-FLA and web-NotreDame, if it has them
    clgraph report results.json --table parts

What goes in is a scipy CSR array of float64, which scipy takes as it is, a ``Graph``, or a networkx graph of at most
``--networkx`` edges. A row is one of three calls:

``cold process``
    A new process, from its start to the answer, without the time in which it loads the input. The caches on disk are
    as they are; ``--cold-caches`` gives it empty ones.
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
``scipy_seconds`` and ``networkx_seconds`` are what those took; beside a later call scipy gets a matrix that it has had,
beside others a new copy, as we do: what the last call has left in the caches is worth up to a third. ``bus_seconds`` is
how long a GPU's bus takes for the input and the answer at the rate of pinned memory, measured in the same run.
``peak_bytes`` is what a call in a process of its own takes beyond what is there before it; arrays on a CPU device are
part of it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any
from unittest.mock import patch

import first_answer
import harness
import inputs
import numpy as np
import pyopencl as cl
from bench_first_call import own_caches
from checkout import ROOT
from end_to_end_calls import ALGORITHMS, Calls

from clgraph.cli.main import guarded
from clgraph.cli.terminal import busy
from clgraph.data.graphs.graph import Graph
from clgraph.runtime.discovery.child import search_path
from clgraph.runtime.session import Session

INPUTS = ("scipy", "Graph", "networkx")
FILES = ("road-NY", "road-FLA", "web-NotreDame")
GRAPHS = (
    "grid-32", "rmat-16", "grid-300", "geometric-18", "rmat-18", "grid-1000", "rmat-20", "grid-4096", "rmat-22", *FILES,
)  # fmt: skip
HOST_PARTS = {  # what the host does of each part, where this version has it
    "clgraph.data.graphs.graph:Graph.from_scipy": "check",
    "clgraph.data.graphs.wrapped:WrappedGraph.check": "check",
    "clgraph.data.graphs.graph:Graph.from_networkx": "convert",
    "clgraph.data.graphs.graph_arrays:graph_stats": "statistics",
    "clgraph.data.graphs.wrapped:graph_stats": "statistics",
}
KERNEL_PARTS = {"check": "check_csr.cl", "statistics": "graph_stats.cl"}
WRITES = {cl.command_type.WRITE_BUFFER, cl.command_type.WRITE_BUFFER_RECT, cl.command_type.UNMAP_MEM_OBJECT}
READS = {cl.command_type.READ_BUFFER, cl.command_type.READ_BUFFER_RECT, cl.command_type.MAP_BUFFER}


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Yield the seconds of each part that pass in the functions of :data:`HOST_PARTS` inside the block.

    What such a function calls of the others counts as its own.
    """
    seconds = dict.fromkeys(HOST_PARTS.values(), 0.0)
    is_running = False

    def timed(part: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        nonlocal is_running
        if is_running:
            return function(*args, **kwargs)
        is_running, started = True, time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            seconds[part] += time.perf_counter() - started
            is_running = False

    def watch(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: timed(part, function, *args, **kwargs)

    with ExitStack() as patches:
        for place, part in HOST_PARTS.items():
            owner_name, _, name = place.replace(":", ".").rpartition(".")
            with suppress(ImportError, AttributeError):
                owner = resolve_name(owner_name)
                patches.enter_context(patch.object(owner, name, watch(part, getattr(owner, name))))
        yield seconds


@cache
def kernel_names(file: str) -> frozenset[str]:
    """Return the names of the kernels in *file* of ``cl/data``."""
    text = (ROOT / "cl" / "data" / file).read_text(encoding="utf-8")
    return frozenset(re.findall(r"^KERNEL (\w+)\(", text, re.MULTILINE))


def measured_call(session: Session, call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return what *call* returns, and its seconds and their parts."""
    with watched() as parts, session.measure() as recorder:
        started = time.perf_counter()
        result = call()
        wall = time.perf_counter() - started
    seconds, kernels = recorder.seconds, recorder.kernels()
    assert seconds is not None
    for part, file in KERNEL_PARTS.items():
        parts[part] += sum(kernels.pop(name)[1] for name in kernel_names(file) & kernels.keys())
    parts |= {"upload": 0.0, "kernel": sum(found[1] for found in kernels.values()), "read": 0.0}
    for event in recorder.transfer_events:
        kind = event.command_type  # a copy from device to device is work like a kernel's
        part = "upload" if kind in WRITES else "read" if kind in READS else "kernel"
        parts[part] += 1e-9 * (event.profile.end - event.profile.start)
    parts["compile"] = seconds.compile
    parts["python"] = max(0.0, wall - sum(parts.values()))
    return result, {"wall": wall, "span": seconds.span, **parts}


def pinned_bandwidth(session: Session, n_bytes: int = 1 << 28) -> tuple[float, float]:
    """Return the bytes per second of copies from pinned host memory to the device, and back."""
    context, queue = session.context, session.queue
    host = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR, n_bytes)
    access: Any = cl.map_flags.READ | cl.map_flags.WRITE
    byte_type: Any = np.dtype(np.uint8)
    mapped, _ = cl.enqueue_map_buffer(queue, host, access, 0, (n_bytes,), byte_type)
    device = cl.Buffer(context, cl.mem_flags.READ_WRITE, n_bytes)
    mapped[:] = 1

    def rate(target: Any, source: Any) -> float:
        return n_bytes / min(harness.timed_calls(lambda: cl.enqueue_copy(queue, target, source), 7)[1])

    rates = rate(device, mapped), rate(mapped, device)
    mapped.base.release(queue)
    queue.finish()
    return rates


def measure(
    args: argparse.Namespace, session: Session, name: str, graph: Graph, calls: Calls, bandwidth: tuple[float, float]
) -> list[dict[str, Any]]:
    """Return the rows of one algorithm on one graph."""
    source = inputs.source(name, graph)
    matrix = graph.to_scipy().astype(np.float64)
    known: dict[str, Any] = {}
    others: dict[str, float] = {}
    again: dict[str, float] = {}  # of those that have had the matrix before
    rows: list[dict[str, Any]] = []
    n_undirected = graph.n_edges // 2
    wanted = [given for given in args.inputs if given != "networkx" or n_undirected <= args.networkx]
    network = graph.to_networkx() if "networkx" in wanted else None
    for library, call in (("scipy", calls.scipy), ("networkx", calls.networkx)):
        given = matrix if library == "scipy" else network
        if call is None or given is None:
            continue
        with busy(f"timing {library}: {calls.name} of {name}"):
            found, seconds = harness.timed_calls(partial(call, given, source), args.repeats, args.budget)
        others[f"{library}_seconds"] = min(seconds)
        rows.append({"strategy": library, **harness.walls(seconds)})
        if library == "scipy":
            known["scipy"], again["scipy_seconds"] = found, min(seconds)
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
        with busy(f"timing {calls.name} of {name} as {given}"):
            found = calls.ours(fresh[given](), source, session)  # builds the kernels
            timed: dict[str, list[dict[str, float]]] = {"first call": [], "later call": []}
            started = time.perf_counter()
            while not timed["first call"] or (
                len(timed["first call"]) < args.repeats and time.perf_counter() - started < args.budget
            ):
                taken = fresh[given]()
                for runs in timed.values():
                    found, parts = measured_call(session, partial(calls.ours, taken, source, session))
                    runs.append(parts)
        with harness.naming(f"{calls.name} of {name} as {given}"):
            answer = calls.check(graph, source, found, known.get("scipy"))
        limits = {}
        if not session.facts.is_cpu:
            weights = matrix.data if given == "scipy" else graph.edge_weights
            read = [graph.row_offsets, graph.column_indices, *([weights] if calls.is_weighted else [])]
            limits["bus_seconds"] = sum(array.nbytes for array in read) / bandwidth[0] + answer.nbytes / bandwidth[1]
        about = {"kind": found.info.kind, "ran": found.info.strategy, "verified": True, "algorithm": calls.name,
                 "input": given, **others, **limits}  # fmt: skip
        cold = None if args.skip_cold else cold_process(args, calls, given, graph, source)
        if cold is not None:
            rows.append({"strategy": f"{given}, cold process", "call": "cold process", **about, **cold})
        for call, runs in timed.items():
            least = min(runs, key=lambda run: run["wall"])
            parts = {f"{part}_seconds": value for part, value in least.items() if part != "wall"}
            walls = harness.walls([run["wall"] for run in runs])
            about |= {"strategy": f"{given}, {call}", "call": call, **(again if call == "later call" else {})}
            rows.append({**about, **walls, **parts})
    return harness.described(rows, "end_to_end", f"{name}: {calls.name}", graph)


def cold_process(args: argparse.Namespace, calls: Calls, given: str, graph: Graph, source: int) -> dict[str, Any]:
    """Run the call in a process of its own."""
    with tempfile.TemporaryDirectory() as folder, busy(f"a new process: {calls.name} as {given}"):
        file = Path(folder) / "graph.npz"
        weights = {} if graph.edge_weights is None else {"edge_weights": graph.edge_weights}
        np.savez(file, row_offsets=graph.row_offsets, column_indices=graph.column_indices, **weights)
        environment = own_caches(Path(folder)) if args.cold_caches else {**os.environ, "PYTHONPATH": search_path()}
        options = [calls.name, given, str(file), str(source), args.device or ""]
        started = time.time()
        command = [sys.executable, first_answer.__file__, *options]
        child = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(child.stdout)
    seconds = found.pop("answered") - started - found.pop("load_seconds")
    return {"wall_seconds": seconds, "least_wall_seconds": seconds, "repeats": 1, **found}


def run(args: argparse.Namespace) -> int:
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
        for algorithm in args.algorithms:
            calls = ALGORITHMS[algorithm]
            graph = inputs.weighted(name, high=1024) if calls.is_weighted else inputs.undirected(name)
            rows = measure(args, session, name, graph, calls, bandwidth)
            harness.finish(args, session, ({**row, **rates} for row in rows), "parts")
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
    parser.add_argument("--cold-caches", action="store_true", help="give new processes empty caches of kernels")
    sys.exit(guarded(run, parser.parse_args()))
