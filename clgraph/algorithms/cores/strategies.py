"""The strategies of core numbers, each a function that returns its recipe."""

from __future__ import annotations

import numpy as np

from clgraph.algorithms.cores import prices
from clgraph.algorithms.cores.plan import PEEL, CoresPlan, Steps, check_simple
from clgraph.algorithms.cores.problem import CoresProblem
from clgraph.device.facts import DeviceFacts
from clgraph.engine.planned import planned
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Use
from clgraph.model.strategy import Strategy

_PIECE = 128
# Work-groups of the launch that makes all steps: two for each compute unit.
_GROUP, _GROUPS_PER_UNIT = 512, 2


def peel(problem: CoresProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe that removes all vertices of the least degree at once, in waves.

    With a grid barrier, one launch makes all steps; else each step is a launch.
    """
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    pieces, one_launch = n + m // _PIECE + 1, facts.dialect.has_grid_barrier
    status = "state[STATE_CONTROL + GRID_STATUS]"
    whole = Phase(f"{PEEL}:peel", 0, groups=_GROUPS_PER_UNIT * facts.compute_units, status=status)
    steps = Phase(f"{PEEL}:start", max(n, 32)), whole if one_launch else Use(Steps)
    return Recipe(steps if n else (), lambda: Setting(
        arrays={
            "degrees": Array(n, np.int32), "lists": Array(2 * n, np.int32), "state": Array("STATE_WORDS", np.uint32),
            "begins": Array(pieces, problem.graph.offset_dtype), "lengths": Array(pieces, np.uint32),
        } if n else {},
        values={"n": n, "m": m},
        defines={"PIECE": _PIECE},
        work_group_size=facts.group_size(min(_GROUP if one_launch else 256, facts.max_work_group_size)),
        prepare=check_simple if n else None,
    ))  # fmt: skip


def buckets(problem: CoresProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe in which one work-item of a CPU removes the vertices one after the other."""
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    longest = problem.stats.max_degree
    return Recipe((Phase("cores/buckets.cl:peel_in_order", 1),) if n else (), lambda: Setting(
        arrays={
            "degrees": Array(n, np.int32), "order": Array(n, np.int32), "places": Array(n, np.int32),
            "starts": Array(longest + 2, np.int32),
        } if n else {},
        values={"n": n, "m": m, "max_degree": longest},
        work_group_size=1,
        prepare=check_simple if n else None,
    ))  # fmt: skip


def _on_cpus(facts: DeviceFacts) -> str | None:
    return None if facts.is_cpu else "one work-item does all the work, which suits CPUs only"


STRATEGIES: dict[str, Strategy] = {
    "peel": planned("online", peel, CoresPlan, prices.peel),
    "buckets": planned("online", buckets, CoresPlan, prices.buckets, unsupported=_on_cpus),
}


def contenders(_problem: CoresProblem, facts: DeviceFacts) -> tuple[str, ...]:
    """The strategies that auto weighs, by name."""
    return ("peel", "buckets") if facts.is_cpu else ("peel",)
