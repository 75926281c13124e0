"""What a multilevel partition asks of a device, from the statistics of the graph.

Levels shrink to about 0.57 of the level before in vertices and entries, so that all together are 2.3 times the first.
The counts are of what was measured on meshes: each entry is looked at some fifteen times while a level is matched and
contracted, and a level is refined in about sixty turns, in which a twentieth of its vertices takes part. Where a launch
refines all levels, a turn takes as long as some barriers, since a row is gone through from entry to entry.
"""
from __future__ import annotations

import math

from clgraph.algorithms.partition.problem import PartitionProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Gathers, Work

_SHRINKING = 0.57
_LOOKS = 15.0
_TURNS = 60.0
_BORDER = 0.05
_TURN_BARRIERS = 12.0
_LAUNCHES = 20.0  # of matching and contraction on a level
_OTHERS = 10.0


def multilevel(problem: PartitionProblem, facts: DeviceFacts) -> Work:
    """Count everything; launches, too."""
    return sized(problem.graph.n_vertices, problem.graph.n_edges, problem.n_parts, facts)


def sized(n: float, m: float, n_parts: int, facts: DeviceFacts) -> Work:
    """Count what a graph of *n* vertices and *m* entries asks of a device."""
    levels = max(1.0, math.log(max(2.0, n / (8.0 * n_parts))) / -math.log(_SHRINKING))
    all_entries, all_vertices = m / (1 - _SHRINKING), n / (1 - _SHRINKING)
    looks = all_entries * (_LOOKS + _TURNS * _BORDER)
    turns = levels * _TURNS
    is_whole = facts.dialect.has_grid_barrier
    return Work(
        launches=_OTHERS + _LAUNCHES * levels + (0.0 if is_whole else 4.0 * turns),
        read_backs=levels + (0.0 if is_whole else turns / 4.0),
        grid_barriers=_TURN_BARRIERS * turns if is_whole else 0.0,
        streamed_bytes=8.0 * looks + 100.0 * all_vertices, gathers=(Gathers(looks, 4.0 * n),),
    )
