"""Defaults of the options of connected components, from the statistics of the graph."""

from __future__ import annotations

from clgraph.data.stats import DEEP_HOOKS, GraphStats
from clgraph.device.facts import DeviceFacts

ONE_TREE_SHARE = 0.5  # of the sampled vertices in one tree: more mean that first hooks leave (nearly) one tree
HUB_TREE_SHARE = 0.1  # of the sampled vertices in one tree: more mean that hubs collect the others
FEW_TREES_SHARE = 2e-3  # trees per vertex. Below this, a round of stride 4 hooks about 100 vertices of each tree.
SMALL_COMPONENTS_REACH = 0.4  # reached share of a search. Below this, no component is worth to be skipped.
RANDOM_FAR_SHARE, RANDOM_TREES_SHARE = 0.5, 0.05  # a random numbering: far neighbours, and few trees


def n_trees(stats: GraphStats) -> float:
    """Return the number of trees after every vertex was hooked to its first neighbour."""
    return stats.first_hook_tree_share * (stats.n_vertices - stats.n_isolated)


def hooks_deeply(stats: GraphStats) -> bool:
    """Return whether the trees of first neighbours are deeper than the climbs that measured them."""
    return stats.first_hook_depth > DEEP_HOOKS


def starts_as_one_tree(stats: GraphStats) -> bool:
    """Return whether first hooks leave (nearly) one tree, as in well ordered meshes."""
    is_one = stats.first_hook_giant_share > ONE_TREE_SHARE or hooks_deeply(stats)
    return stats.n_edges > 0 and stats.first_hook_tree_share < 1e-3 and is_one


def sample_strides(stats: GraphStats) -> tuple[int, ...]:
    """Return the strides of the rounds of ``afforest``. Each round leaves about a tenth of the trees.

    A round joins nothing in fragments, or where the trees are one. Climbs that were cut off do not tell that.
    """
    is_giant = stats.first_hook_giant_share > ONE_TREE_SHARE
    is_one = is_giant and (n_trees(stats) < 2 or not hooks_deeply(stats))
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
    """Return whether ``rem`` begins with a round without atomics: where it leaves few trees.

    A CPU climbs far if the few trees are deep, unless they are one. A GPU gains where few entries are left.
    """
    if facts.is_cpu:
        return stats.first_hook_giant_share > ONE_TREE_SHARE
    return stats.mean_degree < 4 or stats.first_hook_tree_share < FEW_TREES_SHARE
