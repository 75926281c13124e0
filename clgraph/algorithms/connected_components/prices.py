"""Predicted work of each strategy of connected components, and defaults of options, from graph statistics.

The constants are fitted to calls on graphs of 131,072 and 524,288 vertices, on two CPUs and two GPUs
(``benchmarks/results/cost_model-*.json``), so that picks lose the least; kernels are not predicted one by one.
"""

from __future__ import annotations

from dataclasses import replace

from clgraph.algorithms.connected_components.problem import ComponentsProblem
from clgraph.data.graphs.stats import DEEP_HOOKS, GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import scanned, walked
from clgraph.model.cost import Atomics, Chain, Gathers, Part, Work

NEAR_BYTES = 2.0**18  # working set of near neighbours: a core's second-level cache
SECTOR_BYTES = 64.0  # bytes that are moved to read one entry of a row
VERTEX_BYTES = 24.0  # per vertex, for the passes that start and flatten the trees
ENTRY_BYTES = 24.0  # per entry that is united, with finding its row
GUESS_SECONDS = 3e-8  # a core's time per entry whose union was guessed wrong. A random numbering has two a vertex.
OUTSIDE_PER_TREE = 8.0  # vertices outside the giant component after the sample, per tree of first hooks
MIN_OUTSIDE_SHARE = 0.02
HUB_ROW_LOADS = 16.0  # dependent loads per entry that a lane of a GPU's sub-group takes from the longest row
CHECKED_ENTRY_BYTES, CHECKED_VERTEX_BYTES = 22.0, 62.0  # memory traffic of checks and unions; cores compute meanwhile
FLAT_HOOK_DEPTH = 32.0  # If first hooks are deeper, hubs come after their neighbours.
_SCANS = 0.5  # passes of scipy over vertices and entries
_CALL = Work(host_seconds=5e-5)

ONE_TREE_SHARE = 0.5  # if one tree has a greater share of the sampled vertices, first hooks leave (nearly) one tree
HUB_TREE_SHARE = 0.1  # if one tree has a greater share of the sampled vertices, hubs collect the others
FEW_TREES_SHARE = 2e-3  # trees per vertex. Below this, a round of stride 4 hooks about 100 vertices of each tree.
SMALL_COMPONENTS_REACH = 0.4  # reached share of a search. Below this, no component is worth skipping.
RANDOM_FAR_SHARE, RANDOM_TREES_SHARE = 0.5, 0.05  # a random numbering: far neighbours, and few trees


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

    The share is 1 if there is no such component, or if each edge is in one row only, so that no row can be skipped.
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
    return replace(united, chains=()) + again


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


def host(problem: ComponentsProblem) -> list[Part]:
    """Return the work of scipy, which transposes the matrix and follows the edges of both."""
    asked = walked(problem.graph, "union"), scanned(problem.graph, _SCANS), _CALL
    return [(each, 1.0, 1.0) for each in asked]


def hooks_deeply(stats: GraphStats) -> bool:
    """Return whether the trees of first neighbours are deeper than the climbs that measured them."""
    return stats.first_hook_depth > DEEP_HOOKS


def starts_as_one_tree(stats: GraphStats) -> bool:
    """Return whether first hooks leave (nearly) one tree, as in well ordered meshes."""
    is_one = stats.first_hook_giant_share > ONE_TREE_SHARE or hooks_deeply(stats)
    return stats.n_edges > 0 and stats.first_hook_tree_share < 1e-3 and is_one


def sample_strides(stats: GraphStats) -> tuple[int, ...]:
    """Return the strides of the rounds of ``afforest``. Each round leaves about a tenth of the trees.

    No round is of use in a graph of small components, or if first hooks leave one tree. If climbs were cut off, they
    do not show whether the trees are one.
    """
    n_trees = stats.first_hook_tree_share * (stats.n_vertices - stats.n_isolated)
    is_giant = stats.first_hook_giant_share > ONE_TREE_SHARE
    is_one = is_giant and (n_trees < 2 or not hooks_deeply(stats))
    if is_one or stats.reached_share < SMALL_COMPONENTS_REACH:
        return ()
    has_hubs = not starts_as_one_tree(stats) and stats.first_hook_giant_share > HUB_TREE_SHARE
    if has_hubs or stats.first_hook_tree_share < FEW_TREES_SHARE:
        return (4,)
    if stats.far_neighbor_share > RANDOM_FAR_SHARE and stats.first_hook_tree_share < RANDOM_TREES_SHARE:
        return (4, 32)
    # Neighbours are near or few: two of them cost no more than one, so all vertices are sampled.
    return (1, 1) if stats.mean_degree >= 3 else (1,)


def rem_hooks_first(stats: GraphStats, facts: DeviceFacts) -> bool:
    """Return whether ``rem`` begins with a round without atomics, which pays if the round leaves few trees.

    On a CPU it pays only if one tree is giant, since climbs in several deep trees are long. On a GPU it also pays if
    rows are short, since few entries are then left.
    """
    if facts.is_cpu:
        return stats.first_hook_giant_share > ONE_TREE_SHARE
    return stats.mean_degree < 4 or stats.first_hook_tree_share < FEW_TREES_SHARE
