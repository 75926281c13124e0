"""What the strategies of hash collisions ask of a device, from the statistics of the graph and the table's size.

The cost model knows no rate of integer instructions, which are what limits: their time is given as that of bytes
streamed. The weights were fitted to measured times of PoCL on two cores and of an H200.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

from clgraph.algorithms.hash_collisions.problem import CollisionProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Work

MOST_HASHES = 16  # that one launch counts
MOST_WIDTHS = 12
BITMAP_BITS = 12
_CPU_WAIT = 1.1


@dataclass(frozen=True)
class _Weights:
    """Bytes streamed in the time of one step."""

    hash: float  # of a vertex
    plane_entry: float  # a neighbour and a word of planes
    plane_row: float
    entry: float  # a neighbour and a hash: distance 1
    item_entry: float  # distance 2, a lane a row
    lane_entry: float  # distance 2, hashes side by side
    bin: float  # of a row's histogram
    word: float  # of a bitmap
    comparison: float  # of the sorting network


_CPU = _Weights(
    hash=30.0, plane_entry=14.0, plane_row=80.0, entry=25.0, item_entry=8.0, lane_entry=12.0, bin=20.0, word=22.0,
    comparison=35.0,
)
_GPU = _Weights(
    hash=3.5, plane_entry=2.4, plane_row=20.0, entry=8.0, item_entry=12.0, lane_entry=4.0, bin=1.2, word=2.0,
    comparison=2.6,
)


def row_per_item_work(problem: CollisionProblem, facts: DeviceFacts) -> Work:
    """Every tile is added to the counters."""
    n_tiles = (problem.stats.n_edges + problem.stats.n_vertices) / 8192
    n_counters = len(problem.hashes) * len(problem.bit_widths)
    return _tiles_work(problem, facts) + Work(streamed_bytes=8.0 * n_tiles * n_counters)


def persistent_work(problem: CollisionProblem, facts: DeviceFacts) -> Work:
    """A group adds its tiles up; CPUs, whose groups are few, wait for the slowest of them."""
    return _tiles_work(problem, facts).times(_CPU_WAIT if facts.is_cpu else 1.0)


def _tiles_work(problem: CollisionProblem, facts: DeviceFacts) -> Work:
    weights = _weights(facts)
    if problem.distance == 2:
        return _lanes_work(problem, facts, weights.item_entry)
    n, m = float(problem.stats.n_vertices), float(problem.stats.n_edges)
    parts = _parts(len(problem.hashes), MOST_HASHES) * _parts(len(problem.bit_widths), MOST_WIDTHS)
    words = math.ceil(len(problem.bit_widths) / 2)
    each = Work(launches=2.0, streamed_bytes=(4 + weights.plane_entry * words) * m + weights.plane_row * words * n)
    return each.times(parts) + Work(streamed_bytes=weights.hash * len(problem.hashes) * n)


def row_per_sub_group_work(problem: CollisionProblem, facts: DeviceFacts) -> Work:
    weights = _weights(facts)
    return _lanes_work(problem, facts, weights.entry if problem.distance == 1 else weights.lane_entry)


def _lanes_work(problem: CollisionProblem, facts: DeviceFacts, entry_bytes: float) -> Work:
    weights, stats = _weights(facts), problem.stats
    n, m, hashes = float(stats.n_vertices), float(stats.n_edges), float(len(problem.hashes))
    rows = n - stats.n_isolated
    steps = entry_bytes * m + weights.bin * rows * max(problem.bit_widths)
    if problem.distance == 2 and max(problem.bit_widths) > BITMAP_BITS:
        levels = math.log2(2 + stats.mean_degree)
        steps += weights.comparison * m * levels * (levels + 1) / 4
    elif problem.distance == 2:
        steps += weights.word * rows * 2.0 ** max(0, max(problem.bit_widths) - 4)
    return Work(
        launches=2.0 * _parts(len(problem.hashes), MOST_HASHES),
        streamed_bytes=4 * m + hashes * (weights.hash * n + steps),
    )


def _parts(n: int, most: int) -> int:
    return -(-n // most)


def _weights(facts: DeviceFacts) -> _Weights:
    return _CPU if facts.is_cpu else _GPU
