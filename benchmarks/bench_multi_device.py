#!/usr/bin/env python3
"""Time components and spanning forests on several devices: strong and weak scaling, from their memory and the host's.

    benchmarks/bench_multi_device.py --devices pocl/1/1 --scale 14 --replicas 8 --json several.json
    benchmarks/bench_multi_device.py --devices nvidia:0 nvidia:1 --scale 22 --replicas 24 --json several.json

The graph has replicas of an R-MAT graph that are linked in a row (``replicas.py``); each device makes its own. Every
answer is compared with a formula of the R-MAT graph's answer. Devices that are named have a process each; parts of a
CPU, ``pocl/1/1``, are in threads.

Kinds of rows:

``strong, weak``
    The graph is in the devices' memory. The number of replicas is the same for any number of devices (strong), or in
    proportion to it (weak).
``host``
    The graph is in shared memory, and each device reads its part in every call. One device makes a first call with
    arrays of the user's. ``private`` names several devices for such arrays. Its calls take turns with calls on one
    device.
``forest``
    The minimum spanning forest of the R-MAT graph with weights 1 … 2²⁰, from the devices' memory, with threads.

``wall_seconds`` is the median time of a call, the answer built, from ``least_wall_seconds`` to ``most_wall_seconds``.
``speed_up`` compares edges per second with one device; ``efficiency`` is the speed-up per device.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import harness
import numpy as np
import replicas
from tabulate import tabulate

import clgraph as cg
from clgraph.algorithms.connected_components.on_devices import LOCAL
from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.report import write_rows
from clgraph.runtime.session import as_session

KINDS = ("strong", "weak", "host", "private", "forest")
COLUMNS = ("kind", "strategy", "devices", "edges", "wall_seconds", "least_wall_seconds", "most_wall_seconds",
           "local_seconds", "merge_seconds", "collect_seconds", "speed_up", "efficiency")  # fmt: skip


def timed(runs: Sequence[Callable[[], Any]], check: Callable[[Any], None], repeats: int) -> list[dict[str, Any]]:
    """Return the times of calls of each of *runs*, which take turns.

    Two calls of each run warm up, and the second is checked.
    """
    for run in runs:
        run()
        check(run())
    seconds = np.zeros((repeats, len(runs)))
    infos: list[list[Any]] = [[] for _ in runs]
    for turn in seconds:
        for place, run in enumerate(runs):
            started = time.perf_counter()
            found = run()
            turn[place] = time.perf_counter() - started
            infos[place].append(found.info)
            del found
    return [_row(*each) for each in zip(seconds.T.tolist(), infos, strict=True)]


def _row(seconds: Sequence[float], infos: Sequence[Any]) -> dict[str, Any]:
    details = infos[-1].details
    told = {
        part: statistics.median(info.details[part] for info in infos) if part in details else None
        for part in ("local_seconds", "merge_seconds", "collect_seconds")
    }
    told |= {name: details.get(name) for name in ("merge_bytes", "device_entries", "giants_differed")}
    times = {
        "wall_seconds": statistics.median(seconds), "least_wall_seconds": min(seconds),
        "most_wall_seconds": max(seconds),
    }  # fmt: skip
    return {**times, **told, "strategy": infos[-1].strategy, "repeats": len(seconds)}


class Measurement:
    """The devices and the graph of a run.

    Attributes
    ----------
    sessions : list of Session
        In this process: they time one device, and threads of parts of a CPU.
    named : bool
        Whether several devices have a process each.
    base : replicas.Base
    """

    def __init__(
        self, args: argparse.Namespace, is_late: Callable[[], bool] = lambda: False, *, is_shown: bool = True
    ) -> None:
        self.args, self.is_late, self.is_shown = args, is_late, is_shown
        self.sessions = [as_session(session) for session in harness.sessions_named(args.devices)]
        self.named = len(args.devices) == len(self.sessions)
        self.base = replicas.Base.of(args.scale, args.edge_factor, self.sessions[0])
        self.rows: list[dict[str, Any]] = []
        self._weighted: Graph | None = None

    def run(self) -> None:
        """Print and write a row for each kind of run, strategy and number of devices, until :attr:`is_late`."""
        every = [count for count in (1, 2, 4, 8) if count <= len(self.sessions)]
        for kind in self.args.kinds:
            for counts in [every] if kind == "private" else [[count] for count in every]:
                if self.is_late():
                    print(f"left out: {kind} on {counts} devices")
                    continue
                k = self.args.replicas
                if kind == "weak":
                    k = k // len(self.sessions) * counts[0]
                elif kind in ("host", "private"):
                    k = max(1, round(k * self.args.host_share))
                measure = {"host": self._from_host, "private": self._from_host, "forest": self._forest}
                measure.get(kind, self._resident)(kind, counts, k)
                for session in self.sessions:
                    session.release()

    def _resident(self, kind: str, counts: Sequence[int], k: int) -> None:
        (count,), link = counts, self.base.link
        if count == 1:
            graph: Any = replicas.part(self.sessions[0], 0, 1, link, k)
        elif self.named:
            graph = cg.ProcessGraph.generate(replicas.part, self.args.devices[:count], link, k)
        else:
            parts = [
                replicas.part(session, place, count, link, k) for place, session in enumerate(self.sessions[:count])
            ]
            graph = cg.SplitGraph([[part] for part in parts])
        for strategy in self.args.strategies:
            self._add(kind, counts, k, strategy, [lambda s=strategy: cg.connected_components(graph, strategy=s)])

    def _from_host(self, kind: str, counts: Sequence[int], k: int) -> None:
        graph = self.base.on_host(k)
        is_shared = kind == "host" and counts[0] > 1
        if is_shared and self.named:
            graph = graph.share_memory()

        def call(strategy: str, count: int) -> Any:
            given = graph if is_shared else _fresh(graph)
            return cg.connected_components(given, strategy=strategy, **self._several(count))

        for strategy in self.args.strategies:
            runs = [partial(call, strategy, count) for count in counts]
            self._add(kind, counts, k, strategy, runs, sent_bytes=graph.nbytes)

    def _several(self, count: int) -> dict[str, Any]:
        if count == 1:
            return {"session": self.sessions[0]}
        return {"devices": (self.args.devices if self.named else self.sessions)[:count]}

    def _forest(self, kind: str, counts: Sequence[int], k: int) -> None:
        (count,) = counts
        weighted = self._weighted or cg.generators.random_weights(self.base.graph, high=2**20 + 1)
        self._weighted = weighted
        alone = cg.minimum_spanning_forest(weighted, session=self.sessions[0])
        given: Any = weighted
        if count > 1:  # Threads of this process: named GPUs would leave a graph that fits to the first of them.
            given = cg.SplitGraph.from_graph(weighted, self.sessions[:count])
        options = {} if count > 1 else self._several(count)

        def check(found: Any) -> None:
            if not np.array_equal(found.edges, alone.edges):
                raise VerificationError("the forest is not that of one device")

        self._add(kind, counts, 1, "auto", [lambda: cg.minimum_spanning_forest(given, **options)], check)

    def _add(
        self, kind: str, counts: Sequence[int], k: int, asked: str, runs: Sequence[Callable[[], Any]],
        check: Callable[[Any], None] | None = None, *, sent_bytes: int = 0,
    ) -> None:  # fmt: skip
        rows = timed(runs, check or (lambda found: self.base.check(found, k)), self.args.repeats)
        for count, row in zip(counts, rows, strict=True):
            self._add_row(kind, count, k, asked, row, sent_bytes)

    def _add_row(self, kind: str, count: int, k: int, asked: str, row: dict[str, Any], sent_bytes: int) -> None:
        edges = k * self.base.graph.n_edges // 2
        row |= {"benchmark": "multi_device", "kind": kind, "asked": asked, "devices": count, "edges": edges}
        row |= {"n_vertices": k * self.base.graph.n_vertices, "processes": self.named and count > 1}
        row |= {"work": edges, "calls": 1, "sent_bytes": sent_bytes, "between_bytes": row["merge_bytes"] or 0}
        row["answer_bytes"] = 8 * row["n_vertices"] if kind == "forest" else 4 * row["n_vertices"]
        row["graph"] = f"{k} x rmat-{self.args.scale}, {kind} ({asked}), {count} devices"
        alone = next((r for r in self.rows if (r["kind"], r["asked"]) == (kind, asked)), row)
        row["speed_up"] = edges / row["wall_seconds"] / (alone["edges"] / alone["wall_seconds"])
        row["efficiency"] = row["speed_up"] / count
        self.rows.append(row)
        if self.is_shown:
            print(tabulate([[row[name] for name in COLUMNS]], COLUMNS, "github", floatfmt=".4g"), flush=True)
        if self.args.json:
            about = {name: getattr(self.args, name) for name in ("scale", "edge_factor")}
            about["device_names"] = [session.facts.name for session in self.sessions]
            write_rows(self.args.json, [{**row, **about, **harness.provenance(self.sessions[0])}])


def _fresh(graph: Graph) -> Graph:
    """Return a graph of the same arrays that nothing is known of, so that a call copies it to the device."""
    return Graph._trusted(graph.row_offsets, graph.column_indices, sorted_rows=True)


def main(given: Sequence[str] | None = None) -> int:
    made = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    made.add_argument("--devices", nargs="+", required=True, metavar="NAME", help="names, or pocl/1/1 for its parts")
    made.add_argument("--scale", type=int, default=20, help="of the R-MAT graph (default %(default)s)")
    made.add_argument("--edge-factor", type=int, default=16, help="of the R-MAT graph (default %(default)s)")
    made.add_argument("--replicas", type=int, default=8, help="of it in all (default %(default)s)")
    made.add_argument("--host-share", type=float, default=0.25, help="of them on the host (default %(default)s)")
    made.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    made.add_argument("--strategies", nargs="+", choices=LOCAL, default=list(LOCAL))
    made.add_argument("--repeats", type=int, default=9, help="calls after the first two (default %(default)s)")
    made.add_argument("--json", metavar="PATH", help="write all rows to this file")
    Measurement(made.parse_args(given)).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
