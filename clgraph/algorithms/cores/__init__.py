"""Core numbers of an undirected graph, and its k-cores.

The k-core of a graph is the largest subgraph in which each vertex has at least k neighbours. The core number of a
vertex is the greatest k for which the k-core has the vertex [1]_.

Strategies
----------
``peel``
    All vertices with the fewest neighbours left are removed at once, and then those that have as few left because of
    that, in waves [3]_. A GPU makes all waves in one launch.
``buckets``
    One work-item of a CPU removes the vertices one after the other, sorted by the neighbours that they have left [2]_.

References
----------
.. [1] S. B. Seidman. "Network structure and minimum degree." Social Networks 5, 1983.
.. [2] V. Batagelj, M. Zaversnik. "An O(m) algorithm for cores decomposition of networks." arXiv:cs/0310049, 2003.
.. [3] H. Kabir, K. Madduri. "Parallel k-core decomposition on multicore platforms." IPDPS Workshops 2017.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.cores.plan import CoresPlan
from clgraph.algorithms.cores.problem import CoresProblem, as_problem
from clgraph.algorithms.cores.strategies import STRATEGIES, contenders
from clgraph.arguments import checked_count
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.graph import Graph
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.result import VertexResult
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _CoreNumbers(NamedTuple):
    degeneracy: int
    cores: NDArray[np.int32]


class CoreNumbers(VertexResult, _CoreNumbers):
    """Result of :func:`core_numbers`; unpacks as ``degeneracy, cores``.

    Attributes
    ----------
    degeneracy : int
        The greatest core number; 0 without edges.
    cores : int32 array, shape (n_vertices,)
        The core number of each vertex.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    info: RunInfo
    _VALUES = "cores", "core"


class Options(TypedDict, total=False):
    """Options of all strategies of :func:`core_numbers`, which has none."""


def core_numbers(
    graph: Any,
    *,
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> CoreNumbers:
    """Find the core number of each vertex of *graph*.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Undirected, without self-loops and parallel edges. Weights are not read.
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
    CoreNumbers
        ``degeneracy``, int32 ``cores`` of shape (n_vertices,) and ``info``.

    Raises
    ------
    InputError
        *graph* is not a graph, or is directed.
    GraphError
        *graph* has a self-loop or parallel edges; the message names the vertex.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.core_numbers(cg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])).cores.tolist()
    [2, 2, 2, 1]
    """
    problem = as_problem(graph)
    result: CoreNumbers = ALGORITHM.solve(problem, strategy=strategy, session=session, verify=verify, options=options)
    return result


def k_core(graph: Any, k: int | None = None, *, strategy: str = "auto", session: SessionLike = None) -> Graph:
    """Return the k-core of *graph*: its largest subgraph in which each vertex has at least *k* neighbours.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        As for :func:`core_numbers`.
    k : int, optional
        At least 0; by default the degeneracy, which gives the innermost core.
    strategy, session
        As for :func:`core_numbers`.

    Returns
    -------
    Graph
        The subgraph on the host, with its weights. Its ``ids`` are the ids that the vertices have in *graph*, or their
        numbers there.

    Raises
    ------
    InputError
        *k* is not an integer of at least 0, or an error of :func:`core_numbers`.

    Examples
    --------
    >>> import clgraph as cg
    >>> core = cg.k_core(cg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3]), 2)
    >>> core.n_vertices, core.n_edges, core.ids.tolist()
    (3, 6, [0, 1, 2])
    """
    least = None if k is None else checked_count("k", k, 2**31 - 1, least=0)
    whole = as_graph(graph)
    degeneracy, cores = core_numbers(whole, strategy=strategy, session=session)
    return _induced(whole, cores >= (degeneracy if least is None else least))


def _induced(graph: Graph, is_kept: NDArray[np.bool_]) -> Graph:
    """Return the subgraph of the vertices that *is_kept* marks, with their ids or numbers as its ids."""
    rows, columns, weights = graph.sources(), graph.column_indices, graph.edge_weights
    entries = np.flatnonzero(is_kept[rows] & is_kept[columns])
    numbers = np.cumsum(is_kept, dtype=np.int32) - np.int32(1)
    lengths = np.bincount(rows[entries], minlength=graph.n_vertices)[is_kept]
    kept = np.flatnonzero(is_kept)
    return Graph._trusted(
        np.append(0, np.cumsum(lengths)), numbers[columns[entries]], None if weights is None else weights[entries],
        directed=False, ids=kept if graph.ids is None else graph.ids[kept], sorted_rows=graph.has_sorted_rows,
    )  # fmt: skip


def _answer(problem: CoresProblem, plan: CoresPlan) -> CoreNumbers:
    cores = plan.result()
    result = CoreNumbers(int(cores.max(initial=0)), cores)
    result.graph = problem.graph
    return result


def _check(problem: CoresProblem, result: CoreNumbers) -> None:
    from clgraph.reference.cores import check_core_numbers

    check_core_numbers(problem.graph, result.cores)


ALGORITHM = Algorithm("core_numbers", STRATEGIES, contenders, as_problem, _answer, _check)
