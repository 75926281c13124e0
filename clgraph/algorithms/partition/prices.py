"""Predicted work of each strategy of partitions, from graph statistics.

The constants are fitted to partitions into 2, 16 and 64 parts of grids, roads, points in the plane and R-MAT of 2^14 to
2^18 vertices on two CPUs (PoCL, Intel), and to meshes on an H200 (``benchmarks/results/partition-h200.json``). The fit
minimises the time lost by picking a slower strategy, not the error of each kernel's prediction.
"""

from __future__ import annotations

import math
from functools import cache
from importlib.util import find_spec

from clgraph.algorithms.partition.problem import PartitionProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Chain, Gathers, Work

SHRINKING = 0.57  # size of a level relative to the level before, in vertices and in entries, on meshes
COARSEST = 8.0  # vertices per part on the coarsest level
# On CPUs the time of one core is expressed in dependent loads from its second-level cache.
NEAR_BYTES = 2.0**18
ENTRY_LOADS, VERTEX_LOADS = 8.0, 150.0  # loads per entry and per vertex of the graph, to make all levels
BORDER_LOADS = 40_000.0  # loads per vertex of the graph at the border of a part, to refine all levels
AFTER_METIS = 0.3  # share of BORDER_LOADS needed after METIS has divided a coarse level: few turns improve its cut
# METIS on one core.
METIS_ENTRY_SECONDS, METIS_VERTEX_SECONDS, METIS_BORDER_SECONDS = 6e-8, 5e-7, 1e-6  # the last per entry at a border
# Greatest number of vertices of a level that moves to the CPU. METIS divides grids, roads and points of 2^14 vertices
# in less time than two cores take to refine their levels. For 2^18 vertices it is faster to coarsen to an eighth first
# (PoCL and Intel, 2 to 64 parts). A GPU spends 7 ms at barriers on the coarse levels (H200); METIS divides some 2^12
# vertices in that time.
CPU_MOVED_VERTICES, GPU_MOVED_VERTICES = 1 << 15, 1 << 12
# On GPUs.
LOOKS = 42.0  # random reads per entry of the graph, on all levels together
ENTRY_BYTES, VERTEX_BYTES = 340.0, 230.0  # streamed bytes per entry and vertex of the graph, on all levels together
LEVEL_LAUNCHES = 20.0  # launches to make a level
# Refinement, in order: turns per level; grid barriers per turn on GPUs; launches per turn elsewhere; turns between two
# reads by the host.
TURNS_A_LEVEL, TURN_BARRIERS, TURN_LAUNCHES, TURNS_A_READ = 60.0, 12.0, 4.0, 4.0


def moved_vertices(facts: DeviceFacts, host: str = "metis") -> int:
    """Return the greatest number of vertices of a level that *host* divides (METIS or the CPU's OpenCL runtime).

    With a GPU, the runtime divides only the coarsest level: PoCL on 16 cores took 190 ms for a level of 2^12 vertices,
    for which an H200 needs some 10 ms.
    """
    if facts.is_cpu:
        return CPU_MOVED_VERTICES
    return GPU_MOVED_VERTICES if host == "metis" else 0


@cache
def has_metis() -> bool:
    """Return whether pymetis is installed."""
    return find_spec("pymetis") is not None


def gpu(problem: PartitionProblem, facts: DeviceFacts) -> Work:
    """Return the work of ``gpu``, in which the device also divides the coarsest level."""
    return _on_device(problem, facts, COARSEST * problem.n_parts, 1.0)


def hybrid(problem: PartitionProblem, facts: DeviceFacts) -> Work:
    """Return the work of ``hybrid``: the device makes and refines levels, and METIS divides one."""
    n, m = float(problem.graph.n_vertices), float(problem.graph.n_edges)
    moved = min(n, float(moved_vertices(facts)))
    own = m * moved / max(1.0, n)
    seconds = METIS_ENTRY_SECONDS * own + METIS_VERTEX_SECONDS * moved
    seconds += METIS_BORDER_SECONDS * own * border_share(problem, moved)
    return _on_device(problem, facts, moved, AFTER_METIS) + Work(read_backs=4.0, host_seconds=seconds)


def border_share(problem: PartitionProblem, n: float) -> float:
    """Return the estimated share of vertices with neighbours in other parts, on a level of *n* vertices.

    As in the plane, the depth of a part is estimated as the depth of the graph divided by √n_parts. Its border is one
    layer of vertices.
    """
    stats = problem.stats
    depth = stats.estimated_depth * math.sqrt(n / max(1, stats.n_vertices))
    return min(1.0, math.sqrt(problem.n_parts) / max(1.0, depth))


def _on_device(problem: PartitionProblem, facts: DeviceFacts, last: float, refined: float) -> Work:
    """Return the work of making and refining levels down to *last* vertices; a CPU needs *refined* of BORDER_LOADS."""
    n, m = float(problem.graph.n_vertices), float(problem.graph.n_edges)
    made = max(0.0, 1.0 - last / max(1.0, n))  # share of all levels' work that the device does
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
