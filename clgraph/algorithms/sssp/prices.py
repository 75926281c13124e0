"""Predicted work of each shortest-path strategy, from graph statistics.

The constants are fitted to calls on graphs of 131,072 and 524,288 vertices, on two CPUs and two GPUs
(``benchmarks/results/cost_model-*.json``). On CPUs ``circular_buckets`` is the fastest strategy, or
``dijkstra`` if a few weights are far above the others, and on GPUs ``frontier``. So the prices only need to show
whether the host is faster.
"""

from __future__ import annotations

from clgraph.algorithms.traversal.prices import NEAR_BYTES, reached
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Chain, Gathers, Work

# The time of ``dijkstra`` is predicted as loads from a core's second-level cache, each after the load before it.
# ``dijkstra`` makes 7.5 loads per vertex, 9 more per vertex if the weights differ, and 0.36 per CSR entry.
VERTEX_LOADS, UNEVEN_VERTEX_LOADS, ENTRY_LOADS = 7.5, 9.0, 0.36
# On a CPU, ``frontier`` takes 2.5 times the time of ``dijkstra`` on one core.
# ``delta_stepping`` takes 1.3 times the time of ``frontier``, because ``delta_stepping`` visits rows twice.
BY_BUCKETS, LIGHT_FIRST = 2.5, 1.3
# ``circular_buckets`` on two cores takes 0.65 of the time of ``dijkstra`` on one core.
# ``circular_buckets`` took 0.45 of the time of ``dijkstra`` on roads and grids, and 0.57 to 0.84 on shallow graphs.
IN_CIRCLE = 0.65
# A search by ``frontier`` expands a list of vertices per turn, and takes 1.3 turns per level and 25 more turns.
# A search by ``frontier`` takes up to 105 more turns if the weights of edges differ.
LEVEL_TURNS, TURNS, UNEVEN_TURNS = 1.3, 25.0, 105.0
TURN_BARRIERS = 2.3  # Each turn of the search waits at 2.3 grid barriers on average.


def dijkstra(problem: SearchProblem, _facts: DeviceFacts) -> Work:
    """Predict the work of the shortest-path strategy ``dijkstra``, which runs on one core."""
    stats, size = problem.stats, problem.held.dtype.itemsize
    met, entries = reached(stats)
    loads = met * (VERTEX_LOADS + UNEVEN_VERTEX_LOADS * (1.0 - problem.light_share)) + ENTRY_LOADS * entries
    return predecessors(problem) + Work(
        launches=2.0, read_backs=1.0, streamed_bytes=(4.0 + size) * stats.n_vertices, chains=(Chain(loads, NEAR_BYTES),)
    )


def circular_buckets(problem: SearchProblem, facts: DeviceFacts) -> Work:
    """Predict the work of ``circular_buckets``, a shortest-path search in
    which a few cores have buckets of their own.
    """
    return dijkstra(problem, facts).times(1.0, IN_CIRCLE)


def frontier(problem: SearchProblem, facts: DeviceFacts) -> Work:
    """Predict the work of the shortest-path strategy ``frontier``, which groups vertices into buckets by distance."""
    if facts.is_cpu:
        return dijkstra(problem, facts).times(1.0, BY_BUCKETS)
    stats, size, uneven = problem.stats, problem.held.dtype.itemsize, 1.0 - problem.light_share
    met, entries = reached(stats)
    n, relaxed = float(stats.n_vertices), entries * (1.0 + uneven)
    barriers = TURN_BARRIERS * (LEVEL_TURNS * stats.estimated_depth + TURNS + UNEVEN_TURNS * uneven)
    return predecessors(problem) + Work(
        launches=3.0,
        grid_barriers=barriers if facts.dialect.has_grid_barrier else 0.0,
        streamed_bytes=(20.0 + size) * n + 12.0 * relaxed,
        gathers=(Gathers(2.0 * relaxed, size * n), Gathers(4.0 * met, 8.0 * n)),
        atomics=(Atomics(3.0 * met, max(2.0, n)),),
    )


def delta_stepping(problem: SearchProblem, facts: DeviceFacts) -> Work:
    """Predict the work of ``delta_stepping``, a search with buckets that relaxes light edges before heavy edges."""
    return frontier(problem, facts).times(LIGHT_FIRST)


def predecessors(problem: SearchProblem) -> Work:
    """Predict the work of finding the predecessors on shortest paths, if they are wanted."""
    if not problem.predecessors:
        return Work()
    n, m, size = float(problem.stats.n_vertices), float(problem.stats.n_edges), problem.held.dtype.itemsize
    gathers = (Gathers(m, size * n), Gathers(n, 8.0 * n))
    return Work(launches=4.0, streamed_bytes=(20.0 + size) * n + 8.0 * m, gathers=gathers)
