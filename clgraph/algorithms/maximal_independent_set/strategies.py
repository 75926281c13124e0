"""The strategy of maximal independent sets, as a function that returns its recipe."""

from __future__ import annotations

import numpy as np

from clgraph.algorithms.maximal_independent_set import prices
from clgraph.algorithms.maximal_independent_set.plan import GROUPS_PER_UNIT, ROUNDS, IndependentSetPlan, Rounds
from clgraph.algorithms.maximal_independent_set.problem import IndependentSetProblem
from clgraph.data.graphs.vertex_hashes import order_key
from clgraph.device.facts import DeviceFacts
from clgraph.engine.planned import planned
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Use
from clgraph.model.strategy import Strategy

_GROUP = 256
_TRIES = 2  # A GPU tries a vertex twice in a round, since other vertices are decided meanwhile.


def local_maxima(problem: IndependentSetProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe in which a vertex joins once no neighbour that goes before it can join."""
    n, included = problem.graph.n_vertices, problem.included
    if not n:
        return Recipe(())
    most = GROUPS_PER_UNIT * facts.compute_units
    including = (Phase(f"{ROUNDS}:include_vertices", included.size),) if included.size else ()
    return Recipe(
        (
            Phase(f"{ROUNDS}:start", n, max_groups=most),
            *including,
            Use(Rounds),
            Phase(f"{ROUNDS}:write_members", n, max_groups=most),
        ),
        lambda: Setting(
            arrays={
                "words": Array(n, np.uint32), "lists": Array(4 * n, np.uint32), "members": Array(n, np.uint8),
                "state": Array("STATE_WORDS", np.uint32),
            },
            values={
                "n": n, "key": order_key(problem.seed), "by_degree": int(problem.order == "smallest_first"),
                "n_included": included.size,
            },
            inputs={"included": lambda session: session.upload(included)} if included.size else {},
            found={"rounds": "state[STATE_ROUNDS]"},
            defines={"TRIES": 1 if facts.is_cpu else _TRIES},
            work_group_size=facts.group_size(min(_GROUP, facts.max_work_group_size)),
        ),
    )  # fmt: skip


STRATEGIES: dict[str, Strategy] = {
    "local_maxima": planned("online", local_maxima, IndependentSetPlan, prices.local_maxima),
}


def contenders(_problem: IndependentSetProblem, _facts: DeviceFacts) -> tuple[str, ...]:
    """The strategies that auto weighs, by name."""
    return ("local_maxima",)
