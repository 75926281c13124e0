"""The strategies of factorisation, each a function that returns its recipe: the preprocessing, and one sweep."""
from __future__ import annotations

from collections.abc import Callable

from clgraph.algorithms.factorization.block_diagonal import block_diagonal
from clgraph.algorithms.factorization.block_grid import block_grid
from clgraph.algorithms.factorization.edge_locked import edge_locked
from clgraph.algorithms.factorization.hogwild import hogwild
from clgraph.algorithms.factorization.hybrid_locked import hybrid_locked
from clgraph.algorithms.factorization.item_supersteps import matching_node, subgraph_matching
from clgraph.algorithms.factorization.node_locked import node_locked
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.rating_supersteps import diagonal, matching_edge
from clgraph.device.facts import DeviceFacts
from clgraph.engine.planned import planned
from clgraph.model.cost import Part
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


# Measured over predicted time of parts of a run, on two GPUs and two CPUs (benchmarks/results/cost_model-*.json).
GPU_WEIGHTS = {
    "diagonals": 0.69, "factorization/block_grid.cl:block_sweep": 0.29, "factorization/edge_locked.cl:lock_all": 1.5,
    "matchings": 1.4,
}  # fmt: skip
CPU_WEIGHTS = {"diagonals": 1.15, "factorization/edge_locked.cl:lock_all": 0.26}


def _strategy(kind: Kind, recipe: Callable[..., Recipe]) -> Strategy:
    def asked(problem: FactorizationProblem, facts: DeviceFacts) -> list[Part]:
        return recipe(problem, facts).weighted_parts(CPU_WEIGHTS if facts.is_cpu else GPU_WEIGHTS, problem.n_sweeps)

    return planned(kind, recipe, FactorizationPlan, asked)


STRATEGIES: dict[str, Strategy] = {name: _strategy(*entry) for name, entry in RECIPES.items()}


def contenders(_problem: FactorizationProblem, _facts: DeviceFacts) -> tuple[str, ...]:
    """Locks against three ways to prepare sets without conflicts; atomic throughput decides between them."""
    return "block_grid", "matching_edge", "diagonal", "edge_locked"
