"""The strategies of strongly connected components, each a function that returns its recipe."""

from __future__ import annotations

from functools import partial

import numpy as np

from clgraph.algorithms.strongly_connected_components import host, prices
from clgraph.algorithms.strongly_connected_components.plan import (
    DEPTH_FIRST,
    MAX_EDGES,
    SEARCH,
    DepthFirstPlan,
    Propagation,
    Search,
    StrongPlan,
    clear_control,
)
from clgraph.algorithms.strongly_connected_components.problem import StrongProblem
from clgraph.arguments import checked_count
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import sequential, too_many_entries
from clgraph.engine.planned import planned
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Step, Use
from clgraph.model.strategy import Strategy

# Work-groups per compute unit: of kernels with barriers of the grid, whose groups must be resident, and of others.
_RESIDENT_GROUPS, _GPU_GROUPS, _CPU_GROUPS = 4, 16, 32
_GROUP = 256  # work-group size on GPUs
_LINGER = 200  # The first work-group polls 200 times while it waits for others to start.
_LONG_ROW = 1024  # Longer rows are cut into pieces.
_CHUNK = 64  # consecutive vertices that share the stamps of their last changes in the propagation
_TURNS = 4  # A sweep on a GPU relaxes the edges of a block up to this number of times, while that lowers keys.
_MOST_ROUNDS = 2**20


def forward_backward(problem: StrongProblem, facts: DeviceFacts, *, rounds: int = prices.MAX_ROUNDS) -> Recipe:
    """Return the recipe that searches from a pivot both ways, in at most *rounds* rounds, and propagates minima."""
    return _recipe(problem, facts, checked_count("rounds", rounds, _MOST_ROUNDS))


def min_propagation(problem: StrongProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe that propagates minima along all edges."""
    return _recipe(problem, facts, 0)


def depth_first(problem: StrongProblem, _facts: DeviceFacts) -> Recipe:
    """Return the recipe in which one work-item of a CPU searches in depth."""
    graph = problem.graph
    n = graph.n_vertices
    return Recipe((Phase(f"{DEPTH_FIRST}:find_in_depth", 1),) if n else (), lambda: Setting(
        arrays={
            "index": Array(n, np.uint32), "stack": Array(n, np.int32), "places": Array(n, graph.offset_dtype),
            "labels": Array(n, np.int32), "count": Array(1, np.int32),
        } if n else {},
        values={"n": n, "m": graph.n_edges},
        work_group_size=1,
    ))  # fmt: skip


def _recipe(problem: StrongProblem, facts: DeviceFacts, rounds: int) -> Recipe:
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    size = facts.group_size(min(_GROUP, facts.max_work_group_size))
    many = (_CPU_GROUPS if facts.is_cpu else _GPU_GROUPS) * facts.compute_units
    resident = _RESIDENT_GROUPS * facts.compute_units if facts.dialect.has_grid_barrier else many
    searching: tuple[Step, ...] = ()
    if rounds and m:
        searching = (
            Phase(f"{SEARCH}:choose_pivot", 1),
            Use(partial(Search, most=rounds, groups=resident)),
            Phase(f"{SEARCH}:settle", 0, groups=many),
        )
    finding = Use(partial(Propagation, searched=bool(searching), groups=resident, collect_groups=many))
    start = Phase(f"{SEARCH}:start", n, max_groups=many)
    steps = (Use(clear_control), start, *searching, *([finding] if m else []))
    return Recipe(steps if n else (), lambda: Setting(
        arrays={
            "control": Array("CONTROL_WORDS", np.uint32),
            **{name: Array(n, np.int32) for name in ("labels", "least")},
            **{name: Array(n, np.uint32) for name in ("forward", "backward")},
            **{name: Array(n // _CHUNK + 1, np.uint32) for name in ("after_stamps", "before_stamps")},
            "pieces": Array(2 * (2 * m // _LONG_ROW + 1) if size > 1 else 2, np.int32),
        } if n else {},
        values={"n": n, "m": m},
        defines={
            "ONE_LAUNCH": int(facts.dialect.has_grid_barrier), "SEARCHED": int(bool(searching)),
            "LONG_ROW": _LONG_ROW, "CHUNK": _CHUNK, "LINGER": _LINGER, "TURNS": 1 if facts.is_cpu else _TURNS,
        },
        found={"search_rounds": "control[SEARCH_ROUND]", "steps": "control[STEPS]", "filters": "control[FILTERS]"},
        work_group_size=size,
        prepare=_named_keys,
    ))  # fmt: skip


def _named_keys(plan: StrongPlan) -> dict[str, object]:
    """Return the arrays of the propagation, which takes the memory of the search's marks."""
    if not plan.arrays:
        return {}
    return {"after_keys": plan.arrays["forward"], "before_keys": plan.arrays["backward"]}


def _too_long(problem: StrongProblem) -> str | None:
    fits = problem.graph.n_edges <= MAX_EDGES
    return None if fits else f"it takes graphs of at most {MAX_EDGES:,} entries"


def _on_cpus(facts: DeviceFacts) -> str | None:
    return None if facts.is_cpu else "one work-item does all the work, which suits CPUs only"


STRATEGIES: dict[str, Strategy] = {
    "forward_backward": planned("online", forward_backward, StrongPlan, prices.forward_backward),
    "min_propagation": planned("online", min_propagation, StrongPlan, prices.min_propagation, unfit=_too_long),
    "depth_first": planned("online", depth_first, DepthFirstPlan, prices.depth_first, unsupported=_on_cpus),
    "host": sequential(host.solve, prices.host, too_many_entries),
}


def contenders(_problem: StrongProblem, facts: DeviceFacts) -> tuple[str, ...]:
    """Return the names of the strategies that ``"auto"`` compares."""
    return "forward_backward", "depth_first" if facts.is_cpu else "min_propagation", "host"
