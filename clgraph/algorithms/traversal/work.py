"""What searches by rounds over all vertices ask of a device, from the statistics of the graph."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from clgraph.data.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import DeviceRates
from clgraph.model.cost import Chain, Gathers, Work, estimate

_NEAR_BYTES = 2.0**18
_UNITS_OF_ATOMICS = 5.0  # that search as fast together as one that needs none
_PART_BYTES = 12.0  # of the arrays of parts
MEAN_DEGREES = 32  # of the default threshold of child launches
_CHILD_GATHERS = 20.0  # in a round: the distance of its parent, and what asks for more of them


def by_stats(work: Callable[[GraphStats, DeviceFacts], Work]) -> Callable[[Any, DeviceFacts], Work]:
    """Return the work of a problem, from that of the statistics of its graph."""
    return lambda problem, facts: work(problem.stats, facts)


def serial_work(
    stats: GraphStats, facts: DeviceFacts, per_vertex: float = 4.0, per_edge: float = 0.5, far_loads: float = 0.15
) -> Work:
    """Return the work of one work-item that looks at every edge once, in loads of the whole device."""
    n, m = float(stats.n_vertices), float(stats.n_edges)
    far = far_loads * m * stats.far_neighbor_share
    loads = Gathers(per_vertex * (n - stats.n_isolated) + per_edge * m, _NEAR_BYTES), Gathers(far, 4.0 * n)
    return Work(gathers=loads).times(min(float(facts.compute_units), _UNITS_OF_ATOMICS)) + Work(
        launches=3.0, read_backs=2.0, streamed_bytes=8.0 * n
    )


def n_rounds(stats: GraphStats) -> float:
    """Return a round for every level, one that changes nothing, and one more for what got lost."""
    return 2.0 + stats.estimated_depth


def rounds_work(stats: GraphStats, facts: DeviceFacts, mda: float = math.inf) -> Work:
    """Return the work of all rounds where no part has more than *mda* edges.

    A vertex waits for the longest of those in its sub-group; children stand beside each other, and have about as many
    edges. No round is shorter than its longest part.
    """
    sizes: list[tuple[float, float]] = []  # of the vertices: edges left, share
    children = children_edges = 0.0
    n = max(1, stats.n_vertices)
    for count, edges in zip(stats.degree_vertex_counts, stats.degree_edge_counts, strict=True):
        if count:
            parts = max(1, math.ceil(edges / count / mda))
            sizes.append((edges / count / parts, count / n))
            children += count * (parts - 1)
            children_edges += edges * (parts - 1) / parts
    below = slots = 0.0
    for size, share in sorted(sizes):
        reached = min(1.0, below + share)
        slots += n * size * (reached**facts.sub_group_size - below**facts.sub_group_size)
        below = reached
    is_split = mda < stats.max_degree
    longest = min(mda, float(stats.max_degree))
    per_part = 8.0 + (_PART_BYTES if is_split else 4.0)
    one_round = Work(
        launches=1.0 + is_split, read_backs=1.0,
        streamed_bytes=per_part * (n + children) + (8.0 if stats.weighted else 4.0) * stats.n_edges,
        gathers=(Gathers(slots + children_edges + _CHILD_GATHERS * children, 4.0 * n),),
        chains=(Chain(longest, 4.0 * n),),
    )
    once = Work(launches=2.0, streamed_bytes=8.0 * n)
    if is_split:
        once += Work(launches=4.0, streamed_bytes=16.0 * n + _PART_BYTES * (n + children))
    return one_round.times(n_rounds(stats)) + once


def model_mda(stats: GraphStats, facts: DeviceFacts, rates: DeviceRates) -> int:
    """Return the power of two, or the largest degree, predicted to be the best maximum; of equals the largest."""
    largest = max(1, stats.max_degree)
    powers = (1 << k for k in range(largest.bit_length(), 1, -1))
    return min((largest, *powers), key=lambda mda: estimate(rounds_work(stats, facts, mda), rates).seconds)


def child_launch_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    """Return the work where rows above a multiple of the mean degree are dealt out to a second launch."""
    work = rounds_work(stats, facts, max(1.0, MEAN_DEGREES * stats.mean_degree))
    return work + Work(launches=n_rounds(stats))


def topology_driven_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    return rounds_work(stats, facts)


def node_splitting_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    return rounds_work(stats, facts, max(4.0, 4.0 * stats.mean_degree))
