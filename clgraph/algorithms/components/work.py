"""What the strategies of connected components ask of a device, from the statistics of the graph.

The counts follow the kernels. Rows are visited in order, so looking into one moves a memory sector.
A label of a near neighbour comes out of a cache, a far one out of the whole array. A union costs a
compare-exchange on a random word; on a GPU, work-items that run at the same time also try unions that
others are making; edges at a hub meet on one word.
"""
from __future__ import annotations

import math

from clgraph.data.stats import MAX_CLIMB, GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Chain, Gathers, Work

_NEAR_BYTES = 2.0**18
_SECTOR_BYTES = 64.0
_HUB_SHARE = 0.1
_ONE_TREE_SHARE = 0.5
_DEEP_HOOKS = 0.75 * MAX_CLIMB
_SHORTENED = 6.0  # times the root of the depth: others have shortened the path before a vertex has climbed it
# How often a GPU tries the union of an entry that others are making: of far neighbours, and of near ones, at which
# work-items look that run at the same time.
_STAYS_OUTSIDE, _LEAST_OUTSIDE = 0.8, 0.02  # of what first hooks leave outside the giant component; of all vertices
_MERGE_LOADS = 96.0  # of a CPU, to find the roots of two trees of several vertices, guessing wrong at each step
_REPEATED_FAR, _REPEATED_NEAR = 0.5, 1.5


def starts_as_one_tree(stats: GraphStats) -> bool:
    """Hooking every vertex to its first neighbour leaves (nearly) one tree: well ordered meshes.

    Few trees of few vertices each are no such tree, if climbs have come to their tops.
    """
    is_one = stats.first_hook_giant_share > _ONE_TREE_SHARE or hooks_deeply(stats)
    return stats.n_edges > 0 and stats.first_hook_tree_share < 1e-3 and is_one


def hooks_deeply(stats: GraphStats) -> bool:
    """Trees of first neighbours are deeper than the climbs that measured them."""
    return stats.first_hook_depth > _DEEP_HOOKS


def sample_strides(stats: GraphStats) -> tuple[int, ...]:
    """Strides of afforest's rounds: each leaves about a tenth of the trees, so each may sample less."""
    if starts_as_one_tree(stats):
        return ()
    if _has_hubs(stats):  # what one round leaves outside are small trees
        return (4,)
    if stats.far_neighbor_share > 0.5 and stats.first_hook_tree_share < 0.05:
        return (4, 32)
    # Neighbours are near or few: reading two of them costs what reading one does, so sample all vertices.
    return (1, 1) if stats.mean_degree >= 3 else (1,)


def sample(stats: GraphStats, stride: int, keeps_second: bool) -> Work:
    """Hook every *stride*-th vertex to its second neighbour, which the start has kept or the row holds."""
    n = float(stats.n_vertices)
    sampled = n / stride
    looks = Work() if keeps_second else Work(
        gathers=(Gathers(sampled, _NEAR_BYTES),), streamed_bytes=sampled * _SECTOR_BYTES
    )
    return looks + Work(gathers=_labels(stats, 2 * sampled), streamed_bytes=4 * n)


def link_rest(stats: GraphStats, facts: DeviceFacts) -> Work:
    """Link what the sample has left outside the giant component."""
    n, outside = float(stats.n_vertices), _outside_share(stats)
    rest = _link_outsiders(stats, outside * n) if outside < 1 else link(stats, facts, n_trees(stats), walks=4.0)
    return rest + Work(streamed_bytes=4 * n, gathers=(Gathers(n, _NEAR_BYTES),))


def compress_if_linked(stats: GraphStats) -> Work:
    return compress(stats) if _outside_share(stats) else Work()


def rem_hooks_first(stats: GraphStats, facts: DeviceFacts) -> bool:
    """A round without atomics first pays on GPUs where few entries are left to look at."""
    return not facts.is_cpu and stats.mean_degree < 4


def relist(stats: GraphStats) -> Work:
    """Look again at the rows of 32 entries or more."""
    listed = float(sum(stats.degree_edge_counts[6:])) * _looked_at(stats)
    return Work(gathers=_labels(stats, 4 * listed))


def _has_hubs(stats: GraphStats) -> bool:
    return not starts_as_one_tree(stats) and stats.first_hook_giant_share > _HUB_SHARE


def _outside_share(stats: GraphStats) -> float:
    """Share of the vertices left outside the giant component when the sample has been hooked."""
    if stats.directed:  # an edge may stand in one row only, so none can be skipped
        return 1.0
    if starts_as_one_tree(stats):
        return 0.0
    if _has_hubs(stats):  # what the first hooks join to the giant component stays there
        connected = 1 - stats.n_isolated / stats.n_vertices
        return max(_LEAST_OUTSIDE, _STAYS_OUTSIDE * (1 - stats.first_hook_giant_share)) * connected
    if stats.far_neighbor_share < 0.1:
        return 0.02
    return 0.01 if stats.mean_degree >= 8 else 1.0


def _looked_at(stats: GraphStats) -> float:
    """Share of the stored entries that a link phase looks at: each undirected edge once."""
    return 1.0 if stats.directed else 0.5


def n_trees(stats: GraphStats) -> float:
    """Trees left by hooking every vertex to its first neighbour."""
    return stats.first_hook_tree_share * (stats.n_vertices - stats.n_isolated)


def _labels(stats: GraphStats, count: float) -> tuple[Gathers, ...]:
    """Read the labels of *count* neighbours."""
    far = stats.far_neighbor_share
    return Gathers(far * count, 4.0 * stats.n_vertices), Gathers((1 - far) * count, _NEAR_BYTES)


def initialize(stats: GraphStats) -> Work:
    n = float(stats.n_vertices)
    firsts = min(4.0 * stats.n_edges, _SECTOR_BYTES * (n - stats.n_isolated))
    steps = 2 if starts_as_one_tree(stats) else 1
    return Work(streamed_bytes=8 * n + firsts, gathers=(Gathers((3 * steps - 1) * n, _NEAR_BYTES),))


def compress(stats: GraphStats, *, first: bool = False) -> Work:
    """Point every vertex at its root; after the *first* hooking trees are deep, but unions have shortened theirs."""
    n, depth = float(stats.n_vertices), stats.first_hook_depth
    if hooks_deeply(stats):
        depth = max(depth, _SHORTENED * math.sqrt(stats.estimated_depth))
    return Work(
        streamed_bytes=8 * n, gathers=(*_labels(stats, n), Gathers(n, _NEAR_BYTES)),
        chains=(Chain(depth, 4 * n),) if first else (),
    )


def _link_outsiders(stats: GraphStats, n_outside: float) -> Work:
    """Join vertices outside the giant component to it, by a few entries of their rows."""
    return Work(
        streamed_bytes=2 * _SECTOR_BYTES * n_outside, gathers=_labels(stats, 4 * n_outside),
        atomics=(Atomics(n_outside, max(2.0, n_outside)),),
    )


def link(stats: GraphStats, facts: DeviceFacts, n_joins: float, walks: float = 0.0) -> Work:
    """Look at every edge once and join *n_joins* trees; *walks* is the length of a climb to the root.

    Where climbs are long, edges.h looks at four entries at a time, so short rows are padded.
    """
    looked_at = stats.n_edges * _looked_at(stats)
    padding = 3.0 * stats.n_vertices if walks else 0.0
    # Nothing is left to join where the trees are one; where it is, GPUs try again what others do.
    far, again = stats.far_neighbor_share, 0.0 if facts.is_cpu or n_joins < 1 else looked_at
    far_tries, near_tries = far * (n_joins + _REPEATED_FAR * again), (1 - far) * (n_joins + _REPEATED_NEAR * again)
    looks = looked_at + (far * _REPEATED_FAR + (1 - far) * _REPEATED_NEAR) * again + walks * (far_tries + near_tries)
    meets = _has_hubs(stats) and not facts.is_cpu
    at_hub = float(stats.n_vertices - stats.n_isolated) if meets else 0.0
    merges = min(n_joins, n_trees(stats)) if facts.is_cpu else 0.0
    return Work(
        streamed_bytes=4.0 * stats.n_vertices + 4.0 * stats.n_edges,
        gathers=(
            *_labels(stats, looks), Gathers(stats.n_vertices + padding, _NEAR_BYTES),
            Gathers(_MERGE_LOADS * merges, 4.0 * stats.n_vertices),
        ),
        atomics=(
            Atomics(far_tries, max(2.0, float(stats.n_vertices))), Atomics(near_tries, math.inf),
            Atomics(at_hub, 1),
        ),
    )
