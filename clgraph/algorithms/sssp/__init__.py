"""Shortest paths from one source or several, with nonnegative edge weights.

Strategies
----------
``topology_driven``
    Rounds over all vertices until nothing changes, a work-item per vertex. Distances are lowered by loads and stores
    or, with ``atomic``, by atomics [4]_. This is the baseline of studies of load imbalance.
``node_splitting``
    ``topology_driven`` after vertices with more than ``mda`` edges were split into several [5]_.
``child_launch``
    ``topology_driven``, but rows longer than ``threshold`` are processed by a grid of their own. The kernel launches it
    if the device can (dynamic parallelism [6]_), else the host does.
``frontier``
    Expand the vertices whose distances are below a rising threshold, turn by turn. Others are kept for later [1]_.
``delta_stepping``
    Relax light edges, which weigh less than the width of a bucket, at once, and the other edges of a bucket's vertices
    when the bucket is empty [2]_.
``dijkstra``
    One work-item of a CPU settles the vertices in the order of their distances [7]_.
``circular_buckets``
    Up to four cores of a CPU have a circular array of buckets of fixed width each [8]_, and give chunks of vertices to
    idle cores. There is no barrier, so a vertex may be expanded several times.
``host``
    scipy's Dijkstra on one core of the host. It finishes small graphs before a kernel would have started. scipy adds
    weights as float64, so it cannot find float32 distances, nor integer distances if a path may be longer than 2**53.

``frontier`` and ``delta_stepping`` adapt the width of buckets during the search [3]_. On GPUs they are one launch.

References
----------
.. [1] A. Davidson, S. Baxter, M. Garland, J. Owens. "Work-efficient parallel GPU methods for single-source shortest
   paths." IPDPS 2014.
.. [2] U. Meyer, P. Sanders. "Delta-stepping: a parallelizable shortest path algorithm." J. Algorithms 49, 2003.
.. [3] K. Wang, D. Fussell, C. Lin. "A fast work-efficient SSSP algorithm for GPUs." PPoPP 2021.
.. [4] R. Nasre, M. Burtscher, K. Pingali. "Data-driven versus topology-driven irregular computations on GPUs." IPDPS
   2013.
.. [5] A. Raval, R. Nasre, V. Kumar, R. Vasudevan, S. Vadhiyar, K. Pingali. "Dynamic load balancing strategies for graph
   applications on GPUs." arXiv:1711.00231, 2017.
.. [6] J. Wang, S. Yalamanchili. "Characterization and analysis of dynamic parallelism in unstructured GPU
   applications." IISWC 2014.
.. [7] E. Dijkstra. "A note on two problems in connexion with graphs." Numerische Mathematik 1, 1959, with the buckets
   of E. Denardo, B. Fox. "Shortest-route methods: 1. Reaching, pruning, and buckets." Operations Research 27, 1979.
.. [8] R. Dial. "Algorithm 360: shortest-path forest with topological ordering." Comm. ACM 12, 1969.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.algorithms.sssp.plan import PathsPlan
from clgraph.algorithms.sssp.problem import as_problem
from clgraph.algorithms.sssp.strategies import STRATEGIES, contenders
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.algorithms.traversal.result import SearchResult
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.host import HostPlan
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _ShortestPaths(NamedTuple):
    distances: NDArray[Any]
    predecessors: NDArray[np.int32] | None


class ShortestPaths(SearchResult, _ShortestPaths):
    """Result of :func:`sssp`; unpacks as ``distances, predecessors``.

    Attributes
    ----------
    distances : array, shape (n_vertices,)
        The weight of a shortest path from the nearest source. With integer weights it is int64 and exact, and -1
        means unreached. With float weights it is float64 (float32 on request), summed from the source on and rounded
        after each edge, and inf means unreached.
    predecessors : int32 array, shape (n_vertices,), or None
        The vertex before this one on a shortest path; ``None`` unless *predecessors* was set. Sources and unreached
        vertices have -9999. If several vertices qualify, the least of those strictly nearer to the source is returned.
        If none is nearer, because only edges of weight 0 end a shortest path there, the predecessor comes from a
        breadth-first search along such edges, so predecessors always lead to a source; on ties the least vertex wins.
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
    """Keyword options of :func:`sssp`, the shortest-path search.

    Its docstring describes them.
    """

    atomic: bool
    balance: bool
    mda: int | str
    threshold: int | None
    delta: float | None


def sssp(
    graph: Any,
    source: Any,
    *,
    strategy: str = "auto",
    limit: float | None = None,
    predecessors: bool = False,
    weight: Weight = "weight",
    dtype: DTypeLike | None = None,
    session: SessionLike = None,
    verify: bool = False,
    output: str = "host",
    **options: Unpack[Options],
) -> ShortestPaths:
    """Find the length of a shortest path from *source* to each vertex of *graph*, as a sum of edge weights.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Directed or undirected, with nonnegative weights. Without weights every edge weighs 1.
    source : vertex id or sequence of vertex ids
        With several sources, distances are measured from the nearest.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    limit : number, optional
        Vertices farther than this stay unreached. A limit above the greatest possible distance, which is 2**63 - 1 for
        integer weights, has no effect.
    predecessors : bool
        Find predecessors too.
    weight : str, function or None
        Edge attribute of a networkx graph to use; edges without it weigh 1. A function ``weight(u, v, attributes)``
        returns the weight of an edge, or ``None`` to hide it; see :meth:`clgraph.Graph.from_networkx`.
    dtype : dtype or str, optional
        Type of the distances. By default integer weights give int64 and float weights float64, as in scipy. With
        float32 weights ``"float32"`` is allowed too: distances take half the memory, but have a relative error of up
        to 6e-8 for each edge of the path.
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
        of the longest row without a grid of its own. ``delta`` is the width of buckets: of the first bucket, from which
        later widths are adapted (``frontier``, ``delta_stepping``), or of all (``circular_buckets``).

    Returns
    -------
    ShortestPaths
        ``distances`` and ``predecessors`` of shape (n_vertices,), and ``info``. Every device and strategy returns the
        same distances and predecessors.

    Raises
    ------
    SourceError
        *source* is not a vertex. This error is also an :class:`IndexError`.
    GraphError
        An edge has a negative weight.
    DistanceOverflowError
        A distance has more than 63 bits.
    InputError
        *graph* is not a graph, an option is out of range, or *dtype* does not fit the weights.
    UnsupportedStrategyError
        The strategy is unknown, or the device lacks the strategy or the type of the distances.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.Graph.from_edges([0, 1, 0], [1, 2, 2], [2, 3, 9])
    >>> paths = cg.sssp(graph, 0, predecessors=True)
    >>> paths.distances.tolist(), paths.path_to(2)
    ([0, 2, 5], [0, 1, 2])
    """
    problem = as_problem(graph, source=source, limit=limit, predecessors=predecessors, weight=weight, dtype=dtype)
    result: ShortestPaths = ALGORITHM.solve(
        problem, strategy=strategy, session=session, verify=verify, options=options, output=output
    )
    return result


def _answer(problem: SearchProblem, plan: PathsPlan | HostPlan) -> ShortestPaths:
    result = ShortestPaths(*plan.result())
    result.graph, result.sources = problem.graph, problem.sources
    return result


def _check(problem: SearchProblem, result: ShortestPaths) -> None:
    from clgraph.reference.sssp import check_sssp

    dtype = problem.held.answer_dtype
    check_sssp(problem.graph, problem.sources, *result, limit=problem.limit, dtype=dtype)


ALGORITHM = Algorithm("sssp", STRATEGIES, contenders, as_problem, _answer, _check)
