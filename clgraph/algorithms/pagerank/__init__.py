"""PageRank: the share of time that a random walk spends at each vertex.

Strategies
----------
``row_blocks``
    A work-group of a GPU takes blocks of rows that the host has cut, and adds up a block's entries in local memory
    [2]_. Long rows are cut into pieces.
``lanes``
    Teams of work-items rank for several personalizations at once, each work-item for some of them.
``rows``
    A work-item of a CPU adds up the rows of its blocks one after the other.
``host``
    scipy's product of a sparse matrix and a vector, on one core of the host.

All of them are power iteration [1]_ along incoming edges, without atomics: an iteration reads the ranks of the one
before. Sums are float64 in a fixed order. So one device returns the same ranks in every run.

References
----------
.. [1] L. Page, S. Brin, R. Motwani, T. Winograd. "The PageRank citation ranking: bringing order to the web." Stanford
   InfoLab, 1999.
.. [2] J. L. Greathouse, M. Daga. "Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format."
   SC 2014.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.algorithms.pagerank.plan import PowerPlan
from clgraph.algorithms.pagerank.problem import PageRankProblem, as_problem, warn_if_moving
from clgraph.algorithms.pagerank.strategies import STRATEGIES, contenders
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.host import HostPlan
from clgraph.engine.result import VertexResult
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _PageRank(NamedTuple):
    ranks: NDArray[Any]
    n_iterations: int
    change: float


class PageRank(VertexResult, _PageRank):
    """Result of :func:`pagerank`; unpacks as ``ranks, n_iterations, change``.

    Attributes
    ----------
    ranks : float32 or float64 array, shape (n_vertices,)
        The rank of each vertex. Ranks are positive, except where *personalization* is 0, and their sum is 1. For
        several personalizations, the shape is (n_personalizations, n_vertices).
    n_iterations : int
    change : float
        The sum of the absolute changes of all ranks in the last iteration; of several personalizations the greatest.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    info: RunInfo
    _VALUES = "ranks", "rank"

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the columns ``vertex``, with the ids, and ``rank``, or ``rank_0``, ``rank_1`` … of a batch."""
        if self.ranks.ndim == 1:
            return super().to_dict()
        ids, n = self.graph.ids, self.ranks.shape[1]
        vertices = np.arange(n) if ids is None or ids.size != n else ids
        return {"vertex": vertices, **{f"rank_{k}": row for k, row in enumerate(self.ranks)}}


class Options(TypedDict, total=False):
    """Options of all strategies of :func:`pagerank`, which has none."""


def pagerank(
    graph: Any,
    *,
    alpha: float = 0.85,
    personalization: Any = None,
    dangling: Any = None,
    initial: Any = None,
    tol: float = 1e-6,
    max_iter: int = 100,
    weight: Weight = "weight",
    dtype: DTypeLike | None = None,
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> PageRank:
    """Rank the vertices of *graph* by the time that a random walk spends at them.

    In each step the walk follows an edge with the probability *alpha*, and otherwise jumps to any vertex.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Directed or undirected, with weights of at least 0 or without weights. Parallel edges count separately.
    alpha : float
        Probability of following an edge, above 0 and below 1.
    personalization : mapping of vertex id to number, or array of shape (n_vertices,), optional
        Relative probabilities of the vertices as ends of a jump; others have 0. By default all are equal. A list of up
        to 16 mappings or arrays, or an array with a row for each, gives a row of ranks for each. This takes less time
        than calls one by one, because a load brings the ranks of a vertex for all of them.
    dangling : mapping or array, optional
        The same for jumps from vertices without outgoing weight; by default *personalization*.
    initial : mapping or array, optional
        Ranks at the start, in any scale; by default all are equal. Ranks of a similar graph save iterations.
    tol : float
        The iteration ends when the sum of the absolute changes of all ranks is below *tol*. networkx compares this sum
        with ``tol * n_vertices``.
    max_iter : int
        Maximum number of iterations.
    weight : str, function or None
        Edge attribute of a networkx graph to use; edges without it weigh 1. ``None`` ignores the weights of any graph.
    dtype : {"float32", "float64"}, optional
        Type of the ranks. By default float32 if *tol* is at least 1e-6, else float64, because rounding to float32
        changes ranks by 6e-8 of their value.
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
    PageRank
        ``ranks`` of shape (n_vertices,), or (n_personalizations, n_vertices) if several are given, ``n_iterations``,
        ``change`` and ``info``. One device returns the same ranks
        in every run; ranks of different devices agree to about 1e-6 of their value.

    Warns
    -----
    ConvergenceWarning
        After *max_iter* iterations the change was still at least *tol*. The ranks so far are returned.

    Raises
    ------
    InputError
        *graph* is not a graph, an argument is out of range, or a distribution is negative or has the sum 0.
    GraphError
        A weight is negative or infinite, the greatest weight is too large or too small for *dtype*, or the weights of a
        vertex add up to too little.
    SourceError
        A mapping has a vertex that is not in the graph.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.Graph.from_edges([0, 1, 2, 3], [2, 2, 3, 2], directed=True)
    >>> cg.pagerank(graph).ranks.round(3).tolist()
    [0.03799999877810478, 0.03799999877810478, 0.49000000953674316, 0.4350000023841858]
    """
    problem = as_problem(
        graph,
        alpha=alpha,
        personalization=personalization,
        dangling=dangling,
        initial=initial,
        tol=tol,
        max_iter=max_iter,
        weight=weight,
        dtype=dtype,
    )
    result: PageRank = ALGORITHM.solve(problem, strategy=strategy, session=session, verify=verify, options=options)
    warn_if_moving("ranks", result.n_iterations, result.change, problem.tol)
    return result


def _answer(problem: PageRankProblem, plan: PowerPlan | HostPlan) -> PageRank:
    ranks, n_iterations, change = plan.result()
    result = PageRank(ranks.reshape(problem.shape), n_iterations, change)
    result.graph = problem.graph
    return result


def _check(problem: PageRankProblem, result: PageRank) -> None:
    from clgraph.reference.pagerank import check_pagerank

    homes = [problem.home] if len(problem.shape) == 1 else problem.home
    for home, ranks in zip(homes, np.atleast_2d(result.ranks), strict=True):  # type: ignore[arg-type]
        check_pagerank(
            problem.graph,
            ranks,
            change=result.change,
            alpha=problem.alpha,
            weighted=problem.is_weighted,
            home=home,
            refuge=problem.refuge,
        )


ALGORITHM = Algorithm("pagerank", STRATEGIES, contenders, as_problem, _answer, _check)
