"""What the benchmarks of breadth-first search and of shortest paths share.

A search starts from one vertex, :func:`inputs.source`. A row holds, beside what ``harness.py`` says:
``source``; ``depth``, the greatest distance; ``reached``, the number of vertices; ``distances_sha256``, the
first 16 digits of the hash of the distances, by which runs are compared; and ``verified``, false on graphs
above ``--check-limit`` until ``--reference`` has found the same distances.
"""
from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import harness
import inputs
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.cli.main import guarded
from clgraph.cli.terminal import busy
from clgraph.data.csr import as_csr_array
from clgraph.data.graph import Graph
from clgraph.errors import VerificationError
from clgraph.model.strategy import Choice, Strategy
from clgraph.runtime.session import Session

GRAPHS = ("road-NY", "road-FLA", "web-NotreDame", *inputs.SEARCHES, "rmat-18", *inputs.COMPONENTS)


@dataclass(frozen=True)
class Search:
    """An algorithm to time.

    Attributes
    ----------
    name : str
        As in the rows.
    strategies : dict of str to Strategy
    choose : callable
        ``choose(session, graph)`` returns the :class:`Choice`.
    load : callable
        ``load(name)`` returns the graph.
    result : callable
        ``result(plan)`` returns distances, and predecessors if it has found them.
    check : callable
        ``check(graph, sources, distances, predecessors)`` raises if they are wrong.
    oracle : callable
        ``oracle(graph, sources)`` returns the distances.
    scipy : callable
        ``scipy(matrix, source)`` is what scipy does.
    describe : callable
        ``describe(source, found)`` returns those fields of a row that scipy's result has.
    """

    name: str
    strategies: Mapping[str, Strategy]
    choose: Callable[[Session, Graph], Choice]
    load: Callable[[str], Graph]
    result: Callable[[Any], tuple[NDArray[Any], ...]]
    check: Callable[..., None]
    oracle: Callable[[Graph, list[int]], NDArray[Any]]
    scipy: Callable[[csr_array, int], Any]
    describe: Callable[[int, Any], dict[str, Any]]


def measure(
    search: Search, session: Session, name: str, graph: Graph, *, strategies: list[str] | None = None,
    check_limit: int, **timing: Any,
) -> list[dict[str, Any]]:
    """Return one row per strategy on *graph*."""
    source = inputs.source(name, graph)
    choice = search.choose(session, graph)
    names = [choice.strategy if wanted == "auto" else wanted for wanted in strategies or ()]
    plans = {
        key: replace(strategy, plan=partial(strategy.plan, sources=np.array([source], np.int32)))
        for key, strategy in search.strategies.items()
    }
    found: list[dict[str, Any]] = []
    checked = graph.n_edges <= check_limit
    verify = partial(verify_distances, search, graph, source, found, checked)
    rows = harness.time_strategies(session, graph, plans, choice, verify, names=names, **timing)
    return harness.described(
        [{**row, **fields, "verified": checked} for row, fields in zip(rows, found, strict=True)],
        search.name, name, graph,
    )  # fmt: skip


def verify_distances(
    search: Search, graph: Graph, source: int, found: list[dict[str, Any]], checked: bool, plan: Any
) -> None:
    """Add the fingerprint of what *plan* found to those *found* before, from which it must not differ.

    If *checked*, the first distances and all predecessors are held against the definition.
    """
    distances, *predecessors = search.result(plan)
    if checked and (predecessors or not found):
        search.check(graph, [source], distances, *predecessors)
    found.append(fingerprint(source, distances))
    if found[0] != found[-1]:
        raise VerificationError(f"the distances {found[-1]} differ from those of the first strategy, {found[0]}")


def fingerprint(source: int, distances: NDArray[Any]) -> dict[str, Any]:
    """Return the fields of a row by which the distances from *source* are known again."""
    return {
        "source": source, "depth": int(distances.max()), "reached": int(np.count_nonzero(distances >= 0)),
        "distances_sha256": hashlib.sha256(distances.tobytes()).hexdigest()[:16],
    }  # fmt: skip


def _scipy_row(search: Search, name: str, graph: Graph, repeats: int, budget_seconds: float) -> dict[str, Any]:
    """Time scipy, which runs on one host thread."""
    data = np.ones(graph.n_edges) if graph.edge_weights is None else graph.edge_weights.astype(np.float64)
    matrix = as_csr_array(graph.row_offsets, graph.column_indices, data)
    source, seconds = inputs.source(name, graph), list[float]()
    with busy(f"timing scipy on {name}"):
        while not seconds or (len(seconds) < repeats and sum(seconds) <= budget_seconds):
            started = time.perf_counter()
            found = search.scipy(matrix, source)
            seconds.append(time.perf_counter() - started)
    walls = {"wall_seconds": statistics.median(seconds), "least_wall_seconds": min(seconds)}
    row = {"strategy": "scipy", **walls, "repeats": len(seconds), **search.describe(source, found)}
    return harness.described([row], search.name, name, graph)[0]


def compare(search: Search, paths: list[str], workers: int | None) -> int:
    """Check the rows of result files against the oracle; those that agree become verified."""

    def answer(name: str) -> dict[str, Any]:
        graph = search.load(name)
        source = inputs.source(name, graph)
        return fingerprint(source, search.oracle(graph, [source]))

    def wanted(row: dict[str, Any]) -> bool:
        return row["benchmark"] == search.name and "verified" in row

    return harness.recheck(paths, wanted, answer, workers, "the distances that scipy finds")


def run(search: Search, args: argparse.Namespace) -> int:
    if args.reference:
        return compare(search, args.reference, args.workers)

    def measured(session: Session, name: str, graph: Graph) -> Iterator[list[dict[str, Any]]]:
        rows = measure(
            search, session, name, graph, strategies=args.strategies, check_limit=args.check_limit,
            repeats=args.repeats, budget_seconds=args.budget,
        )  # fmt: skip
        if args.scipy:
            rows.append(_scipy_row(search, name, graph, args.repeats, args.budget))
            for field in ("depth", "reached", "distances_sha256"):
                if len(values := {row[field] for row in rows if field in row}) > 1:
                    raise VerificationError(f"{name}: {field} is one of {sorted(values)}")
        yield rows

    harness.print_regret(args, harness.measure_graphs(args, GRAPHS, search.load, measured))
    return 0


def main(search: Search, description: str) -> None:
    """Run the benchmark of the command line and exit."""
    parser = harness.parser(description)
    parser.add_argument(
        "--strategies", nargs="+", choices=[*search.strategies, "auto"], metavar="NAME", help="(default: all)"
    )
    parser.add_argument("--scipy", action="store_true", help="time scipy too")
    parser.add_argument(
        "--check-limit", metavar="N", type=int, default=20_000_000,
        help="check the definition on graphs of at most N stored entries (default 20 million)",
    )
    parser.add_argument("--reference", nargs="+", metavar="FILE", help="check the rows of these files; measure nothing")
    sys.exit(guarded(partial(run, search), parser.parse_args()))
