"""What the strategies of hash collisions ask of a device, from the statistics of the graph and the table's size.

The cost model knows no rate of integer instructions, which are what limits: their time is given as that of bytes
streamed. The weights were fitted to measured times of PoCL on two cores and of an H200.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

from clgraph.data.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Work

MOST_HASHES = 16  # that one launch counts
MOST_WIDTHS = 12
BITMAP_BITS = 12
_CPU_WAIT = 1.1


@dataclass(frozen=True)
class CollisionStats:
    """What the estimates depend on."""

    graph: GraphStats
    distance: int
    n_hashes: int
    n_widths: int
    max_bits: int


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


def row_per_item_work(stats: CollisionStats, facts: DeviceFacts) -> Work:
    """Every tile is added to the counters."""
    n_tiles = (stats.graph.n_edges + stats.graph.n_vertices) / 8192
    return _tiles_work(stats, facts) + Work(streamed_bytes=8.0 * n_tiles * stats.n_hashes * stats.n_widths)


def persistent_work(stats: CollisionStats, facts: DeviceFacts) -> Work:
    """A group adds its tiles up; CPUs, whose groups are few, wait for the slowest of them."""
    return _tiles_work(stats, facts).times(_CPU_WAIT if facts.is_cpu else 1.0)


def _tiles_work(stats: CollisionStats, facts: DeviceFacts) -> Work:
    weights = _weights(facts)
    if stats.distance == 2:
        return _lanes_work(stats, facts, weights.item_entry)
    n, m = float(stats.graph.n_vertices), float(stats.graph.n_edges)
    parts = _parts(stats.n_hashes, MOST_HASHES) * _parts(stats.n_widths, MOST_WIDTHS)
    words = math.ceil(stats.n_widths / 2)
    each = Work(launches=2.0, streamed_bytes=(4 + weights.plane_entry * words) * m + weights.plane_row * words * n)
    return each.times(parts) + Work(streamed_bytes=weights.hash * stats.n_hashes * n)


def row_per_sub_group_work(stats: CollisionStats, facts: DeviceFacts) -> Work:
    weights = _weights(facts)
    return _lanes_work(stats, facts, weights.entry if stats.distance == 1 else weights.lane_entry)


def _lanes_work(stats: CollisionStats, facts: DeviceFacts, entry_bytes: float) -> Work:
    weights, graph = _weights(facts), stats.graph
    n, m, hashes = float(graph.n_vertices), float(graph.n_edges), float(stats.n_hashes)
    rows = n - graph.n_isolated
    steps = entry_bytes * m + weights.bin * rows * stats.max_bits
    if stats.distance == 2 and stats.max_bits > BITMAP_BITS:
        levels = math.log2(2 + graph.mean_degree)
        steps += weights.comparison * m * levels * (levels + 1) / 4
    elif stats.distance == 2:
        steps += weights.word * rows * 2.0 ** max(0, stats.max_bits - 4)
    return Work(
        launches=2.0 * _parts(stats.n_hashes, MOST_HASHES),
        streamed_bytes=4 * m + hashes * (weights.hash * n + steps),
    )


def _parts(n: int, most: int) -> int:
    return -(-n // most)


def _weights(facts: DeviceFacts) -> _Weights:
    return _CPU if facts.is_cpu else _GPU
