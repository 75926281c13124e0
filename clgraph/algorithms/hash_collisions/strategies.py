"""The strategies that count the collisions of hash colourings."""

from __future__ import annotations

from functools import partial

from clgraph.algorithms.hash_collisions import prices
from clgraph.algorithms.hash_collisions.lanes import lanes
from clgraph.algorithms.hash_collisions.parts import MAX_WIDTHS, parts
from clgraph.algorithms.hash_collisions.plan import CollisionPlan
from clgraph.algorithms.hash_collisions.planes import planes
from clgraph.algorithms.hash_collisions.problem import MOST_BITS, CollisionProblem
from clgraph.arguments import check_choice
from clgraph.device.facts import DeviceFacts
from clgraph.engine.planned import planned
from clgraph.errors import InputError
from clgraph.model.recipe import Recipe
from clgraph.model.strategy import Strategy
from clgraph.primitives.types import NOT_TUNED, Tuning


def count(
    problem: CollisionProblem,
    facts: DeviceFacts,
    *,
    side_by_side: bool,
    persistent: bool,
    tile: int | None = None,
    distinct: str | None = None,
    layout: str | None = None,
    tuning: Tuning = NOT_TUNED,
) -> Recipe:
    """Return the recipe that computes all counts of a collision table.

    *distinct* and *layout* are for distance 2.
    """
    distinct = _method(problem, distinct, layout)
    if problem.distance == 1 and not side_by_side:
        of_part = partial(planes, persistent=persistent, tile=tile, tuning=tuning)
        return Recipe(tuple(map(of_part, parts(problem, facts, MAX_WIDTHS))))
    by_lanes = partial(lanes, side_by_side=side_by_side, persistent=persistent, tile=tile, tuning=tuning)
    return Recipe(tuple(by_lanes(part, distinct=distinct, layout=layout) for part in parts(problem, facts, MOST_BITS)))


def _method(problem: CollisionProblem, distinct: str | None, layout: str | None) -> str | None:
    """Check the options *distinct* and *layout*.

    Return the way to count distinct colours, or ``None`` for the default.
    """
    known = ("distinct", distinct, ("bitmap", "sort")), ("layout", layout, ("padded", "compact"))
    for name, value, allowed in known:
        if value is None:
            continue
        if problem.distance == 1:
            raise InputError(f"{name} is an option of distance 2")
        check_choice(name, value, allowed)
    if layout is None:
        return distinct
    if distinct == "bitmap":
        raise InputError("layout belongs to distinct='sort'")
    return "sort"


def _counting(name: str, *, side_by_side: bool = False, persistent: bool = False) -> Strategy:
    recipe = partial(count, side_by_side=side_by_side, persistent=persistent)
    return planned("online", recipe, CollisionPlan, partial(prices.work, strategy=name))


STRATEGIES: dict[str, Strategy] = {
    "row_per_item": _counting("row_per_item"),
    "row_per_sub_group": _counting("row_per_sub_group", side_by_side=True, persistent=True),
    "persistent": _counting("persistent", persistent=True),
}


def contenders(problem: CollisionProblem, facts: DeviceFacts) -> tuple[str, ...]:
    """Return the one strategy that suits the device.

    On GPUs, a work-item per row is too slow for collisions at distance 2.
    """
    if facts.is_cpu:
        return ("row_per_item",)
    return ("persistent" if problem.distance == 1 else "row_per_sub_group",)
