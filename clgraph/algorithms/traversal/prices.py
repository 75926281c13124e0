"""Predicted work of graph searches that make rounds over all vertices, from graph statistics.

``distance_bytes`` is the size of one distance on the device, 4 or 8. The constants are fitted to calls on graphs of
131,072 and 524,288 vertices, on two CPUs and two GPUs (``benchmarks/results/cost_model-*.json``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.data.graphs.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import DeviceRates
from clgraph.model.cost import Chain, Gathers, Work, estimate

# Accesses to vertices with near numbers touch 256 KiB, which is about a core's second-level cache.
NEAR_BYTES = 2.0**18
# By default, ``child_launch`` gives a row a launch of its own if the row is longer than 32 mean degrees.
CHILD_MEAN_DEGREES = 32
PART_BYTES = 12.0  # Bytes per part of a split vertex, for the part's begin, its end and its parent.
# Random reads per part of a split vertex and round, because a part reads its parent's distance (fitted to times).
PARENT_GATHERS = 20.0
# With random weights, the longest shortest path has about 1.8 ln(n) edges if a search reaches n vertices.
HOPS_PER_LOG = 1.8
# A CPU makes 0.7 rounds per edge of the longest shortest path.
# A round can follow more than one edge of a path, while the vertex numbers along the path rise.
RISING_SHARE = 0.7
# On a CPU, a round streams 18 bytes per CSR entry, and makes 0.36 dependent loads per entry of the longest row.
CPU_ENTRY_BYTES, CPU_ENTRY_LOADS = 18.0, 0.36
CPU_FAR_LOADS = 0.5  # A core waits for half a load per CSR entry whose row and column have far numbers.
# Seconds of mispredicted branches at the ends of rows, per vertex of a graph whose irregularity is 1.
IRREGULAR_SECONDS = 6.8e-9


def reached(stats: GraphStats) -> tuple[float, float]:
    """Predict the number of vertices, and of CSR entries, that a search reaches."""
    return stats.reached_share * (stats.n_vertices - stats.n_isolated), stats.reached_share * stats.n_edges


def topology_driven(problem: SearchProblem, facts: DeviceFacts) -> Work:
    """Predict the work of ``topology_driven``, a search in which a work-item
    relaxes all edges of a vertex in each round.
    """
    return _all_rounds(problem, facts, math.inf)


def node_splitting(problem: SearchProblem, facts: DeviceFacts) -> Work:
    """Predict the work of ``node_splitting``, a search in rounds over parts
    of vertices with at most *mda* edges each.
    """
    stats, mda = problem.stats, likely_mda(problem.stats)
    made = Work(launches=4.0, streamed_bytes=20.0 * stats.n_vertices + part_bytes(stats, mda))
    return _all_rounds(problem, facts, mda) + made


def child_launch(problem: SearchProblem, facts: DeviceFacts) -> Work:
    """Predict the work of ``child_launch``, a search in rounds whose long rows are processed by a second launch."""
    return _all_rounds(problem, facts, CHILD_MEAN_DEGREES * max(1.0, problem.stats.mean_degree))


def _all_rounds(problem: SearchProblem, facts: DeviceFacts, mda: float) -> Work:
    stats, distance_bytes = problem.stats, problem.held.dtype.itemsize
    n_launches = 2.0 if mda < stats.max_degree else 1.0
    one = round_work(stats, facts, distance_bytes, mda) + Work(launches=n_launches)
    n = n_rounds(stats, facts, problem.light_share)
    return one.times(n) + Work(launches=2.0, read_backs=1.0 + math.log2(n))


def n_rounds(stats: GraphStats, facts: DeviceFacts, light_share: float = 1.0) -> float:
    """Predict the number of search rounds: about one per edge of the longest shortest path, and two more.

    If weights differ, shortest paths go around heavy edges and have more edges. The number of edges of the longest path
    is then predicted as a multiple of ln(reached vertices): 1.8, or less if a search along light edges is less deep.
    """
    longest = stats.estimated_depth
    if light_share < 1.0:
        light = math.log(max(1.0, light_share * stats.mean_degree))
        per_log = min(HOPS_PER_LOG, 1.0 / light if light else math.inf)
        longest = max(longest, per_log * math.log(1.0 + reached(stats)[0]))
    return 2.0 + (RISING_SHARE * longest if facts.is_cpu else longest)


def round_work(stats: GraphStats, facts: DeviceFacts, distance_bytes: float, mda: float = math.inf) -> Work:
    """Predict the work of one search round without its launches.

    Vertices are split into parts of at most *mda* edges.

    A round takes at least the time of its longest part, because one work-item loads the part's entries one after the
    other. On a GPU a vertex also waits for the longest row of its sub-group. Extra parts of a vertex do not wait,
    because they are neighbours in a sub-group and have equal lengths.
    """
    n, n_parts = float(stats.n_vertices), n_extra_parts(stats, mda)
    longest, parts = min(mda, float(stats.max_degree)), 4.0 + distance_bytes + (PART_BYTES if n_parts else 4.0)
    if facts.is_cpu:
        far = CPU_FAR_LOADS * stats.far_neighbor_share * stats.n_edges
        return Work(
            streamed_bytes=parts * (n + n_parts) + CPU_ENTRY_BYTES * stats.n_edges,
            gathers=(Gathers(far + PARENT_GATHERS * n_parts, distance_bytes * n),),
            chains=(Chain(CPU_ENTRY_LOADS * longest, NEAR_BYTES),),
            host_seconds=IRREGULAR_SECONDS * stats.irregularity * n / facts.compute_units,
        )
    kept, moved = _cut(stats, mda)
    slots = n * _longest_of(facts.sub_group_size, kept)
    return Work(
        streamed_bytes=parts * (n + n_parts) + (8.0 if stats.weighted else 4.0) * stats.n_edges,
        gathers=(Gathers(slots + moved + PARENT_GATHERS * n_parts, distance_bytes * n),),
        chains=(Chain(longest, 4.0 * max(n, stats.n_edges)),),
    )


def _cut(stats: GraphStats, mda: float) -> tuple[list[tuple[float, float]], float]:
    """Return the sizes of the first parts of split vertices, and the number of edges in all their other parts together.

    The sizes are sorted pairs: the number of edges in the first part, and the share of the vertices with this number.
    """
    kept, moved = [], 0.0
    for degree, share in stats.degrees_and_shares:
        size = degree / _parts(degree, mda)
        moved += stats.n_vertices * share * (degree - size)
        kept.append((size, share))
    return sorted(kept), moved


def _longest_of(width: int, sizes: Sequence[tuple[float, float]]) -> float:
    """Return the expected maximum of *width* random numbers.

    *sizes* has pairs of a number and its probability.
    """
    expected = below = reached = 0.0
    for size, share in sizes:
        below = min(1.0, below + share)
        before, reached = reached, below**width
        expected += size * (reached - before)
    return expected


def part_bytes(stats: GraphStats, mda: float) -> float:
    """Return the bytes of the arrays that describe all parts of vertices, if parts have at most *mda* edges."""
    return PART_BYTES * (stats.n_vertices + n_extra_parts(stats, mda))


def n_extra_parts(stats: GraphStats, mda: float) -> float:
    """Return the number of parts of vertices beyond one per vertex, if parts have at most *mda* edges."""
    return stats.n_vertices * sum(share * (_parts(degree, mda) - 1) for degree, share in stats.degrees_and_shares)


def _parts(degree: float, mda: float) -> int:
    return max(1, math.ceil(degree / mda))


def likely_mda(stats: GraphStats) -> int:
    """Return a greatest number of edges per part of a vertex that works well on most devices."""
    return max(4, round(4.0 * stats.mean_degree))


def model_mda(stats: GraphStats, facts: DeviceFacts, rates: DeviceRates, distance_bytes: float) -> int:
    """Return the greatest number of edges per part of a vertex for which ``node_splitting`` is predicted to be fastest.

    The candidates are powers of two and the largest degree. If two candidates tie, the larger candidate wins.
    """
    largest = max(1, stats.max_degree)
    powers = (1 << k for k in range(largest.bit_length(), 1, -1))

    def seconds(mda: int) -> float:
        is_split = mda < stats.max_degree
        one = round_work(stats, facts, distance_bytes, mda) + Work(launches=1.0 + is_split)
        all_rounds = one.times(n_rounds(stats, facts))
        once = Work(launches=4.0, streamed_bytes=(12.0 + distance_bytes) * stats.n_vertices + part_bytes(stats, mda))
        return estimate(all_rounds + once if is_split else all_rounds, rates).seconds

    return min((largest, *powers), key=seconds)
