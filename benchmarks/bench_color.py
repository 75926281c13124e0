"""Time every strategy of colouring, count its colours, and judge the pick of the cost model.

    benchmarks/bench_color.py --device pocl --graphs rmat-18 road-NY --networkx --json results.json
    benchmarks/bench_color.py --graphs delaunay-17 --distance 2

A row holds, beside what ``graph_benchmark.py`` says, ``distance``, ``n_colors``, ``largest_class`` and
``smallest_class``, and ``details`` of the run, such as the number of vertices that conflicted first. ``kind`` is empty
for a strategy that solves another problem or takes more than 1.06 times the fewest colours, since it does not compete
with the pick of the cost model.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from typing import Any

import harness
import inputs
from graph_benchmark import GraphBenchmark, Host, main

from clgraph.algorithms.color import ALGORITHM, STRATEGIES, as_problem
from clgraph.algorithms.color.problem import ColoringProblem
from clgraph.data.graphs.graph import Graph
from clgraph.model.strategy import Strategy
from clgraph.runtime.session import Session

MAX_COLORS_FACTOR = 1.06  # A strategy with more than 1.06 times the fewest colours does not compete.
_COLUMNS = {"distance": 2, "bipartite": True}
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # name: changes of the problem, options of the plan
    "speculative, by edge": ({}, {"by": "edge"}),
    "speculative, largest first": ({"order": "largest_first"}, {}),
    "speculative, deterministic": ({"deterministic": True}, {}),
    "jones_plassmann, random": ({"order": "random"}, {}),
    "jones_plassmann, smallest last": ({"order": "smallest_last"}, {}),
    "speculative, columns": (_COLUMNS, {}),
    "hash_repair, columns": (_COLUMNS, {}),
    **{f"{name}, balanced": ({"balanced": True}, {}) for name in STRATEGIES},
}
OTHER_PROBLEMS = ("columns", "balanced")


class Varied:
    """A plan of a changed problem; balancing is part of its run."""

    def __init__(self, name: str, session: Session, problem: ColoringProblem) -> None:
        changes, options = VARIANTS[name]
        self.problem = replace(problem, **changes)
        self._plan = STRATEGIES[name.partition(",")[0]].plan(session, self.problem, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plan, name)

    def run(self) -> None:
        self._plan.run()
        if self.problem.balanced:
            ALGORITHM.answer(self.problem, self._plan)


def variant(name: str) -> Strategy:
    """Return the strategy whose plans have the changes of :data:`VARIANTS`; its prediction stays."""
    base = STRATEGIES[name.partition(",")[0]]
    distance = VARIANTS[name][0].get("distance")

    def unfit(problem: ColoringProblem) -> str | None:
        if distance not in (None, problem.distance):
            return f"it does not colour at distance {problem.distance}"
        return base.unfit(problem)

    return replace(base, plan=partial(Varied, name), unfit=unfit)


def _describe(_session: Session, problem: ColoringProblem, plan: Any, result: Any) -> dict[str, Any]:
    sizes = result.class_sizes
    return {
        "n_colors": result.n_colors, "largest_class": int(sizes.max(initial=0)),
        "smallest_class": int(sizes.min(initial=problem.graph.n_vertices)), "details": dict(plan.details),
    }  # fmt: skip


def _networkx(problem: ColoringProblem) -> list[Any]:
    import networkx

    made = problem.graph.to_networkx()
    made.remove_edges_from(list(networkx.selfloop_edges(made)))
    return [partial(networkx.greedy_color, made, "largest_first")]


BENCHMARK = GraphBenchmark(
    ALGORITHM,
    ("road-NY", "road-FLA", *inputs.COMPONENTS),
    inputs.undirected,
    lambda name, graph, distance=1: as_problem(graph, distance=distance),
    lambda problem, result: {},
    is_unique=False,
    describe=_describe,
    hosts={"networkx": Host(_networkx, lambda problem, colors: {"n_colors": max(colors.values(), default=-1) + 1})},
    variants={name: variant(name) for name in VARIANTS},
    settings=("distance",),
    label=lambda name, distance: name if distance == 1 else f"{name}, distance 2",
)


def _mark_kinds(
    _args: argparse.Namespace, _session: Session, _name: str, _graph: Graph, rows: list[dict[str, Any]]
) -> None:
    """Empty the kind of rows that are no alternative to the pick."""
    alike = [row for row in rows if not row["strategy"].endswith(OTHER_PROBLEMS)]
    limit = MAX_COLORS_FACTOR * min((row["n_colors"] for row in alike if "kind" in row), default=0)
    for row in rows:
        if row not in alike or (row["n_colors"] > limit and not row.get("picked")):
            row["kind"] = ""


def _table(rows: list[dict[str, Any]]) -> str:
    columns: dict[str, harness.Column] = {"graph": "graph", "strategy": "strategy"}
    columns |= {f"{part} ms": harness.milliseconds(f"{part}_seconds") for part in ("kernel", "wall", "predicted")}
    columns |= {"colours": "n_colors", "largest class": "largest_class", "details": "details"}
    marked = ({**row, "strategy": row["strategy"] + " *" * bool(row.get("picked"))} for row in rows)
    return harness.table_of(marked, columns)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--distance", type=int, choices=(1, 2), default=1)


if __name__ == "__main__":
    main(
        BENCHMARK,
        __doc__,
        add_options=_add_options,
        cases=lambda args: [{"distance": args.distance}],
        finish=_mark_kinds,
        table=_table,
        check_limit=200_000_000,
    )
