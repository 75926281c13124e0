"""Time every strategy of connected components, and what the cost model picks.

    benchmarks/bench_connected_components.py --device pocl --graphs rmat-18 road-FLA --json results.json
"""
from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import harness
import inputs
import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components as scipy_components

from clgraph.algorithms.components import STRATEGIES, choose_strategy
from clgraph.cli.main import guarded
from clgraph.data.graph import Graph
from clgraph.errors import VerificationError
from clgraph.reference.components import check_components
from clgraph.runtime.session import Session


def measure(
    session: Session, name: str, graph: Graph, *, strategies: list[str] | None = None, **timing: Any
) -> list[dict[str, Any]]:
    """Return one row per strategy on *graph*."""
    choice = choose_strategy(session, graph)
    verified: list[NDArray[Any]] = []
    rows = harness.time_strategies(
        session, graph, STRATEGIES, choice, partial(_verify, graph, verified), names=strategies or (), **timing
    )
    numbering = _numbering_seconds(session, STRATEGIES[choice.strategy].plan(session, graph))
    rows = [{**row, "numbering_seconds": numbering} for row in rows]
    return harness.described(rows, "connected_components", name, graph)


def _numbering_seconds(session: Session, plan: Any) -> float:
    """Time the kernels that number the components 0 … k-1 as scipy does, after a run."""
    plan.run()
    return harness.kernel_seconds(session, plan.number)


def _verify(graph: Graph, verified: list[NDArray[Any]], plan: Any) -> None:
    """Check the first labels against the definition, the others against them: the answer is unique."""
    labels = plan.labels.get(0, graph.n_vertices)
    if not verified:
        check_components(graph, labels)
        verified.append(labels)
    elif not np.array_equal(labels, verified[0]):
        raise VerificationError("the labels differ from those of the strategy that was checked")


def _scipy_row(name: str, graph: Graph, repeats: int) -> dict[str, Any]:
    """Time scipy, which runs on one host thread: the quicker of two calls that answer, no conversion timed."""
    matrix, seconds = graph.to_scipy().astype(np.float64), []
    calls: list[dict[str, Any]] = [{"directed": False}]
    calls.append({"connection": "weak"} if graph.directed else {"connection": "strong"})
    for call in calls:
        for _ in range(min(3, repeats)):
            started = time.perf_counter()
            scipy_components(matrix, **call)
            seconds.append(time.perf_counter() - started)
    row = {"strategy": "scipy", "wall_seconds": min(seconds), "repeats": len(seconds)}
    return harness.described([row], "connected_components", name, graph)[0]


def run(args: argparse.Namespace) -> int:
    def measured(session: Session, name: str, graph: Graph) -> Iterator[list[dict[str, Any]]]:
        wanted = _expanded(args.strategies, session, graph)
        rows = measure(session, name, graph, strategies=wanted, repeats=args.repeats, budget_seconds=args.budget)
        if args.scipy:
            rows.append(_scipy_row(name, graph, args.repeats))
        yield rows

    harness.measure_graphs(args, inputs.COMPONENTS, inputs.load, measured)
    return 0


def _expanded(names: list[str] | None, session: Session, graph: Graph) -> list[str] | None:
    """Replace "auto" by the strategy it picks."""
    if not names or "auto" not in names:
        return names
    choice = choose_strategy(session, graph)
    return [choice.strategy, *(name for name in names if name != "auto")]


if __name__ == "__main__":
    parser = harness.parser(str(__doc__).partition("\n")[0])
    parser.add_argument("--strategies", nargs="+", choices=[*STRATEGIES, "auto"], help="(default: all)")
    parser.add_argument("--scipy", action="store_true", help="time scipy too")
    sys.exit(guarded(run, parser.parse_args()))
