"""One pass of node locking, then edge locking on the ratings that it left."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.factorization import edge_locked as edges
from clgraph.algorithms.factorization.node_locked import ItemTeams, Team
from clgraph.algorithms.factorization.passes import list_sizes
from clgraph.algorithms.factorization.plan import FactorizationPlan, clear
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.rating_order import ordered_ratings
from clgraph.arguments import Seed
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Array, Recipe, Setting, Use


def hybrid_locked(
    problem: FactorizationProblem,
    facts: DeviceFacts,
    *,
    per: Team | None = None,
    locks: int | None = None,
    shuffle: bool = True,
    seed: Seed = 0,
) -> Recipe:
    """Walk each item's ratings once, locking users; then lock both vertices of each rating that was put off.

    The options are those of :func:`node_locked`.
    """

    def prepare(plan: FactorizationPlan) -> dict[str, Any]:
        ordered = ordered_ratings(plan, shuffle=shuffle, seed=seed, by_item=True)
        return {**ordered, "sizes": list_sizes(plan, edges.SOURCE), "pending": plan.arrays["deferred"]}

    return Recipe(
        (
            clear("sizes"),
            Use(lambda plan: ItemTeams(plan, per, locks, DEFER_TO_LIST=1)),
            Use(edges.deferred_edges),
        ),
        lambda: Setting(
            arrays={
                **edges.edge_arrays(problem), "n_pending": Array(1, problem.offset_type),
                "next_list": Array(1, np.int32),
            },
            defines={"RATINGS_PER_SLOT": edges.RATINGS_PER_SLOT}, prepare=prepare,
        ),
    )  # fmt: skip
