"""Time every strategy of the minimum spanning forest, and what the cost model picks.

    benchmarks/bench_minimum_spanning_forest.py --device pocl --graphs rmat-18 road-FLA --scipy --json results.json
    benchmarks/bench_minimum_spanning_forest.py --kruskal results.json  # measure nothing; check rows of another machine

Weights are int32, 1 … 2**20, hashed from the edge. A row holds, beside what ``harness.py`` says:
``numbering_seconds`` of the kernels that list the forest's edges after a run; ``total_weight`` and
``edges_sha256``, the first 16 digits of the hash of the edge ids (int64), by which forests are compared; and
``verified``, false on graphs above ``--check-limit`` until ``--kruskal`` has found the same forest.
"""
from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import harness
import inputs
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import triu
from scipy.sparse.csgraph import minimum_spanning_tree

from clgraph.algorithms.mst import STRATEGIES
from clgraph.cli.main import guarded
from clgraph.cli.terminal import busy
from clgraph.data.graph import Graph
from clgraph.errors import VerificationError
from clgraph.model.strategy import choose
from clgraph.reference.mst import check_mst, kruskal
from clgraph.runtime.session import Session

GRAPHS = ("road-NY", "road-FLA", *inputs.SPANNING, *inputs.COMPONENTS)
_SEGMENTED = STRATEGIES["segmented"]
_TRANSACTIONAL = replace(_SEGMENTED, plan=partial(_SEGMENTED.plan, merge="transactional"))
PLANS = {**STRATEGIES, "segmented, transactional": _TRANSACTIONAL}  # predicted alike; the first of equals is picked


def measure(
    session: Session, name: str, graph: Graph, *, strategies: list[str] | None = None, check_limit: int, **timing: Any
) -> list[dict[str, Any]]:
    """Return one row per strategy on *graph*."""
    choice = choose(PLANS, "auto", lambda: graph, session.facts, session.profile.rates)
    names = [choice.strategy if wanted == "auto" else wanted for wanted in strategies or ()]
    found: list[dict[str, Any]] = []
    numbering: list[float] = []

    def verify(plan: Any) -> None:
        edges = plan.edges()
        if not found and graph.n_edges <= check_limit:
            check_mst(graph, edges)
        found.append(fingerprint(graph, edges))
        if found[0] != found[-1]:
            raise VerificationError(f"the forest {found[-1]} differs from that of the first strategy, {found[0]}")
        numbering.append(harness.kernel_seconds(session, plan.edges))

    rows = harness.time_strategies(session, graph, PLANS, choice, verify, names=names, **timing)
    checked = graph.n_edges <= check_limit
    return harness.described(
        [
            {**row, **forest, "numbering_seconds": seconds, "verified": checked}
            for row, forest, seconds in zip(rows, found, numbering, strict=True)
        ],
        "minimum_spanning_forest", name, graph,
    )  # fmt: skip


def fingerprint(graph: Graph, edges: NDArray[np.int64]) -> dict[str, Any]:
    """Return the fields of a row by which the forest of *edges* is known again."""
    assert graph.edge_weights is not None
    return {
        "total_weight": int(graph.edge_weights[edges].sum(dtype=np.int64)),
        "edges_sha256": hashlib.sha256(edges.tobytes()).hexdigest()[:16],
    }


def _scipy_rows(name: str, graph: Graph, repeats: int, budget_seconds: float) -> list[dict[str, Any]]:
    """Time scipy, which runs on one host thread: on the matrix as it is, and on the half that suffices."""
    matrix = graph.to_scipy().astype(np.float64)
    return [
        _host_row(
            strategy, name, graph, partial(minimum_spanning_tree, each), lambda tree: tree.data.sum(),
            min(3, repeats), budget_seconds,
        )
        for strategy, each in (("scipy", matrix), ("scipy, upper half", triu(matrix, format="csr")))
    ]  # fmt: skip


def _networkx_row(name: str, graph: Graph) -> dict[str, Any]:
    import networkx

    call = partial(networkx.minimum_spanning_tree, graph.to_networkx())
    return _host_row("networkx", name, graph, call, lambda tree: tree.size(weight="weight"), 1, 0.0)


def _host_row(
    strategy: str, name: str, graph: Graph, call: Callable[[], Any], weigh: Callable[[Any], float], repeats: int,
    budget_seconds: float,
) -> dict[str, Any]:
    seconds: list[float] = []
    with busy(f"timing {strategy} on {name}"):
        while not seconds or (len(seconds) < repeats and sum(seconds) <= budget_seconds):
            started = time.perf_counter()
            tree = call()
            seconds.append(time.perf_counter() - started)
    times = {"wall_seconds": min(seconds), "repeats": len(seconds)}
    row = {"strategy": strategy, **times, "total_weight": int(weigh(tree))}
    return harness.described([row], "minimum_spanning_forest", name, graph)[0]


def compare(paths: list[str], workers: int | None) -> int:
    """Check the rows of result files against :func:`kruskal`; those that agree become verified."""

    def forest(name: str) -> dict[str, Any]:
        graph = inputs.weighted(name)
        return fingerprint(graph, kruskal(graph))

    return harness.recheck(paths, lambda row: "edges_sha256" in row, forest, workers, "Kruskal's forest")


def run(args: argparse.Namespace) -> int:
    if args.kruskal:
        return compare(args.kruskal, args.workers)

    def measured(session: Session, name: str, graph: Graph) -> Iterator[list[dict[str, Any]]]:
        rows = measure(
            session, name, graph, strategies=args.strategies, check_limit=args.check_limit, repeats=args.repeats,
            budget_seconds=args.budget,
        )
        if args.scipy:
            rows += _scipy_rows(name, graph, args.repeats, args.budget)
        if 0 < graph.n_edges <= 2 * args.networkx:
            rows.append(_networkx_row(name, graph))
        if len(weights := {row["total_weight"] for row in rows}) > 1:
            raise VerificationError(f"{name}: the forests weigh {sorted(weights)}")
        yield rows

    harness.print_regret(args, harness.measure_graphs(args, GRAPHS, inputs.weighted, measured))
    return 0


if __name__ == "__main__":
    parser = harness.parser(str(__doc__).partition("\n")[0])
    parser.add_argument("--strategies", nargs="+", choices=[*PLANS, "auto"], metavar="NAME", help="(default: all)")
    parser.add_argument("--scipy", action="store_true", help="time scipy too")
    parser.add_argument(
        "--networkx", metavar="EDGES", nargs="?", type=int, const=2_000_000, default=0,
        help="time networkx too, on graphs of at most EDGES edges (2 million)",
    )
    parser.add_argument(
        "--check-limit", metavar="N", type=int, default=20_000_000,
        help="check the definition on graphs of at most N stored entries (default 20 million)",
    )
    parser.add_argument("--kruskal", nargs="+", metavar="FILE", help="check the rows of these files; measure nothing")
    sys.exit(guarded(run, parser.parse_args()))
