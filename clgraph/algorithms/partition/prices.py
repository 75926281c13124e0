"""Predicted work of multilevel partitions, from the sizes of the graph.

Each level has about 0.57 of the vertices and entries of the level before, so that all levels together have 2.3 times
those of the graph. The counts were measured on meshes.
"""
from __future__ import annotations

import math

from clgraph.algorithms.partition.problem import PartitionProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Gathers, Work

LEVEL_RATIO = 0.57
COARSEST_VERTICES_PER_PART = 8.0
READS = 15.0  # of each entry while a level is matched and contracted
TURNS, MOVED_SHARE = 60.0, 0.05  # turns that refine a level, and the vertices that take part in each
TURN_BARRIERS = 12.0  # per turn, with the row that is read from entry to entry
LEVEL_LAUNCHES, OTHER_LAUNCHES = 20.0, 10.0  # of matching and contraction; at the beginning and the end


def multilevel(problem: PartitionProblem, facts: DeviceFacts) -> Work:
    """Return the work of a partition on the device."""
    return of_sizes(problem.graph.n_vertices, problem.graph.n_edges, problem.n_parts, facts)


def of_sizes(n: float, m: float, n_parts: int, facts: DeviceFacts) -> Work:
    """Return the work of partitioning a graph of *n* vertices and *m* entries."""
    least = max(2.0, n / (COARSEST_VERTICES_PER_PART * n_parts))
    levels = max(1.0, math.log(least) / -math.log(LEVEL_RATIO))
    turns, reads = levels * TURNS, m / (1 - LEVEL_RATIO) * (READS + TURNS * MOVED_SHARE)
    is_whole = facts.dialect.has_grid_barrier
    return Work(
        launches=OTHER_LAUNCHES + LEVEL_LAUNCHES * levels + (0.0 if is_whole else 4.0 * turns),
        read_backs=levels + (0.0 if is_whole else turns / 4.0),
        grid_barriers=TURN_BARRIERS * turns if is_whole else 0.0,
        streamed_bytes=8.0 * reads + 100.0 * n / (1 - LEVEL_RATIO), gathers=(Gathers(reads, 4.0 * n),),
    )
