"""Default number of light edges that are joined before the others (filter-Borůvka)."""

from __future__ import annotations

from clgraph.algorithms.mst.problem import ForestProblem
from clgraph.device.facts import DeviceFacts

MIN_DEGREE = 8.0  # mean degree. Below it, few edges are left between trees anyway.
EDGES_PER_VERTEX = 1.25
RANDOM = 0.5  # randomness of the numbering. Above it, the lightest edges lead anywhere.


def default_light_edges(problem: ForestProblem, facts: DeviceFacts, *, whole: bool) -> float:
    """Return the edges per vertex to join first, or 0 if most edges would be among them or few are left.

    Where many edges are the lightest, the vertices of a *whole* graph first take the edge to their least neighbour,
    which leaves few trees unless the numbering is random. CPUs then read all edges once instead of twice.
    """
    stats = problem.stats
    if stats.mean_degree < MIN_DEGREE:
        return 0.0
    if whole and facts.is_cpu and not problem.maximum and stats.randomness < RANDOM:
        return 0.0 if 0.5 * problem.graph.least_share * stats.mean_degree > EDGES_PER_VERTEX else EDGES_PER_VERTEX
    return EDGES_PER_VERTEX
