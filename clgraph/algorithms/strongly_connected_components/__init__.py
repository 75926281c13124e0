"""Find the strongly connected components of a directed graph: sets of vertices that all reach each other.

Strategies
----------
``forward_backward``
    Rounds that mark the vertices which a pivot of high degree reaches, and those which reach it [1]_ [2]_. The vertices
    with both marks are one component. The rest is found as in ``min_propagation``.
``min_propagation``
    Each vertex gets the least key of its ancestors and the least key of its descendants, with pointer jumping. If both
    are equal, its component is found. Edges between vertices with different pairs are dropped, and the rest begins
    again [3]_.
``depth_first``
    One work-item of a CPU searches in depth [4]_ [5]_.
``host``
    scipy's search on one core of the host.

References
----------
.. [1] L. Fleischer, B. Hendrickson, A. Pinar. "On identifying strongly connected components in parallel." IPDPS 2000.
.. [2] S. Hong, N. Rodia, K. Olukotun. "On fast parallel detection of strongly connected components (SCC) in
   small-world graphs." SC 2013.
.. [3] G. Alabandi, W. Sands, G. Biros, M. Burtscher. "A GPU algorithm for detecting strongly connected components."
   SC 2023.
.. [4] R. Tarjan. "Depth-first search and linear graph algorithms." SIAM Journal on Computing 1, 1972.
.. [5] D. Pearce. "A space-efficient algorithm for finding strongly connected components." Information Processing
   Letters 116, 2016.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.strongly_connected_components.plan import StrongPlan
from clgraph.algorithms.strongly_connected_components.problem import StrongProblem, as_problem
from clgraph.algorithms.strongly_connected_components.strategies import STRATEGIES, contenders
from clgraph.data.graphs.graph import Graph
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.host import HostPlan
from clgraph.engine.result import VertexResult
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _StrongComponents(NamedTuple):
    n_components: int
    labels: NDArray[np.int32]


class StrongComponents(VertexResult, _StrongComponents):
    """Result of :func:`strongly_connected_components`; unpacks as ``n_components, labels``.

    Attributes
    ----------
    n_components : int
    labels : int32 array, shape (n_vertices,)
        The component number of each vertex. Components are numbered in the order of their smallest vertices.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    info: RunInfo
    _VALUES = "labels", "component"


class Options(TypedDict, total=False):
    """Keyword options of :func:`strongly_connected_components`, whose docstring describes each option."""

    rounds: int


def strongly_connected_components(
    graph: Any,
    *,
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    output: str = "host",
    **options: Unpack[Options],
) -> StrongComponents:
    """Find the strongly connected components of *graph*.

    Two vertices are in one component if each reaches the other along edges. In an undirected graph, these are the
    connected components, which :func:`connected_components` finds faster.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, sequentially on the host.
    output : {"host", "device"}
        "device" leaves the arrays in device memory, as ``pyopencl.array.Array``. The result is then a
        :class:`~clgraph.engine.device_result.DeviceResult` with the same attributes; its ``get()`` copies it.
    **options
        The option of ``forward_backward``: ``rounds`` (32), the number of rounds after which the search is cut off.

    Returns
    -------
    StrongComponents
        ``n_components``, int32 ``labels`` of shape (n_vertices,), and ``info``. Components are numbered by their
        smallest vertex. Every device and strategy returns the same labels.

    Raises
    ------
    InputError
        *graph* is not a graph, or an option is out of range.
    UnsupportedStrategyError
        The strategy is unknown, or it does not take so large a graph.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 0], directed=True)
    >>> n_components, labels = cg.strongly_connected_components(graph)
    >>> n_components, labels.tolist()
    (2, [0, 0, 0, 1])
    """
    problem = as_problem(graph)
    result: StrongComponents = ALGORITHM.solve(
        problem, strategy=strategy, session=session, verify=verify, options=options, output=output
    )
    return result


def _answer(problem: StrongProblem, plan: StrongPlan | HostPlan) -> StrongComponents:
    result = StrongComponents(*plan.result())
    result.graph = problem.graph
    return result


def _check(problem: StrongProblem, result: StrongComponents) -> None:
    from clgraph.reference.strongly_connected_components import check_strong_components

    check_strong_components(problem.graph, result.n_components, result.labels)


ALGORITHM = Algorithm("strongly_connected_components", STRATEGIES, contenders, as_problem, _answer, _check)
