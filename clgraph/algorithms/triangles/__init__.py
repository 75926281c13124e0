"""Triangles of an undirected graph, at each vertex and in total, and the clustering that follows from them.

Strategies
----------
``tables``
    Each edge is directed from its end of lower degree to the other [1]_. A vertex with a long forward row has the row
    in a hash table in local memory, and looks up the entries of its forward neighbours' rows [2]_. Short rows are
    searched in each other.
``marks``
    A work-item of a CPU marks the entries of a forward row in an array of all vertices, and looks up the entries of its
    neighbours' rows.
``merge``
    A work-item of a CPU merges the sorted rows of neighbours, without orientation.
``host``
    scipy's products of sparse matrices, on one core of the host.

References
----------
.. [1] T. Schank, D. Wagner. "Finding, counting and listing all triangles in large graphs." WEA 2005.
.. [2] A. Bisson, M. Fatica. "High performance exact triangle counting on GPUs." IEEE TPDS, 2017.
.. [3] D. J. Watts, S. H. Strogatz. "Collective dynamics of 'small-world' networks." Nature 393, 1998.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.triangles.plan import TrianglesPlan
from clgraph.algorithms.triangles.problem import TrianglesProblem, as_problem
from clgraph.algorithms.triangles.strategies import STRATEGIES, contenders
from clgraph.data.graphs.graph import Graph
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.host import HostPlan
from clgraph.engine.result import VertexResult
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _Triangles(NamedTuple):
    n_triangles: int
    counts: NDArray[np.int64]


class Triangles(VertexResult, _Triangles):
    """Result of :func:`triangles`; unpacks as ``n_triangles, counts``.

    Attributes
    ----------
    n_triangles : int
    counts : int64 array, shape (n_vertices,)
        The number of triangles that each vertex is in. Their sum is three times *n_triangles*.
    degrees : int32 array, shape (n_vertices,)
        The number of different neighbours of each vertex, without itself.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids.
    info : RunInfo
        What ran, where, and how long it took.
    """

    degrees: NDArray[np.int32]
    graph: Graph
    info: RunInfo
    _VALUES = "counts", "triangles"

    @cached_property
    def clustering(self) -> NDArray[np.float64]:
        """The share of each vertex's pairs of neighbours that are neighbours [3]_; 0 without a pair."""
        pairs = self.degrees * (self.degrees - np.int64(1))
        return np.divide(2 * self.counts, pairs, out=np.zeros(pairs.size), where=pairs > 0)

    @property
    def average_clustering(self) -> float:
        """The mean of :attr:`clustering`; NaN without vertices."""
        return float(self.clustering.mean()) if self.clustering.size else float("nan")

    @property
    def transitivity(self) -> float:
        """The share of all pairs of neighbours of a vertex that are neighbours; 0 without a pair."""
        pairs = int((self.degrees * (self.degrees - np.int64(1))).sum())
        return 6 * self.n_triangles / pairs if pairs else 0.0


class Options(TypedDict, total=False):
    """Options of all strategies of :func:`triangles`."""

    short_row: int


def triangles(
    graph: Any,
    *,
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> Triangles:
    """Count the triangles of *graph*: at each vertex, and in total.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Undirected. Self-loops are ignored, parallel edges count as one, and weights are not read.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, on the host.
    **options
        Option of ``tables``: *short_row*, the greatest length of forward rows that get no table (32).

    Returns
    -------
    Triangles
        ``n_triangles``, int64 ``counts`` of shape (n_vertices,), ``clustering``, ``average_clustering``,
        ``transitivity``, ``degrees`` and ``info``.

    Raises
    ------
    InputError
        *graph* is not a graph, or is directed, or an option is out of range.
    UnsupportedStrategyError
        The strategy is unknown.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> found = cg.triangles(cg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3]))
    >>> found.n_triangles, found.counts.tolist(), found.clustering.round(2).tolist()
    (1, [1, 1, 1, 0], [1.0, 1.0, 0.33, 0.0])
    """
    problem = as_problem(graph)
    result: Triangles = ALGORITHM.solve(problem, strategy=strategy, session=session, verify=verify, options=options)
    return result


def _answer(problem: TrianglesProblem, plan: TrianglesPlan | HostPlan) -> Triangles:
    n_triangles, counts, degrees = plan.result()
    result = Triangles(n_triangles, counts)
    result.graph, result.degrees = problem.graph, degrees
    return result


def _check(problem: TrianglesProblem, result: Triangles) -> None:
    from clgraph.reference.triangles import check_triangles

    check_triangles(problem.graph, result.n_triangles, result.counts, result.degrees)


ALGORITHM = Algorithm("triangles", STRATEGIES, contenders, as_problem, _answer, _check)
