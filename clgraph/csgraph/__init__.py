"""A drop-in replacement for :mod:`scipy.sparse.csgraph`.

Some of its functions run on an OpenCL device.

A program only changes an import::

    from clgraph import csgraph  # instead of: from scipy.sparse import csgraph

Six functions run on a device if that is faster, and take two more arguments, ``session=`` and ``strategy=``:
:func:`connected_components` (weak components), :func:`dijkstra`, :func:`bellman_ford`, :func:`johnson`,
:func:`shortest_path` (weights that are not negative) and :func:`minimum_spanning_tree`. All other names are scipy's own
functions. ``breadth_first_order`` and ``breadth_first_tree`` are among them, because scipy visits neighbours in the
order of each row's entries, and a search level by level does not keep this order.

scipy's functions are bound when this package is imported. So a program may afterwards assign this package's functions
to the names in :mod:`scipy.sparse.csgraph`.
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
