"""What networkx reads of the backend when it is imported. It must cost nothing, so it imports no part of clgraph.

``tools/networkx_suite.py --names`` writes the names from the table of ``clgraph.networkx_backend``.
"""

from __future__ import annotations

import os
from typing import Any

FUNCTIONS = """
all_pairs_bellman_ford_path_length
all_pairs_dijkstra
all_pairs_dijkstra_path
all_pairs_dijkstra_path_length
all_pairs_shortest_path
all_pairs_shortest_path_length
ancestors
average_clustering
average_shortest_path_length
bellman_ford_path_length
bfs_edges
bfs_layers
bfs_predecessors
bfs_successors
bfs_tree
bidirectional_dijkstra
clustering
condensation
connected_components
core_number
degree_centrality
descendants
descendants_at_distance
diameter
dijkstra_path
dijkstra_path_length
eccentricity
eigenvector_centrality
greedy_color
has_path
hits
in_degree_centrality
is_bipartite
is_connected
is_forest
is_strongly_connected
is_tree
is_weakly_connected
isolates
k_core
katz_centrality
leiden_communities
louvain_communities
maximal_independent_set
maximal_matching
maximum_spanning_edges
maximum_spanning_tree
minimum_spanning_edges
minimum_spanning_tree
multi_source_dijkstra
multi_source_dijkstra_path
multi_source_dijkstra_path_length
node_connected_component
number_connected_components
number_of_isolates
number_strongly_connected_components
number_weakly_connected_components
out_degree_centrality
pagerank
periphery
radius
shortest_path
shortest_path_length
single_source_bellman_ford_path_length
single_source_dijkstra
single_source_dijkstra_path
single_source_dijkstra_path_length
single_source_shortest_path
single_source_shortest_path_length
strongly_connected_components
to_scipy_sparse_array
transitivity
triangles
weakly_connected_components
"""


def get_info() -> dict[str, Any]:
    """Return what networkx shows and configures of the backend.

    If ``CLGRAPH_NX_AUTOCONFIG`` is 1, networkx also tries the backend first wherever the environment names no other.
    """
    if os.environ.get("CLGRAPH_NX_AUTOCONFIG") == "1":
        _configure()
    return {
        "backend_name": "clgraph",
        "project": "clgraph-opencl",
        "package": "clgraph",
        "short_summary": "Graph algorithms on GPUs and CPUs by OpenCL, with strategies picked by measured rates.",
        "functions": {name: {} for name in FUNCTIONS.split()},
        "default_config": {
            "device": None,  # as session= of clgraph's functions: a name as "gpu", or None for the best one
            "strategy": "auto",  # "device": never scipy on the host, even for small graphs
            "min_nodes": 10_000,
            "min_nodes_cached": 1_000,
            "min_nodes_all_pairs": 250,
            "min_nodes_early_end": 1_000_000,
        },
    }


def _configure() -> None:
    """Set the variables from which networkx takes its configuration, which it reads after this module."""
    names = "NETWORKX_BACKEND_PRIORITY", "NETWORKX_BACKEND_PRIORITY_ALGOS", "NETWORKX_AUTOMATIC_BACKENDS"
    if not any(name in os.environ for name in names):
        os.environ["NETWORKX_BACKEND_PRIORITY_ALGOS"] = "clgraph"
        os.environ.setdefault("NETWORKX_BACKEND_PRIORITY_GENERATORS", "clgraph")  # of functions that return graphs
    os.environ.setdefault("NETWORKX_FALLBACK_TO_NX", "True")
    os.environ.setdefault("NETWORKX_WARNINGS_TO_IGNORE", "cache")
