"""The table of the strategies of hash collisions."""
from __future__ import annotations

from clgraph.algorithms.hash_collisions.lanes import LanesPlan
from clgraph.algorithms.hash_collisions.plan import CollisionPlan
from clgraph.algorithms.hash_collisions.planes import PlanesPlan
from clgraph.algorithms.hash_collisions.problem import CollisionProblem
from clgraph.algorithms.hash_collisions.work import persistent_work, row_per_item_work, row_per_sub_group_work
from clgraph.arguments import check_choice
from clgraph.errors import InputError
from clgraph.model.strategy import Strategy
from clgraph.runtime.session import Session


def _method(problem: CollisionProblem, distinct: str | None, layout: str | None) -> str | None:
    """Check both; return how distinct colours are found, if that is asked for."""
    known = ("distinct", distinct, ("bitmap", "sort")), ("layout", layout, ("padded", "compact"))
    for name, value, allowed in known:
        if value is not None and problem.distance == 1:
            raise InputError(f"{name} is of distance 2")
        if value is not None:
            check_choice(name, value, allowed)
    if layout is None:
        return distinct
    if distinct == "bitmap":
        raise InputError("layout belongs to distinct='sort'")
    return "sort"


def _items(
    session: Session, problem: CollisionProblem, *, persistent: bool, tile: int | None, distinct: str | None,
    layout: str | None,
) -> CollisionPlan:
    method = _method(problem, distinct, layout)
    if problem.distance == 1:
        return PlanesPlan(session, problem, persistent=persistent, tile=tile)
    return LanesPlan(
        session, problem, side_by_side=False, persistent=persistent, tile=tile, layout=layout, distinct=method
    )


def _row_per_item(
    session: Session, problem: CollisionProblem, *, tile: int | None = None, distinct: str | None = None,
    layout: str | None = None,
) -> CollisionPlan:
    return _items(session, problem, persistent=False, tile=tile, distinct=distinct, layout=layout)


def _persistent(
    session: Session, problem: CollisionProblem, *, tile: int | None = None, distinct: str | None = None,
    layout: str | None = None,
) -> CollisionPlan:
    return _items(session, problem, persistent=True, tile=tile, distinct=distinct, layout=layout)


def _row_per_sub_group(
    session: Session, problem: CollisionProblem, *, tile: int | None = None, distinct: str | None = None,
    layout: str | None = None,
) -> CollisionPlan:
    method = _method(problem, distinct, layout)
    return LanesPlan(session, problem, side_by_side=True, persistent=True, tile=tile, layout=layout, distinct=method)


STRATEGIES: dict[str, Strategy] = {
    "row_per_item": Strategy("online", _row_per_item, row_per_item_work),
    "row_per_sub_group": Strategy("online", _row_per_sub_group, row_per_sub_group_work),
    "persistent": Strategy("online", _persistent, persistent_work),
}
