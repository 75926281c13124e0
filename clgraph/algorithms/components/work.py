"""What the strategies of connected components ask of a device, from the statistics of the graph.

The counts follow the kernels. Rows are visited in order, so looking into one moves a memory sector.
A label of a near neighbour comes out of a cache, which takes a CPU no longer than a word in order, a far one
out of the whole array. A union costs a compare-exchange on a random word; on a GPU, work-items that run at the
same time also try unions that others are making, and those at the hubs meet on a few words, whose old values
the first-level caches keep.
"""
from __future__ import annotations

import math

from clgraph.algorithms.components.problem import ComponentsProblem
from clgraph.data.stats import DEEP_HOOKS, GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Chain, Gathers, Work

_NEAR_BYTES = 2.0**18
_SECTOR_BYTES = 64.0
_HUB_SHARE = 0.1
_ONE_TREE_SHARE = 0.5
_FEW_TREE_SHARE = 2e-3  # of the vertices, so that each tree has a hundred of those that a round of every fourth hooks
_CUT_OFF = 1.7  # times as long as they were followed are climbs that did not come to their tops, at least
_SHORTENED = 6.0  # times the root of the depth: others have shortened the path before a vertex has climbed it
_STAYS_OUTSIDE, _LEAST_OUTSIDE = 0.8, 0.02  # of what first hooks leave outside the giant component; of all vertices
_SMALL_TREE = 16.0  # vertices, of which the sample has four: it joins larger trees for sure
_LARGEST_SHARE = 0.4  # of the vertices, from which on `link_rest` skips a component
_DEEP, _FEW_TREES = 40.0, 2.0  # levels of a graph whose trees stay near where they began; trees, of which one is large
# Of the trees; where fewer are left in a deep graph, one of them is large, and leaves this share of the vertices.
_MOST_LEFT, _OUTSIDE_DEEP = 1e-3, 0.4
_OUTSIDE_BY_TREE = 0.04  # of the vertices, that a tree beside the giant component has where all meet soon
_HALF_ROW_BYTES = 12.0  # that an entry takes of those that a CPU looks at by Rem's unions, as if all were in order
# Seconds that a core loses at an entry where it guesses wrong: whether the ends are of one tree, and how far the roots
# are. In a random numbering these are two entries a vertex, since trees are few later, and less after hooks.
_GUESS_SECONDS, _MOST_GUESSES, _MOST_AFTER_HOOKS = 1.5e-8, 2.0, 1.0
# What an entry and a vertex of a matrix take that kernels also check, as bytes in order, since cores compute meanwhile;
# and wrong guesses of a vertex, of which nothing was hooked before.
_CHECKED_ENTRY_BYTES, _CHECKED_VERTEX_BYTES, _MOST_UNSAMPLED = 22.0, 62.0, 4.0
# Loads of a vertex in `initialize` for a step beyond one, of a row's ends and entry, where neighbours are far; where
# they are near, words beside the first.
_STEP_FAR, _STEP_WORDS = 8.0, 2.0
# How often a GPU tries the union of an entry that others are making: of far neighbours, and of near ones, at which
# work-items look that run at the same time.
_REPEATED_FAR, _REPEATED_NEAR = 0.5, 1.5
_IN_FLIGHT = 2048.0  # work-items of a GPU's compute unit
_MEETING = 32.0  # neighbours that run at the same time make a vertex a hub
_TRIES_AT_HUBS = 3.0  # of a vertex at most, from R-MAT 20 and 22 on an H200: then its tree has the root of the hubs
# Loads of a GPU's work-item, one after the other, by entry and logarithm of the depth, since walks shorten paths.
_SPLICE_LOADS, _WALK_LOADS = 50.0, 130.0
_MOST_CLIMBS = 4.0  # entries of a vertex: further ones lead to its own tree
# Of a long row, along which a sub-group goes: loads of an entry by Rem's unions, which are the entry, both parents and
# the exchange; and entries under way at a time by walks, of which each takes the entry, the walk and the exchange.
# Lanes that join a tree exchange the word of one root, and so one after the other.
_SPLICE_ROW_LOADS, _WALKED = 4.0, 4.0
_NOT_FLAT = 32.0  # steps to the roots of first hooks, from which on hubs may come late
_PATH_DEGREE_BIN, _MANY = 2, 0.5  # degrees up to 3 are in this bin, and what share of the vertices is many


def starts_as_one_tree(stats: GraphStats) -> bool:
    """Hooking every vertex to its first neighbour leaves (nearly) one tree: well ordered meshes.

    Few trees of few vertices each are no such tree, if climbs have come to their tops.
    """
    is_one = stats.first_hook_giant_share > _ONE_TREE_SHARE or hooks_deeply(stats)
    return stats.n_edges > 0 and stats.first_hook_tree_share < 1e-3 and is_one


def splices_deeply(stats: GraphStats) -> bool:
    """Rem's unions leave trees as deep as first hooks do: most vertices have one smaller neighbour, as on paths."""
    of_paths = sum(stats.degree_vertex_counts[: _PATH_DEGREE_BIN + 1])
    return hooks_deeply(stats) and of_paths > _MANY * stats.n_vertices


def hooks_deeply(stats: GraphStats) -> bool:
    """Trees of first neighbours are deeper than the climbs that measured them."""
    return stats.first_hook_depth > DEEP_HOOKS


def sample_strides(stats: GraphStats) -> tuple[int, ...]:
    """Strides of afforest's rounds: each leaves about a tenth of the trees, so each may sample less.

    A round joins nothing in fragments, and where the trees are one. Climbs that were cut off do not tell that.
    """
    is_giant = stats.first_hook_giant_share > _ONE_TREE_SHARE
    is_one = is_giant and (n_trees(stats) < _FEW_TREES or not hooks_deeply(stats))
    if is_one or stats.reached_share < _LARGEST_SHARE:
        return ()
    if _has_hubs(stats) or stats.first_hook_tree_share < _FEW_TREE_SHARE:  # what is left outside are small trees
        return (4,)
    if stats.far_neighbor_share > 0.5 and stats.first_hook_tree_share < 0.05:
        return (4, 32)
    # Neighbours are near or few: reading two of them costs what reading one does, so sample all vertices.
    return (1, 1) if stats.mean_degree >= 3 else (1,)


def sample(stats: GraphStats, stride: int, keeps_second: bool) -> Work:
    """Hook every *stride*-th vertex to its second neighbour, which the start has kept or the row holds."""
    n = float(stats.n_vertices)
    sampled = n / stride
    far = 2 * stats.far_neighbor_share * sampled  # near ones are read nearly in order
    streamed, gathers = 4 * n + 4 * (2 * sampled - far), (Gathers(far, 4 * n),)
    if keeps_second:
        return Work(streamed_bytes=streamed, gathers=gathers)
    return Work(streamed_bytes=streamed + sampled * _SECTOR_BYTES, gathers=(Gathers(sampled, _NEAR_BYTES), *gathers))


def link_rest(stats: GraphStats, facts: DeviceFacts, outside: float) -> Work:
    """Link what the sample has left *outside* the giant component, a share of the vertices."""
    n = float(stats.n_vertices)
    if outside < 1:
        return _link_outsiders(stats, facts, outside * n)
    # A CPU takes as long for trees that the sample has joined, and of a directed graph, where no entry can be left out,
    # the one that was measured did.
    in_vain = facts.is_cpu or stats.directed
    trees = n_trees(stats) if in_vain else trees_left(stats)
    streamed, gathers = _reads(stats, facts, 0.0, near=n)
    linked = link(stats, facts, trees, walks=4.0 if facts.is_cpu else 0.0)
    return linked + Work(streamed_bytes=streamed + 4 * n, gathers=gathers)


def rem_hooks_first(stats: GraphStats, facts: DeviceFacts) -> bool:
    """A round without atomics first pays where it leaves few trees, and on GPUs where few entries are left to look at.

    A CPU has to climb where the few trees are deep, unless they are one.
    """
    if facts.is_cpu:
        return stats.first_hook_giant_share > _ONE_TREE_SHARE
    return stats.mean_degree < 4 or stats.first_hook_tree_share < _FEW_TREE_SHARE


def relist(stats: GraphStats, facts: DeviceFacts) -> Work:
    """Look again at the rows of 32 entries or more."""
    listed = float(sum(stats.degree_edge_counts[6:])) * _looked_at(stats)
    streamed, gathers = _reads(stats, facts, 4 * listed)
    return Work(streamed_bytes=streamed, gathers=gathers)


def matrix_rows(problem: ComponentsProblem, facts: DeviceFacts) -> Work:
    """Read and check all entries on a CPU, those with a far end twice, and number the trees."""
    stats = problem.stats
    n, m, far = stats.n_vertices, stats.n_edges, stats.randomness
    return Work(
        streamed_bytes=_CHECKED_ENTRY_BYTES * m + _CHECKED_VERTEX_BYTES * n, gathers=(Gathers(2.0 * far * m, 4.0 * n),),
        host_seconds=_GUESS_SECONDS * far * min(m, _MOST_UNSAMPLED * n) / facts.compute_units,
    )


def _has_hubs(stats: GraphStats) -> bool:
    return not starts_as_one_tree(stats) and stats.first_hook_giant_share > _HUB_SHARE


def outside_share(stats: GraphStats) -> float:
    """Share of the vertices left outside the giant component when the sample has been hooked."""
    if stats.directed or not stats.n_edges:  # an edge of a directed graph is in one row, so none can be skipped
        return 1.0
    if starts_as_one_tree(stats) and n_trees(stats) < _FEW_TREES:
        return 0.0
    if _has_hubs(stats):  # what the first hooks join to the giant component stays there
        connected = 1 - stats.n_isolated / stats.n_vertices
        left = min(_STAYS_OUTSIDE * (1 - stats.first_hook_giant_share), _SMALL_TREE * stats.first_hook_tree_share)
        return max(_LEAST_OUTSIDE, left) * connected
    if stats.reached_share < _LARGEST_SHARE:
        return 1.0
    left = trees_left(stats)
    if stats.estimated_depth > _DEEP:  # trees stay where they are, and so none is large among many
        if left < _FEW_TREES:
            return _LEAST_OUTSIDE
        return 1.0 if left > _MOST_LEFT * n_trees(stats) else _OUTSIDE_DEEP
    # The least numbers are met most often, the more so the more entries a row has that is met.
    met_again = max(1.0, stats.degree_second_moment / stats.mean_degree)
    return min(1.0, max(_LEAST_OUTSIDE, _OUTSIDE_BY_TREE * left / met_again))


def trees_left(stats: GraphStats) -> float:
    """Trees that the rounds of the sample leave: those that are the least among the trees that they meet.

    A tree meets one for each second entry in its rows, and as many whose second entry leads to it.
    """
    left, connected = n_trees(stats), max(1.0, float(stats.n_vertices - stats.n_isolated))
    seconds = max(0.0, connected - sum(stats.degree_vertex_counts[1:2]))
    for stride in sample_strides(stats):
        left /= 1.0 + 2.0 * seconds / stride / max(1.0, left)
    return left


def _hubs(stats: GraphStats, facts: DeviceFacts) -> tuple[float, float]:
    """How many hubs there are, and the share of the entries in their rows, which are what many look at at a time.

    Rows of a directed graph do not tell whom many look at.
    """
    if stats.directed or not stats.n_edges:
        return 0.0, 0.0
    in_flight = min(1.0, _IN_FLIGHT * facts.compute_units / stats.n_vertices)
    first_bin = 1 + math.ceil(math.log2(_MEETING / in_flight))
    return float(sum(stats.degree_vertex_counts[first_bin:])), sum(stats.degree_edge_counts[first_bin:]) / stats.n_edges


def _tries_at_hubs(stats: GraphStats, facts: DeviceFacts, beyond_first: float, n_joins: float) -> Atomics:
    """What meets at hubs' words, of entries *beyond_first* of a vertex.

    The trees of hubs are joined meanwhile, so these are words of one tree at the end and of each hub at the beginning:
    their number is the mean of both by logarithms. Where first hooks seem to have left one tree, only those try that
    run before it is.
    """
    n_hubs, share = _hubs(stats, facts)
    connected = float(stats.n_vertices - stats.n_isolated)
    most = _TRIES_AT_HUBS * connected if n_joins >= 1 else _IN_FLIGHT * facts.compute_units
    return Atomics(min(share * beyond_first, most), max(1.0, math.sqrt(n_hubs)))


def _late_hubs(stats: GraphStats) -> float:
    """How much of a hub's row leads to lesser numbers: little where the hubs come first, so that first hooks are flat.

    No entry is looked at from its lesser end.
    """
    return 1.0 if stats.directed else min(1.0, max(2.0 * stats.randomness, stats.first_hook_depth / _NOT_FLAT))


def _looked_at(stats: GraphStats) -> float:
    """Share of the stored entries that a link phase looks at: each undirected edge once."""
    return 1.0 if stats.directed else 0.5


def n_trees(stats: GraphStats) -> float:
    """Trees left by hooking every vertex to its first neighbour."""
    return stats.first_hook_tree_share * (stats.n_vertices - stats.n_isolated)


def _reads(
    stats: GraphStats, facts: DeviceFacts, labels: float, near: float = 0.0
) -> tuple[float, tuple[Gathers, ...]]:
    """Return streamed bytes and gathers of reading the *labels* of neighbours and *near* words near each other.

    A CPU reads the latter as fast as in order, since it computes no address.
    """
    far = stats.far_neighbor_share * labels
    near += labels - far
    far_ones = Gathers(far, 4.0 * stats.n_vertices)
    return (4 * near, (far_ones,)) if facts.is_cpu else (0.0, (Gathers(near, _NEAR_BYTES), far_ones))


def initialize(stats: GraphStats, facts: DeviceFacts, steps: int = 1) -> Work:
    """Hook every vertex to its first neighbour, and to the first one of that for each of the *steps* beyond one."""
    n, far = float(stats.n_vertices), (steps - 1) * stats.far_neighbor_share * stats.n_vertices
    firsts = min(4.0 * stats.n_edges, _SECTOR_BYTES * (n - stats.n_isolated))
    near = (steps - 1) * n - far
    streamed, gathers = _reads(stats, facts, 0.0, near=2 * n + _STEP_WORDS * near)
    return Work(
        streamed_bytes=8 * n + firsts + streamed,
        gathers=(*gathers, Gathers(near, _NEAR_BYTES), Gathers(_STEP_FAR * far, 4 * n)),
    )


def compress(stats: GraphStats, facts: DeviceFacts, *, first: bool = False, sampled: bool = False) -> Work:
    """Point every vertex at its root; after the *first* hooking trees are deep, but unions have shortened theirs.

    Where trees are deep, or *sampled* edges have hooked roots to others, a CPU waits for one more load of a vertex.
    """
    n, depth = float(stats.n_vertices), stats.first_hook_depth
    if hooks_deeply(stats):
        depth = max(_CUT_OFF * depth, _SHORTENED * math.sqrt(stats.estimated_depth))
    chains: tuple[Chain, ...] = (Chain(depth, 4 * n),) if first else ()
    if facts.is_cpu and (sampled or (first and hooks_deeply(stats))):
        chains += (Chain(n / facts.compute_units, _NEAR_BYTES),)
    streamed, gathers = _reads(stats, facts, n, near=n)
    return Work(streamed_bytes=8 * n + streamed, gathers=gathers, chains=chains)


def _link_outsiders(stats: GraphStats, facts: DeviceFacts, n_outside: float) -> Work:
    """Look at all vertices, and join those outside the giant component to it, by a few entries of their rows."""
    n = float(stats.n_vertices)
    streamed, gathers = _reads(stats, facts, 4 * n_outside, near=n)
    return Work(
        streamed_bytes=4 * n + 2 * _SECTOR_BYTES * n_outside + streamed, gathers=gathers,
        atomics=(Atomics(n_outside, max(2.0, n_outside)),),
    )


def link(stats: GraphStats, facts: DeviceFacts, n_joins: float, walks: float = 0.0) -> Work:
    """Look at every edge once and join *n_joins* trees; *walks* is the length of a climb to the root.

    Where climbs are long, edges.h looks at four entries at a time, so short rows are padded.
    """
    looked_at = stats.n_edges * _looked_at(stats)
    rows = stats.n_vertices - sum(stats.degree_vertex_counts[:2]) if facts.is_cpu else stats.n_vertices
    padding = 3.0 * rows if walks else 0.0
    # Nothing is left to join where the trees are one; where it is, GPUs try again what others do.
    far, again = stats.far_neighbor_share, 0.0 if facts.is_cpu or n_joins < 1 else looked_at
    far_tries, near_tries = far * (n_joins + _REPEATED_FAR * again), (1 - far) * (n_joins + _REPEATED_NEAR * again)
    looks = looked_at + (far * _REPEATED_FAR + (1 - far) * _REPEATED_NEAR) * again + walks * (far_tries + near_tries)
    connected = max(1.0, float(stats.n_vertices - stats.n_isolated))
    beyond_first = max(0.0, looked_at - connected)  # the first entry of a vertex hooks its own word
    climbs = 0.0 if facts.is_cpu else min(looked_at / connected, _MOST_CLIMBS) * math.log2(
        1.0 + stats.estimated_depth * n_joins / connected
    )
    loads, row_loads = (_WALK_LOADS, (walks + 2.0) / _WALKED) if walks else (_SPLICE_LOADS, _SPLICE_ROW_LOADS)
    row = 0.0 if facts.is_cpu else _looked_at(stats) * _late_hubs(stats) * stats.max_degree * (
        row_loads / facts.sub_group_size + n_joins / connected
    )
    most = _MOST_AFTER_HOOKS if walks else _MOST_GUESSES
    guesses = stats.randomness * min(looked_at, most * connected) if facts.is_cpu and n_joins >= 1 else 0.0
    if facts.is_cpu and walks:  # whether a row has more than its first entry
        leaves = sum(stats.degree_vertex_counts[1:2]) / connected
        guesses += leaves * (1.0 - leaves) * connected
    streamed, gathers = _reads(stats, facts, looks, near=rows + padding)
    if facts.is_cpu and not walks:  # near labels come while an exchange waits
        streamed = _HALF_ROW_BYTES * looked_at
    else:
        streamed += 4.0 * stats.n_edges
    return Work(
        streamed_bytes=4.0 * stats.n_vertices + streamed, gathers=gathers,
        host_seconds=_GUESS_SECONDS * guesses / facts.compute_units,
        atomics=(
            Atomics(far_tries, max(2.0, float(stats.n_vertices))), Atomics(near_tries, math.inf),
            *([] if facts.is_cpu else [_tries_at_hubs(stats, facts, beyond_first, n_joins)]),
        ),
        chains=(Chain(loads * climbs + row, 4.0 * stats.n_vertices),) if climbs or row else (),
    )
