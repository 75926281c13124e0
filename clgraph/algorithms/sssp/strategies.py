"""Strategies of shortest-path search.

Strategies in rounds over all vertices are in ``traversal.strategies``.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.sssp import host, prices
from clgraph.algorithms.sssp.plan import PathsPlan
from clgraph.algorithms.traversal import queues
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.algorithms.traversal.strategies import rounds_strategies, search_recipe
from clgraph.arguments import checked_number
from clgraph.data.graphs.wrapped import is_unread
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import sequential
from clgraph.engine.planned import planned
from clgraph.model.recipe import Array, Loop, Phase, Recipe, Setting
from clgraph.model.strategy import Strategy

_FRONTIER, _DIJKSTRA, _BUCKETS = "sssp/frontier.cl", "sssp/dijkstra.cl", "sssp/buckets.cl"
_DEEP = 40  # A search with more levels than this counts as deep.
_FEW_ROWS = (131072, 4096)  # Rows per turn in shallow and in deep searches. Below this, buckets grow.
# First bucket's width in units of mean weight / mean degree, for deep searches, shallow ones, and shallow with hubs.
# Davidson et al. use buckets that are 32 × mean weight / mean degree wide.
_DEEP_HOPS, _SHALLOW_HOPS, _HUB_HOPS = 64.0, 4.0, 0.5
_HUB = 32.0  # A vertex is a hub if its degree is more than this number of mean degrees.
_MAX_BUCKETS = 65532.0  # No edge may weigh more than this number of widths of a circular bucket.
_FEW_WEIGHTS = 1024  # Number of edge weights that are sampled to estimate the typical weight.
# Circular buckets are preferred to a heap if the buckets' width is at most 12 typical weights.
# Heavy-tailed weights 1 … 2^20 need buckets that are about 6 typical weights wide.
# With weights 1 … 2^20, buckets took 0.3 to 1.3 of the heap's time on graphs of 131,072 to 490,000 vertices.
# With weights 1 … 2^20, buckets took 0.7 to 1.6 of the heap's time on graphs of 60,000 vertices.
# A few outliers that needed buckets of 23 typical weights made buckets take 1.2 to 1.5 of the heap's time.
_MAX_WIDTH = 12.0
# Least width of a bucket with float64 and with float32 distances. The inverse of a bucket's width must be finite.
_NARROWEST, _NARROWEST_FLOAT32 = 1e-300, 1e-36
# ``circular_buckets`` has practically no limit of launches, because a vertex may be expanded several times.
# Each launch of ``circular_buckets`` relaxes up to _BUDGET edges.
_MAX_LAUNCHES = 2**31
_LENT_CHUNKS = 16  # Greatest number of chunks from one worker's pool that other workers may hold at the same time.
_WIDEST = 1e30  # Greatest width of a first bucket, and greatest default width of a bucket.
# Kernels recognise leaves (vertices with a single edge) if at least a quarter of the vertices are leaves.
# If fewer vertices are leaves, recognising leaves takes longer than queueing them like other vertices.
MANY_LEAVES = 0.25
# In searches of few, long turns, a sub-group buffers 128 vertices before it appends the vertices to a list.
# A buffer of 128 vertices per sub-group was compared with 32, 64 and 96 on an H200.
_HELD = 128
_TURNS = 4096  # Turns of the search per launch, on devices where a single work-group runs the search.
# A work-item of ``dijkstra`` or ``circular_buckets`` relaxes at most 2^22 edges per launch.
# This bound on the edges per launch keeps a launch to a fraction of a second.
_BUDGET = 2**22


def _bucketed(problem: SearchProblem, facts: DeviceFacts, *, delta: float | None = None, light_first: bool) -> Recipe:
    """Return the recipe of a shortest-path search with buckets.

    *delta* is the first bucket's width; later widths adapt.

    On devices with a grid barrier one launch runs the whole search. On other devices a single work-group makes many
    turns per launch. *light_first* selects ``delta_stepping``.
    """
    stats, held = problem.stats, problem.held
    n = stats.n_vertices
    delta = None if delta is None else min(checked_number("delta", delta), _WIDEST)
    alone, is_deep = not facts.dialect.has_grid_barrier, stats.estimated_depth > _DEEP
    group = queues.group_size(facts, 1024)
    search = Phase(
        f"{_FRONTIER}:search",
        0,
        values={} if alone else {"round": 0},
        groups=queues.group_count(facts),
        max_groups="MAX_MEMBERS",
        status="state[STATE_CONTROL + GRID_STATUS]",
    )

    def setting() -> Setting:
        settled = queues.lists(problem, "settled_", n_turns=1)
        return Setting(
            arrays={
                "state": Array("PATH_STATE_WORDS", np.uint32), **queues.lists(problem),
                **(settled if light_first else dict.fromkeys(settled, Array(1, np.int32))),
                "piles": Array(2 * n, np.int32),
                "listed_in": Array(n, np.uint32), "settled_in": Array(n if light_first else 1, np.uint32),
                "distances": Array(n, held.dtype), "progress": Array("PROGRESS_WORDS", held.dtype),
            },
            values={**queues.capacities(problem), "most_turns": _TURNS, "few_rows": _FEW_ROWS[is_deep]},
            defines={
                **queues.queue_defines(
                    problem, facts, group, 256, entry_bytes=16 if held.wide else 8,
                    held=0 if alone or is_deep or light_first else _HELD,
                ),
                "DROP_LEAVES": int(has_many_leaves(problem)),
                "LIGHT_FIRST": int(light_first), "ALONE": int(alone),
                "ONLY_SHORT_ROWS": int(not light_first and not alone and queues.has_short_rows(problem)),
                "STEPS": 4 if alone or not is_deep else 1 if stats.mean_degree < 8 else 2,
            },
            work_group_size=group,
        )  # fmt: skip

    return search_recipe(
        problem,
        setting,
        Phase(f"{_FRONTIER}:initialize", n),
        Phase(f"{_FRONTIER}:start", 1, values={"delta": partial(_default_delta, problem) if delta is None else delta}),
        # The bound on launches follows from a bound on turns: at most six per bucket, and one per settled vertex.
        Loop((search,), "round", "state[STATE_ALIVE]", 16 * n // _TURNS + 16) if alone else search,
    )


def has_many_leaves(problem: SearchProblem) -> bool:
    """Return whether the graph has many leaves.

    Kernels then recognise leaves and do not queue them.

    A leaf is a vertex with a single edge. A search reaches it along this edge, so there is nothing to expand.
    """
    stats = problem.stats
    return problem.graph.is_known_symmetric and sum(stats.degree_vertex_counts[1:2]) > MANY_LEAVES * stats.n_vertices


def dijkstra(problem: SearchProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe of Dijkstra's algorithm, in which one work-item
    settles the vertices in the order of distances.
    """
    stats, held = problem.stats, problem.held
    n = stats.n_vertices
    n_chunks = f"({2 * n + stats.max_degree} / CHUNK + 2 * SPARE_CHUNKS)"
    search = Phase(f"{_DIJKSTRA}:search", 1, values={"budget": _BUDGET})

    def setting() -> Setting:
        return Setting(
            arrays={
                "state": Array("STATE_WORDS", np.uint64), "distances": Array(n, held.dtype),
                # An entry of the queue is a distance and a vertex, padded to the size of two distances.
                "entries": Array(f"2 * CHUNK * {n_chunks}", held.dtype), "link": Array(n_chunks, np.uint64),
            },
            defines={"SKIP_LEAVES": int(has_many_leaves(problem))}, work_group_size=1,
        )  # fmt: skip

    return search_recipe(
        problem,
        setting,
        Phase(f"{_DIJKSTRA}:start", 1, values={"n_chunks": n_chunks}),
        # The number of launches is bounded, because the queue gets at most one entry per edge.
        # The bound also needs that a queue entry moves at most once in each of the queue's 16 levels.
        Loop((search,), "round", "state[STATE_ALIVE]", 32 * (n + stats.n_edges) // _BUDGET + 2),
    )


def circular_buckets(problem: SearchProblem, facts: DeviceFacts, *, delta: float | None = None) -> Recipe:
    """Return the recipe of a search by a few work-items that each have a circular array of buckets of width *delta*."""
    stats, held = problem.stats, problem.held
    n, (scale, n_buckets) = stats.n_vertices, _circle(problem, delta)
    workers = queues.queue_members(facts) if facts.has_int64_atomics or not held.wide else 1
    # A worker needs chunks that are full, a chunk for each bucket with entries, and chunks for the longest row.
    partly_full = min(n_buckets, n) + min(n_buckets + 2, stats.max_degree) + _LENT_CHUNKS
    pool = f"({n + n // 2 + stats.max_degree} / CHUNK + {partly_full})"
    values = {"scale": scale, "n_buckets": n_buckets, "pool": pool}
    search = Phase(
        f"{_BUCKETS}:search", 1, values={**values, "budget": _BUDGET}, groups=workers, status="state[STATE_STATUS]"
    )

    def setting() -> Setting:
        return Setting(
            arrays={
                "state": Array("STATE_WORDS", np.uint32), "distances": Array(n, held.dtype),
                # An entry of a bucket is a distance and a vertex, padded to the size of two distances.
                "entries": Array(f"2 * CHUNK * {workers} * {pool}", held.dtype),
                "chunks": Array(f"2 * {workers} * {pool}", np.uint64), "buckets": Array(workers * n_buckets, np.uint64),
            },
            defines={"SKIP_LEAVES": int(has_many_leaves(problem)), "WORKERS": workers}, work_group_size=1,
        )  # fmt: skip

    return search_recipe(
        problem,
        setting,
        Phase(f"{_BUCKETS}:start", 1, values={"n_buckets": n_buckets, "pool": pool}),
        Loop((search,), "round", "state[STATE_ALIVE]", _MAX_LAUNCHES),
    )


def _circle(problem: SearchProblem, delta: float | None) -> tuple[float, int]:
    """Return the factor that maps a distance to its circular bucket, and the number of buckets.

    The scale is a factor for floats, and a number of bits to shift by for integers. By default a bucket is as wide as
    the typical weight divided by the mean degree. An edge must not span the whole circle, so buckets are wider if one
    weight is far above the typical weight. With integers the width is a power of two.
    """
    held, greatest, weights = problem.held, float(problem.weight_range[1]), problem.edge_weights
    if not math.isfinite(greatest):
        greatest = 0.0 if weights is None else float(weights[np.isfinite(weights)].max(initial=0.0))
    width = _typical_weight(weights) / max(1.0, problem.stats.mean_degree)
    width = max(width if delta is None else checked_number("delta", delta), greatest / _MAX_BUCKETS)
    if held.is_float:
        width = max(width, _NARROWEST if held.wide else _NARROWEST_FLOAT32)
        return 1.0 / width, 1 << (int(greatest / width) + 2).bit_length()
    shift = min(math.ceil(math.log2(max(1.0, width))), 63 if held.wide else 31)
    return shift, 1 << (int(greatest / 2.0**shift) + 2).bit_length()


def _typical_weight(weights: NDArray[Any] | None) -> float:
    """Return the mean of a sample of finite edge weights without the greatest tenth; 1 if there are none."""
    if weights is None or not weights.size:
        return 1.0
    few = weights[:: 1 + weights.size // _FEW_WEIGHTS]
    few = np.sort(few[np.isfinite(few)])
    few = few[: max(1, few.size * 9 // 10)]
    with np.errstate(over="ignore"):  # The mean weight may overflow to infinity, but the result is at most _WIDEST.
        return min(float(few.mean(dtype=np.float64)), _WIDEST) if few.size else 1.0


def _default_delta(problem: SearchProblem) -> float:
    """Return the default width of the first bucket of a search: a number of hops × mean weight / mean degree.

    The number of hops is large for deep searches and small for shallow searches. It is smallest for shallow searches of
    graphs with hubs, from which a search reaches many vertices at once.
    """
    graph, stats = problem.graph, problem.stats
    if not graph.n_edges:
        return 1.0
    shallow = _HUB_HOPS if stats.max_degree > _HUB * stats.mean_degree else _SHALLOW_HOPS
    hops = _DEEP_HOPS if stats.estimated_depth > _DEEP else shallow
    weights = np.ones(1) if graph.edge_weights is None else graph.edge_weights[:: max(1, graph.n_edges >> 16)]
    finite = weights[np.isfinite(weights)]
    # The mean weight may overflow to infinity, but the result is at most _WIDEST all the same.
    with np.errstate(over="ignore"):
        mean = float(finite.mean(dtype=np.float64)) if finite.size else 1.0
    delta = min(hops * mean * graph.n_vertices / graph.n_edges, _WIDEST)
    return max(1.0, delta) if weights.dtype.kind != "f" or graph.edge_weights is None else delta


def _suits_cpus(facts: DeviceFacts) -> str | None:
    return None if facts.is_cpu else "one work-item does all, which suits CPUs only"


STRATEGIES: dict[str, Strategy] = {
    **rounds_strategies(PathsPlan),
    "frontier": planned("online", partial(_bucketed, light_first=False), PathsPlan, prices.frontier),
    "delta_stepping": planned("online", partial(_bucketed, light_first=True), PathsPlan, prices.delta_stepping),
    "dijkstra": planned("online", dijkstra, PathsPlan, prices.dijkstra, unsupported=_suits_cpus),
    "circular_buckets": planned(
        "online", circular_buckets, PathsPlan, prices.circular_buckets, unsupported=_suits_cpus
    ),
    "host": sequential(host.solve, host.work, host.unfit),
}


def contenders(problem: SearchProblem, facts: DeviceFacts) -> tuple[str, ...]:
    """Return the shortest-path strategies that ``"auto"`` compares: the best one for device and graph, and ``host``.

    If the device does not support the type of the distances, ``host`` is the only one.
    """
    if problem.held.unsupported(facts) is not None and host.unfit(problem) is None:
        return ("host",)
    if not facts.is_cpu:
        return "frontier", "host"
    return "circular_buckets" if _suits_buckets(problem) else "dijkstra", "host"


def _suits_buckets(problem: SearchProblem) -> bool:
    """Return whether circular buckets are narrow enough if all of them together span the greatest edge weight.

    The weights of a matrix may be unchecked. A pass over them takes far less time than the search.
    """
    weights = problem.graph.arrays[2] if problem.weighted else None
    if weights is None or not weights.size:
        return True
    # A graph has the range of its weights, but an unread matrix has only its array of weights.
    greatest = float(weights.max() if is_unread(problem) else problem.weight_range[1])
    return math.isfinite(greatest) and greatest <= _MAX_WIDTH * _MAX_BUCKETS * _typical_weight(weights)
