"""What searches by rounds over all vertices ask of a device, and what all searches meet.

``distance_bytes`` is the size of one distance on the device, 4 or 8.
"""
from __future__ import annotations

import math
from collections.abc import Sequence

from clgraph.data.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import DeviceRates
from clgraph.model.cost import Chain, Gathers, Work, estimate

NEAR_BYTES = 2.0**18  # in the second-level cache of a CPU's core
_PART_BYTES = 12.0  # of the arrays of parts
MEAN_DEGREES = 32  # of the default threshold of child launches
_HOPS = 1.8  # edges of a path by the logarithm of the vertices, where weights are random
_NOT_RISING = 0.7  # of the edges of a path; a round of a CPU goes on along rising numbers
_SINGLE_ROUNDS = 4.0  # after each of which the host looks at the device
_ROUNDED = 0.999  # of sums that are made in other steps
# Of a CPU: what an entry takes, as bytes in order, and as loads in turn by one core; the share of far ends for which it
# waits, and seconds of a core at a vertex of an irregular graph.
_ENTRY_BYTES, _ENTRY_LOADS, _FAR_LOADS, _IRREGULAR_SECONDS = 18.0, 0.36, 0.5, 6.8e-9
_CHILD_GATHERS = 20.0  # in a round: the distance of its parent, and what asks for more of them


def reached(stats: GraphStats) -> tuple[float, float]:
    """Return how many vertices with an edge, and how many entries, a search meets."""
    share = stats.reached_share
    return share * (stats.n_vertices - stats.n_isolated), share * stats.n_edges


def n_rounds(stats: GraphStats, facts: DeviceFacts, light_share: float = 1.0) -> float:
    """Return a round for every edge of the longest shortest path, one that changes nothing, and one for what got lost.

    The path has an edge for each level, and where weights differ it goes around heavy edges: with random weights it has
    a multiple of the logarithm of the vertices, or as many levels as the light edges alone make.
    """
    longest = stats.estimated_depth
    if light_share < 1.0:
        light = math.log(max(1.0, light_share * stats.mean_degree))
        hops = min(_HOPS, 1.0 / light if light else math.inf) * math.log(1.0 + reached(stats)[0])
        longest = max(longest, hops)
    return 2.0 + (_NOT_RISING * longest if facts.is_cpu else longest)


def active_share(stats: GraphStats, facts: DeviceFacts, rounds: float) -> float:
    """Return the share of *rounds* that relax all edges: before the last levels, few vertices have a distance.

    On a CPU most have one soon, since a round goes on along rising numbers.
    """
    return 1.0 if facts.is_cpu else 1.0 - 0.5 * stats.estimated_depth / rounds


def n_looks(rounds: float) -> float:
    """Return how often the host looks whether they are over: four times, then after a quarter more each time."""
    return rounds if rounds < _SINGLE_ROUNDS else _SINGLE_ROUNDS + math.log(rounds / _SINGLE_ROUNDS, 1.25)


def a_round(stats: GraphStats, facts: DeviceFacts, distance_bytes: float, mda: float = math.inf) -> Work:
    """Return the work of a round, but for its launches, where no part has more than *mda* edges.

    A vertex waits for the longest of those in its sub-group; children stand beside each other, and have about as many
    edges. No round is shorter than its longest part, of which a GPU's work-item loads one entry after the other.
    """
    if facts.is_cpu:
        return _a_round_of_cores(stats, facts, distance_bytes, mda)
    n, width, children_edges, n_children = stats.n_vertices, facts.sub_group_size, 0.0, 0.0
    sizes: Sequence[tuple[float, float]] = stats.degrees_and_shares  # edges that vertices keep, and their share
    if mda < stats.max_degree:
        kept = []
        for degree, share in sizes:
            if degree > mda:
                n_parts = _parts(degree, mda)
                n_children += n * share * (n_parts - 1)
                children_edges += n * share * degree * (n_parts - 1) / n_parts
                degree /= n_parts
            kept.append((degree, share))
        sizes = sorted(kept)
    below = reached = slots = 0.0
    for size, share in sizes:
        below = min(1.0, below + share)
        before, reached = reached, below**width
        slots += n * size * (reached - before)
    return Work(
        streamed_bytes=_part_bytes(stats, distance_bytes, mda) * (n + n_children)
        + (8.0 if stats.weighted else 4.0) * stats.n_edges,
        gathers=(Gathers(slots + children_edges + _CHILD_GATHERS * n_children, distance_bytes * n),),
        chains=(Chain(min(mda, float(stats.max_degree)), 4.0 * max(n, stats.n_edges)),),
    )


def _a_round_of_cores(stats: GraphStats, facts: DeviceFacts, distance_bytes: float, mda: float = math.inf) -> Work:
    """Return the same of a CPU; its core has several loads under way, and guesses wrong how long a row is."""
    n, n_children = float(stats.n_vertices), _children(stats, mda) if mda < stats.max_degree else 0.0
    far = _FAR_LOADS * stats.far_neighbor_share * stats.n_edges
    return Work(
        streamed_bytes=_part_bytes(stats, distance_bytes, mda) * (n + n_children) + _ENTRY_BYTES * stats.n_edges,
        gathers=(Gathers(far + _CHILD_GATHERS * n_children, distance_bytes * n),),
        chains=(Chain(_ENTRY_LOADS * min(mda, float(stats.max_degree)), NEAR_BYTES),),
        host_seconds=_IRREGULAR_SECONDS * stats.irregularity * n / facts.compute_units,
    )


def _part_bytes(stats: GraphStats, distance_bytes: float, mda: float) -> float:
    return 4.0 + distance_bytes + (_PART_BYTES if mda < stats.max_degree else 4.0)


def least_round(stats: GraphStats, facts: DeviceFacts, distance_bytes: float) -> Work:
    """Return a part of every round's work: each row is read, and of each entry the distance of its end."""
    if facts.is_cpu:
        whole = _a_round_of_cores(stats, facts, distance_bytes)
        least = Work(streamed_bytes=whole.streamed_bytes, gathers=whole.gathers, host_seconds=whole.host_seconds)
        return least.times(_ROUNDED)  # parts shorten the chain
    n, m = float(stats.n_vertices), float(stats.n_edges)
    return Work(
        streamed_bytes=(4.0 + distance_bytes) * n + 4.0 * m, gathers=(Gathers(_ROUNDED * m, distance_bytes * n),)
    )


def fill_parts(stats: GraphStats, mda: float) -> Work:
    return Work(streamed_bytes=_PART_BYTES * (stats.n_vertices + _children(stats, mda)))


def _parts(degree: float, mda: float) -> int:
    return max(1, math.ceil(degree / mda))


def _children(stats: GraphStats, mda: float) -> float:
    cut = [share * (_parts(degree, mda) - 1) for degree, share in stats.degrees_and_shares if degree > mda]
    return stats.n_vertices * sum(cut)


def likely_mda(stats: GraphStats) -> int:
    """Return a maximum that is good on most devices."""
    return max(4, round(4.0 * stats.mean_degree))


def model_mda(stats: GraphStats, facts: DeviceFacts, rates: DeviceRates, distance_bytes: float) -> int:
    """Return the power of two, or the largest degree, predicted to be the best maximum; of equals the largest."""
    largest = max(1, stats.max_degree)
    powers = (1 << k for k in range(largest.bit_length(), 1, -1))

    def seconds(mda: int) -> float:
        is_split = mda < stats.max_degree
        one = a_round(stats, facts, distance_bytes, mda) + Work(launches=1.0 + is_split)
        rounds = one.times(n_rounds(stats, facts))
        once = Work(launches=4.0, streamed_bytes=(12.0 + distance_bytes) * stats.n_vertices) + fill_parts(stats, mda)
        return estimate(rounds + once if is_split else rounds, rates).seconds

    return min((largest, *powers), key=seconds)
