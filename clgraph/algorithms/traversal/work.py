"""What searches by rounds over all vertices, and by one work-item, ask of a device."""
from __future__ import annotations

import math

from clgraph.data.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import DeviceRates
from clgraph.model.cost import Chain, Gathers, Work, estimate

_NEAR_BYTES = 2.0**18
UNITS_OF_ATOMICS = 5.0  # that search as fast together as one that needs none
_PART_BYTES = 12.0  # of the arrays of parts
MEAN_DEGREES = 32  # of the default threshold of child launches
_HOPS = 1.8  # edges of a path by the logarithm of the vertices, where weights are random
_SINGLE_ROUNDS = 4.0  # after each of which the host looks at the device
_ROUNDED = 0.999  # of a sum that :func:`a_round` makes in steps
_CHILD_GATHERS = 20.0  # in a round: the distance of its parent, and what asks for more of them


def serial_work(
    stats: GraphStats, facts: DeviceFacts, per_vertex: float = 4.0, per_edge: float = 0.5, far_loads: float = 0.15,
    times: float = 1.0,
) -> Work:
    """Return the work of one work-item that looks so many *times* at every edge it reaches; no launches.

    It is in loads of the whole device.
    """
    n, connected, m = float(stats.n_vertices), *reached(stats)
    far = far_loads * m * stats.far_neighbor_share
    shared = times * min(float(facts.compute_units), UNITS_OF_ATOMICS)
    near = shared * (per_vertex * connected + per_edge * m)
    return Work(streamed_bytes=times * 8.0 * n, gathers=(Gathers(near, _NEAR_BYTES), Gathers(shared * far, 4.0 * n)))


def reached(stats: GraphStats) -> tuple[float, float]:
    """Return how many vertices with an edge, and how many entries, a search meets."""
    share = stats.reached_share
    return share * (stats.n_vertices - stats.n_isolated), share * stats.n_edges


def n_rounds(stats: GraphStats, light_share: float = 1.0) -> float:
    """Return a round for every edge of the longest shortest path, one that changes nothing, and one for what got lost.

    The path has an edge for each level, and where weights differ it goes around heavy edges: with random weights it has
    a multiple of the logarithm of the vertices, or as many levels as the light edges alone make.
    """
    if light_share == 1.0:
        return 2.0 + stats.estimated_depth
    light = math.log(max(1.0, light_share * stats.mean_degree))
    hops = min(_HOPS, 1.0 / light if light else math.inf) * math.log(1.0 + reached(stats)[0])
    return 2.0 + max(stats.estimated_depth, hops)


def active_share(stats: GraphStats, facts: DeviceFacts, rounds: float) -> float:
    """Return the share of *rounds* that relax all edges: before the last levels, few vertices have a distance.

    On a CPU most have one soon, since a round goes on along rising numbers.
    """
    return 1.0 if facts.is_cpu else 1.0 - 0.5 * stats.estimated_depth / rounds


def n_looks(rounds: float) -> float:
    """Return how often the host looks whether they are over: four times, then after a quarter more each time."""
    return rounds if rounds < _SINGLE_ROUNDS else _SINGLE_ROUNDS + math.log(rounds / _SINGLE_ROUNDS, 1.25)


def a_round(stats: GraphStats, facts: DeviceFacts, mda: float = math.inf) -> Work:
    """Return the work of a round, but for its launches, where no part has more than *mda* edges.

    A vertex waits for the longest of those in its sub-group; children stand beside each other, and have about as many
    edges. No round is shorter than its longest part, of which a GPU's work-item loads one entry after the other.
    """
    sizes: list[tuple[float, float]] = []  # of the vertices: edges left, share
    children_edges, n, n_children, width = 0.0, max(1, stats.n_vertices), 0.0, facts.sub_group_size
    for count, edges in zip(stats.degree_vertex_counts, stats.degree_edge_counts, strict=True):
        if count and edges <= mda * count:
            sizes.append((edges / count, count / n))
        elif count:
            parts = _parts(edges / count, mda)
            sizes.append((edges / count / parts, count / n))
            children_edges += edges * (parts - 1) / parts
            n_children += count * (parts - 1)
    below = slots = 0.0
    for size, share in sorted(sizes):
        reached = min(1.0, below + share)
        slots += n * size * (reached**width - below**width)
        below = reached
    per_part = 8.0 + (_PART_BYTES if mda < stats.max_degree else 4.0)
    return Work(
        streamed_bytes=per_part * (n + n_children) + (8.0 if stats.weighted else 4.0) * stats.n_edges,
        gathers=(Gathers(slots + children_edges + _CHILD_GATHERS * n_children, 4.0 * n),),
        chains=(Chain(min(mda, float(stats.max_degree)), 4.0 * (n if facts.is_cpu else max(n, stats.n_edges))),),
    )


def least_round(stats: GraphStats) -> Work:
    """Return a part of every round's work: each row is read, and of each entry the distance of its end."""
    n, m = float(stats.n_vertices), float(stats.n_edges)
    return Work(streamed_bytes=8.0 * n + 4.0 * m, gathers=(Gathers(_ROUNDED * m, 4.0 * n),))


def fill_parts(stats: GraphStats, mda: float) -> Work:
    return Work(streamed_bytes=_PART_BYTES * (stats.n_vertices + _children(stats, mda)))


def _parts(degree: float, mda: float) -> int:
    return max(1, math.ceil(degree / mda))


def _children(stats: GraphStats, mda: float) -> float:
    counts = zip(stats.degree_vertex_counts, stats.degree_edge_counts, strict=True)
    return sum(float(count * (_parts(edges / count, mda) - 1)) for count, edges in counts if edges > mda * count)


def likely_mda(stats: GraphStats) -> int:
    """Return a maximum that is good on most devices."""
    return max(4, round(4.0 * stats.mean_degree))


def model_mda(stats: GraphStats, facts: DeviceFacts, rates: DeviceRates) -> int:
    """Return the power of two, or the largest degree, predicted to be the best maximum; of equals the largest."""
    largest = max(1, stats.max_degree)
    powers = (1 << k for k in range(largest.bit_length(), 1, -1))

    def seconds(mda: int) -> float:
        is_split = mda < stats.max_degree
        rounds = (a_round(stats, facts, mda) + Work(launches=1.0 + is_split)).times(n_rounds(stats))
        once = Work(launches=4.0, streamed_bytes=16.0 * stats.n_vertices) + fill_parts(stats, mda)
        return estimate(rounds + once if is_split else rounds, rates).seconds

    return min((largest, *powers), key=seconds)
