"""The best of several colourings: greedy ones in two orders, fast ones, and the best of these coloured again.

A greedy colouring that takes whole colour classes one after the other never needs more colours than there are classes
[1]_. At distance 2, and for columns, the square of the graph is coloured: it joins vertices that must differ.

References
----------
.. [1] J. C. Culberson. "Iterated greedy graph coloring and the difficulty landscape." University of Alberta, TR 92-07,
   1992.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.coloring.jones_plassmann import jones_plassmann
from clgraph.algorithms.coloring.plan import ColoringPlan
from clgraph.algorithms.coloring.problem import ColoringProblem
from clgraph.algorithms.coloring.tuning import Tuning
from clgraph.algorithms.coloring.vertex_orders import rank_steps
from clgraph.device.facts import DeviceFacts
from clgraph.engine.plan import Plan
from clgraph.errors import DeviceMemoryError
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Step, Use
from clgraph.primitives.fill import Iota
from clgraph.primitives.sort import Sort
from clgraph.runtime.session import Session

ORDERS = ("largest_first", "smallest_last")
MAX_REPEATS = 4  # colourings of the best one's classes. Each costs one greedy colouring; a fruitless one ends them.
_SOURCE, _ORDERS = "coloring/in_order.cl", "coloring/orders.cl"

Others = Callable[[Session, ColoringProblem], "dict[str, Recipe]"]


class _Found(NamedTuple):
    n_colors: int
    colors: NDArray[np.int32]
    name: str


def in_turn(problem: ColoringProblem, facts: DeviceFacts, ranks: tuple[Step, ...] | None = None) -> Recipe:
    """Return the recipe that colours the vertices one after the other, on one core of a CPU.

    The order is that of *problem*; the steps *ranks*, if given, write other priorities to the array ``ranks``.
    """
    stats, n = problem.stats, problem.stats.n_vertices
    n_words = stats.max_degree + 2
    steps = (
        *(rank_steps(problem.graph, problem.order or problem.suitable_order, problem.seed) if ranks is None else ranks),
        Phase(f"{_ORDERS}:invert_ranks", n),
        Use(lambda plan: Iota(plan.session, plan.arrays["numbers"])),
        Use(_sorted),
        Phase(f"{_SOURCE}:color_in_order", 1, values={"n_words": n_words}),
    )
    words = Array(n, np.uint32)
    return Recipe(steps if n else (), lambda: Setting(
        arrays={
            "colors": Array(n, np.int32), "numbers": Array(n, np.int32), "vertices": Array(n, np.int32),
            "ranks": words, "keys": words, "used": Array(n_words, np.uint32),
        },
        values={"n": n}, details={"order": problem.order},
    ))  # fmt: skip


def _sorted(plan: Plan) -> Sort:
    return Sort(plan.session, *(plan.arrays[name] for name in ("ranks", "keys", "numbers", "vertices")))


class _GivenRanks:
    """Writes colours as priorities: the vertices of the last colour go first."""

    def __init__(self, plan: Plan) -> None:
        self._ranks = plan.arrays["ranks"]
        self.colors = np.empty(0, np.int32)

    def run(self) -> None:
        self._ranks.set(self.colors)


class Tries:
    """Colours in several ways, one after the other, and leaves the colours of the first with the fewest.

    The plan of each way is kept for the next run, unless memory runs out.

    Attributes
    ----------
    details : dict
        ``best``, the name of that try, and ``n_colors_of``, the number of colours of each try by its name.
    """

    def __init__(
        self, plan: Plan, tuning: Tuning, orders: tuple[str, ...], others: Others | None = None, repeats: int = 0
    ) -> None:
        self._plan, self._tuning, self._orders = plan, tuning, orders
        self._others, self._repeats = others, repeats
        self._plans: dict[str, ColoringPlan] = {}
        self._names: list[str] | None = None  # of the others
        self._least = 0
        self.details: dict[str, Any] = {}

    def run(self) -> None:
        plan, problem, found = self._plan, self._plan.problem, list[_Found]()
        if self._names is None:
            self._names, self._least = list(self._recipes()), problem.least_colors
        for name in self._names:
            found.append(self._colored(name, name, partial(self._other, name)))
        least = self._least
        for order in self._orders:
            if found and _fewest(found).n_colors <= least:
                break
            found.append(self._colored(order, order, partial(self._greedy, problem, order)))
            least = max(least, 2)  # greedy colours are more than one only if there is an edge
        for _ in range(self._repeats):
            best = _fewest(found)
            if best.n_colors <= least:
                break
            found.append(self._colored("again", f"{best.name}, again", partial(self._greedy, problem), best.colors))
            if found[-1].n_colors >= best.n_colors:
                break
        best = _fewest(found)
        self.details = {"best": best.name, "n_colors_of": {each.name: each.n_colors for each in found}}
        plan.arrays["colors"].set(best.colors)

    def _recipes(self) -> dict[str, Recipe]:
        return {} if self._others is None else self._others(self._plan.session, self._plan.problem)

    def _other(self, name: str) -> tuple[ColoringProblem, Recipe]:
        return self._plan.problem, self._recipes()[name]

    def _greedy(self, problem: ColoringProblem, order: str | None = None) -> tuple[ColoringProblem, Recipe]:
        """Return the greedy recipe in *order*, or in that of given priorities, and the problem that it solves."""
        problem, facts = replace(problem.on_square, order=order), self._plan.session.facts
        ranks = (Use(_GivenRanks),) if order is None else None
        if facts.is_cpu:
            return problem, in_turn(problem, facts, ranks)
        return problem, jones_plassmann(problem, facts, self._tuning, ranks)

    def _colored(
        self,
        key: str,
        name: str,
        make: Callable[[], tuple[ColoringProblem, Recipe]],
        given: NDArray[np.int32] | None = None,
    ) -> _Found:
        plan = self._plans.get(key)
        if plan is None:
            try:
                plan = ColoringPlan(self._plan.session, *make())
            except DeviceMemoryError:
                if not self._plans:
                    raise
                self._release()
                plan = ColoringPlan(self._plan.session, *make())
            self._plans[key] = plan
            self._plan.used.append(plan)
        if given is not None:
            plan.used[0].colors = given
        plan.run()
        return _Found(*plan.result(), name)

    def _release(self) -> None:
        for plan in self._plans.values():
            self._plan.used.remove(plan)
            plan.release()
        self._plans = {}


def _fewest(found: list[_Found]) -> _Found:
    return min(found, key=lambda each: each.n_colors)


def on_square(problem: ColoringProblem, tuning: Tuning) -> Recipe:
    """Return the recipe of the greedy colouring at distance 2 in the order of *problem*."""
    order = problem.order or "largest_first"
    return _recipe(problem, lambda plan: Tries(plan, tuning, (order,)))


def best_of_orders(problem: ColoringProblem, tuning: Tuning, others: Others) -> Recipe:
    """Return the recipe that takes the best of two orders and of the recipes ``others(session, problem)``."""
    return _recipe(problem, lambda plan: Tries(plan, tuning, ORDERS, others, MAX_REPEATS))


def best_of_two(problem: ColoringProblem, tuning: Tuning, others: Others) -> Recipe:
    """Return the recipe that takes the best of ``others(session, problem)`` and, at distance 1, of greedy by degree."""
    orders = ORDERS[:1] if problem.distance == 1 else ()
    return _recipe(problem, lambda plan: Tries(plan, tuning, orders, others))


def _recipe(problem: ColoringProblem, make: Callable[[Plan], Tries]) -> Recipe:
    n = problem.stats.n_vertices
    steps = (Use(make),) if n else ()
    return Recipe(steps, lambda: Setting(arrays={"colors": Array(n, np.int32)}, values={"n": n}))
