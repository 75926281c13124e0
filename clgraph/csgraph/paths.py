"""Shortest-path functions with the signatures of scipy.sparse.csgraph's."""

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

_DENSE_SHARE = 0.25  # With a quarter edge or more per pair of vertices, scipy's method "auto" picks Floyd-Warshall.


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
    """Find the shortest paths from each source, or from the nearest source, to all vertices.

    :func:`clgraph.sssp` finds the paths, or :func:`clgraph.bfs` if *unweighted*. scipy's own function does the
    search if the graph is small, if the cost model predicts that it is faster, or if a weight is negative, infinite or
    NaN. The distances are equal in all cases. The predecessors may differ from scipy's if a vertex has several shortest
    paths.

    Parameters
    ----------
    csgraph : array_like or sparse array, shape (n, n)
        Zeros, NaN, infinities and masked elements of a dense array are not edges. Explicit zeros of a sparse array
        are edges of weight 0.
    directed : bool
        If false, each edge leads both ways. If both directions have entries, the lesser weight counts.
    indices : int or array_like of int, shape k, optional
        The sources; negative numbers count from the end. By default all vertices.
    return_predecessors : bool
    unweighted : bool
        Whether to count every edge as 1 instead of its weight.
    limit : float
        The largest distance to search. Vertices farther away count as unreached.
    min_only : bool
        Whether to find only the distance of each vertex from its nearest source.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run, as in :func:`clgraph.sssp`.
    strategy : str
        A strategy of :func:`clgraph.sssp`, or of :func:`clgraph.bfs` if *unweighted*. ``"auto"`` uses scipy's own
        function if it is faster.

    Returns
    -------
    dist_matrix : float64 array, shape ``(*k, n)``
        The distances; inf for unreached vertices. The shape is (n,) if *indices* is one int, or with *min_only*.
    predecessors : int32 array of the same shape
        Only with *return_predecessors*. The previous vertex on a shortest path, or -9999 for sources and unreached
        vertices.
    sources : int32 array, shape (n,)
        Only with *return_predecessors* and *min_only*. The source of each vertex's path, or -9999 if it is unreached.

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
    """Find the shortest paths from some or all vertices to all vertices; weights may be negative.

    Parameters and results are as in :func:`dijkstra`, which does the search if no weight is negative. Otherwise
    scipy's own function does it.

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
    """Find the shortest paths from some or all vertices to all vertices; weights may be negative.

    Parameters, results and errors are as in :func:`bellman_ford`. If a weight is negative, scipy's own function does
    the search.

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
    """Find the shortest paths from some or all vertices to all vertices.

    Parameters
    ----------
    csgraph, directed, return_predecessors, unweighted, indices, session, strategy
        As in :func:`dijkstra`.
    method : {"auto", "FW", "D", "BF", "J"}
        ``"FW"`` is scipy's own Floyd-Warshall. ``"D"``, ``"BF"`` and ``"J"`` are :func:`dijkstra`,
        :func:`bellman_ford` and :func:`johnson`, which are the same if no weight is negative. ``"auto"`` takes
        Floyd-Warshall if *indices* is ``None`` and at least a quarter of all pairs have edges.
    overwrite : bool
        Whether scipy's Floyd-Warshall may overwrite a dense *csgraph*.

    Returns
    -------
    dist_matrix : float64 array, shape ``(*k, n)``
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
    # scipy's shortest_path() takes no list, so a list becomes an array first.
    csgraph = np.asarray(csgraph) if isinstance(csgraph, list) else csgraph
    options = {"directed": directed, "indices": indices, "return_predecessors": return_predecessors}
    options |= {"unweighted": unweighted}

    def by_scipy(graph: Any) -> Any:
        return scipy_shortest_path(graph, method, overwrite=overwrite, **options)

    if method in ("D", "BF", "J") or (method == "auto" and (indices is not None or _is_sparse(csgraph))):
        return searched(csgraph, by_scipy, **options, session=session, strategy=strategy)
    return by_scipy(csgraph)


def _is_sparse(csgraph: Any) -> bool:
    """Return whether less than a quarter of all pairs of vertices have edges, which scipy counts in the same way."""
    if issparse(csgraph):
        n_edges = csgraph.nnz
    elif np.ma.isMaskedArray(csgraph):
        n_edges = csgraph.count()
    elif isinstance(csgraph, np.ndarray) and csgraph.dtype.kind in "biuf":
        n_edges = np.count_nonzero(np.isfinite(csgraph) & (csgraph != 0))
    else:
        return False
    return bool(n_edges < _DENSE_SHARE * csgraph.shape[0] ** 2)
