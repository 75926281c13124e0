"""Predicted work of each strategy of breadth-first search, from graph statistics.

The constants are fitted to calls on graphs of 131,072 and 524,288 vertices, on two CPUs and two GPUs
(``benchmarks/results/cost_model-*.json``). The fit minimises the time lost by picking a slower strategy, not the error
of each kernel's prediction.
"""

from __future__ import annotations

from dataclasses import replace

from clgraph.algorithms.traversal.prices import NEAR_BYTES, reached
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.algorithms.traversal.queues import has_few_units, queue_members
from clgraph.data.graphs.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Chain, Gathers, Work

# A breadth-first search of more than 40 levels has few frontiers that are large enough to go bottom-up.
DEEP_LEVELS = 40.0
# A breadth-first search that reaches less than a quarter of the vertices has no large frontier, so it stays top-down.
TURNED_SHARE = 0.25
# On CPUs, the cost model counts the time of one core in dependent loads from the core's second-level cache.
# A top-down search on a CPU makes half a cache load per reached vertex, and a quarter per CSR entry that it reads.
VERTEX_LOADS, ENTRY_LOADS = 0.5, 0.25
# A mispredicted branch at a far neighbour costs the time of 2 loads. A reached vertex has at most 4 of these branches.
GUESS_LOADS, GUESSES_PER_VERTEX = 2.0, 4.0
PULL_LOADS = 2.5  # The bottom-up levels of a search together cost this many cache loads per vertex.
# The top-down levels of a search that later goes bottom-up take a fifth of the time of an entirely top-down search.
PUSHED_SHARE = 0.2
# CPU cores share the work of a search level only if the level has at least 64 vertices (as in cl/bfs/meeting.h).
SHARED_LEVEL_VERTICES = 64.0
# With k CPU cores, a search takes 1.25 / k of the time of one core, because one core expands the narrow levels alone.
SHARING_FACTOR = 1.25
ATOMIC_UNITS = 5.0  # Five CPU cores that visit vertices with atomics are as fast as one core that uses no atomics.
CPU_VERTEX_BYTES = 16.0  # On a CPU, a search reads and writes 16 bytes of memory per vertex.
# A search of an unchecked matrix moves 112 bytes per row: to write the answer, and to check rows of unreached vertices.
CHECKED_VERTEX_BYTES = 112.0
# GPUs.
# A search on a GPU moves 16 bytes of memory per vertex if it only goes top-down, and 60 if it also goes bottom-up.
VERTEX_BYTES, PULL_VERTEX_BYTES = 16.0, 60.0
# A search level on a GPU takes the time of 1.1 grid barriers. Three memory accesses in a row are included.
LEVEL_BARRIERS = 1.1
PULL_BARRIERS = 6.0  # Number of grid barriers in all levels of a search that goes bottom-up.
PULL_ENTRIES = 6.0  # Mean number of neighbours that a vertex reads in all bottom-up levels together.
# In a bottom-up level a work-group reads a hub's row in steps of 2048 entries. A step takes 4 dependent loads.
HUB_STEP_ENTRIES, HUB_STEP_LOADS = 2048.0, 4.0


def frontier(problem: SearchProblem, facts: DeviceFacts) -> Work:
    """Predict the work of the breadth-first search ``frontier``, which always searches top-down."""
    stats = problem.stats
    met, entries = reached(stats)
    n, far = float(stats.n_vertices), stats.far_neighbor_share
    if facts.is_cpu:
        guesses = far * min(entries, GUESSES_PER_VERTEX * met)
        loads = VERTEX_LOADS * met + ENTRY_LOADS * entries + GUESS_LOADS * guesses
        return Work(
            launches=4.0,
            read_backs=1.0,
            streamed_bytes=CPU_VERTEX_BYTES * n,
            chains=(Chain(loads * _time_share(stats, facts), NEAR_BYTES),),
        )
    barriers = LEVEL_BARRIERS * stats.estimated_depth
    return Work(
        launches=3.0 if facts.dialect.has_grid_barrier else barriers,
        streamed_bytes=VERTEX_BYTES * n + 8.0 * entries,
        gathers=(Gathers(2.0 * entries, 4.0 * n), Gathers(met, 8.0 * n)),
        atomics=(Atomics(met, max(2.0, n)),),
        grid_barriers=barriers if facts.dialect.has_grid_barrier else 0.0,
    )


def _time_share(stats: GraphStats, facts: DeviceFacts) -> float:
    """Return the time of a breadth-first search on all cores of a CPU, as a share of its time on one core."""
    members = queue_members(facts)
    if members == 1:
        return min(1.0, ATOMIC_UNITS / facts.compute_units)
    is_wide = reached(stats)[0] >= SHARED_LEVEL_VERTICES * stats.estimated_depth
    return SHARING_FACTOR / members if is_wide else 1.0


def direction_optimizing(problem: SearchProblem, facts: DeviceFacts) -> Work:
    """Predict the work of the breadth-first search ``direction_optimizing``,
    which goes bottom-up while the frontier is large.
    """
    stats, pushed = problem.stats, frontier(problem, facts)
    n = float(stats.n_vertices)
    if not turns_round(stats):
        # A search that stays top-down pays a fifth more for the larger kernel that could also go bottom-up.
        return pushed.times(1.0, 1.2)
    if facts.is_cpu:
        return pushed.times(1.0, PUSHED_SHARE) + Work(chains=(Chain(PULL_LOADS * n / facts.compute_units, NEAR_BYTES),))
    entries = min(float(stats.n_edges), PULL_ENTRIES * n)
    steps = _hub_entries(stats, stats.n_edges / facts.compute_units) / HUB_STEP_ENTRIES
    return Work(
        launches=3.0,
        streamed_bytes=PULL_VERTEX_BYTES * n + 16.0 * entries,
        gathers=(Gathers(2.0 * entries, n / 8), Gathers(n, 8.0 * n)),
        grid_barriers=PULL_BARRIERS if facts.dialect.has_grid_barrier else 0.0,
        chains=(Chain(HUB_STEP_LOADS * steps, 4.0 * stats.n_edges),),
    )


def turns_round(stats: GraphStats) -> bool:
    """Return whether a search's frontier may become so large that searching bottom-up saves time."""
    return stats.estimated_depth <= DEEP_LEVELS and stats.reached_share >= TURNED_SHARE


def _hub_entries(stats: GraphStats, share: float) -> float:
    """Return the number of CSR entries in the rows of hubs:
    rows that are longer than *share*, the entries per compute unit.

    A bottom-up step reads a hub's whole row in vain if no neighbour of the hub is in the frontier. Hubs often have
    consecutive numbers, so one work-group may get them all. The longest row is left out.
    """
    rows = zip(stats.degree_vertex_counts, stats.degree_edge_counts, strict=True)
    return max(0.0, sum(float(entries) for n, entries in rows if entries > share * n) - stats.max_degree)


def matrix_search(problem: SearchProblem, facts: DeviceFacts) -> Work:
    """Predict the work of :class:`MatrixSearch`, a top-down breadth-first search that also checks the rows of a matrix.

    On CPUs with more than four cores, a single core searches.
    """
    searching = facts if has_few_units(facts) else replace(facts, compute_units=1)
    return frontier(problem, searching) + Work(streamed_bytes=CHECKED_VERTEX_BYTES * problem.graph.n_vertices)
