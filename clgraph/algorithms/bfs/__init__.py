"""Breadth-first search from one source or several.

Strategies
----------
``topology_driven``
    It goes over all vertices in rounds until nothing changes; a work-item takes each vertex and lowers distances by
    loads and stores or, with ``atomic``, by atomics [3]_. This is the baseline of studies of load imbalance.
``node_splitting``
    It does the same after it has split vertices with more than ``mda`` edges into several [4]_.
``child_launch``
    It does the same but gives rows longer than ``threshold`` a grid of their own, which the kernel launches if the
    device can (dynamic parallelism [5]_) and the host launches otherwise.
``frontier``
    It goes top-down, level by level, from the vertices that were reached last [1]_. On GPUs one launch does it all:
    small frontiers stay in the local memory of work-groups, and a device-wide barrier parts the levels. On CPUs
    vertices wait in queues: up to four cores have a queue each; of more cores, one expands narrow levels alone.
``direction_optimizing``
    It does the same, but where the frontier has many edges the unreached vertices look for a neighbour in it [2]_.
    On CPUs the frontier is then a bitmap.
``host``
    scipy's search, on one core of the host; small graphs are done before a kernel would have begun.

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
from clgraph.algorithms.traversal.problem import SearchProblem, nearest_sources, path_to
from clgraph.data.graphs.graph import Graph
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.host import HostPlan
from clgraph.engine.result import Result
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _BFS(NamedTuple):
    distances: NDArray[np.int32]
    predecessors: NDArray[np.int32]


class BFS(Result, _BFS):
    """Result of :func:`bfs`; unpacks as ``distances, predecessors``.

    Attributes
    ----------
    distances : int32 array, shape (n_vertices,)
        How many edges a shortest path from the nearest source has; unreached vertices have -1.
    predecessors : int32 array, shape (n_vertices,)
        The vertex before this one on such a path; sources and unreached vertices have -9999. Where several qualify,
        runs may differ in which one they give.
    graph : Graph
        The input. A pickle has its vertices and their ids only, which :meth:`path_to` needs.
    sources : int32 array
        Vertex numbers of the sources.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    sources: NDArray[np.int32]
    info: RunInfo

    def path_to(self, vertex: Any) -> list[Any]:
        """Return the ids on a shortest path from a source to *vertex*; empty if it is unreached."""
        return path_to(self.graph, self.predecessors, self.sources, vertex)

    def nearest_sources(self) -> NDArray[np.int32]:
        """Return the number of the source at which the path to each vertex begins, int32; unreached have -9999."""
        return nearest_sources(self.predecessors, self.sources)


class Options(TypedDict, total=False):
    """Options of all strategies of :func:`bfs`, which tells what each does."""

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
    **options: Unpack[Options],
) -> BFS:
    """Search *graph* breadth-first: how many edges lead from *source* to each vertex, and on which way.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Directed or undirected; weights are not looked at.
    source : vertex id or sequence of them
        With several, distances are those from the nearest.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    max_depth : int, optional
        Vertices farther than this stay unreached.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, sequentially on the host.
    **options
        Options of the strategy: ``atomic`` and ``balance`` (of the first three: lower distances by atomics, and count
        the edges of each work-group into ``info.balance``), ``mda`` (``node_splitting``: a number, ``"histogram"`` or
        ``"model"``), ``threshold`` (``child_launch``), ``alpha`` and ``beta`` (``direction_optimizing``: bottom-up
        once the frontier has more than 1/alpha of the unexplored edges, top-down again once it has less than 1/beta of
        the vertices).

    Returns
    -------
    BFS
        int32 ``distances`` and ``predecessors`` of shape (n_vertices,), and ``info``.

    Raises
    ------
    SourceError
        *source* is no vertex; it is an :class:`IndexError`, too.
    InputError
        *graph* is no graph, or an option is out of range.
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
    result: BFS = ALGORITHM.solve(problem, strategy=strategy, session=session, verify=verify, options=options)
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
