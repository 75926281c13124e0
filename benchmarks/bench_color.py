"""Time every strategy of colouring, count its colours, and see what the cost model picks.

    benchmarks/bench_color.py --device pocl --graphs rmat-18 road-NY --networkx --json results.json
    benchmarks/bench_color.py --graphs delaunay-17 --distance 2

A row holds, beside what ``harness.py`` says, ``distance``, ``n_colors``, ``largest_class`` and ``smallest_class``,
and ``details`` of the run, such as how many vertices conflicted first. Every colouring is checked against the
definition before it is timed, on graphs of at most ``--check-limit`` entries; ``verified`` says so. ``kind`` is empty
where more colours were taken than 1.06 times the fewest, or something else was asked for: that is no alternative to
what the cost model picks.
"""
from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import harness
import inputs
import numpy as np
from numpy.typing import NDArray
from tabulate import tabulate

from clgraph.algorithms.coloring import ALGORITHM, numbered
from clgraph.algorithms.coloring.class_balance import balance_classes
from clgraph.algorithms.coloring.problem import ColoringProblem, as_problem
from clgraph.algorithms.coloring.strategies import STRATEGIES
from clgraph.cli.main import guarded
from clgraph.cli.terminal import busy
from clgraph.data.graph import Graph
from clgraph.errors import InputError, VerificationError
from clgraph.model.strategy import Strategy, choose
from clgraph.reference.coloring import check_coloring
from clgraph.runtime.session import Session

GRAPHS = ("road-NY", "road-FLA", *inputs.COMPONENTS)
MOST_COLORS = 1.06  # of the fewest
_TIMES = ("kernel_seconds", "wall_seconds", "predicted_seconds")
_COLUMNS = {"distance": 2, "bipartite": True}
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # of a strategy: changes of the problem, options
    "speculative, by edge": ({}, {"by": "edge"}),
    "speculative, largest first": ({"order": "largest_first"}, {}),
    "speculative, deterministic": ({"deterministic": True}, {}),
    "jones_plassmann, random": ({"order": "random"}, {}),
    "jones_plassmann, smallest last": ({"order": "smallest_last"}, {}),
    "speculative, columns": (_COLUMNS, {}),
    "hash_repair, columns": (_COLUMNS, {}),
    **{f"{name}, balanced": ({}, {}) for name in STRATEGIES},
}
OTHER_PROBLEMS = ("columns", "balanced")


class Balanced:
    """A plan, and balancing what it finds."""

    def __init__(self, session: Session, problem: ColoringProblem, plan: Any) -> None:
        self._session, self.problem, self._plan = session, problem, plan
        self.details = plan.details

    def run(self) -> None:
        self._plan.run()
        colors = numbered(self._plan.result())
        problem = self.problem
        self._colors = balance_classes(
            self._session, problem.graph, colors, distance=problem.distance, deterministic=False
        )

    def result(self) -> NDArray[np.int32]:
        return self._colors


def variant(name: str) -> Strategy:
    """Return a strategy as if its plan had these changes of the problem and options by nature; predicted alike."""
    base, what = name.split(", ")
    changes, options = VARIANTS[name]

    def plan(session: Session, problem: ColoringProblem) -> Any:
        made = STRATEGIES[base].plan(session, replace(problem, **changes), **options)
        return Balanced(session, problem, made) if what == "balanced" else made

    return replace(STRATEGIES[base], plan=plan)


PLANS = {**STRATEGIES, **{name: variant(name) for name in VARIANTS}}


def measure(
    session: Session, name: str, graph: Graph, *, distance: int, strategies: list[str] | None, check_limit: int,
    **timing: Any,
) -> list[dict[str, Any]]:
    """Return one row per strategy on *graph*."""
    problem = as_problem(graph, distance=distance)
    plans = {key: s for key, s in STRATEGIES.items() if s.unfit(problem) is None}
    for key in strategies or ():
        if key in VARIANTS:
            if VARIANTS[key][0].get("distance", distance) != distance or key.partition(",")[0] not in plans:
                raise InputError(f"{key!r} does not colour at distance {distance}")
            plans[key] = PLANS[key]
    choice = choose(plans, "auto", problem, session.facts, session.profile.rates)
    choice = replace(choice, strategy=ALGORITHM.choose(session, problem).strategy)
    names = [choice.strategy if wanted == "auto" else wanted for wanted in strategies or ()]
    found: list[dict[str, Any]] = []

    def verify(plan: Any) -> None:
        colors = plan.result()
        if (none := colors < 0).any():  # numbering the others without gaps would make it a colour
            raise VerificationError(f"vertex {none.argmax()} has no colour")
        sizes = np.bincount(colors)
        sizes = sizes[sizes > 0]
        if checked := graph.n_edges <= check_limit:
            of_columns = plan.problem.bipartite
            check_coloring(graph, numbered(colors), distance=2 if of_columns else distance, bipartite=of_columns)
        found.append({
            "distance": distance, "n_colors": int(sizes.size), "largest_class": int(sizes.max(initial=0)),
            "smallest_class": int(sizes.min(initial=graph.n_vertices)), "details": dict(plan.details),
            "verified": checked,
        })  # fmt: skip

    rows = harness.time_strategies(session, problem, plans, choice, verify, names=names, **timing)
    for row, more in zip(rows, found, strict=True):
        row |= more
    others = [row for row in rows if row["strategy"].endswith(OTHER_PROBLEMS)]
    limit = MOST_COLORS * min((row["n_colors"] for row in rows if row not in others), default=0)
    for row in rows:
        if row in others or (row["n_colors"] > limit and not row["picked"]):
            row["kind"] = ""
    return harness.described(rows, "color", name if distance == 1 else f"{name}, distance 2", graph)


def _networkx_row(name: str, graph: Graph, order: str = "largest_first") -> dict[str, Any]:
    import networkx

    made = graph.to_networkx()
    made.remove_edges_from(list(networkx.selfloop_edges(made)))
    with busy(f"timing networkx on {name}"):
        started = time.perf_counter()
        colors = networkx.greedy_color(made, order)
        seconds = time.perf_counter() - started
    found = {"wall_seconds": seconds, "repeats": 1, "n_colors": max(colors.values(), default=-1) + 1}
    return harness.described([{"strategy": "networkx", **found}], "color", name, graph)[0]


def _table(rows: list[dict[str, Any]]) -> str:
    cells = [
        [
            row["graph"], row["strategy"] + (" *" if row.get("picked") else ""),
            *(f"{1e3 * row[key]:.3f}" if key in row else "" for key in _TIMES),
            row["n_colors"], row.get("largest_class", ""), row.get("details", ""),
        ]
        for row in rows
    ]
    headers = ["graph", "strategy", "kernel ms", "wall ms", "predicted ms", "colours", "largest class", "details"]
    return str(tabulate(cells, headers, tablefmt="github", disable_numparse=True))


def run(args: argparse.Namespace) -> int:
    def measured(session: Session, name: str, graph: Graph) -> Iterator[list[dict[str, Any]]]:
        rows = measure(
            session, name, graph, distance=args.distance, strategies=args.strategies, check_limit=args.check_limit,
            repeats=args.repeats, budget_seconds=args.budget,
        )
        if args.distance == 1 and 0 < graph.n_edges <= 2 * args.networkx:
            rows.append(_networkx_row(name, graph))
        yield rows

    harness.print_regret(args, harness.measure_graphs(args, GRAPHS, inputs.undirected, measured, _table))
    return 0


if __name__ == "__main__":
    parser = harness.parser(str(__doc__).partition("\n")[0])
    parser.add_argument(
        "--strategies", nargs="+", choices=[*PLANS, "auto"], metavar="NAME", help=f"(default: {', '.join(STRATEGIES)})"
    )
    parser.add_argument("--distance", type=int, choices=(1, 2), default=1)
    parser.add_argument(
        "--networkx", metavar="EDGES", nargs="?", type=int, const=2_000_000, default=0,
        help="time networkx too, on graphs of at most EDGES edges (2 million)",
    )
    parser.add_argument(
        "--check-limit", metavar="N", type=int, default=200_000_000,
        help="check the definition on graphs of at most N stored entries (default 200 million)",
    )
    sys.exit(guarded(run, parser.parse_args()))
