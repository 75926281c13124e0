"""Shortest-path searches that take sources and return distances and predecessors in the same form as scipy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.bfs import bfs
from clgraph.algorithms.sssp import ALGORITHM, sssp
from clgraph.algorithms.sssp.problem import as_problem
from clgraph.algorithms.traversal.problem import MAX_DEPTH
from clgraph.algorithms.traversal.result import nearest_sources
from clgraph.csgraph.inputs import as_csr, checked, has_finite_weights, is_faster_on_host, is_left_to_scipy, undirected
from clgraph.data.graphs.graph import Graph
from clgraph.runtime.session import SessionLike

# A search of scipy takes 2 times its usual time if it also returns predecessors (measured: 1.3 to 2.4 times).
_PREDECESSORS_FACTOR = 2.0


def searched(
    csgraph: Any,
    by_scipy: Callable[[Any], Any],
    *,
    directed: bool,
    indices: Any,
    return_predecessors: bool,
    unweighted: bool,
    limit: Any = np.inf,
    min_only: bool = False,
    session: SessionLike,
    strategy: str,
) -> Any:
    """Return the result of scipy's ``dijkstra`` for these arguments, computed on a device if that is faster.

    ``by_scipy(graph)`` calls scipy's own function. It is called for small graphs, for wrong arguments, for graphs that
    scipy searches faster, and for weights that are negative, infinite or NaN. If *csgraph* has been converted to CSR by
    then, scipy gets the converted matrix.

    Returns
    -------
    float64 array, or tuple of a float64 array and one or two int32 arrays
    """
    if is_left_to_scipy(csgraph, session, strategy):
        return by_scipy(csgraph)
    given = as_csr(csgraph, either_way=not directed)
    if given is None or not _is_limit(limit):
        return by_scipy(csgraph)
    n = given.shape[0]
    sources = _sources(indices, n)
    is_weighted = not unweighted
    if sources is None:
        return by_scipy(given)
    factor = _PREDECESSORS_FACTOR if return_predecessors else 1.0
    if is_weighted and is_faster_on_host(
        ALGORITHM, as_problem(given, source=sources[:1]), session, strategy, device_factor=factor
    ):
        return by_scipy(given)
    matrix = checked(given)
    if not has_finite_weights(matrix, 0):
        return by_scipy(given)
    if not is_weighted:
        matrix = type(matrix)((np.ones(matrix.nnz, bool), matrix.indices, matrix.indptr), shape=matrix.shape)
    graph: Any = matrix if directed else undirected(matrix)
    shape = (n,) if min_only else (*np.shape(sources if indices is None else indices), n)
    # All searches share one Graph, so the matrix is converted and uploaded only once.
    if not min_only and sources.size > 1:
        graph = Graph.from_scipy(graph, directed=directed)
    search = _Search(graph, is_weighted, limit, return_predecessors, session, strategy)
    if min_only:
        nearest, previous = search(np.unique(sources))
        return nearest if previous is None else (nearest, previous, nearest_sources(previous, sources))
    lengths = np.empty((sources.size, n))
    before = np.empty((sources.size, n), np.int32) if return_predecessors else None
    for k, source in enumerate(sources):
        lengths[k], row = search(source)
        if before is not None and row is not None:
            before[k] = row
    return lengths.reshape(shape) if before is None else (lengths.reshape(shape), before.reshape(shape))


def _is_limit(limit: Any) -> bool:
    return isinstance(limit, int | float | np.integer | np.floating) and bool(limit >= 0)


def _sources(indices: Any, n: int) -> NDArray[np.int32] | None:
    """Return the sources *indices* as vertex numbers from 0 on.

    ``None`` stands for all vertices.

    If there is no source, or if a source is out of range, return ``None``. scipy's function then decides what to do.
    """
    if indices is None:
        return np.arange(n, dtype=np.int32) if n else None
    sources = np.array(indices, dtype=np.int32).reshape(-1)
    sources[sources < 0] += n
    return sources if sources.size and ((sources >= 0) & (sources < n)).all() else None


class _Search:
    """A graph search by :func:`clgraph.bfs` or :func:`clgraph.sssp`.

    Calling it with sources runs the search.
    """

    def __init__(
        self, graph: Any, weighted: bool, limit: Any, predecessors: bool, session: SessionLike, strategy: str
    ) -> None:
        self._graph, self._weighted, self._predecessors = graph, weighted, predecessors
        self._limit = None if limit == np.inf else float(limit)
        self._where: dict[str, Any] = {"session": session, "strategy": strategy}

    def __call__(self, sources: Any) -> tuple[NDArray[np.float64], NDArray[np.int32] | None]:
        """Return the distances from *sources*, inf for unreached vertices, and
        the predecessors or ``None`` if not wanted.
        """
        if self._weighted:
            distances, before = sssp(
                self._graph, sources, limit=self._limit, predecessors=self._predecessors, **self._where
            )
        else:
            depth = None if self._limit is None else int(min(self._limit, MAX_DEPTH))
            distances, before = bfs(self._graph, sources, max_depth=depth, **self._where)
        lengths = distances.astype(np.float64, copy=False)
        if distances.dtype.kind == "i":
            lengths[distances < 0] = np.inf
        return lengths, before if self._predecessors else None
