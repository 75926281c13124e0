"""Maximal matchings: edges without a common vertex, to which no edge can be added.

Strategies
----------
``locally_dominant``
    Each vertex chooses its heaviest edge to a neighbour without a mate, and two vertices that choose each other become
    mates, round after round [1]_ [2]_. A sequential greedy algorithm that takes the heaviest edges first makes the same
    matching. So with weights of at least 0 it has at least half of the greatest possible weight.

References
----------
.. [1] R. Preis. "Linear time 1/2-approximation algorithm for maximum weighted matching in general graphs." STACS 1999.
.. [2] F. Manne, R. Bisseling. "A parallel approximation algorithm for the weighted maximum matching problem." PPAM
   2007.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.maximal_matching.plan import MatchingPlan
from clgraph.algorithms.maximal_matching.problem import MatchingProblem, as_problem
from clgraph.algorithms.maximal_matching.strategies import STRATEGIES, contenders
from clgraph.arguments import Seed
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.result import VertexResult, ids_of
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _Matching(NamedTuple):
    n_matched: int
    mates: NDArray[np.int32]


class Matching(VertexResult, _Matching):
    """Result of :func:`maximal_matching`; unpacks as ``n_matched, mates``.

    Attributes
    ----------
    n_matched : int
        The number of edges of the matching.
    mates : int32 array, shape (n_vertices,)
        The number of the vertex with which each vertex is matched; -1 for a vertex without a mate.
    weight : int or float
        The sum of the weights of the matching's edges; without weights their number.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids.
    info : RunInfo
        What ran, where, and how long it took.
    """

    weight: float
    graph: Graph
    info: RunInfo
    _VALUES = "mates", "mate"

    @property
    def edges(self) -> NDArray[np.int32]:
        """The matching's edges as numbers of vertices, the lesser first, in ascending order; int32, (n_matched, 2)."""
        first = np.flatnonzero(self.mates > np.arange(self.mates.size))
        return np.stack((first.astype(np.int32), self.mates[first]), axis=1)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the columns ``vertex`` and ``mate`` with the ids; the mate of a single vertex is ``None``."""
        found = super().to_dict()
        return {**found, "mate": ids_of(self.graph, self.mates)}


class Options(TypedDict, total=False):
    """Options of all strategies of :func:`maximal_matching`, which has none."""


def maximal_matching(
    graph: Any,
    *,
    weight: Weight = "weight",
    seed: Seed = 0,
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> Matching:
    """Find a maximal matching of *graph*, in which heavy edges come first.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Undirected, or directed with the reverse of each entry, of the same weight. Self-loops are ignored, and of
        parallel edges the heaviest counts.
    weight : str, function or None
        For a networkx graph; see :meth:`Graph.from_networkx`. With ``None`` all edges of any graph weigh 1.
    seed : int, or another argument of numpy.random.default_rng
        Seed of the hash that orders edges of equal weight, modulo 2**32. Every device returns the same matching.
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
    Matching
        ``n_matched``, int32 ``mates`` of shape (n_vertices,), ``weight``, ``edges`` and ``info``. At one end or both
        ends of each edge the matching has an edge that weighs at least as much. So the matching has at least half of
        the edges of a largest one and, if no weight is negative, at least half of the greatest weight.

    Raises
    ------
    InputError
        *graph* is not a graph or not symmetric, or an argument is out of range.
    GraphError
        A weight is NaN.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> path = cg.Graph.from_edges([0, 1, 2], [1, 2, 3], [2, 3, 2])
    >>> found = cg.maximal_matching(path)
    >>> found.mates.tolist(), found.weight
    ([-1, 2, 1, -1], 3)
    """
    problem = as_problem(graph, weight=weight, seed=seed)
    result: Matching = ALGORITHM.solve(problem, strategy=strategy, session=session, verify=verify, options=options)
    return result


def _answer(problem: MatchingProblem, plan: MatchingPlan) -> Matching:
    n_matched, mates, total = plan.result()
    result = Matching(n_matched, mates)
    result.weight, result.graph = total, problem.graph
    return result


def _check(problem: MatchingProblem, result: Matching) -> None:
    from clgraph.reference.maximal_matching import check_matching

    check_matching(problem.graph, result.mates, weighted=problem.weighted)


ALGORITHM = Algorithm("maximal_matching", STRATEGIES, contenders, as_problem, _answer, _check)
