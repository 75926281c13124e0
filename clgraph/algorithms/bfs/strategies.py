"""Strategies of breadth-first search.

Strategies in rounds over all vertices are in ``traversal.strategies``.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from clgraph.algorithms.bfs import prices, queued
from clgraph.algorithms.bfs.levels import SOURCE, Levels
from clgraph.algorithms.bfs.plan import LevelsPlan, MatrixSearch
from clgraph.algorithms.traversal import host, queues
from clgraph.algorithms.traversal.problem import MAX_DEPTH, SearchProblem
from clgraph.algorithms.traversal.strategies import rounds_strategies
from clgraph.arguments import checked_count
from clgraph.data.graphs.wrapped import is_unread
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import sequential
from clgraph.engine.planned import planned
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Use
from clgraph.model.strategy import Strategy, Unchecked

_LEVEL_GROUP = 64  # Work-group size if the host launches a kernel for each level of the search.


def frontier(problem: SearchProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe of the breadth-first search ``frontier``, which always goes top-down."""
    return _recipe(problem, facts)


def direction_optimizing(problem: SearchProblem, facts: DeviceFacts, *, alpha: int = 14, beta: int = 24) -> Recipe:
    """Return the recipe of a breadth-first search that goes bottom-up while the frontier is large.

    It turns bottom-up at 1/*alpha* of the unexplored edges and top-down at 1/*beta* of the vertices. Beamer et al. use
    the same defaults.
    """
    alpha, beta = checked_count("alpha", alpha, 2**20), checked_count("beta", beta, 2**20)
    return _recipe(problem, facts, alpha=alpha, beta=beta)


def has_queues(facts: DeviceFacts) -> bool:
    """Return whether searches on a device use queues and bitmaps.

    CPUs do, because few work-items read them in order.
    """
    return facts.is_cpu


def _recipe(problem: SearchProblem, facts: DeviceFacts, *, alpha: int = 0, beta: int = 1) -> Recipe:
    """Return the recipe of a breadth-first search.

    With an *alpha* of 0, the search never goes bottom-up.

    On GPUs without a grid barrier the host launches each level.
    """
    if has_queues(facts):
        return queued.recipe(problem, facts, alpha=alpha, beta=beta)
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    one_launch, bottom_up = facts.dialect.has_grid_barrier, alpha > 0
    group = queues.group_size(facts, 512 if bottom_up else 1024) if one_launch else _LEVEL_GROUP
    search = Phase(
        f"{SOURCE}:search",
        0,
        groups=queues.group_count(facts, 2 if bottom_up else 1),
        max_groups="MAX_MEMBERS",
        status="state[STATE_CONTROL + GRID_STATUS]",
    )
    levels = Use(partial(Levels, alpha=alpha, beta=beta))
    steps = Phase(f"{SOURCE}:initialize", n), Phase(f"{SOURCE}:start", 1), search if one_launch else levels
    return Recipe(steps if n else (), lambda: Setting(
        arrays={
            "state": Array("STATE_WORDS", np.uint32), **queues.lists(problem), "bits": Array(-(-n // 32), np.uint32),
            "distances": Array(-(-n // 4) * 4, np.int32), "predecessors": Array(n, np.int32),
        },
        values={
            "n": n, "m": m, "alpha": alpha, "beta": beta, "n_sources": problem.sources.size,
            "max_depth": min(n, MAX_DEPTH if problem.limit is None else int(problem.limit)),
            **queues.capacities(problem),
        },
        defines={
            **queues.queue_defines(problem, facts, group, 128), "BOTTOM_UP": int(bottom_up),
            "ONE_LAUNCH": int(one_launch),
            "ONLY_SHORT_ROWS": int(one_launch and not bottom_up and queues.has_short_rows(problem)),
            "STEPS": 4 if not one_launch or m >= 8 * n else 1 if m < 5 * n else 2,
        },
        work_group_size=group,
        inputs={"sources": problem.upload_sources},
        prepare=partial(queued.rows_into, bottom_up=bottom_up),
    ))  # fmt: skip


STRATEGIES: dict[str, Strategy] = {
    **rounds_strategies(LevelsPlan),
    "frontier": planned(
        "online", frontier, LevelsPlan, prices.frontier, unchecked=Unchecked(MatrixSearch, prices.matrix_search)
    ),
    "direction_optimizing": planned("online", direction_optimizing, LevelsPlan, prices.direction_optimizing),
    "host": sequential(host.search, host.levels_work, host.unfit),
}


def contenders(problem: SearchProblem, facts: DeviceFacts) -> tuple[str, ...]:
    """Return the names of the breadth-first search strategies that ``"auto"`` compares.

    ``direction_optimizing`` is left out for deep or narrow searches, which never go bottom-up. It is also left out for
    a matrix that was not read yet: going bottom-up needs the reversed graph, and computing it takes longer than the
    whole search.
    """
    if is_unread(problem) or not prices.turns_round(problem.stats):
        return "frontier", "host"
    return "frontier", "direction_optimizing", "host"
