"""What a multilevel partition asks of a device, from the statistics of the graph.

Levels shrink to about 0.57 of the level before in vertices and entries, so that all together are 2.3 times the first.
The counts are of what was measured on meshes: each entry is looked at some fifteen times while a level is matched and
contracted, and a level is refined in about thirty turns, in which a tenth of its vertices takes part.
"""
from __future__ import annotations

import math

from clgraph.algorithms.partition.problem import PartitionProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Gathers, Work

_SHRINKING = 0.57
_LOOKS = 15.0
_TURNS = 30.0
_BORDER = 0.1
_LAUNCHES = 21.0  # of matching and contraction on a level


def multilevel(problem: PartitionProblem, facts: DeviceFacts) -> Work:
    """Count everything; launches, too."""
    return sized(problem.graph.n_vertices, problem.graph.n_edges, problem.n_parts)


def sized(n: float, m: float, n_parts: int) -> Work:
    """Count what a graph of *n* vertices and *m* entries asks."""
    levels = max(1.0, math.log(max(2.0, n / (16.0 * n_parts))) / -math.log(_SHRINKING))
    all_entries, all_vertices = m / (1 - _SHRINKING), n / (1 - _SHRINKING)
    looks = all_entries * (_LOOKS + _TURNS * _BORDER)
    return Work(
        launches=levels * (_LAUNCHES + 4 * _TURNS), read_backs=levels * (1 + _TURNS / 4),
        streamed_bytes=8.0 * looks + 100.0 * all_vertices, gathers=(Gathers(looks, 4.0 * n),),
    )
