"""Minimum spanning forests by Borůvka's algorithm: in each round every component takes its lightest edge.

Strategies
----------
``edge_list``
    The first round reads the rows, without atomics. Later rounds read a list of edges, light edges first. Each
    sub-group removes edges within components from its segment of the list, in place [1]_.
``two_pass``
    ``edge_list`` for devices without 64-bit atomics. One pass finds each component's least weight, another the edge.
``segmented``
    Every round reads all entries in tiles. Lanes find the rows of their entries by binary search [2]_. Components
    merge by hooking or by transactions [3]_.
``host``
    scipy's Kruskal on one core of the host. It finishes small graphs before a kernel would have started.

References
----------
.. [1] A. Fallin, A. Gonzalez, J. Seo, M. Burtscher. "A High-Performance MST Implementation for GPUs." SC 2023.
.. [2] F. Khorasani, R. Gupta, L. Bhuyan. "Scalable SIMD-efficient graph processing on GPUs." PACT 2015.
.. [3] S. Manoochehri, B. Goodarzi, D. Goswami. "An efficient transaction-based GPU implementation of minimum
   spanning forest algorithm." HPCS 2017.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.algorithms.minimum_spanning_forest import on_devices
from clgraph.algorithms.minimum_spanning_forest.plan import ForestPlan, total_weight
from clgraph.algorithms.minimum_spanning_forest.problem import ForestProblem, as_problem, undirected
from clgraph.algorithms.minimum_spanning_forest.strategies import STRATEGIES, contenders
from clgraph.arguments import checked_flag, is_among, shown
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.csr import as_csr_array
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.data.graphs.wrapped import WrappedGraph
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.host import HostPlan
from clgraph.engine.result import GraphResult, ids_of
from clgraph.errors import InputError, UnsupportedStrategyError
from clgraph.multi_device.process_graph import ProcessGraph, as_parts
from clgraph.multi_device.split_graph import SPLIT_OPTIONS, SplitGraph
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import Session, SessionLike

if TYPE_CHECKING:
    import networkx as nx

# If a graph has at least 8 entries per forest edge, binary searches find the edges' rows faster than a list of rows.
_ENTRIES_OF_ONE = 8


class _SpanningForest(NamedTuple):
    weight: int | float
    edges: NDArray[np.int64]


class SpanningForest(GraphResult, _SpanningForest):
    """Result of :func:`minimum_spanning_forest`; unpacks as ``weight, edges``.

    Attributes
    ----------
    weight : int or float
        Total weight: exact for integers. Floats are summed in float64, in an order that does not depend on the device.
        An edge of an unweighted graph weighs 1.
    edges : int64 array, shape (n_vertices - n_trees,)
        Positions in ``graph.column_indices`` and ``graph.edge_weights``, ascending. Each edge is the entry in the row
        of its lesser end.
    graph : Graph
        An undirected graph with sorted rows, to which *edges* refers. It is the input itself if that has this form. A
        pickled forest keeps only the vertices, their ids, and the forest's edges; all methods still work.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    info: RunInfo
    _FROM_GRAPH = "sources", "targets", "weights"

    @cached_property
    def sources(self) -> NDArray[np.int32]:
        """For each edge of the spanning forest, the end with the smaller vertex number, int32."""
        if self.graph.n_edges < _ENTRIES_OF_ONE * self.edges.size:
            return self.graph.sources()[self.edges]
        offsets = self.graph.row_offsets
        # The positions of the edges get the type of the offsets, since otherwise numpy would convert all offsets.
        edges = self.edges.astype(offsets.dtype)
        rows: NDArray[Any] = np.searchsorted(offsets, edges, "right") - 1
        return rows.astype(np.int32)

    @cached_property
    def targets(self) -> NDArray[np.int32]:
        """For each edge of the spanning forest, the end with the larger vertex number, int32."""
        return self.graph.column_indices[self.edges]

    @cached_property
    def weights(self) -> NDArray[Any] | None:
        """Weight of each edge of the spanning forest; ``None`` for an unweighted graph."""
        return None if self.graph.edge_weights is None else self.graph.edge_weights[self.edges]

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the columns ``source`` and ``target``, with ids, and ``weight`` if the graph has weights."""
        columns: dict[str, NDArray[Any]] = {
            "source": ids_of(self.graph, self.sources), "target": ids_of(self.graph, self.targets),
        }  # fmt: skip
        return columns if self.weights is None else {**columns, "weight": self.weights}

    def to_scipy(self) -> csr_array:
        """Return the spanning forest as the upper triangle of its adjacency matrix.

        Edges of weight 0 are stored, too.
        """
        counts = np.bincount(self.sources, minlength=self.graph.n_vertices)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        data = np.ones(self.edges.size, bool) if self.weights is None else self.weights
        return as_csr_array(offsets, self.targets, data)

    def to_graph(self) -> Graph:
        """Return the spanning forest as an undirected graph with all vertices and ids of the input graph."""
        return undirected(self.graph, self.sources, self.targets, self.weights)

    def to_networkx(self) -> nx.Graph:
        """Return the spanning forest as a networkx graph.

        Its nodes are the vertex ids; its edges have the attribute ``weight``.
        """
        return self.to_graph().to_networkx()


class Options(TypedDict, total=False):
    """Keyword options of :func:`minimum_spanning_forest`, whose docstring describes each option."""

    light_edges: float | None
    merge: str
    shares: str
    segment_entries: int | None


def minimum_spanning_forest(
    graph: Any,
    *,
    strategy: str = "auto",
    maximum: bool = False,
    weight: Weight = "weight",
    session: SessionLike = None,
    devices: object = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> SpanningForest:
    """Find the minimum spanning forest of *graph*: a minimum spanning tree of every component.

    Parameters
    ----------
    graph : Graph, DeviceGraph, SplitGraph, scipy sparse array or networkx graph
        Weights may be int32, int64, float32 or float64. Without weights every edge weighs 1. Directions are ignored:
        two opposite entries of a directed graph are two parallel edges.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    maximum : bool
        Find the maximum spanning forest.
    weight : str, function or None
        Edge attribute of a networkx graph to use; edges without it weigh 1. A function ``weight(u, v, attributes)``
        returns the weight of an edge, or ``None`` to hide it; see :meth:`clgraph.Graph.from_networkx`.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    devices : "all", or sequence of str, Session or pyopencl.Device, optional
        Run on several devices. Each reads a range of the entries, segment by segment, and builds a forest; then the
        forests are merged. A :class:`SplitGraph` (undirected, with sorted rows) brings its own devices.
    verify : bool
        Check the result against the definition, sequentially on the host.
    **options
        Options of the strategy: ``light_edges`` (``edge_list``, ``two_pass``), the number of light edges per vertex
        that are processed before the others (0: no such phase); ``merge`` (``segmented``), ``"min_hook"`` or
        ``"transactional"``. With *devices*: ``shares``, whether each device gets entries in proportion to the
        ``"speed"`` of its memory (the default) or an ``"equal"`` number; and ``segment_entries``, the number of entries
        uploaded at once. Several devices support only ``edge_list``.

    Returns
    -------
    SpanningForest
        ``weight`` and int64 ``edges``, ``info`` and ``graph``. Among edges of equal weight the first entry wins, so
        the forest is unique: every device and strategy returns the same one.

    Raises
    ------
    InputError
        *graph* is not a graph, or an option is out of range.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.
    DeviceError
        One of several devices has failed; the message names it.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.Graph.from_edges([0, 1, 2], [1, 2, 0], [3, 5, 1])
    >>> forest = cg.minimum_spanning_forest(graph)
    >>> forest.weight, forest.sources.tolist(), forest.targets.tolist()
    (4, [0, 0], [1, 2])
    """
    if devices is not None or isinstance(graph, SplitGraph | ProcessGraph):
        checked_flag("verify", verify)
        ALGORITHM.check_options(options)
        result = _on_devices(graph, devices, session, dict(options), strategy=strategy, maximum=maximum, weight=weight)
        if isinstance(result, SpanningForest):
            if verify:
                _check(ForestProblem(result.graph, maximum), result)
            return result
        session = result
    problem = as_problem(graph, maximum=maximum, weight=weight)
    found: SpanningForest = ALGORITHM.solve(problem, strategy=strategy, session=session, verify=verify, options=options)
    return found


def _on_devices(
    graph: Any,
    devices: object,
    session: SessionLike,
    options: dict[str, Any],
    *,
    strategy: str,
    maximum: bool,
    weight: Weight,
) -> SpanningForest | Session:
    """Return the forest that several devices find, or the session of the
    first device if that device alone is faster.
    """
    if not is_among(strategy, ("auto", "edge_list")):
        raise UnsupportedStrategyError(f"strategy = {shown(strategy)}; on several devices: 'auto', 'edge_list'")
    if isinstance(graph, ProcessGraph):
        raise InputError("a ProcessGraph has no forests yet; use a SplitGraph, or one device")
    given = graph.source if isinstance(graph, SplitGraph) else as_graph(graph, weight=weight)
    if given is None:
        raise InputError("the parts of the graph name no whole one, in which edges have places; use from_graph()")
    problem = as_problem(given, maximum=maximum)
    if isinstance(graph, SplitGraph) and problem.graph is not given:
        raise InputError("the SplitGraph is directed, or its rows are not sorted; split an undirected graph that is")
    whole = graph if isinstance(graph, SplitGraph) else problem.graph
    split = as_parts(whole, devices, session, options, weights=True)
    if isinstance(split, Session):
        return split
    assert not isinstance(split, ProcessGraph)
    if options:
        names = ", ".join(sorted(options))
        raise InputError(f"several devices have no option {names}; they have shares and segment_entries")
    edges, info = on_devices.solve(problem, split)
    weights = problem.graph.edge_weights
    result = SpanningForest(edges.size if weights is None else total_weight(weights[edges]), edges)
    result.graph, result.info = problem.graph, info
    return result


def _answer(problem: ForestProblem, plan: ForestPlan | HostPlan) -> SpanningForest:
    graph = problem.graph
    edges, weight, ends = plan.result()
    if weight is None:
        weight = edges.size if graph.edge_weights is None else total_weight(graph.edge_weights[edges])
    result = SpanningForest(weight, edges)
    result.graph = graph
    vars(result).update(ends)
    # The copy is needed, because the owner of the matrix may change its arrays after the call.
    if isinstance(graph, WrappedGraph):
        _ = result.sources, result.targets, result.weights
    return result


def _check(problem: ForestProblem, result: SpanningForest) -> None:
    from clgraph.reference.minimum_spanning_forest import check_mst

    check_mst(problem.graph, result.edges, maximum=problem.maximum)


ALGORITHM = Algorithm(
    "minimum_spanning_forest", STRATEGIES, contenders, as_problem, _answer, _check, split_options=SPLIT_OPTIONS
)
