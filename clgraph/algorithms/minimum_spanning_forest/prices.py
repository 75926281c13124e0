"""Predicted work of each strategy of minimum spanning forests, from graph statistics.

The constants are fitted to calls on graphs of 131,072 and 524,288 vertices, on two CPUs and two GPUs
(``benchmarks/results/cost_model-*.json``). The fit minimises the time lost by picking a slower strategy, not the error
of each kernel's prediction.
"""

from __future__ import annotations

import math

from clgraph.algorithms.minimum_spanning_forest.problem import ForestProblem
from clgraph.data.graphs.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Gathers, HostItems, Part, Work

NEAR_BYTES = 2.0**18  # Loads of near neighbours touch 256 KiB, which is about the size of a core's second-level cache.
# Memory traffic in bytes of all passes over the rows and trees: per CSR entry, and per vertex.
ENTRY_BYTES, VERTEX_BYTES = 200.0, 60.0
# The list of edges between trees has at most 1.5 edges per vertex, and at most half of the graph's entries.
LISTED_PER_VERTEX = 1.5
# All rounds over the edge list together move 72 bytes per listed edge and make 6 random loads.
VISIT_BYTES, VISIT_GATHERS = 72.0, 6.0
TREES_PER_ROOT = 4.0  # If all weights are equal, the first round leaves 4 trees for each tree of first-neighbour hooks.
# A pass of a radix sort handles 8 bits, makes 3 launches, and moves 12 bytes per 4-byte key: two reads and a write.
DIGIT_BITS, DIGIT_LAUNCHES, KEY_BYTES = 8, 3.0, 12.0
EDGE_BYTES = 56.0  # Making the answer moves 56 bytes of memory per edge of the forest, besides the sort of the edges.

# Fixed time of a call to scipy, and time per vertex of the unions in scipy's spanning forest.
HOST_CALL_SECONDS, HOST_VERTEX_SECONDS = 6e-5, 6e-9
# scipy sorts equal weights, which are already in order, in 0.18 of the time that random weights take.
EQUAL_SORT_SHARE = 0.18


def rounds(stats: GraphStats) -> float:
    """Estimate the rounds of Borůvka's algorithm until no tree has an edge left.

    A round leaves about a quarter of the trees.
    """
    return 2.0 + 0.5 * math.log2(1 + stats.n_vertices - stats.n_isolated)


def edge_list(problem: ForestProblem, facts: DeviceFacts) -> Work:
    """Predict the work of ``edge_list``: passes over the graph's rows, and
    rounds over a list of the edges between trees.

    On a CPU, equal weights make the first round hook to first neighbours, so few edges may reach the list. A GPU waits
    for all its work-groups in each round, however few edges are left.
    """
    stats, n, m = problem.stats, float(problem.stats.n_vertices), float(problem.stats.n_edges)
    listed, far = min(0.5 * m, LISTED_PER_VERTEX * n), stats.far_neighbor_share
    if facts.is_cpu:
        equal = problem.graph.least_share
        listed *= 1.0 - equal + equal * min(1.0, TREES_PER_ROOT * stats.first_hook_tree_share)
    return Work(
        launches=10.0,
        streamed_bytes=ENTRY_BYTES * m + VERTEX_BYTES * n + VISIT_BYTES * listed,
        gathers=(
            Gathers(far * (VISIT_GATHERS * listed + 2.0 * n), 8.0 * n),
            Gathers((1.0 - far) * VISIT_GATHERS * listed, NEAR_BYTES),
        ),
        atomics=(Atomics(listed, max(2.0, n)),),
        grid_barriers=0.0 if facts.is_cpu else 3.0 * rounds(stats),
    )


def two_pass(problem: ForestProblem, facts: DeviceFacts) -> Work:
    """Predict the work of ``two_pass``: the work of ``edge_list``, and a second pass for entries of equal weight."""
    return edge_list(problem, facts).times(1.0, 1.2)


def segmented(problem: ForestProblem, _facts: DeviceFacts) -> Work:
    """Predict the work of the spanning-forest strategy ``segmented``, which reads all CSR entries in each round."""
    stats, n, m = problem.stats, float(problem.stats.n_vertices), float(problem.stats.n_edges)
    far = stats.far_neighbor_share
    a_round = Work(
        launches=3.0,
        read_backs=1.0,
        streamed_bytes=VERTEX_BYTES * n + 0.1 * ENTRY_BYTES * m,
        gathers=(Gathers(far * m, 8.0 * n), Gathers((1.0 - far) * m, NEAR_BYTES)),
        atomics=(Atomics(n, max(2.0, n)),),
    )
    return a_round.times(rounds(stats))


def answer(problem: ForestProblem, _facts: DeviceFacts) -> Work:
    """Predict the work of sorting the edges of the spanning forest and copying them to the host."""
    n, digits = float(problem.stats.n_vertices), math.ceil(problem.stats.n_edges.bit_length() / DIGIT_BITS)
    return Work(
        launches=3.0 + DIGIT_LAUNCHES * digits,
        gathers=(Gathers(digits * n, NEAR_BYTES),),
        streamed_bytes=(EDGE_BYTES + KEY_BYTES * digits) * n,
    )


def host(problem: ForestProblem) -> list[Part]:
    """Predict the work of scipy's Kruskal algorithm: sorting the edges, and uniting trees."""
    keys, equal = 0.5 * problem.graph.n_edges, problem.graph.least_share
    sort = Work(host_items=(HostItems(keys, 16.0 * keys, "sort"),))
    rest = Work(host_seconds=HOST_CALL_SECONDS + HOST_VERTEX_SECONDS * problem.graph.n_vertices)
    return [(sort, 1.0 - equal + EQUAL_SORT_SHARE * equal, 1.0), (rest, 1.0, 1.0)]
