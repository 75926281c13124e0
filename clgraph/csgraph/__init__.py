"""The names of :mod:`scipy.sparse.csgraph`, with device kernels behind those that clgraph has.

A program changes where it imports from, and nothing else::

    from clgraph import csgraph  # instead of: from scipy.sparse import csgraph

These functions run on a device where that is faster, and take two more arguments, ``session=`` and ``strategy=``:
:func:`connected_components` (weak components), :func:`dijkstra`, :func:`bellman_ford`, :func:`johnson`,
:func:`shortest_path` (weights that are not negative) and :func:`minimum_spanning_tree`. All other names are scipy's own
functions. Among these are ``breadth_first_order`` and ``breadth_first_tree``, because scipy's visiting order depends on
the order of the rows' entries, which a search by levels does not keep.

scipy's functions are bound when this package is imported. So names of scipy may be replaced by ours afterwards.
"""

from scipy.sparse.csgraph import (
    NegativeCycleError,
    breadth_first_order,
    breadth_first_tree,
    construct_dist_matrix,
    csgraph_from_dense,
    csgraph_from_masked,
    csgraph_masked_from_dense,
    csgraph_to_dense,
    csgraph_to_masked,
    depth_first_order,
    depth_first_tree,
    floyd_warshall,
    laplacian,
    maximum_bipartite_matching,
    maximum_flow,
    min_weight_full_bipartite_matching,
    reconstruct_path,
    reverse_cuthill_mckee,
    structural_rank,
    yen,
)

from clgraph.csgraph.components import connected_components
from clgraph.csgraph.paths import bellman_ford, dijkstra, johnson, shortest_path
from clgraph.csgraph.spanning_trees import minimum_spanning_tree

__all__ = [
    "NegativeCycleError",
    "bellman_ford",
    "breadth_first_order",
    "breadth_first_tree",
    "connected_components",
    "construct_dist_matrix",
    "csgraph_from_dense",
    "csgraph_from_masked",
    "csgraph_masked_from_dense",
    "csgraph_to_dense",
    "csgraph_to_masked",
    "depth_first_order",
    "depth_first_tree",
    "dijkstra",
    "floyd_warshall",
    "johnson",
    "laplacian",
    "maximum_bipartite_matching",
    "maximum_flow",
    "min_weight_full_bipartite_matching",
    "minimum_spanning_tree",
    "reconstruct_path",
    "reverse_cuthill_mckee",
    "shortest_path",
    "structural_rank",
    "yen",
]
