"""The strategies of factorisation, each a function that returns its recipe: the preprocessing, and one sweep."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from clgraph.algorithms.factorization import work
from clgraph.algorithms.factorization.block_diagonal import block_diagonal
from clgraph.algorithms.factorization.block_grid import block_grid
from clgraph.algorithms.factorization.edge_locked import edge_locked
from clgraph.algorithms.factorization.hogwild import hogwild
from clgraph.algorithms.factorization.hybrid_locked import hybrid_locked
from clgraph.algorithms.factorization.item_supersteps import matching_node, moves, subgraph_matching
from clgraph.algorithms.factorization.node_locked import node_locked
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.rating_supersteps import diagonal, matching_edge
from clgraph.device.facts import DeviceFacts
from clgraph.engine.planned import planned
from clgraph.model.cost import Part
from clgraph.model.kernel_weights import weights_of
from clgraph.model.recipe import Recipe
from clgraph.model.strategy import Kind, Strategy

RECIPES: dict[str, tuple[Kind, Callable[..., Recipe]]] = {
    "edge_locked": ("online", edge_locked),
    "node_locked": ("online", node_locked),
    "hybrid_locked": ("online", hybrid_locked),
    "hogwild": ("online", hogwild),
    "matching_edge": ("offline", matching_edge),
    "matching_node": ("offline", matching_node),
    "subgraph_matching": ("offline", subgraph_matching),
    "diagonal": ("offline", diagonal),
    "block_diagonal": ("offline", block_diagonal),
    "block_grid": ("offline", block_grid),
}


def _least_of_walks(problem: FactorizationProblem, facts: DeviceFacts) -> list[Part]:
    """Return the locks of a walk over the items, which are most of what both kinds of it ask of a CPU."""
    if not facts.is_cpu:
        return []
    sweeps, weight = work.FIRST_WALK * problem.n_sweeps, weights_of(facts).get("item teams", 1.0)
    return [(work.locks(problem, facts, problem.stats.n_users), sweeps, weight)]


def _least_of_items(problem: FactorizationProblem, facts: DeviceFacts) -> list[Part]:
    """Return the matchings and the steps, which are the same for all supersteps of items."""
    sweeps, weight = problem.n_sweeps, weights_of(facts).get("item supersteps", 1.0)
    return [(work.matchings(problem, facts), 1.0, 1.0), (moves(problem, facts), sweeps, weight)]


def _strategy(kind: Kind, recipe: Callable[..., Recipe]) -> Strategy:
    def asked(problem: FactorizationProblem, facts: DeviceFacts) -> list[Part]:
        return recipe(problem, facts).weighted_parts(weights_of(facts), problem.n_sweeps)

    return replace(planned(kind, recipe, FactorizationPlan), work=asked)


STRATEGIES: dict[str, Strategy] = {name: _strategy(*entry) for name, entry in RECIPES.items()}
for least, names in {
    _least_of_walks: ("node_locked", "hybrid_locked"), _least_of_items: ("matching_node", "subgraph_matching"),
}.items():  # fmt: skip
    STRATEGIES |= {name: replace(STRATEGIES[name], least=least) for name in names}
