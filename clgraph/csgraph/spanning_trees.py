"""The function ``minimum_spanning_tree`` with the signature of scipy.sparse.csgraph's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse
from scipy.sparse.csgraph import minimum_spanning_tree as scipy_tree

from clgraph.algorithms.minimum_spanning_forest import ALGORITHM, SpanningForest, minimum_spanning_forest
from clgraph.algorithms.minimum_spanning_forest.problem import as_problem
from clgraph.csgraph.inputs import (
    as_csr,
    checked,
    has_finite_weights,
    is_faster_on_host,
    is_left_to_scipy,
    looks_symmetric,
    undirected,
)
from clgraph.data.graphs.wrapped import WrappedGraph
from clgraph.runtime.session import SessionLike

# Seconds per entry of an asymmetric matrix to add the reverse entries and to find the trees' edges in the matrix.
# For a matrix of 940,000 entries, adding the reverse entries and finding the trees' edges took 45 ms.
_SECONDS_PER_REVERSE = 4e-8


def minimum_spanning_tree(
    csgraph: Any, overwrite: bool = False, *, session: SessionLike = None, strategy: str = "auto"
) -> Any:
    """Find a minimum spanning tree of each component of an undirected graph.

    An edge may be stored in one direction or in both; if its two weights differ, the lesser counts. If several trees
    have the least weight, this function always returns the same one, which may differ from scipy's.

    Parameters
    ----------
    csgraph : array_like or sparse array, shape (n, n)
    overwrite : bool
        Whether scipy's own function may overwrite *csgraph*; ours never does.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run, as in :func:`clgraph.minimum_spanning_forest`.
    strategy : str
        A strategy of :func:`clgraph.minimum_spanning_forest`. ``"auto"`` takes scipy's own function where it is faster.

    Returns
    -------
    csr_array or csr_matrix, shape (n, n)
        The edges of the trees as float64, each stored once: in the direction that has the lesser weight in *csgraph*,
        or above the diagonal if the weights are equal. Edges of weight 0 join trees but are not stored, as in scipy.

    Raises
    ------
    ValueError
        *csgraph* is not square.

    Examples
    --------
    >>> from clgraph import csgraph
    >>> tree = csgraph.minimum_spanning_tree([[0, 8, 0, 3], [0, 0, 2, 5], [0, 0, 0, 6], [0, 0, 0, 0]])
    >>> tree.toarray().astype(int).tolist()
    [[0, 0, 0, 3], [0, 0, 2, 5], [0, 0, 0, 0], [0, 0, 0, 0]]
    """
    matrix = None if is_left_to_scipy(csgraph, session, strategy) else as_csr(csgraph)
    if matrix is None:
        return scipy_tree(csgraph, overwrite)
    # The CSR matrix that exists is passed on, because scipy would convert the user's matrix to CSR once more.
    given = csgraph if issparse(csgraph) else matrix
    is_symmetric = looks_symmetric(matrix)
    more = {} if is_symmetric else {"device_factor": 2.0, "added_seconds": _SECONDS_PER_REVERSE * matrix.nnz}
    if is_faster_on_host(ALGORITHM, as_problem(matrix), session, strategy, **more):
        return scipy_tree(given, overwrite)
    matrix = checked(matrix)
    if not has_finite_weights(matrix):
        return scipy_tree(given, overwrite)
    both_ways = matrix if is_symmetric else undirected(matrix)
    forest = minimum_spanning_forest(both_ways, session=session, strategy=strategy)
    rows, columns, weights = forest.sources, forest.targets, forest.weights
    if weights is None or both_ways is not matrix or not isinstance(forest.graph, WrappedGraph):
        rows, columns, weights = _placed(matrix, forest)
    tree = coo_array((weights.astype(np.float64), (rows, columns)), shape=matrix.shape).tocsr()
    tree.eliminate_zeros()
    like = type(csgraph)((1, 1)) if issparse(csgraph) else np.zeros((1, 1))
    # The answer has the class that the installed version of scipy returns for an input of this class.
    return type(scipy_tree(like))(tree)


def _placed(matrix: Any, forest: SpanningForest) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return, for each edge of *forest*, the row, column and weight of the entry of *matrix* that stores the edge.

    If *matrix* stores both directions with the weight of the edge, the entry above the diagonal is returned.
    """
    n, rows, columns, weights = matrix.shape[0], forest.sources, forest.targets, forest.weights
    assert weights is not None
    if not rows.size:
        return rows, columns, weights
    keys = np.repeat(np.arange(n, dtype=np.int64) * n, np.diff(matrix.indptr)) + matrix.indices
    wanted = rows.astype(np.int64) * n + columns
    at = np.minimum(keys.searchsorted(wanted), keys.size - 1)
    is_there = (keys[at] == wanted) & (matrix.data[at] == weights)
    return np.where(is_there, rows, columns), np.where(is_there, columns, rows), weights
