"""HITS: hubs, which link to authorities, and authorities, to which hubs link.

An iteration adds up hubs along incoming edges, and then authorities along outgoing edges [1]_. The kernels and
strategies of :mod:`clgraph.algorithms.pagerank` do this, with another epilogue.

References
----------
.. [1] J. Kleinberg. "Authoritative sources in a hyperlinked environment." Journal of the ACM 46(5), 1999.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.algorithms.hits.problem import HitsProblem, as_problem
from clgraph.algorithms.hits.strategies import STRATEGIES, contenders
from clgraph.algorithms.pagerank.plan import PowerPlan
from clgraph.algorithms.pagerank.problem import warn_if_moving
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.host import HostPlan
from clgraph.engine.result import VertexResult
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _Hits(NamedTuple):
    hubs: NDArray[Any]
    authorities: NDArray[Any]
    n_iterations: int
    change: float


class Hits(VertexResult, _Hits):
    """Result of :func:`hits`; unpacks as ``hubs, authorities, n_iterations, change``.

    Attributes
    ----------
    hubs, authorities : float32 or float64 array, shape (n_vertices,)
        The values of each vertex, at least 0. If they are normalised, the sum of each array is 1. Otherwise the sum of
        the squares of authorities is 1, and hubs are the adjacency matrix times authorities.
    n_iterations : int
    change : float
        The sum of the absolute changes of hubs in the last iteration, where hubs add up to 1.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    info: RunInfo
    _VALUES = "hubs", "hub"

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the columns ``vertex``, with the ids, ``hub`` and ``authority``."""
        return {**super().to_dict(), "authority": self.authorities}


class Options(TypedDict, total=False):
    """Options of all strategies of :func:`hits`, which has none."""


def hits(
    graph: Any,
    *,
    initial: Any = None,
    tol: float = 1e-6,
    max_iter: int = 100,
    normalized: bool = True,
    weight: Weight = "weight",
    dtype: DTypeLike | None = None,
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> Hits:
    """Rate the vertices of *graph* as hubs and as authorities.

    The authority of a vertex is proportional to the sum of the hubs of its predecessors, and its hub to the sum of the
    authorities of its successors. Authorities are the first right singular vector of the adjacency matrix, and hubs the
    first left one. If several singular values are equal, the result depends on *initial*.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Directed or undirected, with weights of at least 0 or without weights. Parallel edges count separately.
    initial : mapping of vertex id to number, or array of shape (n_vertices,), optional
        Hubs at the start, at least 0 and in any scale; by default all are equal.
    tol : float
        The iteration ends when the sum of the absolute changes of hubs is below *tol*, where hubs add up to 1.
    max_iter : int
        Maximum number of iterations.
    normalized : bool
        Whether hubs and authorities of the result add up to 1.
    weight : str, function or None
        Edge attribute of a networkx graph to use; edges without it weigh 1. ``None`` ignores the weights of any graph.
    dtype : {"float32", "float64"}, optional
        Type of the result. By default float32 if *tol* is at least 1e-6, else float64.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, on the host.
    **options
        There are none.

    Returns
    -------
    Hits
        ``hubs`` and ``authorities`` of shape (n_vertices,), ``n_iterations``, ``change`` and ``info``. One device
        returns the same values in every run.

    Warns
    -----
    ConvergenceWarning
        After *max_iter* iterations the change was still at least *tol*. The values so far are returned.

    Raises
    ------
    InputError
        *graph* is not a graph, an argument is out of range, *initial* is negative or has the sum 0, or it is 0,
        or almost 0, at all vertices with outgoing edges.
    GraphError
        A weight is negative or infinite, no edge has a weight above 0, or the greatest weight is too large or too small
        for *dtype*.
    SourceError
        A mapping has a vertex that is not in the graph.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.Graph.from_edges([0, 1, 1, 2], [2, 2, 3, 3], directed=True)
    >>> found = cg.hits(graph)
    >>> found.hubs.round(2).tolist(), found.authorities.round(2).tolist()
    ([0.25, 0.5, 0.25, 0.0], [0.0, 0.0, 0.5, 0.5])
    """
    problem = as_problem(
        graph, initial=initial, tol=tol, max_iter=max_iter, normalized=normalized, weight=weight, dtype=dtype
    )  # fmt: skip
    result: Hits = ALGORITHM.solve(problem, strategy=strategy, session=session, verify=verify, options=options)
    warn_if_moving("hubs", result.n_iterations, result.change, problem.tol)
    return result


def _answer(problem: HitsProblem, plan: PowerPlan | HostPlan) -> Hits:
    found = plan.result()
    hubs, authorities = (values.astype(np.float64) for values in found[:2])
    if hubs.size and problem.normalized:
        hubs, authorities = hubs / hubs.sum(), authorities / authorities.sum()
    elif hubs.size:
        authorities /= np.linalg.norm(authorities)
        hubs *= (problem.received @ authorities) / hubs.sum()
    result = Hits(hubs.astype(problem.dtype), authorities.astype(problem.dtype), *found[2:])
    result.graph = problem.graph
    return result


def _check(problem: HitsProblem, result: Hits) -> None:
    from clgraph.reference.centralities import check_hits

    check_hits(
        problem.graph, result.hubs, result.authorities, change=result.change, normalized=problem.normalized,
        weighted=problem.is_weighted,
    )  # fmt: skip


ALGORITHM = Algorithm("hits", STRATEGIES, contenders, as_problem, _answer, _check)
