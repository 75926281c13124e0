"""Breadth-first search from one source or several.

Strategies
----------
``topology_driven``
    Rounds over all vertices until nothing changes, a work-item per vertex. Distances are lowered by loads and stores
    or, with ``atomic``, by atomics [3]_. This is the baseline of studies of load imbalance.
``node_splitting``
    ``topology_driven`` after vertices with more than ``mda`` edges were split into several [4]_.
``child_launch``
    ``topology_driven``, but rows longer than ``threshold`` are processed by a grid of their own. The kernel launches it
    if the device can (dynamic parallelism [5]_), else the host does.
``frontier``
    Top-down search, level by level, from the vertices that were reached last [1]_. On GPUs one launch runs the whole
    search: small frontiers stay in the local memory of work-groups, and a grid barrier separates the levels. CPUs
    keep the frontier in queues. Up to four cores have a queue each; with more cores, one expands narrow levels alone.
``direction_optimizing``
    ``frontier``, but bottom-up while the frontier has many edges: then each unreached vertex searches its neighbours
    for one in the frontier [2]_. On CPUs the frontier is then a bitmap.
``host``
    scipy's search on one core of the host. It finishes small graphs before a kernel would have started.

References
----------
.. [1] D. Merrill, M. Garland, A. Grimshaw. "Scalable GPU graph traversal." PPoPP 2012.
.. [2] S. Beamer, K. Asanović, D. Patterson. "Direction-optimizing breadth-first search." SC 2012.
.. [3] R. Nasre, M. Burtscher, K. Pingali. "Data-driven versus topology-driven irregular computations on GPUs." IPDPS
   2013.
.. [4] A. Raval, R. Nasre, V. Kumar, R. Vasudevan, S. Vadhiyar, K. Pingali. "Dynamic load balancing strategies for graph
   applications on GPUs." arXiv:1711.00231, 2017.
.. [5] J. Wang, S. Yalamanchili. "Characterization and analysis of dynamic parallelism in unstructured GPU
   applications." IISWC 2014.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.bfs.plan import LevelsPlan, MatrixSearch
from clgraph.algorithms.bfs.problem import as_problem
from clgraph.algorithms.bfs.strategies import STRATEGIES, contenders
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.algorithms.traversal.result import SearchResult
from clgraph.data.graphs.graph import Graph
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.host import HostPlan
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _BFS(NamedTuple):
    distances: NDArray[np.int32]
    predecessors: NDArray[np.int32]


class BFS(SearchResult, _BFS):
    """Result of :func:`bfs`; unpacks as ``distances, predecessors``.

    Attributes
    ----------
    distances : int32 array, shape (n_vertices,)
        The number of edges on a shortest path from the nearest source; -1 for unreached vertices.
    predecessors : int32 array, shape (n_vertices,)
        The vertex before this one on such a path; -9999 for sources and unreached vertices. If several vertices
        qualify, different runs may return different ones.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids, which :meth:`path_to` needs.
    sources : int32 array
        Vertex numbers of the sources.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    sources: NDArray[np.int32]
    info: RunInfo


class Options(TypedDict, total=False):
    """Keyword options of :func:`bfs`, the breadth-first search.

    Its docstring describes them.
    """

    atomic: bool
    balance: bool
    mda: int | str
    threshold: int | None
    alpha: int
    beta: int


def bfs(
    graph: Any,
    source: Any,
    *,
    strategy: str = "auto",
    max_depth: int | None = None,
    session: SessionLike = None,
    verify: bool = False,
    output: str = "host",
    **options: Unpack[Options],
) -> BFS:
    """Search *graph* breadth-first: find each vertex's distance from *source* in
    edges, and its predecessor on a shortest path.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Directed or undirected. Weights are ignored.
    source : vertex id or sequence of vertex ids
        With several sources, distances are measured from the nearest.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    max_depth : int, optional
        Vertices farther than this stay unreached.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, sequentially on the host.
    output : {"host", "device"}
        "device" leaves the arrays in device memory, as ``pyopencl.array.Array``. The result is then a
        :class:`~clgraph.engine.device_result.DeviceResult` with the same attributes; its ``get()`` copies it.
    **options
        Options of the strategy. The first three strategies have ``atomic`` (lower distances by atomics) and ``balance``
        (count the edges of each work-group into ``info.balance``). ``node_splitting`` has ``mda``, the greatest number
        of edges per vertex: a number, ``"histogram"`` or ``"model"``. ``child_launch`` has ``threshold``, the length
        of the longest row without a grid of its own. ``direction_optimizing`` has ``alpha`` and ``beta``: it goes
        bottom-up once the frontier has more than 1/alpha of the unexplored edges, and top-down again once it has at
        most 1/beta of the vertices.

    Returns
    -------
    BFS
        int32 ``distances`` and ``predecessors`` of shape (n_vertices,), and ``info``.

    Raises
    ------
    SourceError
        *source* is not a vertex. This error is also an :class:`IndexError`.
    InputError
        *graph* is not a graph, or an option is out of range.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> result = cg.bfs(cg.generators.path(4), 1)
    >>> result.distances.tolist(), result.path_to(3)
    ([1, 0, 1, 2], [1, 2, 3])
    """
    problem = as_problem(graph, source=source, max_depth=max_depth)
    result: BFS = ALGORITHM.solve(
        problem, strategy=strategy, session=session, verify=verify, options=options, output=output
    )
    return result


def _answer(problem: SearchProblem, plan: LevelsPlan | MatrixSearch | HostPlan) -> BFS:
    result = BFS(*plan.result())
    result.graph, result.sources = problem.graph, problem.sources
    return result


def _check(problem: SearchProblem, result: BFS) -> None:
    from clgraph.reference.bfs import check_bfs

    max_depth = None if problem.limit is None else int(problem.limit)
    check_bfs(problem.graph, problem.sources, *result, max_depth=max_depth)


ALGORITHM = Algorithm("bfs", STRATEGIES, contenders, as_problem, _answer, _check)
