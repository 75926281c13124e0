"""Strategies of factorisation.

A strategy's recipe prepares the ratings once, and then runs once per training sweep.
"""

from __future__ import annotations

from collections.abc import Callable

from clgraph.algorithms.factorization import prices
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.prices import Priced
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.schedules.block_diagonal import block_diagonal
from clgraph.algorithms.factorization.schedules.block_grid import block_grid
from clgraph.algorithms.factorization.schedules.item_supersteps import matching_node, subgraph_matching
from clgraph.algorithms.factorization.schedules.locked import edge_locked, hogwild, hybrid_locked, node_locked
from clgraph.algorithms.factorization.schedules.supersteps import diagonal, matching_edge
from clgraph.device.facts import DeviceFacts
from clgraph.engine.planned import planned
from clgraph.model.cost import Part
from clgraph.model.recipe import Recipe
from clgraph.model.strategy import Kind, Strategy


def _strategy(kind: Kind, recipe: Callable[..., Recipe], price: Priced) -> Strategy:
    def work(problem: FactorizationProblem, facts: DeviceFacts) -> list[Part]:
        return price(problem, facts).parts(problem.n_sweeps)

    return planned(kind, recipe, FactorizationPlan, work)


STRATEGIES = {
    "edge_locked": _strategy("online", edge_locked, prices.edge_locked),
    "node_locked": _strategy("online", node_locked, prices.node_locked),
    "hybrid_locked": _strategy("online", hybrid_locked, prices.hybrid_locked),
    "hogwild": _strategy("online", hogwild, prices.hogwild),
    "matching_edge": _strategy("offline", matching_edge, prices.matching_edge),
    "matching_node": _strategy("offline", matching_node, prices.matching_node),
    "subgraph_matching": _strategy("offline", subgraph_matching, prices.subgraph_matching),
    "diagonal": _strategy("offline", diagonal, prices.diagonal),
    "block_diagonal": _strategy("offline", block_diagonal, prices.block_diagonal),
    "block_grid": _strategy("offline", block_grid, prices.block_grid),
}


def contenders(_problem: FactorizationProblem, facts: DeviceFacts) -> tuple[str, ...]:
    """Return the factorisation strategies that ``"auto"`` compares:
    three with conflict-free steps, and one or two with locks.
    """
    offline = "block_grid", "matching_edge", "diagonal"
    # On CPUs node_locked is hardly ever the fastest.
    return (*offline, "edge_locked") if facts.is_cpu else (*offline, "edge_locked", "node_locked")
