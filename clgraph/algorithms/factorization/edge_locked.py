"""A lock on the user and the item of each rating (cl/factorization/edge_locked.cl)."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.factorization.passes import Passes, by_slices, list_sizes
from clgraph.algorithms.factorization.plan import FactorizationPlan, clear
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.rating_order import ordered_ratings
from clgraph.arguments import Seed
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Array, Recipe, Setting, Use

SOURCE = "factorization/edge_locked.cl"
RATINGS_PER_SLOT = 32  # a slot takes so many in a pass, if enough slots are left to fill the device
_GROUPS_PER_UNIT = 8  # a later pass has at most so many work-groups for each compute unit


def edge_locked(problem: FactorizationProblem, facts: DeviceFacts, *, shuffle: bool = True, seed: Seed = 0) -> Recipe:
    """Lock both vertices of a rating, step, unlock; put off what is locked.

    With *shuffle* the ratings are visited in the order that *seed* draws; else by user, then item, where neighbours
    wait for one lock.
    """

    def prepare(plan: FactorizationPlan) -> dict[str, Any]:
        return {**ordered_ratings(plan, shuffle=shuffle, seed=seed), "sizes": list_sizes(plan, SOURCE)}

    return Recipe(
        (
            clear("sizes"),
            *by_slices(problem, facts, f"{SOURCE}:lock_all", RATINGS_PER_SLOT),
            Use(deferred_edges),
        ),
        lambda: Setting(
            arrays=edge_arrays(problem), defines={"RATINGS_PER_SLOT": RATINGS_PER_SLOT}, prepare=prepare,
        ),
    )  # fmt: skip


def edge_arrays(problem: FactorizationProblem) -> dict[str, Array]:
    """Return the locks and the two lists of ratings that are put off, of which pass 0 fills the first."""
    n, stats = problem.n, problem.stats
    return {
        "user_locks": Array(stats.n_users, np.uint32, zeroed=True),
        "item_locks": Array(stats.n_items, np.uint32, zeroed=True),
        "deferred": Array(n, problem.offset_type), "deferred_again": Array(n, problem.offset_type),
    }  # fmt: skip


def deferred_edges(plan: FactorizationPlan) -> Passes:
    """Return the passes over the ratings that pass 0 has put off."""
    program = plan.program(SOURCE)
    lists = plan.arrays["deferred"], plan.arrays["deferred_again"]
    launches = tuple(
        program.bind("lock_deferred", 1, plan.scope, pass_number=0, list=read, deferred=written)
        for written, read in (lists, lists[::-1])
    )
    slots = program.work_group_size // plan.lanes
    most = _GROUPS_PER_UNIT * plan.session.facts.compute_units

    def n_groups(n_left: int) -> int:
        return max(1, min(most, -(-n_left // (slots * RATINGS_PER_SLOT))))

    return Passes(plan, launches, n_groups, plan.problem.n)
