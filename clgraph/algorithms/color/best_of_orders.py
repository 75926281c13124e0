"""The best of several colourings of a graph: greedy ones in two orders, fast ones, and recolourings of the best.

A greedy colouring that takes the vertices class by class, by the classes of an earlier colouring, never needs more
colours than that one [1]_. At distance 2, and for columns of a matrix, the greedy algorithm colours the square of the
graph, whose edges join vertices that must differ.

References
----------
.. [1] J. C. Culberson. "Iterated greedy graph coloring and the difficulty landscape." University of Alberta, TR 92-07,
   1992.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.color.first_fit import first_fit, in_order
from clgraph.algorithms.color.jones_plassmann import jones_plassmann
from clgraph.algorithms.color.plan import ColoringPlan
from clgraph.algorithms.color.problem import ColoringProblem
from clgraph.engine.plan import Plan
from clgraph.errors import DeviceMemoryError
from clgraph.model.recipe import Array, Recipe, Setting, Use
from clgraph.primitives.types import Tuning

ORDERS = ("largest_first", "smallest_last")
# Greatest number of recolourings of the best colouring. Each costs a greedy run; they end when one saves no colour.
MAX_REPEATS = 4
_WITH_EDGE = 2  # Colours that a graph with an edge needs. Greedy colourings take a second colour only at an edge.
_AGAIN = "again"


class _Found(NamedTuple):
    n_colors: int
    colors: NDArray[np.int32]
    name: str


def tries(
    problem: ColoringProblem,
    tuning: Tuning,
    orders: tuple[str, ...],
    others: tuple[Callable[..., Recipe], ...] = (),
    repeats: int = 0,
) -> Recipe:
    """Return the recipe that makes several colourings of a graph and keeps the best one.

    It tries *others*, then greedy colourings in *orders*, then up to *repeats* recolourings of the best result.
    """
    n = problem.stats.n_vertices
    steps = (Use(lambda plan: Tries(plan, tuning, orders, others, repeats)),) if n else ()
    return Recipe(steps, lambda: Setting(arrays={"colors": Array(n, np.int32)}, values={"n": n}))


class Tries:
    """A step that colours a graph in several ways, one after the other, and
    keeps the colouring with the fewest colours.

    On ties the earlier way wins. The plan of each way is kept for the next run, unless memory runs out.

    Attributes
    ----------
    details : dict
        ``best``, the name of the way that won, and ``n_colors_of``, the number of colours of each way.
    """

    def __init__(
        self,
        plan: Plan,
        tuning: Tuning,
        orders: tuple[str, ...],
        others: tuple[Callable[..., Recipe], ...],
        repeats: int,
    ) -> None:
        self._plan, self._tuning, self._orders, self._repeats = plan, tuning, orders, repeats
        self._others = {each.__name__: each for each in others}
        self._plans: dict[str, ColoringPlan] = {}
        self._least: int | None = None
        self.details: dict[str, Any] = {}

    def run(self) -> None:
        plan = self._plan
        if self._least is None:
            self._least = plan.problem.least_colors
        found, least = [self._colored(name, name) for name in self._others], self._least
        if first_fit.__name__ in self._others:
            least = max(least, _WITH_EDGE)
        for order in self._orders:
            if found and _fewest(found).n_colors <= least:
                break
            found.append(self._colored(order, order))
            least = max(least, _WITH_EDGE)
        for _ in range(self._repeats):
            best = _fewest(found)
            if best.n_colors <= least:
                break
            found.append(self._colored(_AGAIN, f"{best.name}, again", best.colors))
            if found[-1].n_colors >= best.n_colors:
                break
        best = _fewest(found)
        self.details = {"best": best.name, "n_colors_of": {each.name: each.n_colors for each in found}}
        plan.arrays["colors"].set(best.colors)

    def _colored(self, way: str, name: str, ranks: NDArray[np.int32] | None = None) -> _Found:
        """Colour the graph in one *way*: by another strategy, greedily in an
        order, or greedily by descending *ranks*.
        """
        plan = self._plans.get(way)
        if plan is None:
            try:
                plan = self._made(way)
            except DeviceMemoryError:
                if not self._plans:
                    raise
                self._release()
                plan = self._made(way)
            self._plans[way] = plan
            self._plan.used.append(plan)
        if ranks is not None:
            plan.arrays["ranks"].set(ranks)
        plan.run()
        return _Found(*plan.result(), name)

    def _made(self, way: str) -> ColoringPlan:
        session, problem = self._plan.session, self._plan.problem
        if way in self._others:
            return ColoringPlan(session, problem, self._others[way](problem, session.facts, self._tuning))
        again = way == _AGAIN
        problem = replace(problem.on_square, order=None if again else way)
        if session.facts.is_cpu:
            return ColoringPlan(session, problem, in_order(problem, problem.order))
        recipe = jones_plassmann(problem, session.facts, self._tuning, ranks_given=again)
        return ColoringPlan(session, problem, recipe)

    def _release(self) -> None:
        for plan in self._plans.values():
            self._plan.used.remove(plan)
            plan.release()
        self._plans = {}


def _fewest(found: list[_Found]) -> _Found:
    return min(found, key=lambda each: each.n_colors)
