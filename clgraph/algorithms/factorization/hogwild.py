"""No locks: the baseline that does not keep the serial semantics (cl/factorization/hogwild.cl)."""

from __future__ import annotations

from functools import partial

from clgraph.algorithms.factorization.passes import by_slices
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.rating_order import ordered_ratings
from clgraph.arguments import Seed
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Recipe, Setting


def hogwild(problem: FactorizationProblem, facts: DeviceFacts, *, shuffle: bool = True, seed: Seed = 0) -> Recipe:
    """Step on all ratings at once; steps that meet at a vertex may undo each other.

    With *shuffle* they are visited in the order that *seed* draws; else by user, then item, where neighbours meet.
    """
    return Recipe(
        by_slices(problem, facts, "factorization/hogwild.cl:hogwild"),
        lambda: Setting(prepare=partial(ordered_ratings, shuffle=shuffle, seed=seed)),
    )
