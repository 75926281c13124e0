"""What the strategies of connected components ask of a device, from the statistics of the graph.

The counts follow the kernels: bytes streamed, random accesses and atomics with the memory they fall
into. What no count gives is how the trees grow; ``stats.first_hook_*`` samples that.
"""
from __future__ import annotations

import math

from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Gathers, Work
from clgraph.stats import GraphStats


def starts_as_one_tree(stats: GraphStats) -> bool:
    """Hooking every vertex to its first neighbour leaves (nearly) one tree: well ordered meshes."""
    return stats.first_hook_tree_share < 1e-3


def sample_strides(stats: GraphStats) -> tuple[int, ...]:
    """Strides of afforest's rounds: each leaves about a tenth of the trees, so each may sample less."""
    if starts_as_one_tree(stats):
        return ()
    if stats.first_hook_giant_share > 0.1:  # hubs: what one round leaves outside are small trees
        return (4,)
    return (4, 32, 256)


def afforest_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    return Work(launches=8, streamed_bytes=40.0 * stats.n_vertices)


def rem_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    return Work(launches=3, streamed_bytes=40.0 * stats.n_vertices + 8 * stats.n_edges)


def hook_compress_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    return Work(launches=4, streamed_bytes=40.0 * stats.n_vertices + 16 * stats.n_edges)


def degree_classes_work(stats: GraphStats, facts: DeviceFacts) -> Work:
    return Work(launches=7, streamed_bytes=40.0 * stats.n_vertices + 16 * stats.n_edges)
