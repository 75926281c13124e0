"""What the strategies of hash collisions ask of a device, from the statistics of the graph and the table's size.

The cost model knows no rate of integer instructions, which are what limits: their time is given as that of bytes
streamed. The weights were fitted to measured times of PoCL on two cores and of an H200.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

from clgraph.algorithms.hash_collisions.problem import CollisionProblem
from clgraph.data.stats import GraphStats
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


def tabulate(problem: CollisionProblem, facts: DeviceFacts, n_hashes: int, persistent: bool) -> Work:
    """Evaluate *n_hashes* of every vertex."""
    hash_bytes = (_CPU if facts.is_cpu else _GPU).hash
    return Work(streamed_bytes=_wait(facts, persistent) * hash_bytes * float(n_hashes * problem.stats.n_vertices))


def count_planes(
    problem: CollisionProblem, facts: DeviceFacts, n_hashes: int, n_widths: int, persistent: bool
) -> Work:
    weights, words, stats = _CPU if facts.is_cpu else _GPU, -(-n_widths // 2), problem.stats
    n, m = float(stats.n_vertices), float(stats.n_edges)
    steps = (4 + weights.plane_entry * words) * m + weights.plane_row * words * n
    return _summed(stats, facts, steps, n_hashes * n_widths, persistent)


def count_lanes(
    problem: CollisionProblem, facts: DeviceFacts, n_hashes: int, method: str, *, side_by_side: bool, persistent: bool
) -> Work:
    weights, stats, bits = _CPU if facts.is_cpu else _GPU, problem.stats, max(problem.bit_widths)
    rows, m = float(stats.n_vertices - stats.n_isolated), float(stats.n_edges)
    entry = weights.entry if method == "PAIRS" else weights.lane_entry if side_by_side else weights.item_entry
    steps = entry * m + weights.bin * rows * bits
    if method == "SORTED":
        levels = math.log2(2 + stats.mean_degree)
        steps += weights.comparison * m * levels * (levels + 1) / 4
    elif method == "BITMAP":
        steps += weights.word * rows * 2.0 ** max(0, bits - 4)
    asked = 4 * m + n_hashes * steps
    if side_by_side:
        return Work(streamed_bytes=asked)
    return _summed(stats, facts, asked, n_hashes * len(problem.bit_widths), persistent)


def _summed(stats: GraphStats, facts: DeviceFacts, streamed_bytes: float, n_counters: int, persistent: bool) -> Work:
    """Count, and add every tile to the counters, or only what a *persistent* group has summed up."""
    n_tiles = (stats.n_edges + stats.n_vertices) / 8192
    sums = 0.0 if persistent else 8.0 * n_tiles * n_counters
    return Work(streamed_bytes=_wait(facts, persistent) * streamed_bytes + sums)


def _wait(facts: DeviceFacts, persistent: bool) -> float:
    """CPUs have few persistent groups, and wait for the slowest of them."""
    return _CPU_WAIT if persistent and facts.is_cpu else 1.0
