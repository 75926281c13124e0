"""What the strategies of colouring ask of a device, from the statistics of the graph."""
from __future__ import annotations

import math

from clgraph.algorithms.coloring.distance_two_work import first_fit_work, hash_start_work
from clgraph.algorithms.coloring.problem import ColoringProblem
from clgraph.data.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Chain, Gathers, Work

_NEAR_BYTES = 2.0**18
_CPU_VISIT_BYTES, _CPU_GREEDY_VISIT_BYTES = 45.0, 110.0  # which the arithmetic of a visit is worth there
_LARGE_BIN = 6  # of the counts by degree: 32 and more
_HUB_LOADS = 5.0  # by entry of the longest row and lane, one after the other, in the rounds of speculation
_LAUNCHES = 4.0  # launches until no vertex is open, where groups may not wait for each other
_DEPTH = 20.0  # dependent loads, by the logarithm of the vertices
_FEW_NEIGHBORS = 4.0


def first_fit_suffices(stats: GraphStats, facts: DeviceFacts) -> bool:
    """Return whether colours taken by number are about as few as with the largest degrees first: grids, roads.

    Not on GPUs, where so many vertices are coloured at once that roads take a colour more.
    """
    return facts.is_cpu and stats.mean_degree < _FEW_NEIGHBORS


def jones_plassmann_work(problem: ColoringProblem, facts: DeviceFacts) -> Work:
    """A visit to every entry for its priority, to those before for their colours, to the open ones some more."""
    graph, alone = problem.stats, not facts.dialect.has_grid_barrier
    n, m = float(graph.n_vertices), float(graph.n_edges)
    n_large = float(sum(graph.degree_vertex_counts[_LARGE_BIN:]))
    m_large = float(sum(graph.degree_edge_counts[_LARGE_BIN:]))
    cpu = _CPU_GREEDY_VISIT_BYTES
    large = Work(launches=12.0 if n_large else 0.0, streamed_bytes=40.0 * n_large)
    large += _visits(graph, facts, m_large, 1.7, cpu)
    small = Work(launches=2.0, read_backs=_LAUNCHES if alone else 0.0) + _visits(graph, facts, m - m_large, 3.0, cpu)
    passes = Work(streamed_bytes=28.0 * n, chains=(Chain(_DEPTH * math.log2(2.0 + n), 4.0 * n),))
    return passes + small + large.times(facts.compute_units if alone else 1.0)  # then one sub-group does them all


def speculative_work(problem: ColoringProblem, facts: DeviceFacts) -> Work:
    """At distance 1 two passes over the rows, and more over those of the few that conflict."""
    if problem.distance == 2:
        return first_fit_work(problem.stats)
    grid = facts.dialect.has_grid_barrier
    control = Work(launches=4.0, read_backs=0.0 if grid else 1.0, grid_barriers=6.0 if grid else 0.0)
    n, m = float(problem.stats.n_vertices), float(problem.stats.n_edges)
    if grid:
        control += Work(chains=(Chain(_HUB_LOADS * problem.stats.max_degree / facts.sub_group_size, 4.0 * n),))
    return control + Work(streamed_bytes=24.0 * n) + _visits(problem.stats, facts, m, 2.3, _CPU_VISIT_BYTES)


def hash_repair_work(problem: ColoringProblem, facts: DeviceFacts) -> Work:
    """A pass to find the collisions, then as speculative for the share that collides."""
    if problem.distance == 2:
        return hash_start_work(problem.stats)
    return speculative_work(problem, facts).times(1.3)


def _visits(graph: GraphStats, facts: DeviceFacts, entries: float, times: float, cpu_bytes: float) -> Work:
    """Read *entries* and what their neighbours hold, so many times; on CPUs arithmetic takes longer than that."""
    count, far = times * entries, graph.far_neighbor_share
    return Work(
        streamed_bytes=(cpu_bytes if facts.is_cpu else 4.0) * count,
        gathers=(Gathers(far * count, 4.0 * graph.n_vertices), Gathers((1 - far) * count, _NEAR_BYTES)),
    )
