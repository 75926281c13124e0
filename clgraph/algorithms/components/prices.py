"""Predicted work of each strategy of connected components, from graph statistics.

The constants are fitted to calls on graphs of 131,072 and 524,288 vertices, on two CPUs and two GPUs
(``benchmarks/results/cost_model-*.json``), so that picks lose the least; kernels are not predicted one by one.
"""

from __future__ import annotations

from clgraph.algorithms.components.problem import ComponentsProblem
from clgraph.algorithms.components.sampling import SMALL_COMPONENTS_REACH
from clgraph.data.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Chain, Gathers, Work

NEAR_BYTES = 2.0**18  # working set of near neighbours: a core's second-level cache
SECTOR_BYTES = 64.0  # memory that one entry of a row moves
VERTEX_BYTES = 24.0  # per vertex, for the passes that start and flatten the trees
ENTRY_BYTES = 24.0  # per entry that is united, with finding its row
GUESS_SECONDS = 3e-8  # a core's time per entry whose union was guessed wrong. A random numbering has two a vertex.
OUTSIDE_PER_TREE = 8.0  # vertices outside the giant component after the sample, per tree of first hooks
MIN_OUTSIDE_SHARE = 0.02
HUB_ROW_LOADS = 16.0  # dependent loads of a GPU's sub-group per entry of its lane in the longest row
CHECKED_ENTRY_BYTES, CHECKED_VERTEX_BYTES = 22.0, 62.0  # of a matrix, for checks and unions. Cores compute meanwhile.
FLAT_HOOK_DEPTH = 32.0  # deeper first hooks let hubs come after their neighbours


def rem(problem: ComponentsProblem, facts: DeviceFacts) -> Work:
    """Return the work of uniting the ends of each edge once."""
    stats, n, far = problem.stats, float(problem.stats.n_vertices), problem.stats.far_neighbor_share
    entries = stats.n_edges * (1.0 if stats.directed else 0.5)
    guesses = stats.randomness * min(entries, 2.0 * n) / facts.compute_units if facts.is_cpu else 0.0
    late = min(1.0, 2.0 * stats.randomness + stats.first_hook_depth / FLAT_HOOK_DEPTH)
    row = 0.0 if facts.is_cpu else HUB_ROW_LOADS * late * stats.max_degree / facts.sub_group_size
    return Work(
        launches=4.0,
        streamed_bytes=VERTEX_BYTES * n + ENTRY_BYTES * entries,
        gathers=(Gathers(far * (entries + n), 4.0 * n),),
        atomics=(Atomics(stats.first_hook_tree_share * n, max(2.0, n)),),
        host_seconds=GUESS_SECONDS * guesses,
        chains=(Chain(row, 4.0 * n),),
    )


def afforest(problem: ComponentsProblem, facts: DeviceFacts) -> Work:
    """Return the work of first hooks, a sample, and the rows of vertices outside the giant component."""
    stats, n, far = problem.stats, float(problem.stats.n_vertices), problem.stats.far_neighbor_share
    first_entries = min(4.0 * stats.n_edges, SECTOR_BYTES * (n - stats.n_isolated))
    outside = outside_share(stats) * n
    guesses = stats.randomness * outside / facts.compute_units if facts.is_cpu else 0.0
    return Work(
        launches=4.0,
        streamed_bytes=VERTEX_BYTES * n + first_entries + 2.0 * SECTOR_BYTES * outside,
        gathers=(Gathers(far * (2.0 * n + 4.0 * outside), 4.0 * n), Gathers(4.0 * outside, NEAR_BYTES)),
        atomics=(Atomics(outside, max(2.0, n)),),
        host_seconds=GUESS_SECONDS * guesses,
    )


def outside_share(stats: GraphStats) -> float:
    """Return the share of the vertices that the sample leaves outside the giant component.

    All count if there is no such component, or if an edge is in one row only, so that no row can be skipped.
    """
    if stats.directed or stats.reached_share < SMALL_COMPONENTS_REACH:
        return 1.0
    return min(1.0, max(MIN_OUTSIDE_SHARE, OUTSIDE_PER_TREE * stats.first_hook_tree_share))


def hook_compress(problem: ComponentsProblem, facts: DeviceFacts) -> Work:
    """Return the work of uniting each edge by walks to the roots, between passes that flatten the trees."""
    n = float(problem.stats.n_vertices)
    return rem(problem, facts).times(1.5) + Work(launches=1.0, streamed_bytes=VERTEX_BYTES * n)


def degree_classes(problem: ComponentsProblem, facts: DeviceFacts) -> Work:
    """Return the work of ``hook_compress`` with rows sorted by length first; no sub-group waits for a long row."""
    united = hook_compress(problem, facts)
    again = Work(launches=3.0, streamed_bytes=8.0 * problem.stats.n_edges)
    return Work(united.launches, streamed_bytes=united.streamed_bytes, gathers=united.gathers,
                atomics=united.atomics, host_seconds=united.host_seconds) + again  # fmt: skip


def matrix_rows(problem: ComponentsProblem, facts: DeviceFacts) -> Work:
    """Return the work of uniting all entries of a matrix on a CPU and checking them on the way.

    An entry with a far end is read twice: within its block of vertices, and between blocks.
    """
    stats = problem.stats
    n, m, far = float(stats.n_vertices), float(stats.n_edges), stats.randomness
    return Work(
        streamed_bytes=CHECKED_ENTRY_BYTES * m + CHECKED_VERTEX_BYTES * n,
        gathers=(Gathers(2.0 * far * m, 4.0 * n),),
        host_seconds=0.5 * GUESS_SECONDS * far * min(m, 4.0 * n) / facts.compute_units,
    )
