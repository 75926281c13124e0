"""Shortest paths with the signatures of scipy.sparse.csgraph."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.csgraph import bellman_ford as scipy_bellman_ford
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra
from scipy.sparse.csgraph import johnson as scipy_johnson
from scipy.sparse.csgraph import shortest_path as scipy_shortest_path

from clgraph.csgraph.searches import searched
from clgraph.runtime.session import SessionLike

_DENSE_SHARE = 0.25  # If at least this share of all pairs has edges, scipy's method "auto" is Floyd-Warshall's.


def dijkstra(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = np.inf,
    min_only: bool = False,
    *,
    session: SessionLike = None,
    strategy: str = "auto",
) -> Any:
    """Find the shortest paths from some vertices, or from the nearest of them, to all vertices.

    :func:`clgraph.sssp` finds the paths, and :func:`clgraph.bfs` the unweighted ones. scipy's own function does the
    search if the graph is small, if the cost model predicts that it is faster, or if a weight is negative, infinite or
    NaN. Distances are equal in all cases. If several predecessors lead to a vertex on shortest paths, scipy may return
    another one.

    Parameters
    ----------
    csgraph : array_like or sparse array, shape (n, n)
        Zeros, NaN and infinities of a dense array, and masked elements, are no edges. Explicit zeros of a sparse array
        are edges of weight 0.
    directed : bool
        If false, an edge leads both ways, with the lesser weight of both entries.
    indices : int or array_like of int, shape k, optional
        Sources; negative ones count from the end. By default all vertices.
    return_predecessors : bool
    unweighted : bool
        Whether every edge weighs 1.
    limit : float
        Vertices that are farther stay unreached.
    min_only : bool
        Find the distance from the nearest source only.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run, as in :func:`clgraph.sssp`.
    strategy : str
        A strategy of :func:`clgraph.sssp`, or of :func:`clgraph.bfs` with *unweighted*. ``"auto"`` takes scipy's own
        function where it is faster.

    Returns
    -------
    dist_matrix : float64 array, shape (*k, n)
        Unreached vertices have inf. The shape is (n,) with one int as *indices*, and with *min_only*.
    predecessors : int32 array of the same shape
        Only with *return_predecessors*. The vertex before on a shortest path; sources and unreached vertices have
        -9999.
    sources : int32 array, shape (n,)
        Only with *return_predecessors* and *min_only*. The source of each vertex's path; unreached vertices have -9999.

    Raises
    ------
    ValueError
        *csgraph* is not square, an index is out of range, or *limit* is negative.

    Warns
    -----
    UserWarning
        A weight is negative.

    Examples
    --------
    >>> from clgraph import csgraph
    >>> csgraph.dijkstra([[0, 1, 2, 0], [0, 0, 0, 1], [0, 0, 0, 3], [0, 0, 0, 0]], indices=0).tolist()
    [0.0, 1.0, 2.0, 2.0]
    """
    options = {"directed": directed, "indices": indices, "return_predecessors": return_predecessors}
    options |= {"unweighted": unweighted, "limit": limit, "min_only": min_only}
    return searched(csgraph, partial(scipy_dijkstra, **options), **options, session=session, strategy=strategy)


def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    *,
    session: SessionLike = None,
    strategy: str = "auto",
) -> Any:
    """Find the shortest paths from some vertices to all; weights may be negative.

    Without negative weights this is :func:`dijkstra`, with the same parameters and results. scipy's own function
    searches graphs with negative weights.

    Raises
    ------
    NegativeCycleError
        The weights of a cycle add up to less than 0.
    ValueError
        *csgraph* is not square, or an index is out of range.

    Examples
    --------
    >>> from clgraph import csgraph
    >>> csgraph.bellman_ford([[0, 4, 2], [0, 0, 0], [0, -1, 0]], indices=0).tolist()
    [0.0, 1.0, 2.0]
    """
    options = {"directed": directed, "indices": indices, "return_predecessors": return_predecessors}
    options |= {"unweighted": unweighted}
    return searched(csgraph, partial(scipy_bellman_ford, **options), **options, session=session, strategy=strategy)


def johnson(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    *,
    session: SessionLike = None,
    strategy: str = "auto",
) -> Any:
    """Find the shortest paths from some vertices to all; weights may be negative.

    Parameters, results and errors are those of :func:`bellman_ford`. scipy's own function searches graphs with negative
    weights.

    Examples
    --------
    >>> from clgraph import csgraph
    >>> csgraph.johnson([[0, 4, 2], [0, 0, 0], [0, -1, 0]], indices=[0, -1]).tolist()
    [[0.0, 1.0, 2.0], [inf, -1.0, 0.0]]
    """
    options = {"directed": directed, "indices": indices, "return_predecessors": return_predecessors}
    options |= {"unweighted": unweighted}
    return searched(csgraph, partial(scipy_johnson, **options), **options, session=session, strategy=strategy)


def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
    *,
    session: SessionLike = None,
    strategy: str = "auto",
) -> Any:
    """Find the shortest paths from some vertices, or all, to all vertices.

    Parameters
    ----------
    csgraph, directed, return_predecessors, unweighted, indices, session, strategy
        As in :func:`dijkstra`.
    method : {"auto", "FW", "D", "BF", "J"}
        ``"FW"`` is scipy's own Floyd-Warshall. The others are :func:`dijkstra`, :func:`bellman_ford` and
        :func:`johnson`, which are the same for weights that are not negative. ``"auto"`` takes Floyd-Warshall for all
        pairs of a graph in which a quarter of the pairs have edges.
    overwrite : bool
        Whether scipy's Floyd-Warshall may overwrite a dense *csgraph*.

    Returns
    -------
    dist_matrix : float64 array, shape (*k, n)
    predecessors : int32 array of the same shape
        Only with *return_predecessors*; see :func:`dijkstra`.

    Raises
    ------
    NegativeCycleError
        The weights of a cycle add up to less than 0.
    ValueError
        *csgraph* is not square, an index is out of range, or *method* is unknown or takes no *indices*.

    Examples
    --------
    >>> from clgraph import csgraph
    >>> csgraph.shortest_path([[0, 1, 2], [0, 0, 0], [0, 3, 0]], indices=0).tolist()
    [0.0, 1.0, 2.0]
    """
    csgraph = np.asarray(csgraph) if isinstance(csgraph, list) else csgraph  # scipy's function takes no list
    options = {"directed": directed, "indices": indices, "return_predecessors": return_predecessors}
    options |= {"unweighted": unweighted}

    def by_scipy(graph: Any) -> Any:
        return scipy_shortest_path(graph, method, overwrite=overwrite, **options)

    if method in ("D", "BF", "J") or (method == "auto" and (indices is not None or _is_sparse(csgraph))):
        return searched(csgraph, by_scipy, **options, session=session, strategy=strategy)
    return by_scipy(csgraph)


def _is_sparse(csgraph: Any) -> bool:
    """Return whether less than a quarter of all pairs have edges, as scipy counts them."""
    if issparse(csgraph):
        n_edges = csgraph.nnz
    elif np.ma.isMaskedArray(csgraph):
        n_edges = csgraph.count()
    elif isinstance(csgraph, np.ndarray) and csgraph.dtype.kind in "biuf":
        n_edges = np.count_nonzero(np.isfinite(csgraph) & (csgraph != 0))
    else:
        return False
    return bool(n_edges < _DENSE_SHARE * csgraph.shape[0] ** 2)
