"""Recipes of the sequential greedy colouring; ``cl/color/in_order.cl`` has the kernels."""

from __future__ import annotations

import numpy as np

from clgraph.algorithms.color.problem import ColoringProblem
from clgraph.algorithms.color.vertex_orders import rank_steps, sorting
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Step, Use
from clgraph.primitives.fill import Iota
from clgraph.primitives.types import NOT_TUNED, Tuning

FEW_UNITS = 4  # With more cores, ``speculative`` may be faster. On two cores it takes 1.5 to 5.3 times as long.
FEW_NEIGHBORS = 4.0  # A graph with a smaller mean degree counts as a road network or grid.
_SOURCE, _ORDERS = "color/in_order.cl", "color/orders.cl"


def first_fit(problem: ColoringProblem, facts: DeviceFacts, tuning: Tuning = NOT_TUNED) -> Recipe:
    """Return the recipe that colours the vertices one after the other, on one core of a CPU.

    Without an order in *problem*, vertices come by the bit length of their degrees, the longest first, and by number if
    these are equal. If the degrees hardly differ, or on roads, they come by number alone.
    """
    order = problem.order
    if order is None:
        is_sorted = problem.stats.mean_degree >= FEW_NEIGHBORS and problem.suitable_order == "largest_first"
        order = "by_length" if is_sorted else "natural"
    if order == "natural":
        return _colored(problem, order, "color_by_number")
    if order == "by_length":
        return _colored(problem, order, "color_in_order", Phase(f"{_SOURCE}:list_by_length", 1))
    return in_order(problem, order)


def in_order(problem: ColoringProblem, order: str | None) -> Recipe:
    """Return the recipe that colours the vertices in *order*.

    ``None`` means the order of the priorities in the array ``ranks``, which the caller fills before a run.
    """
    n = problem.stats.n_vertices
    words = Array(n, np.uint32)
    steps = (
        *(() if order is None else rank_steps(problem.graph, order, problem.seed)),
        Phase(f"{_ORDERS}:invert_ranks", n),
        Use(lambda plan: Iota(plan.session, plan.arrays["numbers"])),
        sorting("ranks", "keys", "numbers", "vertices"),
    )
    return _colored(problem, order, "color_in_order", *steps, numbers=Array(n, np.int32), ranks=words, keys=words)


def _colored(problem: ColoringProblem, order: str | None, kernel: str, *before: Step, **arrays: Array) -> Recipe:
    """Return the recipe that runs the steps *before*, which list the vertices, and then colours them by *kernel*."""
    n, n_words = problem.stats.n_vertices, problem.stats.max_degree + 2
    steps = (*before, Phase(f"{_SOURCE}:{kernel}", 1, values={"n_words": n_words}))
    return Recipe(steps if n else (), lambda: Setting(
        arrays={
            "colors": Array(n, np.int32), "vertices": Array(n if before else 1, np.int32),
            "used": Array(n_words, np.uint32), **arrays,
        },
        values={"n": n}, details={"order": order},
    ))  # fmt: skip
