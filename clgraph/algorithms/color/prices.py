"""Predicted work of each graph colouring strategy, from graph statistics.

For each distance and kind of device, one strategy is the fastest on nearly all graphs. So these predictions only give
the order of magnitude. They are fitted to calls on 100 graphs of 131,072 vertices on two CPUs
(``benchmarks/results/cost_model-*.json``), and on 67 graphs of 200,000 vertices on an H100.
"""

from __future__ import annotations

from clgraph.algorithms.color.problem import ColoringProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Chain, Gathers, Work

GREEDY_TRIES = 4.0  # At distance 1, best_of_orders makes this number of greedy colourings.
PAIR_SECONDS = 4e-8  # Seconds of the host per pair of members of a net, to compute the square graph and to colour it.
CPU_VERTEX_BYTES = 230.0  # Bytes that a colouring on a CPU streams per vertex.
# Time per CSR entry of a colouring on a CPU, as bytes streamed in that time, at distance 1 and at distance 2.
CPU_ENTRY_BYTES = {
    "jones_plassmann": (140.0, 140.0), "speculative": (82.0, 118.0), "hash_repair": (217.0, 217.0),
}  # fmt: skip
CPU_FAR_LOADS = 3.0  # Random loads of a CPU per CSR entry whose two ends are far apart.
# The time of ``first_fit`` is predicted as a chain of loads from a core's second-level cache, where each load waits for
# the load before it. The numbers give 0.6 to 2 times the measured time of 8 graphs on two runtimes.
FIRST_FIT_VERTEX_LOADS, FIRST_FIT_ENTRY_LOADS, FIRST_FIT_BYTES = 0.5, 0.5, 128e3
GPU_ENTRY_BYTES = {"jones_plassmann": (80.0, 80.0), "speculative": (130.0, 200.0), "hash_repair": (90.0, 120.0)}
# Dependent loads of a GPU per entry of the longest row, at distance 1 and at distance 2.
GPU_ROW_LOADS = 1 / 128, 1 / 16


def work(problem: ColoringProblem, facts: DeviceFacts, *, strategy: str) -> Work:
    """Predict the work of one colouring.

    A greedy one at distance 2 includes the host's work on the square graph.
    """
    stats, at = problem.stats, problem.distance - 1
    if strategy == "jones_plassmann" and problem.distance == 2:
        return Work(host_seconds=PAIR_SECONDS * problem.n_pairs)
    n, m = float(stats.n_vertices), float(stats.n_edges)
    if facts.is_cpu:
        far = CPU_FAR_LOADS * stats.far_neighbor_share * m
        streamed = CPU_VERTEX_BYTES * n + CPU_ENTRY_BYTES[strategy][at] * m
        return Work(launches=6.0, read_backs=2.0, streamed_bytes=streamed, gathers=(Gathers(far, 4.0 * n),))
    row = Chain(GPU_ROW_LOADS[at] * stats.max_degree, 4.0 * m)
    return Work(launches=10.0, read_backs=2.0, streamed_bytes=GPU_ENTRY_BYTES[strategy][at] * m, chains=(row,))


def first_fit(problem: ColoringProblem, _facts: DeviceFacts) -> Work:
    """Predict the work of ``first_fit``, as loads of one core that wait for each other."""
    stats = problem.stats
    loads = FIRST_FIT_VERTEX_LOADS * stats.n_vertices + FIRST_FIT_ENTRY_LOADS * stats.n_edges
    return Work(launches=3.0, read_backs=1.0, chains=(Chain(loads, FIRST_FIT_BYTES),))


def best_of_two(problem: ColoringProblem, facts: DeviceFacts) -> Work:
    """Predict the work of ``best_of_two``: a fast and a greedy colouring, or at distance 2 two fast colourings."""
    other = "hash_repair" if problem.distance == 2 else "jones_plassmann"
    return work(problem, facts, strategy="speculative") + work(problem, facts, strategy=other)


def best_of_orders(problem: ColoringProblem, facts: DeviceFacts) -> Work:
    """Predict the work of ``best_of_orders``, counted as several greedy colourings of the graph."""
    tries = GREEDY_TRIES if problem.distance == 1 else 2.0
    return work(problem, facts, strategy="jones_plassmann").times(tries)
