"""Communities of a graph, by the methods of Leiden or Louvain.

Strategies
----------
``half_rounds``
    In a round about half of the active vertices move to the neighbouring community where they gain most, all at once.
    A round that lowers the quality is undone. Then groups of vertices become the vertices of a coarser graph, and it
    goes on there. Louvain merges each community [1]_. Leiden merges connected groups inside communities, and lets the
    coarser vertices begin in the communities found so far [2]_.

References
----------
.. [1] V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre. "Fast unfolding of communities in large networks." J.
   Stat. Mech. P10008, 2008.
.. [2] V. Traag, L. Waltman, N. van Eck. "From Louvain to Leiden: guaranteeing well-connected communities." Scientific
   Reports 9, 5233, 2019.
.. [3] E. Leicht, M. Newman. "Community structure in directed networks." Physical Review Letters 100, 118703, 2008.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.communities.plan import CommunitiesPlan
from clgraph.algorithms.communities.problem import CommunitiesProblem, as_problem, checked_labels
from clgraph.algorithms.communities.strategies import STRATEGIES, contenders
from clgraph.arguments import Seed
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.result import VertexResult
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _Communities(NamedTuple):
    n_communities: int
    labels: NDArray[np.int32]


class Communities(VertexResult, _Communities):
    """Result of :func:`communities`; unpacks as ``n_communities, labels``.

    Attributes
    ----------
    n_communities : int
    labels : int32 array, shape (n_vertices,)
        The community of each vertex, numbered from 0 in the order of their first vertices.
    quality : float
        The modularity of the labels, or the value of the constant Potts model.
    levels : list of dict
        For each level of the last iteration, the finest first: the number of ``vertices`` and ``entries``, the
        ``rounds``, and the number of moves (``moved``). An iteration after the first may have only one level.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids.
    info : RunInfo
        What ran, where, and how long it took.
    """

    quality: float
    levels: list[dict[str, Any]]
    graph: Graph
    info: RunInfo
    _merged: list[NDArray[np.int32]]
    _VALUES = "labels", "community"

    def dendrogram(self) -> list[NDArray[np.int32]]:
        """Return for each coarser level of the last iteration the group of each vertex, the finest level first."""
        found: list[NDArray[np.int32]] = []
        for groups in self._merged:
            found.append(groups if not found else groups[found[-1]])
        return found


class Options(TypedDict, total=False):
    """Options of all strategies of :func:`communities`."""


def communities(
    graph: Any,
    *,
    method: str = "leiden",
    objective: str = "modularity",
    resolution: float = 1.0,
    initial: Any = None,
    seed: Seed = 0,
    max_levels: int = 64,
    iterations: int = 8,
    weight: Weight = "weight",
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> Communities:
    """Divide the vertices of *graph* into connected communities of high quality.

    Labels are the same on every device, for a seed: weights are integers, so all sums are exact.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Weights must be finite and at least 0. In a directed graph, modularity follows Leicht and Newman [3]_, and
        the constant Potts model counts both directions of a pair together. A self-loop of an undirected graph counts
        twice in the strength of its vertex.
    method : {"leiden", "louvain"}
    objective : {"modularity", "cpm"}
        ``"modularity"``, or ``"cpm"``, the constant Potts model: the sum over communities of their inner weight minus
        *resolution* for each pair of members.
    resolution : float
        At least 0, rounded to a multiple of 2**-20. Higher values give smaller communities.
    initial : int array, shape (n_vertices,), optional
        Labels to start from. By default, each vertex is alone.
    seed : int, or another argument of numpy.random.default_rng
        The seed of all random choices, modulo 2**32.
    max_levels : int
        The greatest number of levels, 1 … 64.
    iterations : int
        How often to start from the communities found, at most. The search ends after an iteration that raises the
        modularity by less than 1e-4, or the constant Potts model not at all.
    weight : str, function or None
        Edge attribute of a networkx graph to use; edges without it weigh 1. ``None`` ignores the weights of any graph.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, on the host.

    Returns
    -------
    Communities
        ``n_communities`` and int32 ``labels``, ``quality``, ``levels``, ``graph``, ``info`` and ``dendrogram()``.

    Raises
    ------
    InputError
        A weight is negative or not finite, a positive weight is too small beside the greatest, or an argument is out
        of range.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The levels do not fit on the device.

    Notes
    -----
    Weights are scaled by a power of two, such that they sum to at most 2**40, and rounded. Integer weights are scaled
    only if they sum to more. The quality of a graph without weight is 0.

    Examples
    --------
    >>> import clgraph as cg
    >>> found = cg.communities(cg.generators.two_cliques(8, bridge=True))
    >>> found.n_communities, round(found.quality, 4)
    (2, 0.4825)
    """
    problem = as_problem(
        graph,
        method=method,
        objective=objective,
        resolution=resolution,
        initial=initial,
        seed=seed,
        max_levels=max_levels,
        iterations=iterations,
        weight=weight,
    )
    result: Communities = ALGORITHM.solve(problem, strategy=strategy, session=session, verify=verify, options=options)
    return result


def modularity(graph: Any, labels: Any, *, resolution: float = 1.0, weight: Weight = "weight") -> float:
    """Return the modularity of *labels*, computed in exact integers on the host and rounded once.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        As for :func:`communities`.
    labels : int array, shape (n_vertices,)
        The community of each vertex.
    resolution : float
        As for :func:`communities`.
    weight : str, function or None
        Edge attribute of a networkx graph to use; edges without it weigh 1. ``None`` ignores the weights of any graph.

    Raises
    ------
    InputError
        *labels* are not an integer for each vertex, or the graph or the resolution is not allowed.

    Examples
    --------
    >>> import clgraph as cg
    >>> round(cg.modularity(cg.generators.two_cliques(8, bridge=True), [0] * 8 + [1] * 8), 4)
    0.4825
    """
    problem = as_problem(graph, resolution=resolution, weight=weight)
    integers = problem.admitted().integers
    return integers.quality(*integers.measured(checked_labels("labels", labels, problem.graph)))


def _answer(problem: CommunitiesProblem, plan: CommunitiesPlan) -> Communities:
    labels, quality, levels, merged = plan.result()
    result = Communities(int(labels.max(initial=-1)) + 1, labels)
    result.quality, result.levels, result._merged = quality, levels, merged
    result.graph = problem.graph
    return result


def _check(problem: CommunitiesProblem, result: Communities) -> None:
    from clgraph.reference.communities import check_communities

    check_communities(
        problem.graph, result.labels, result.quality, objective=problem.objective, resolution=problem.resolution
    )


ALGORITHM = Algorithm("communities", STRATEGIES, contenders, as_problem, _answer, _check)
