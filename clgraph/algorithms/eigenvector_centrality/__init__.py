"""Eigenvector centrality: a vertex is central if its predecessors are.

It is found by power iteration of the matrix A + I, which has the same eigenvectors as the adjacency matrix A [1]_. The
kernels and strategies of :mod:`clgraph.algorithms.pagerank` do this, with another epilogue.

References
----------
.. [1] E. Landau. "Zur relativen Wertbemessung der Turnierresultate." Deutsches Wochenschach 11, 1895.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.algorithms.eigenvector_centrality.problem import EigenvectorProblem, as_problem
from clgraph.algorithms.eigenvector_centrality.strategies import STRATEGIES, contenders
from clgraph.algorithms.pagerank.plan import PowerPlan
from clgraph.algorithms.pagerank.problem import warn_if_moving
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.host import HostPlan
from clgraph.engine.result import VertexResult
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _EigenvectorCentrality(NamedTuple):
    centralities: NDArray[Any]
    n_iterations: int
    change: float


class EigenvectorCentrality(VertexResult, _EigenvectorCentrality):
    """Result of :func:`eigenvector_centrality`; unpacks as ``centralities, n_iterations, change``.

    Attributes
    ----------
    centralities : float32 or float64 array, shape (n_vertices,)
        The centrality of each vertex, at least 0. The sum of their squares is 1.
    n_iterations : int
    change : float
        The sum of the absolute changes in the last iteration, of values with the sum 1.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    info: RunInfo
    _VALUES = "centralities", "centrality"


class Options(TypedDict, total=False):
    """Options of all strategies of :func:`eigenvector_centrality`, which has none."""


def eigenvector_centrality(
    graph: Any,
    *,
    initial: Any = None,
    tol: float = 1e-6,
    max_iter: int = 100,
    weight: Weight = None,
    dtype: DTypeLike | None = None,
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> EigenvectorCentrality:
    """Return the eigenvector centrality of the vertices of *graph*.

    The centrality of a vertex is proportional to the sum of the centralities of its predecessors. The factor is the
    largest eigenvalue of the adjacency matrix. If the graph is not strongly connected, there may be several solutions.
    The returned solution then depends on *initial*, and the iteration may converge slowly.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Directed or undirected, with weights of at least 0 or without weights. Parallel edges count separately.
    initial : mapping of vertex id to number, or array of shape (n_vertices,), optional
        Values at the start, at least 0 and in any scale; by default all are equal.
    tol : float
        The iteration ends when the sum of the absolute changes is below *tol*, where the values add up to 1. networkx
        adds up changes of values whose squares add up to 1, and compares the sum with ``tol * n_vertices``.
    max_iter : int
        Maximum number of iterations.
    weight : str, function or None
        Edge attribute of a networkx graph to use; edges without it weigh 1. A text or function also makes the weights
        of other graphs count. By default weights are ignored.
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
    EigenvectorCentrality
        ``centralities`` of shape (n_vertices,), ``n_iterations``, ``change`` and ``info``. One device returns the same
        values in every run.

    Warns
    -----
    ConvergenceWarning
        After *max_iter* iterations the change was still at least *tol*. The values so far are returned.

    Raises
    ------
    InputError
        *graph* is not a graph, an argument is out of range, or *initial* is negative or has the sum 0.
    GraphError
        A weight is negative or infinite, or the greatest weight is too large or too small for *dtype*.
    SourceError
        A mapping has a vertex that is not in the graph.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.eigenvector_centrality(cg.generators.path(4)).centralities.round(2).tolist()
    [0.3700000047683716, 0.6000000238418579, 0.6000000238418579, 0.3700000047683716]
    """
    problem = as_problem(graph, initial=initial, tol=tol, max_iter=max_iter, weight=weight, dtype=dtype)
    result: EigenvectorCentrality = ALGORITHM.solve(
        problem, strategy=strategy, session=session, verify=verify, options=options
    )
    warn_if_moving("values", result.n_iterations, result.change, problem.tol)
    return result


def _answer(problem: EigenvectorProblem, plan: PowerPlan | HostPlan) -> EigenvectorCentrality:
    values, n_iterations, change = plan.result()
    values = values.astype(np.float64)
    norm = float(np.linalg.norm(values)) or 1.0
    result = EigenvectorCentrality((values / norm).astype(problem.dtype), n_iterations, change)
    result.graph = problem.graph
    return result


def _check(problem: EigenvectorProblem, result: EigenvectorCentrality) -> None:
    from clgraph.reference.centralities import check_eigenvector_centrality

    check_eigenvector_centrality(
        problem.graph, result.centralities, change=result.change, weighted=problem.is_weighted
    )  # fmt: skip


ALGORITHM = Algorithm("eigenvector_centrality", STRATEGIES, contenders, as_problem, _answer, _check)
