"""The strategy of maximal matchings, as a function that returns its recipe."""

from __future__ import annotations

import numpy as np

from clgraph.algorithms.maximal_matching import prices
from clgraph.algorithms.maximal_matching.plan import GROUPS_PER_UNIT, ROUNDS, MatchingPlan, Rounds
from clgraph.algorithms.maximal_matching.problem import MatchingProblem
from clgraph.data.graphs.vertex_hashes import order_key
from clgraph.device.facts import DeviceFacts
from clgraph.engine.planned import planned
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Use
from clgraph.model.strategy import Strategy
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_GROUP = 256
_TRIES = 2  # A GPU tries a vertex twice in a round, since its choice may choose meanwhile.
_LONG_ROW = 1024  # Entries. A work-group of a GPU reads a longer row.
_KINDS = {"int32": "WEIGHT_INT", "int64": "WEIGHT_LONG", "float32": "WEIGHT_FLOAT", "float64": "WEIGHT_DOUBLE"}


def locally_dominant(problem: MatchingProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe in which two vertices are matched if each is the other's best choice."""
    n, m, dtype = problem.graph.n_vertices, problem.graph.n_edges, problem.weight_dtype
    if not n:
        return Recipe(())
    long_rows = 0 if facts.is_cpu or problem.stats.max_degree <= _LONG_ROW else m // _LONG_ROW
    team, most = _team(problem, facts), GROUPS_PER_UNIT * facts.compute_units
    listing = (Phase(f"{ROUNDS}:list_long_rows", n),) if long_rows else ()
    start, weigh = (Phase(f"{ROUNDS}:{name}", n, max_groups=most) for name in ("start", "weigh"))
    bits = np.uint64 if dtype is not None and dtype.itemsize == 8 else np.uint32
    return Recipe((start, *listing, Use(Rounds), weigh), lambda: Setting(
        arrays={
            "mates": Array(n, np.int32), "choices": Array(n, np.int32), "lists": Array(2 * n, np.int32),
            "mate_weights": Array(1 if dtype is None else n, bits), "long_rows": Array(max(1, long_rows), np.int32),
            "state": Array("STATE_WORDS", np.uint32),
        },
        values={"n": n, "key": order_key(problem.seed)},
        inputs={"edge_weights": lambda session: _weights(session, problem)},
        defines={
            "WEIGHT_KIND": "WEIGHT_NONE" if dtype is None else _KINDS[dtype.name], "TEAM": f"{team}u",
            "LONG_ROW": _LONG_ROW if long_rows else 0, "TRIES": 1 if facts.is_cpu else _TRIES,
        },
        details={"team": team, "long_rows": bool(long_rows)},
        found={"rounds": "state[STATE_ROUNDS]"},
        work_group_size=facts.group_size(min(_GROUP, facts.max_work_group_size)),
    ))  # fmt: skip


def _team(problem: MatchingProblem, facts: DeviceFacts) -> int:
    """Return the number of lanes that share a row: a power of two, so that a lane has about four to eight entries."""
    wanted = 1 << max(0, int(problem.stats.mean_degree / 8).bit_length())
    return min(wanted, facts.sub_group_size)


def _weights(session: Session, problem: MatchingProblem) -> DeviceArray:
    if problem.weight_dtype is None:
        return session.empty(1, np.uint32)
    on_device = device_graph(session, problem.graph, weights=True).edge_weights
    assert on_device is not None
    return on_device


STRATEGIES: dict[str, Strategy] = {
    "locally_dominant": planned("online", locally_dominant, MatchingPlan, prices.locally_dominant),
}


def contenders(_problem: MatchingProblem, _facts: DeviceFacts) -> tuple[str, ...]:
    """The strategies that auto weighs, by name."""
    return ("locally_dominant",)
