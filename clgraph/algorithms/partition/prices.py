"""Predicted work of each graph partitioning strategy, from graph statistics.

The constants are fitted to partitions into 2, 16 and 64 parts of grids, roads, points in the plane and R-MAT of 2^14 to
2^18 vertices on two CPUs (PoCL, Intel), and to meshes on an H200 (``benchmarks/results/partition-h200.json``). The fit
minimises the time lost by picking a slower strategy, not the error of each kernel's prediction.
"""

from __future__ import annotations

import math

from clgraph.algorithms.partition.problem import PartitionProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Chain, Gathers, Part, Work

# Size of a level divided by the size of the next finer level, in vertices and in entries, measured on meshes.
SHRINKING = 0.57
COARSEST = 8.0  # The coarsest level has about this number of vertices per part.
# On CPUs, the cost model counts work in loads from the second-level cache, each of which waits for the load before.
NEAR_BYTES = 2.0**18  # Bytes of the working set of the loads from the second-level cache.
ENTRY_LOADS, VERTEX_LOADS = 8.0, 150.0  # Dependent loads to make all levels, per entry and per vertex of the graph.
BORDER_LOADS = 40_000.0  # Dependent loads to refine all levels, per vertex of the graph at the border of a part.
# Dependent loads of ``pairwise_fm``: per vertex, per entry, and additionally per entry at the border of a part.
PAIRS_VERTEX_LOADS, PAIRS_ENTRY_LOADS, PAIRS_BORDER_LOADS = 160.0, 25.0, 300.0
PAIRS_LAUNCHES = 300.0  # Kernel launches of ``pairwise_fm`` on all levels together.
PAIRS_EFFORT = {"fast": 0.6, "normal": 1.0, "max": 8.0}  # Time of ``pairwise_fm`` by effort, in times of "normal".
# After METIS has divided a coarse level, refinement takes 0.3 of BORDER_LOADS, because few turns improve the cut.
AFTER_METIS = 0.3
# Seconds of METIS on one core: per entry, per vertex, and additionally per entry at the border of a part.
METIS_ENTRY_SECONDS, METIS_VERTEX_SECONDS, METIS_BORDER_SECONDS = 6e-8, 5e-7, 1e-6
# ``hybrid`` gives a level of at most this number of vertices to METIS on the CPU: on a CPU device, and on a GPU.
# METIS divides a grid, road network or point set of 2^14 vertices in less time than two cores take to refine it.
# A graph of 2^18 vertices is divided faster if it is first coarsened to an eighth (PoCL and Intel, 2 to 64 parts).
# A GPU waits for 7 ms at the barriers of the coarse levels (H200), in which METIS divides some 2^12 vertices.
CPU_MOVED_VERTICES, GPU_MOVED_VERTICES = 1 << 15, 1 << 12
# The next four numbers are for GPUs: random reads, bytes per entry and vertex, and launches.
LOOKS = 42.0  # Random reads of a GPU on all levels together, per entry of the graph.
# Bytes that a GPU streams on all levels together, per entry and per vertex of the graph.
ENTRY_BYTES, VERTEX_BYTES = 340.0, 230.0
LEVEL_LAUNCHES = 20.0  # Number of kernel launches that make one level on a GPU.
# Refinement: turns per level, barriers per turn with grid barriers, launches per turn without, and turns per read-back.
TURNS_A_LEVEL, TURN_BARRIERS, TURN_LAUNCHES, TURNS_A_READ = 60.0, 12.0, 4.0, 4.0


def moved_vertices(facts: DeviceFacts, host: str = "metis") -> int:
    """Return the greatest number of vertices that a level may have so that *host* divides it.

    *host* is METIS or the CPU's OpenCL runtime. If the device is a GPU, that runtime divides only the coarsest level:
    PoCL on 16 cores took 190 ms for a level of 2^12 vertices, while an H200 takes some 10 ms.
    """
    if facts.is_cpu:
        return CPU_MOVED_VERTICES
    return GPU_MOVED_VERTICES if host == "metis" else 0


def gpu(problem: PartitionProblem, facts: DeviceFacts) -> Work:
    """Predict the work of the partitioning strategy ``gpu``, in which the device also divides the coarsest level."""
    return _on_device(problem, facts, COARSEST * problem.n_parts, 1.0)


def pairwise_fm(problem: PartitionProblem, facts: DeviceFacts) -> Work:
    """Predict the work of ``pairwise_fm``, in which each core of a CPU runs one work-item."""
    n, m = float(problem.graph.n_vertices), float(problem.graph.n_edges)
    loads = PAIRS_VERTEX_LOADS * n + (PAIRS_ENTRY_LOADS + PAIRS_BORDER_LOADS * border_share(problem, n)) * m
    chain = Chain(PAIRS_EFFORT[problem.effort] * loads / facts.compute_units, NEAR_BYTES)
    return Work(launches=PAIRS_LAUNCHES, chains=(chain,))


def hybrid(problem: PartitionProblem, facts: DeviceFacts) -> Work:
    """Predict the work of ``hybrid``: the device makes and refines levels, and METIS divides one of the levels."""
    n, m = float(problem.graph.n_vertices), float(problem.graph.n_edges)
    moved = min(n, float(moved_vertices(facts)))
    own = m * moved / max(1.0, n)
    seconds = METIS_ENTRY_SECONDS * own + METIS_VERTEX_SECONDS * moved
    seconds += METIS_BORDER_SECONDS * own * border_share(problem, moved)
    return _on_device(problem, facts, moved, AFTER_METIS) + Work(read_backs=4.0, host_seconds=seconds)


def host(problem: PartitionProblem) -> list[Part]:
    """Return the work of strategy ``host``: METIS on one core."""
    n, m = float(problem.graph.n_vertices), float(problem.graph.n_edges)
    seconds = METIS_ENTRY_SECONDS * m + METIS_VERTEX_SECONDS * n
    return [(Work(host_seconds=seconds + METIS_BORDER_SECONDS * m * border_share(problem, n)), 1.0, 1.0)]


def border_share(problem: PartitionProblem, n: float) -> float:
    """Return the estimated share of vertices with neighbours in other parts, on a coarse level of *n* vertices.

    The estimate assumes a graph in the plane. A part then has the depth of the level divided by √n_parts, and its
    border is one layer of vertices.
    """
    stats = problem.stats
    depth = stats.estimated_depth * math.sqrt(n / max(1, stats.n_vertices))
    return min(1.0, math.sqrt(problem.n_parts) / max(1.0, depth))


def _on_device(problem: PartitionProblem, facts: DeviceFacts, last: float, refined: float) -> Work:
    """Predict the device's work to make and refine levels, if the coarsest level has *last* vertices.

    On a CPU, refinement takes the share *refined* of BORDER_LOADS.
    """
    n, m = float(problem.graph.n_vertices), float(problem.graph.n_edges)
    # The work of coarsening down to *last* vertices, as a share of the work of coarsening as far as possible.
    made = max(0.0, 1.0 - last / max(1.0, n))
    if facts.is_cpu:
        loads = made * (ENTRY_LOADS * m + VERTEX_LOADS * n) + refined * BORDER_LOADS * border_share(problem, n) * n
        return Work(chains=(Chain(loads / facts.compute_units, NEAR_BYTES),))
    levels = max(1.0, math.log(max(2.0, n / last)) / -math.log(SHRINKING))
    turns, is_whole = TURNS_A_LEVEL * levels, facts.dialect.has_grid_barrier
    return Work(
        launches=LEVEL_LAUNCHES * levels + (0.0 if is_whole else TURN_LAUNCHES * turns),
        read_backs=levels + (0.0 if is_whole else turns / TURNS_A_READ),
        grid_barriers=TURN_BARRIERS * turns if is_whole else 0.0,
        streamed_bytes=made * (ENTRY_BYTES * m + VERTEX_BYTES * n),
        gathers=(Gathers(made * LOOKS * m, 4.0 * n),),
    )
