"""Maximal independent sets: no two members are neighbours, and every other vertex has a member as its neighbour.

Strategies
----------
``local_maxima``
    Each vertex has a priority. A vertex joins the set once no neighbour of higher priority can join any more, round
    after round. The set is the one that a sequential greedy algorithm finds in the order of the priorities [1]_. With
    priorities by degree [2]_ it is larger than with random ones.

References
----------
.. [1] G. E. Blelloch, J. T. Fineman, J. Shun. "Greedy sequential maximal independent set and matching are parallel on
   average." SPAA 2012.
.. [2] M. Burtscher, S. Devale, S. Azimi, J. Jaiganesh, E. Powers. "A high-quality and fast maximal independent set
   implementation for GPUs." ACM Transactions on Parallel Computing 5, 2018.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.maximal_independent_set.plan import IndependentSetPlan
from clgraph.algorithms.maximal_independent_set.problem import ORDERS, IndependentSetProblem, as_problem
from clgraph.algorithms.maximal_independent_set.strategies import STRATEGIES, contenders
from clgraph.arguments import Seed
from clgraph.data.graphs.graph import Graph
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.result import VertexResult, ids_of
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _IndependentSet(NamedTuple):
    size: int
    members: NDArray[np.bool_]


class IndependentSet(VertexResult, _IndependentSet):
    """Result of :func:`maximal_independent_set`; unpacks as ``size, members``.

    Attributes
    ----------
    size : int
        The number of members of the set.
    members : bool array, shape (n_vertices,)
        Whether each vertex is in the set.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    info: RunInfo
    _VALUES = "members", "member"

    @property
    def vertices(self) -> NDArray[Any]:
        """The members by their ids, or by their numbers in ascending order if the graph has no ids."""
        return ids_of(self.graph, np.flatnonzero(self.members))


class Options(TypedDict, total=False):
    """Options of all strategies of :func:`maximal_independent_set`, which has none."""


def maximal_independent_set(
    graph: Any,
    *,
    order: str = ORDERS[0],
    include: Iterable[Any] | None = None,
    seed: Seed = 0,
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> IndependentSet:
    """Find a maximal independent set of *graph*: vertices without edges between them, to which none can be added.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Undirected, or directed with the reverse of each entry. Self-loops, parallel edges and weights are ignored.
    order : {"smallest_first", "random"}
        The order in which the vertices take their places in the set. ``"smallest_first"`` begins with the vertices of
        the fewest entries, for which a set is larger. Degrees from 16 on are rounded to 4 bits, and a hash orders equal
        ones. ``"random"`` orders all vertices by the hash. Its set is the first colour of
        :func:`color` with ``strategy="jones_plassmann"``, ``order="random"`` and the same seed.
    include : iterable of vertices, optional
        Vertices that must be in the set, by their ids. No two of them may be neighbours.
    seed : int, or another argument of numpy.random.default_rng
        Seed of the hash, modulo 2**32. Every device returns the same set for a seed.
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
    IndependentSet
        ``size``, bool ``members`` of shape (n_vertices,), ``vertices`` and ``info``.

    Raises
    ------
    InputError
        *graph* is not a graph or not symmetric, an argument is out of range, or *include* has neighbours.
    SourceError
        *include* has an id that is not in the graph.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> star = cg.generators.star(5)
    >>> cg.maximal_independent_set(star).vertices.tolist()
    [1, 2, 3, 4]
    >>> cg.maximal_independent_set(star, include=[0]).vertices.tolist()
    [0]
    """
    problem = as_problem(graph, order=order, include=include, seed=seed)
    result: IndependentSet = ALGORITHM.solve(
        problem, strategy=strategy, session=session, verify=verify, options=options
    )
    return result


def _answer(problem: IndependentSetProblem, plan: IndependentSetPlan) -> IndependentSet:
    size, members = plan.result()
    problem.refuse_neighbors(members)
    result = IndependentSet(size, members)
    result.graph = problem.graph
    return result


def _check(problem: IndependentSetProblem, result: IndependentSet) -> None:
    from clgraph.reference.maximal_independent_set import check_independent_set

    check_independent_set(problem.graph, result.members, problem.included)


ALGORITHM = Algorithm("maximal_independent_set", STRATEGIES, contenders, as_problem, _answer, _check)
