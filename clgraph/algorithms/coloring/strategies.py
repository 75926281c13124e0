"""The table of the strategies of colouring."""
from __future__ import annotations

from typing import Any

from clgraph.algorithms.coloring import work
from clgraph.algorithms.coloring.edge_rounds import EdgeRounds
from clgraph.algorithms.coloring.hash_repair import HashRepair
from clgraph.algorithms.coloring.jones_plassmann import JonesPlassmann
from clgraph.algorithms.coloring.problem import ColoringProblem
from clgraph.algorithms.coloring.speculative import Speculative
from clgraph.arguments import check_choice
from clgraph.errors import InputError
from clgraph.model.strategy import Strategy
from clgraph.runtime.session import Session


def _distance_two(session: Session, problem: ColoringProblem, start: str, **options: Any) -> Any:
    from clgraph.algorithms.coloring.distance_two import DistanceTwo

    return DistanceTwo(
        session, problem.graph, order=problem.order, seed=problem.seed, deterministic=problem.deterministic,
        start=start, bipartite=problem.bipartite, **options,
    )


def _speculative(
    session: Session, problem: ColoringProblem, *, by: str = "vertex", long_row: int | None = None
) -> Any:
    check_choice("by", by, ("vertex", "edge"))
    if problem.distance == 1:
        if long_row is not None:
            raise InputError("long_row is of distance 2")
        return (EdgeRounds if by == "edge" else Speculative)(session, problem)
    if by == "edge":
        raise InputError("by='edge' is of distance 1; at distance 2 vertices are coloured one by one")
    return _distance_two(session, problem, "first_fit", long_row=long_row)


def _hash_repair(
    session: Session, problem: ColoringProblem, *, hash: str | None = None, bits: int | None = None
) -> Any:
    if problem.distance == 2:
        if hash is None and bits is None:
            hash, bits = problem.hash_start[:2]
        return _distance_two(session, problem, "hash", hash=hash, bits=bits)
    return HashRepair(session, problem, hash=hash, bits=bits)


def _distance_one(problem: ColoringProblem) -> str | None:
    return None if problem.distance == 1 else "it colours at distance 1 only"


STRATEGIES: dict[str, Strategy] = {
    "jones_plassmann": Strategy("online", JonesPlassmann, work.jones_plassmann_work, unfit=_distance_one),
    "speculative": Strategy("online", _speculative, work.speculative_work),
    "hash_repair": Strategy("online", _hash_repair, work.hash_repair_work),
}
