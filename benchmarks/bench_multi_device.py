#!/usr/bin/env python3
"""Time components and spanning forests on several devices: strong and weak scaling, from their memory and the host's.

    benchmarks/bench_multi_device.py --devices pocl/1/1 --scale 14 --replicas 8 --json several.json
    benchmarks/bench_multi_device.py --devices nvidia:0 nvidia:1 --scale 22 --replicas 32 --json several.json

The graph is an expanded one: replicas of an R-MAT graph, each with one edge to the next. To link two replicas, an edge
that is in a cycle of its replica swaps one end with the same edge of the next replica, so rows stay sorted and keep
their lengths. Each device makes its replicas itself. Every answer is compared with a formula of the base's answer.

A row has ``seconds``, the median time until every vertex has its root on one device, and its two parts: the forests of
the devices (``local_seconds``) and their merging (``merge_seconds``). ``wall_seconds`` includes the numbers of the
components on the host. ``speed_up`` compares with the first device alone, which has all replicas (strong) or its own
(weak: ``efficiency`` is the speed-up over the number of devices). A row of kind ``host`` streams a graph from the host.
A row of kind ``forest`` is the minimum spanning forest of the base alone, with weights 1 … 2²⁰, from the devices'
memory; the edges are compared with the forest of one device.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import harness
import numpy as np
import pyopencl as cl
from numpy.typing import NDArray
from tabulate import tabulate

import clgraph as cg
from clgraph.algorithms.connected_components.on_devices import LOCAL
from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.multi_device.split_graph import SplitGraph
from clgraph.report import write_rows
from clgraph.runtime.graphs.device_graph import DeviceGraph
from clgraph.runtime.session import Session, as_session

KINDS = ("strong", "weak", "host", "forest")
COLUMNS = ("kind", "strategy", "devices", "edges", "seconds", "local_seconds", "merge_seconds", "wall_seconds",
           "speed_up", "efficiency", "merge_bytes")  # fmt: skip


@dataclass(frozen=True)
class Base:
    """The graph of which there are replicas.

    Attributes
    ----------
    graph : Graph
        It is on the host.
    low, high : int
        An edge in a cycle, the last one in the row of *low* and the first one in the row of *high*.
    labels : int32 array
        The components of the vertices.
    """

    graph: Graph
    low: int
    high: int
    labels: NDArray[np.int32]

    @classmethod
    def of(cls, graph: Graph, session: Session) -> Base:
        offsets, columns = graph.row_offsets, graph.column_indices
        n_components, labels = cg.connected_components(graph, session=session)
        degrees = np.diff(offsets)
        for high in np.flatnonzero(degrees > 2)[::-1].tolist():
            low = int(columns[offsets[high]])
            if low >= high or degrees[low] < 3 or columns[offsets[low + 1] - 1] != high:
                continue
            cut = columns.copy()
            cut[offsets[high]], cut[offsets[low + 1] - 1] = high, low  # a loop at either end in place of the edge
            if cg.connected_components(Graph(offsets, cut), session=session).n_components == n_components:
                return cls(graph, low, high, labels)
        raise VerificationError("no edge that can be changed is in a cycle")

    def links(self, k: int) -> Iterator[tuple[int, int]]:
        """Yield the entries of *k* replicas in which they differ from copies of the base, and the vertex in each."""
        n, m, offsets = self.graph.n_vertices, self.graph.n_edges, self.graph.row_offsets
        for r in range(k - 1):
            yield r * m + int(offsets[self.low + 1]) - 1, self.high + (r + 1) * n
            yield (r + 1) * m + int(offsets[self.high]), self.low + r * n

    def part(self, made: DeviceGraph, first: int, count: int, k: int) -> DeviceGraph:
        """Return replicas *first* … *first* + *count* − 1 of *k* as a part of their graph; *made* is one of them."""
        n, m, session = self.graph.n_vertices, self.graph.n_edges, made.session
        replicas = made.expanded(count, first)
        for place, vertex in self.links(k):
            if 0 <= place - first * m < count * m:
                replicas.column_indices.set(np.array([vertex], np.int32), offset=place - first * m)
        offsets = session.empty(k * n + 1, replicas.row_offsets.dtype)
        kind = "long" if offsets.dtype.itemsize == 8 else "int"
        range_ = {"first_row": first * n, "stop_row": (first + count) * n, "first_entry": 0, "stop_entry": count * m}
        arguments = {"n": k * n, **range_, "rows": replicas.row_offsets, "row_offsets": offsets}
        program = session.program("data/slab.cl", {"OFFSET_T": kind, "WHOLE_OFFSET_T": kind})
        program.bind("clip_rows", k * n + 1, arguments)()
        session.finish()
        return replace(replicas, row_offsets=offsets)

    def check(self, found: Any, k: int) -> None:
        """Raise unless *found* are the components of *k* replicas."""
        n, labels, giant = self.graph.n_vertices, self.labels, self.labels[self.low]
        n_others = int(labels.max())
        right = found.n_components == k * n_others + 1 and np.array_equal(found.labels[:n], labels)
        for r in range(1, k):
            if right:
                other = labels - (labels > giant) + (1 + n_others + (r - 1) * n_others)
                right = np.array_equal(found.labels[r * n : (r + 1) * n], np.where(labels == giant, giant, other))
        if not right:
            raise VerificationError(f"the components of {k} replicas are wrong")


def born(base: Base, sessions: Sequence[Session], k: int, args: argparse.Namespace) -> SplitGraph:
    """Return *k* replicas, an equal number on each device; each device makes its own."""
    ends = [k * place // len(sessions) for place in range(len(sessions) + 1)]
    parts = []
    for session, first, stop in zip(sessions, ends[:-1], ends[1:], strict=True):
        made = cg.generators.rmat(args.scale, args.edge_factor, session=session).on_device
        parts.append([base.part(made, first, stop - first, k)])
        del made
        session.release()
    return SplitGraph(parts)


def timed(base: Base, graph: Any, k: int, repeats: int, **given: Any) -> dict[str, Any]:
    """Return the medians of some runs after one that warms up, whose answer is checked."""
    base.check(cg.connected_components(graph, **given), k)
    infos = [cg.connected_components(graph, **given).info for _ in range(repeats)]
    row, details = _medians(infos), infos[-1].details
    told = {name: details[name] for name in ("most_merge_bytes", "device_entries")}
    told["giants_differed"] = details.get("giants_differed", False)
    return {**row, **told, "edges": k * base.graph.n_edges // 2, "n_vertices": k * base.graph.n_vertices}


def timed_forest(graph: SplitGraph, repeats: int) -> dict[str, Any]:
    """Return the medians of some runs. The first run warms up, and its forest must be the forest of one device."""
    forest = cg.minimum_spanning_forest(graph)
    assert graph.source is not None
    alone = cg.minimum_spanning_forest(graph.source, session=graph.team.sessions[0])
    if not np.array_equal(forest.edges, alone.edges):
        raise VerificationError("the forest is not that of one device")
    row = _medians([cg.minimum_spanning_forest(graph).info for _ in range(repeats)])
    sizes = {"edges": graph.n_edges // 2, "n_vertices": graph.n_vertices}
    return {**row, **sizes, "alone_seconds": alone.info.seconds.span}


def _medians(infos: Sequence[Any]) -> dict[str, Any]:
    """Return the times of the median run, and the details of the last."""
    parts = ("local_seconds", "merge_seconds")
    runs = [{part: info.details[part] for part in parts} | {"wall_seconds": info.seconds.total} for info in infos]
    for run in runs:
        run["seconds"] = sum(run[part] for part in parts)
    middle = sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]
    told = {name: infos[-1].details[name] for name in ("merge_bytes", "merge_rounds")}
    return {**middle, **told, "strategy": infos[-1].strategy, "repeats": len(runs)}


def in_one_context(sessions: Sequence[Session]) -> list[Session]:
    """Return sessions of the same devices that have one context."""
    devices = [session.device for session in sessions]
    context = cl.Context(devices)
    kinds = cl.command_queue_properties
    return [Session(cl.CommandQueue(context, each, properties=kinds.PROFILING_ENABLE)) for each in devices]


def measure(sessions: Sequence[Session], args: argparse.Namespace) -> None:
    """Print and write a row for each kind of run, strategy and number of devices."""
    made = cg.generators.rmat(args.scale, args.edge_factor, session=sessions[0])
    base = Base.of(made.on_device.to_graph(), sessions[0])
    rows: list[dict[str, Any]] = []
    counts = [count for count in (1, 2, 4, 8) if count <= len(sessions)]
    about = {name: getattr(args, name) for name in ("one_context", "scale", "edge_factor")}
    about |= {"device_names": [session.facts.name for session in sessions], **harness.provenance(sessions[0])}
    for kind in args.kinds:
        for count in counts:
            k = args.replicas // len(sessions) * count if kind == "weak" else args.replicas
            k = max(1, round(k * args.host_share)) if kind == "host" else k
            if kind == "forest":
                weighted = cg.generators.random_weights(base.graph, high=2**20 + 1)
                graph: Any = SplitGraph.from_graph(weighted, sessions[:count])
            elif kind == "host":
                graph = _on_host(base, k)
            else:
                graph = born(base, sessions[:count], k, args)
            for strategy in ("edge_list",) if kind == "forest" else args.strategies:
                given = {"devices": sessions[:count]} if kind == "host" else {}
                context = ", one context" if args.one_context else ""
                row = {"benchmark": "multi_device", "kind": kind, "asked": strategy, "devices": count}
                row["graph"] = f"{k} x rmat-{args.scale}, {kind}, {count} devices{context}"
                if kind == "forest":
                    row |= timed_forest(graph, args.repeats)
                else:
                    row |= timed(base, graph, k, args.repeats, strategy=strategy, **given)
                alone = next((r for r in rows if (r["kind"], r["asked"]) == (kind, strategy)), row)
                speeds = [each["edges"] / each["seconds"] for each in (row, alone)]
                row |= {"speed_up": speeds[0] / speeds[1], "efficiency": speeds[0] / speeds[1] / count}
                rows.append(row)
                print(tabulate([[row[name] for name in COLUMNS]], COLUMNS, "github", floatfmt=".4g"), flush=True)
                if args.json:
                    write_rows(args.json, [{**row, **about}])
            del graph
            for session in sessions:
                session.release()


def _on_host(base: Base, k: int) -> Graph:
    graph = base.graph.expanded(k)
    columns = graph.column_indices.copy()
    for place, vertex in base.links(k):
        columns[place] = vertex
    columns.setflags(write=False)
    return Graph._trusted(graph.row_offsets, columns, sorted_rows=True)


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    made.add_argument("--devices", nargs="+", required=True, metavar="NAME", help="names, or pocl/1/1 for its parts")
    made.add_argument("--one-context", action="store_true", help="sessions of one context, which copy directly")
    made.add_argument("--scale", type=int, default=20, help="of the R-MAT graph (default %(default)s)")
    made.add_argument("--edge-factor", type=int, default=16, help="of the R-MAT graph (default %(default)s)")
    made.add_argument("--replicas", type=int, default=8, help="of it in all (default %(default)s)")
    made.add_argument("--host-share", type=float, default=0.25, help="of them on the host (default %(default)s)")
    made.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    made.add_argument("--strategies", nargs="+", choices=LOCAL, default=list(LOCAL))
    made.add_argument("--repeats", type=int, default=3, help="runs after the first (default %(default)s)")
    made.add_argument("--json", metavar="PATH", help="write all rows to this file")
    args = made.parse_args()
    sessions = [as_session(session) for session in harness.sessions_named(args.devices)]
    if args.one_context:
        sessions = in_one_context(sessions)
    measure(sessions, args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
