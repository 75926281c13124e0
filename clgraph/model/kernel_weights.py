"""By how much longer kernels take than what they ask for takes at probed rates, on CPUs and on GPUs."""
from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from clgraph.device.facts import DeviceFacts

# tools/calibrate_model.py writes these tables. A kernel has a weight, the standard error of it as a factor, and the
# number of runs that it is from.
CPU: Mapping[str, tuple[float, float, int]] = {
    "block diagonals": (0.722, 1.13, 12),
    "block steps": (0.453, 1.12, 11),
    "coloring/hash_colors.cl:hash_vertices": (0.989, 1.15, 26),
    "coloring/jones_plassmann.cl:color_small": (0.482, 1.06, 48),
    "coloring/jones_plassmann.cl:prepare": (2.38, 1.14, 48),
    "coloring/jones_plassmann_large.cl:color_large": (0.421, 1.21, 14),
    "coloring/jones_plassmann_large.cl:list_hubs": (0.818, 1.38, 8),
    "coloring/speculative.cl:assign_all": (0.545, 1.06, 26),
    "coloring/speculative.cl:assign_listed": (0.589, 1.09, 22),
    "coloring/speculative.cl:assign_round": (0.0969, 1.52, 74),
    "coloring/speculative.cl:check_all": (0.403, 1.05, 74),
    "coloring/speculative.cl:check_round": (0.0813, 1.52, 74),
    "coloring/speculative.cl:order_keys": (0.992, 1.03, 22),
    "coloring/speculative.cl:start": (0.988, 1.02, 74),
    "components/afforest.cl:hook_sample": (0.917, 1.35, 4),
    "components/afforest.cl:hook_second": (1.12, 1.15, 20),
    "components/afforest.cl:link_rest": (0.51, 1.08, 48),
    "components/degree_classes.cl:link_medium": (0.299, 2.46, 16),
    "components/degree_classes.cl:link_short": (0.668, 1.10, 48),
    "components/hook_compress.cl:hook_atomic": (0.585, 1.09, 48),
    "components/phases.cl:compress": (0.36, 1.04, 192),
    "components/phases.cl:compress_if_linked": (0.265, 1.99, 24),
    "components/phases.cl:initialize": (0.402, 1.02, 144),
    "components/rem.cl:unite": (0.761, 1.06, 48),
    "diagonals": (0.72, 1.24, 12),
    "factorization/edge_locked.cl:lock_all": (0.342, 1.29, 6),
    "hash_collisions/lanes.cl:count_rows": (0.415, 1.03, 192),
    "hash_collisions/planes.cl:count_tiles": (1.44, 1.03, 96),
    "hash_collisions/tabulate_colors.cl:tabulate_colors": (0.502, 1.02, 192),
    "hash_collisions/tabulate_planes.cl:tabulate_planes": (0.829, 1.02, 96),
    "item supersteps": (1.85, 1.16, 24),
    "levels": (0.615, 1.07, 96),
    "matchings": (0.777, 1.19, 12),
    "mst/edge_list.cl:build": (3.08, 1.04, 96),
    "mst/edge_list.cl:offer_segment_entries": (0.672, 1.48, 48),
    "mst/edge_list.cl:offer_segments": (0.0419, 1.47, 96),
    "mst/rows.cl:discover_rows": (1.45, 1.04, 96),
    "mst/rows.cl:flatten": (0.787, 1.05, 96),
    "mst/rows.cl:hook_rows": (1.21, 1.11, 96),
    "mst/segmented.cl:discover_components": (0.622, 1.11, 48),
    "mst/segmented.cl:label_components": (0.211, 1.16, 48),
    "rounds": (0.404, 1.19, 72),
    "sssp/dijkstra.cl:search": (0.813, 1.13, 48),
    "sssp/frontier.cl:search": (1.01, 1.09, 96),
    "traversal/node_splitting.cl:count_children": (2.24, 1.05, 48),
    "traversal/node_splitting.cl:fill_parts": (2.96, 1.04, 48),
    "traversal/topology_driven.cl:initialize": (2.3, 1.02, 144),
    "windows": (0.65, 1.07, 48),
}
GPU: Mapping[str, tuple[float, float, int]] = {
    "bfs/frontier.cl:search": (1.32, 1.26, 20),
    "coloring/jones_plassmann.cl:color_small": (0.69, 1.27, 15),
    "coloring/jones_plassmann.cl:prepare": (1.08, 1.29, 15),
    "coloring/jones_plassmann_large.cl:color_large": (1.46, 1.95, 5),
    "components/afforest.cl:link_rest": (1, 1.24, 10),
    "components/degree_classes.cl:link_short": (0.808, 1.19, 10),
    "components/hook_compress.cl:hook_atomic": (0.785, 1.28, 10),
    "components/phases.cl:compress": (0.935, 1.06, 40),
    "components/phases.cl:initialize": (0.737, 1.06, 36),
    "components/rem.cl:unite": (0.647, 1.14, 10),
    "deferred edges": (0.923, 1.24, 4),
    "diagonals": (0.695, 1.47, 4),
    "factorization/block_grid.cl:block_sweep": (0.288, 1.63, 6),
    "factorization/edge_locked.cl:lock_all": (1.53, 1.45, 4),
    "hash_collisions/lanes.cl:count_rows": (1.86, 1.08, 60),
    "hash_collisions/planes.cl:count_tiles": (2.92, 1.09, 30),
    "hash_collisions/tabulate_colors.cl:tabulate_colors": (4.37, 1.18, 60),
    "hash_collisions/tabulate_planes.cl:tabulate_planes": (1.45, 1.06, 30),
    "item supersteps": (1.14, 1.65, 8),
    "matchings": (1.38, 1.39, 4),
    "mst/edge_list.cl:build": (1.28, 1.13, 20),
    "mst/edge_list.cl:rounds": (1.01, 1.36, 20),
    "mst/rows.cl:discover_rows": (1.36, 1.12, 20),
    "mst/rows.cl:flatten": (1.08, 1.09, 20),
    "mst/rows.cl:hook_rows": (1.03, 1.16, 20),
    "mst/segmented.cl:discover_components": (1.06, 1.25, 10),
    "mst/segmented.cl:label_components": (0.626, 1.35, 10),
    "sssp/frontier.cl:search": (1.59, 1.29, 18),
    "traversal/topology_driven.cl:initialize": (1.45, 2.25, 8),
    "windows": (2.79, 1.47, 15),
}


def weights_of(facts: DeviceFacts) -> Mapping[str, float]:
    """Return the weights of kernels on the device with these *facts*; those that are not there have weight 1."""
    return _weights(facts.is_cpu)


@cache
def _weights(is_cpu: bool) -> Mapping[str, float]:
    return {kernel: weight for kernel, (weight, _, _) in (CPU if is_cpu else GPU).items()}
