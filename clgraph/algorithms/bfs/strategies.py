"""The strategies of breadth-first search."""
from __future__ import annotations

from functools import partial

from clgraph.algorithms.bfs.plan import FrontierPlan
from clgraph.algorithms.bfs.work import direction_optimizing_work, frontier_work
from clgraph.algorithms.traversal.rounds_strategies import rounds_strategies
from clgraph.algorithms.traversal.work import by_stats
from clgraph.model.strategy import Strategy

STRATEGIES: dict[str, Strategy] = {
    **rounds_strategies(),
    "frontier": Strategy("online", partial(FrontierPlan, bottom_up=False, alpha=1, beta=1), by_stats(frontier_work)),
    "direction_optimizing": Strategy(
        "online", partial(FrontierPlan, bottom_up=True), by_stats(direction_optimizing_work)
    ),
}
