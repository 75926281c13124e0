"""What the strategies of breadth-first search ask of a device, from the statistics of the graph.

Deep searches wait for a barrier and three dependent accesses a level; shallow ones look at every edge, or, where the
unreached look for the frontier, at a few of each vertex. On a CPU of few cores work-items with queues of their own, one
a core, do all but that; with two they took 0.32 … 0.83 of the time of one.
"""
from __future__ import annotations

from dataclasses import replace

from clgraph.algorithms.bfs.levels import has_few_units, queue_members
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.algorithms.traversal.work import NEAR_BYTES, reached
from clgraph.data.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Chain, Gathers, Work

_DEEP = 40.0  # levels, from which on few frontiers are large enough to turn round
_LEVEL_BARRIERS = 1.1  # that the accesses of a level take as long as
_TURNED_SHARE = 0.25  # of the graph, from which on a search that meets it may turn round
_FIRST_LOOKS = 6.0  # entries that an unreached vertex looks at
# Of a GPU's work-group that looks bottom-up at the row of a hub: loads in turn of a step, and entries of it.
_STEP_LOADS, _STEP_ENTRIES = 4.0, 2048.0
# Of a core of a CPU, in loads in turn from its second-level cache: a queue is one core's, so what the runtime makes of
# many work-items does not count.
_PER_VERTEX, _PER_ENTRY = 0.5, 0.25
_PER_PULL, _TOP_DOWN_SHARE = 4.0, 0.4  # of a vertex in all rounds; of the search, before it turns round
_UNITS_OF_ATOMICS = 5.0  # that search as fast together as one that needs none
_SHARED_ROWS = 64.0  # that a level has if it is searched together, as in cl/bfs/meeting.h
_MEETINGS = 1.25  # by which searching together takes longer than a share alone: narrow levels are one core's
# Of a level in a deep search, which waits for the one before, and more where the next vertex is far; and of two entries
# a vertex where it is random whether they lead to one that was met, as in components.
_PER_LEVEL, _PER_FAR_LEVEL = 0.7, 4.7
_PER_GUESS, _GUESSES = 2.0, 2.0
UNCHECKED_BYTES = 112.0  # per vertex: the answer is written to new memory, and rows that were not reached are checked
_NEIGHBORS_APART = 1024  # numbers between two in a sorted row, up to which they are near each other


def frontier(stats: GraphStats, facts: DeviceFacts) -> Work:
    """Return the work of a search that is always top-down, its launches not counted."""
    met, m = reached(stats)
    if facts.is_cpu:
        members, is_deep = queue_members(facts), stats.estimated_depth > _DEEP
        guesses = (stats.randomness if is_deep else _far_from_hubs(stats)) * min(m, _GUESSES * met)
        alone = _PER_VERTEX * met + _PER_ENTRY * m + _PER_GUESS * guesses
        levels = min(stats.estimated_depth, met) * (_PER_LEVEL + _PER_FAR_LEVEL * stats.far_neighbor_share)
        together = min(1.0, _UNITS_OF_ATOMICS / facts.compute_units)  # of the time of one, if all use the same lists
        if members > 1:
            is_wide = met >= _SHARED_ROWS * stats.estimated_depth
            together = _MEETINGS / members if is_wide else 1.0
        return Work(chains=(Chain(together * alone + levels, NEAR_BYTES),))
    n = float(stats.n_vertices)
    barriers = _LEVEL_BARRIERS * stats.estimated_depth if facts.dialect.has_grid_barrier else 0.0
    return Work(
        streamed_bytes=16.0 * n + 8.0 * m, gathers=(Gathers(2.0 * m, 4.0 * n), Gathers(met, 8.0 * n)),
        atomics=(Atomics(met, max(2.0, n)),), grid_barriers=barriers,
    )


def _far_from_hubs(stats: GraphStats) -> float:
    """Return the share of the entries that lead far away, but for those to and from hubs.

    Hubs stay in a cache, and the neighbours in the row of a hub are near each other.
    """
    first_bin = max(1, (stats.n_vertices // _NEIGHBORS_APART).bit_length()) + 1
    at_hubs = sum(stats.degree_edge_counts[first_bin:]) / max(1, stats.n_edges)
    return stats.far_neighbor_share * max(0.0, 1.0 - 2.0 * at_hubs)


def matrix_search(problem: SearchProblem, facts: DeviceFacts) -> Work:
    """Return the work of a top-down search that checks the rows which it reads; without many cores it is one core's."""
    searching = facts if has_few_units(facts) else replace(facts, compute_units=1)
    return frontier(problem.stats, searching) + Work(streamed_bytes=UNCHECKED_BYTES * problem.graph.n_vertices)


def turns_round(stats: GraphStats) -> bool:
    """Return whether a search may have a frontier so large that it pays to go bottom-up."""
    return stats.estimated_depth <= _DEEP and stats.reached_share >= _TURNED_SHARE


def direction_optimizing(stats: GraphStats, facts: DeviceFacts) -> Work:
    """Return the work of a search in both directions: its kernel is larger, so it is slower if it never turns round."""
    n = float(stats.n_vertices)
    if not turns_round(stats):
        return frontier(stats, facts).times(1.2)
    if facts.is_cpu:
        pulls = Work(chains=(Chain(_PER_PULL * n / facts.compute_units, NEAR_BYTES),))
        return frontier(stats, facts).times(_TOP_DOWN_SHARE) + pulls
    looks = min(float(stats.n_edges), _FIRST_LOOKS * n)
    steps = _heavy_entries(stats, stats.n_edges / facts.compute_units) / _STEP_ENTRIES
    return Work(
        streamed_bytes=60.0 * n + 16.0 * looks, gathers=(Gathers(2.0 * looks, n / 8), Gathers(n, 8.0 * n)),
        grid_barriers=9.0 if facts.dialect.has_grid_barrier else 0.0,
        chains=(Chain(_STEP_LOADS * steps, 4.0 * stats.n_edges),),
    )


def _heavy_entries(stats: GraphStats, share: float) -> float:
    """Return the entries in rows that are longer than a work-group's *share*, without the longest row.

    A search that turns round looks at the row of a hub in vain if the hub is no neighbour of the first ones. Hubs have
    numbers next to each other more often than not, so one work-group has them all.
    """
    rows = zip(stats.degree_vertex_counts, stats.degree_edge_counts, strict=True)
    return max(0.0, sum(float(entries) for n, entries in rows if entries > share * n) - stats.max_degree)


def frontier_launches(stats: GraphStats, facts: DeviceFacts) -> float:
    """Return how many launches the host makes that drives a search top-down."""
    return 1.0 if facts.is_cpu else max(1.0, stats.estimated_depth)


def direction_launches(stats: GraphStats, facts: DeviceFacts) -> float:
    """Return how many launches the host makes that drives a search in both directions."""
    return 7.0 if facts.is_cpu and stats.estimated_depth <= _DEEP else frontier_launches(stats, facts)
