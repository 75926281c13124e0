"""Katz centrality: the number of walks that end at a vertex, where long walks count less.

An iteration makes all walks one edge longer [1]_. The kernels and strategies of :mod:`clgraph.algorithms.pagerank` do
this, with another epilogue.

References
----------
.. [1] L. Katz. "A new status index derived from sociometric analysis." Psychometrika 18, 1953.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.algorithms.katz_centrality.problem import KatzProblem, as_problem
from clgraph.algorithms.katz_centrality.strategies import STRATEGIES, contenders
from clgraph.algorithms.pagerank.plan import PowerPlan
from clgraph.algorithms.pagerank.problem import warn_if_moving
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.host import HostPlan
from clgraph.engine.result import VertexResult
from clgraph.errors import InputError
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _KatzCentrality(NamedTuple):
    centralities: NDArray[Any]
    n_iterations: int
    change: float


class KatzCentrality(VertexResult, _KatzCentrality):
    """Result of :func:`katz_centrality`; unpacks as ``centralities, n_iterations, change``.

    Attributes
    ----------
    centralities : float32 or float64 array, shape (n_vertices,)
        The centrality of each vertex. If they are normalised, the sum of their squares is 1.
    n_iterations : int
    change : float
        The sum of the absolute changes in the last iteration, before values are normalised, divided by the sum of the
        absolute values of *beta*.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    info: RunInfo
    _VALUES = "centralities", "centrality"


class Options(TypedDict, total=False):
    """Options of all strategies of :func:`katz_centrality`, which has none."""


def katz_centrality(
    graph: Any,
    *,
    alpha: float = 0.1,
    beta: Any = 1.0,
    initial: Any = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    normalized: bool = True,
    weight: Weight = None,
    dtype: DTypeLike | None = None,
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> KatzCentrality:
    """Return the Katz centrality of the vertices of *graph*.

    The centrality of a vertex is *beta* plus *alpha* times the sum of the centralities of its predecessors. There is a
    solution if *alpha* is less than 1 / the largest eigenvalue of the adjacency matrix; otherwise values grow without
    limit.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Directed or undirected, with weights of at least 0 or without weights. Parallel edges count separately.
    alpha : float
        Factor of a walk for each of its edges, at least 0.
    beta : float, mapping of vertex id to number, or array of shape (n_vertices,)
        The value that a vertex has by itself. Vertices that are not in the mapping have 0.
    initial : mapping or array, optional
        Values at the start; by default all are 0.
    tol : float
        The iteration ends when the sum of the absolute changes is below *tol* times the sum of the absolute values of
        *beta*. If *beta* is 1, networkx has the same limit.
    max_iter : int
        Maximum number of iterations.
    normalized : bool
        Whether to divide the values by the root of the sum of their squares.
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
    KatzCentrality
        ``centralities`` of shape (n_vertices,), ``n_iterations``, ``change`` and ``info``. One device returns the same
        values in every run.

    Warns
    -----
    ConvergenceWarning
        The change was still at least *tol* after *max_iter* iterations, or when a value became infinite. The values so
        far are returned.

    Raises
    ------
    InputError
        *graph* is not a graph, an argument is out of range, or *initial* or centralities are too large for *dtype*.
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
    >>> cg.katz_centrality(cg.generators.path(4), alpha=0.5, normalized=False, dtype="float64").centralities.round(3)
    array([4., 6., 6., 4.])
    """
    problem = as_problem(
        graph, alpha=alpha, beta=beta, initial=initial, tol=tol, max_iter=max_iter, normalized=normalized,
        weight=weight, dtype=dtype,
    )  # fmt: skip
    result: KatzCentrality = ALGORITHM.solve(
        problem, strategy=strategy, session=session, verify=verify, options=options
    )  # fmt: skip
    remedy = "; a smaller alpha may converge"
    warn_if_moving("values", result.n_iterations, result.change, problem.tol, remedy)
    return result


def _answer(problem: KatzProblem, plan: PowerPlan | HostPlan) -> KatzCentrality:
    values, n_iterations, change = plan.result()
    values = values.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if problem.normalized:
            # The greatest value is near 1, so that no square leaves the range of float64.
            values = np.ldexp(values, -np.frexp(np.abs(values).max(initial=0.0))[1])
            found = values / (float(np.linalg.norm(values)) or 1.0)
        else:
            found = values * problem.scale
        found = found.astype(problem.dtype)
    if np.isfinite(change) and not np.isfinite(found).all():
        wider = 'dtype="float64", ' if found.dtype == np.float32 else ""
        raise InputError(
            f"centralities are too large for {found.dtype}; allowed: {wider}a smaller alpha or beta, or normalized=True"
        )
    result = KatzCentrality(found, n_iterations, change / problem.size)
    result.graph = problem.graph
    return result


def _check(problem: KatzProblem, result: KatzCentrality) -> None:
    from clgraph.reference.centralities import check_katz_centrality

    check_katz_centrality(
        problem.graph,
        result.centralities,
        change=result.change,
        alpha=problem.alpha,
        beta=problem.scale * (problem.beta if problem.home is None else problem.home),
        normalized=problem.normalized,
        weighted=problem.is_weighted,
    )


ALGORITHM = Algorithm("katz_centrality", STRATEGIES, contenders, as_problem, _answer, _check)
