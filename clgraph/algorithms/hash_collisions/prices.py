"""Predicted work of hash collisions, from the sizes of the graph and of the table.

These kernels are limited by integer instructions, whose rate is not probed. So the time of the kernels is expressed in
streamed bytes. The constants are medians over 100 calls on two CPUs, and over 48 calls on two GPUs, with 15 hashes of
10 widths each (``benchmarks/results/cost_model-*.json``).
"""

from __future__ import annotations

from clgraph.algorithms.hash_collisions.problem import CollisionProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Work

# Bytes that a CPU streams for each hash and each vertex or entry, for collisions at distance 1 and at distance 2.
CPU_BYTES = {
    "row_per_item": (25.0, 101.0), "persistent": (28.0, 107.0), "row_per_sub_group": (58.0, 143.0),
}  # fmt: skip
GPU_BYTES = {"row_per_item": (8.9, 71.0), "persistent": (8.2, 71.0), "row_per_sub_group": (37.0, 41.0)}


def work(problem: CollisionProblem, facts: DeviceFacts, *, strategy: str) -> Work:
    """Predict the work of counting hash collisions: computing all hashes, and comparing the colours in all rows."""
    stats, of_kind = problem.stats, CPU_BYTES if facts.is_cpu else GPU_BYTES
    items = len(problem.hashes) * float(stats.n_vertices + stats.n_edges)
    return Work(launches=2.0, read_backs=1.0, streamed_bytes=of_kind[strategy][problem.distance - 1] * items)
