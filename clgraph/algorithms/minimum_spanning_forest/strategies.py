"""The strategies of minimum spanning forests, each a function that returns its recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from clgraph.algorithms.minimum_spanning_forest import host, prices
from clgraph.algorithms.minimum_spanning_forest.plan import ForestPlan
from clgraph.algorithms.minimum_spanning_forest.problem import ForestProblem
from clgraph.algorithms.minimum_spanning_forest.weights import upload_weights, weight_kind
from clgraph.arguments import check_choice, checked_number
from clgraph.data.graphs.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import sequential, too_many_entries
from clgraph.engine.planned import planned
from clgraph.model.recipe import Array, Loop, Phase, Recipe, Setting, Step
from clgraph.model.strategy import Strategy
from clgraph.runtime.memory.arrays import DeviceArray

_ROWS, _SEGMENTED, _EDGE_LIST = (f"minimum_spanning_forest/{name}.cl" for name in ("rows", "segmented", "edge_list"))
_TILE = 512  # entries per tile
_SAMPLES = 256  # The weight of one of 256 sampled edges is the border between light edges and heavy edges.
# A pass climbs at most 1024 steps towards the root of a tree. The next pass continues longer climbs.
_CLIMB_LIMIT = 1024
# Work-groups per compute unit of a GPU. Each sub-group of the work-groups gets a segment of the edge list.
_SEGMENT_GROUPS = 16
# The kernel with grid barriers has at most 6 work-groups per compute unit, so that all can be resident.
_RESIDENT_GROUPS = 6
_MAX_ROUNDS = "MAX_ROUNDS - 1"
# Filter-Borůvka processes light edges before heavy edges. MIN_DEGREE, EDGES_PER_VERTEX and RANDOM decide on its use.
# If the mean degree is below 8, the first round of Borůvka's algorithm leaves few edges between trees anyway.
MIN_DEGREE = 8.0
EDGES_PER_VERTEX = 1.25  # Filter-Borůvka takes this number of light edges per vertex by default.
# If the vertex numbering is more random than 0.5 (of 1), hooks along equally light edges leave many trees.
RANDOM = 0.5
_LINGER = 100  # A work-group polls 100 times while other work-groups start. Later ones get no part of the edge list.


def _recipe(
    problem: ForestProblem,
    facts: DeviceFacts,
    *steps: Step,
    arrays: Callable[[], Mapping[str, Array]],
    values: Callable[[], Mapping[str, int]] = dict,
    split_keys: bool = False,
    **defines: int,
) -> Recipe:
    """Return the recipe that initialises the union-find forest and then runs *steps*;
    no steps if the graph has no edges.
    """
    graph, stats = problem.graph, problem.stats
    n, m = stats.n_vertices, stats.n_edges
    start = Phase(f"{_ROWS}:initialize", n)
    return Recipe((start, *steps) if m else (start,) if n else (), lambda: Setting(
        inputs={"edge_weights": partial(upload_weights, graph=graph)},
        arrays={
            "state": Array("STATE_WORDS", np.uint32), "tile_rows": Array(_n_tiles(stats), np.int32),
            "best": Array(2 * n, np.uint32) if split_keys else Array(n, np.uint64),
            "parent": Array(n, np.int32), "forest": Array(n, np.uint32), **arrays(),
        },
        values={"n": n, "m": m, "n_tiles": _n_tiles(stats), **values()},
        defines={
            "WEIGHT_KIND": weight_kind(graph), "MAXIMUM": int(problem.maximum), "SPLIT_KEYS": int(split_keys),
            "TILE": _TILE, **defines,
        },
        work_group_size=_group(facts),
    ))  # fmt: skip


def _n_tiles(stats: GraphStats) -> int:
    return -(-stats.n_edges // _TILE)


def _group(facts: DeviceFacts) -> int:
    return min(max(64, facts.sub_group_size) if facts.is_cpu else 256, facts.max_work_group_size)


def segmented(problem: ForestProblem, facts: DeviceFacts, *, merge: str = "min_hook") -> Recipe:
    """Return the spanning-forest recipe whose rounds read all entries.

    *merge* is ``"min_hook"`` or ``"transactional"``.
    """
    check_choice("merge", merge, ("min_hook", "transactional"))
    stats, n = problem.stats, problem.stats.n_vertices
    a_round = (
        Phase(f"{_SEGMENTED}:label_components", n),
        Phase(f"{_SEGMENTED}:discover_components", _n_tiles(stats) * facts.sub_group_size),
        Phase(f"{_SEGMENTED}:merge_{merge}", n),
    )

    def arrays() -> dict[str, Array]:
        versions = {"versions": Array(n, np.uint32, zeroed=True)} if merge == "transactional" else {}
        return {"component": Array(n, np.int32), **versions}

    return _recipe(problem, facts, _rounds(a_round), arrays=arrays)


def part_edges(problem: ForestProblem, facts: DeviceFacts, weights: DeviceArray, kind: str) -> Recipe:
    """Return the recipe that finds the spanning forest of a part of a graph.

    The edges are the entries above the diagonal. A row may lack edges of its vertex, so no round reads the rows.
    *weights* are keys of this *kind*, see :func:`weight_kind`.
    """
    recipe = _edge_list(problem, facts, split_keys=not facts.has_int64_atomics, whole=False)
    setting = recipe.setting()
    setting = replace(
        setting, inputs={"edge_weights": lambda _: weights}, defines={**setting.defines, "WEIGHT_KIND": kind}
    )
    return replace(recipe, setting=lambda: setting)


def _edge_list(
    problem: ForestProblem,
    facts: DeviceFacts,
    *,
    light_edges: float | None = None,
    split_keys: bool,
    whole: bool = True,
) -> Recipe:
    """Return the spanning-forest recipe whose rounds read a list of the edges between trees.

    The list first has light edges, *light_edges* per vertex, and later the heavy edges. 0 lists all edges at once,
    ``None`` takes the default.
    With *split_keys* each component's best edge is found in two passes of 32-bit atomics, by weight and then by entry.
    If the graph is *whole*, the first round reads its rows.
    """
    if light_edges is None:
        light_edges = default_light_edges(problem, facts, whole=whole)
    else:
        light_edges = checked_number("light_edges", light_edges)
    n, m, width = problem.stats.n_vertices, problem.stats.n_edges, facts.sub_group_size
    in_one_launch, n_tiles = facts.dialect.has_grid_barrier, _n_tiles(problem.stats)
    rank = round(_SAMPLES * min(1.0, light_edges * n / max(1, m / 2)))
    lists = ("LIGHT_EDGES", "HEAVY_EDGES") if 0 < rank < _SAMPLES else ("ALL_EDGES",)
    per_unit = 4 if facts.is_cpu else _SEGMENT_GROUPS
    n_segments = max(1, min(facts.compute_units * per_unit * (_group(facts) // width), n_tiles))
    capacity = -(-n_tiles // n_segments) * _TILE
    block = max(1024, 4 * width) if facts.is_cpu else 4 * width
    root_capacity = -(-n // (n_segments * block)) * block
    by_segment = n_segments * width  # Each segment of the edge list gets one sub-group of *width* work-items.
    kernels = [*(["offer_segment_entries"] if split_keys else []), "hook_segments", "settle_segments", "offer_segments"]
    launches = _rounds(tuple(Phase(f"{_EDGE_LIST}:{kernel}", by_segment) for kernel in kernels))
    steps: list[Step] = []
    if whole:
        for turn in range(2 if split_keys else 1):
            steps.append(Phase(f"{_ROWS}:discover_rows", n_tiles * width, values={"turn": turn}))
        steps.append(Phase(f"{_ROWS}:hook_rows", n))
    if len(lists) == 2:
        steps.append(Phase(f"{_EDGE_LIST}:choose_threshold", 1, values={"rank": rank}))
    for number, part in enumerate(lists):
        turns = range(3 if in_one_launch else 1)
        steps += [_flatten(by_segment, 1 + 3 * number + turn, goes_on=turn > 0) for turn in turns]
        steps.append(Phase(f"{_EDGE_LIST}:build", by_segment, values={"part": part}))
        steps.append(_all_rounds(by_segment, number, facts) if in_one_launch else launches)
    return _recipe(
        problem, facts, *steps,
        arrays=lambda: {
            "list": Array(4 * n_segments * capacity, np.uint32), "sizes": Array(n_segments, np.uint32),
            "roots": Array(n_segments * root_capacity, np.int32), "n_roots": Array(n_segments, np.uint32),
        },
        values=lambda: {"n_segments": n_segments, "capacity": capacity, "root_capacity": root_capacity},
        split_keys=split_keys, SAMPLES=_SAMPLES, VERTEX_BLOCK=block, LINGER=_LINGER,
        CLIMB_LIMIT=_CLIMB_LIMIT if in_one_launch else 0,
    )  # fmt: skip


def _flatten(n_items: int, word: int, *, goes_on: bool) -> Phase:
    """Return the launch that points every vertex at its tree's root.

    *goes_on* continues climbs that met the step limit.
    """
    return Phase(f"{_ROWS}:flatten", n_items, values={"turn": word, "earlier": word - 1 if goes_on else 0})


def _all_rounds(n_items: int, number: int, facts: DeviceFacts) -> Phase:
    """Return the launch that runs all Borůvka rounds over edge list *number*.

    Grid barriers separate the rounds.
    """
    control = f"STATE_CONTROLS + {number} * STATE_CONTROL_WORDS"
    return Phase(
        f"{_EDGE_LIST}:rounds",
        n_items,
        values={"base": f"{number} * MAX_ROUNDS", "control_at": control},
        max_groups=_RESIDENT_GROUPS * facts.compute_units,
        status=f"state[{control} + GRID_STATUS]",
    )


def default_light_edges(problem: ForestProblem, facts: DeviceFacts, *, whole: bool) -> float:
    """Return the default number of light edges per vertex in Filter-Borůvka, or 0 if a phase for them does not pay.

    It does not pay in a sparse graph. On a CPU it does not pay either if many edges of a *whole* graph have the least
    weight and the numbering is not random: the first round then hooks vertices to their least neighbours, which leaves
    few trees, and reading all edges once is cheaper than reading them twice.
    """
    stats = problem.stats
    if stats.mean_degree < MIN_DEGREE:
        return 0.0
    if whole and facts.is_cpu and not problem.maximum and stats.randomness < RANDOM:
        return 0.0 if 0.5 * problem.graph.least_share * stats.mean_degree > EDGES_PER_VERTEX else EDGES_PER_VERTEX
    return EDGES_PER_VERTEX


def _rounds(body: tuple[Phase, ...]) -> Loop:
    return Loop(body, "round", "state[STATE_ALIVE]", _MAX_ROUNDS)


def _needs_int64_atomics(facts: DeviceFacts) -> str | None:
    return None if facts.has_int64_atomics else "it has no 64-bit atomics"


STRATEGIES: dict[str, Strategy] = {
    "edge_list": planned(
        "online",
        partial(_edge_list, split_keys=False, whole=True),
        ForestPlan,
        prices.edge_list,
        unsupported=_needs_int64_atomics,
        answer=prices.answer,
    ),
    "two_pass": planned(
        "online",
        partial(_edge_list, split_keys=True, whole=True),
        ForestPlan,
        prices.two_pass,
        answer=prices.answer,
    ),
    "segmented": planned(
        "online", segmented, ForestPlan, prices.segmented, unsupported=_needs_int64_atomics, answer=prices.answer
    ),
    "host": sequential(host.solve, prices.host, too_many_entries),
}


def contenders(_problem: ForestProblem, _facts: DeviceFacts) -> tuple[str, ...]:
    """Return the names of the spanning-forest strategies that ``"auto"`` compares;
    if neither can run, all that can do.
    """
    return "edge_list", "host"
