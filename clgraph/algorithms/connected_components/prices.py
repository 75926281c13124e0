"""Predicted work of each strategy of connected components, and defaults of options, from graph statistics.

The constants are fitted to calls on graphs of 131,072 and 524,288 vertices, on two CPUs and two GPUs
(``benchmarks/results/cost_model-*.json``). The fit minimises the time lost by picking a slower strategy, not the error
of each kernel's prediction.
"""

from __future__ import annotations

from dataclasses import replace

from clgraph.algorithms.connected_components.problem import ComponentsProblem
from clgraph.data.graphs.stats import DEEP_HOOKS, GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import scanned, walked
from clgraph.model.cost import Atomics, Chain, Gathers, Part, Work

NEAR_BYTES = 2.0**18  # Loads of near neighbours touch this many bytes: about the size of a core's second-level cache.
SECTOR_BYTES = 64.0  # A device loads this many bytes of memory to read one entry of a row.
VERTEX_BYTES = 24.0  # Bytes of memory traffic per vertex in the passes that initialise and flatten the trees.
ENTRY_BYTES = 24.0  # Bytes of memory traffic to find the row of an entry and to unite the two vertices of the entry.
# A mispredicted branch in a union of two trees costs 30 ns on a CPU. Random numberings cause up to 2 per vertex.
GUESS_SECONDS = 3e-8
# The sampling rounds leave about 8 vertices outside the giant component for each tree of first-neighbour hooks.
OUTSIDE_PER_TREE = 8.0
MIN_OUTSIDE_SHARE = 0.02  # The cost model assumes that at least 2 % of the vertices are outside the giant component.
# A GPU makes 16 dependent loads per entry of the longest row, although the lanes of a sub-group share the row.
HUB_ROW_LOADS = 16.0
# Bytes of memory traffic to validate a matrix and to unite the ends of its entries: per entry, and per vertex.
CHECKED_ENTRY_BYTES, CHECKED_VERTEX_BYTES = 22.0, 62.0
# Trees of at least 32 levels after the first hooks mean that hubs come late, so the longest row costs its whole time.
FLAT_HOOK_DEPTH = 32.0
_SCANS = 0.5  # Besides its search, a call of scipy costs half a pass over all vertices and entries.
_CALL = Work(host_seconds=5e-5)  # A call to scipy takes this time on a graph of any size.

# If the largest tree has over half of the sampled vertices, first-neighbour hooks have put nearly all into one tree.
ONE_TREE_SHARE = 0.5
# If the largest tree has more than a tenth of the sampled vertices, hubs of the graph have joined many trees.
HUB_TREE_SHARE = 0.1
# With fewer than 0.002 trees per vertex, a sampling round of stride 4 hooks about 100 vertices of each tree.
FEW_TREES_SHARE = 2e-3
# If a search reaches less than 40 % of the vertices, skipping the component that it found saves no time.
SMALL_COMPONENTS_REACH = 0.4
# Vertex numbers count as random if two conditions hold. More than half of the edges join vertices of distant numbers,
# and hooking each vertex to a neighbour of a lower number gives less than 0.05 trees per vertex.
RANDOM_FAR_SHARE, RANDOM_TREES_SHARE = 0.5, 0.05


def rem(problem: ComponentsProblem, facts: DeviceFacts) -> Work:
    """Predict the work of the components strategy ``rem``, which unites the two ends of each edge once."""
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
    """Predict the work of ``afforest``: first hooks, a sample, and the rows of vertices outside the giant component."""
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
    """Return the share of the vertices that the sampling rounds of ``afforest`` leave outside the giant component.

    The share is 1 if there is no giant component. It is also 1 for a directed graph, where each edge is in one row
    only, so no row can be skipped.
    """
    if stats.directed or stats.reached_share < SMALL_COMPONENTS_REACH:
        return 1.0
    return min(1.0, max(MIN_OUTSIDE_SHARE, OUTSIDE_PER_TREE * stats.first_hook_tree_share))


def hook_compress(problem: ComponentsProblem, facts: DeviceFacts) -> Work:
    """Predict the work of ``hook_compress``: unions that walk to the roots
    of trees, and passes that flatten the trees.
    """
    n = float(problem.stats.n_vertices)
    return rem(problem, facts).times(1.5) + Work(launches=1.0, streamed_bytes=VERTEX_BYTES * n)


def degree_classes(problem: ComponentsProblem, facts: DeviceFacts) -> Work:
    """Predict the work of ``degree_classes``: ``hook_compress`` on rows that
    are grouped by length, so no long row ends late.
    """
    united = hook_compress(problem, facts)
    again = Work(launches=3.0, streamed_bytes=8.0 * problem.stats.n_edges)
    return replace(united, chains=()) + again


def matrix_rows(problem: ComponentsProblem, facts: DeviceFacts) -> Work:
    """Predict the work of :class:`MatrixComponents`, which validates and unites all entries on a CPU.

    An entry whose ends are far apart is read twice: by the pass within blocks of vertices, and by the pass between
    blocks.
    """
    stats = problem.stats
    n, m, far = float(stats.n_vertices), float(stats.n_edges), stats.randomness
    return Work(
        streamed_bytes=CHECKED_ENTRY_BYTES * m + CHECKED_VERTEX_BYTES * n,
        gathers=(Gathers(2.0 * far * m, 4.0 * n),),
        host_seconds=0.5 * GUESS_SECONDS * far * min(m, 4.0 * n) / facts.compute_units,
    )


def host(problem: ComponentsProblem) -> list[Part]:
    """Predict the work of scipy's connected components, which follows the edges of the matrix and of its transpose."""
    asked = walked(problem.graph, "union"), scanned(problem.graph, _SCANS), _CALL
    return [(each, 1.0, 1.0) for each in asked]


def hooks_deeply(stats: GraphStats) -> bool:
    """Return whether first-neighbour hooks make deep trees.

    In deep trees, sampled climbs stop before they reach the root.
    """
    return stats.first_hook_depth > DEEP_HOOKS


def starts_as_one_tree(stats: GraphStats) -> bool:
    """Return whether hooking each vertex to its first neighbour leaves
    about one tree, as in meshes numbered in order.
    """
    is_one = stats.first_hook_giant_share > ONE_TREE_SHARE or hooks_deeply(stats)
    return stats.n_edges > 0 and stats.first_hook_tree_share < 1e-3 and is_one


def sample_strides(stats: GraphStats) -> tuple[int, ...]:
    """Return the default strides of the sampling rounds of ``afforest``.

    Each round leaves about a tenth of the trees.

    A graph of small components needs no round, nor does a graph whose first hooks leave one tree. Climbs that
    stopped before the root do not show whether there is one tree.
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
    # If neighbours are near each other or few, reading a second neighbour costs little more than reading the first.
    # All vertices are sampled if reading a second neighbour costs little.
    return (1, 1) if stats.mean_degree >= 3 else (1,)


def rem_hooks_first(stats: GraphStats, facts: DeviceFacts) -> bool:
    """Return whether the components strategy ``rem`` should begin with a round of hooking without atomics.

    On a CPU the round pays only if it leaves one giant tree, because climbs in several deep trees are long. On a GPU it
    pays if it leaves few trees, or if rows are short, because few entries are then left.
    """
    if facts.is_cpu:
        return stats.first_hook_giant_share > ONE_TREE_SHARE
    return stats.mean_degree < 4 or stats.first_hook_tree_share < FEW_TREES_SHARE
