"""The strategies of shortest paths."""
from __future__ import annotations

from functools import partial

from clgraph.algorithms.sssp.dijkstra import Dijkstra
from clgraph.algorithms.sssp.dijkstra import unsupported as no_dijkstra
from clgraph.algorithms.sssp.near_far import NearFar
from clgraph.algorithms.sssp.work import delta_stepping_work, dijkstra_work, frontier_work
from clgraph.algorithms.traversal.rounds_strategies import rounds_strategies
from clgraph.algorithms.traversal.work import by_stats
from clgraph.model.strategy import Strategy

STRATEGIES: dict[str, Strategy] = {
    **rounds_strategies(),
    "frontier": Strategy("online", partial(NearFar, light_first=False), by_stats(frontier_work)),
    "delta_stepping": Strategy("online", partial(NearFar, light_first=True), by_stats(delta_stepping_work)),
    "dijkstra": Strategy("online", Dijkstra, by_stats(dijkstra_work), no_dijkstra),
}
