"""Breadth-first search from one source or several.

Strategies
----------
``topology_driven``
    Rounds over all vertices until nothing changes, a work-item a vertex, which lowers distances by loads and stores or,
    with ``atomic``, by atomics [3]_: the baseline of studies of load imbalance.
``node_splitting``
    The same, where vertices with more than ``mda`` edges are split into several [4]_.
``child_launch``
    The same, where rows longer than ``threshold`` get a grid of their own, which the kernel launches if the device can
    (dynamic parallelism [5]_), else the host.
``frontier``
    Top-down, level by level, from the vertices reached last [1]_. On GPUs one launch: small frontiers stay in the
    local memory of work-groups, and levels are parted by a device-wide barrier. On CPUs one work-item expands small
    frontiers, or, if there are few cores, all.
``direction_optimizing``
    The same, but where the frontier has many edges the unreached vertices look for a neighbour in it [2]_.

References
----------
.. [1] D. Merrill, M. Garland, A. Grimshaw. "Scalable GPU graph traversal." PPoPP 2012.
.. [2] S. Beamer, K. Asanović, D. Patterson. "Direction-optimizing breadth-first search." SC 2012.
.. [3] R. Nasre, M. Burtscher, K. Pingali. "Data-driven versus topology-driven irregular computations on GPUs." IPDPS
   2013.
.. [4] A. Raval, R. Nasre, V. Kumar, R. Vasudevan, S. Vadhiyar, K. Pingali. "Dynamic load balancing strategies for graph
   applications on GPUs." arXiv:1711.00231, 2017.
.. [5] J. Wang, S. Yalamanchili. "Characterization and analysis of dynamic parallelism in unstructured GPU
   applications." IISWC 2014.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal import queues
from clgraph.algorithms.traversal.bfs_work import direction_optimizing_work, frontier_work
from clgraph.algorithms.traversal.levels import Levels, has_few_units
from clgraph.algorithms.traversal.paths import MAX_DEPTH, MAX_VERTICES, checked_depth
from clgraph.algorithms.traversal.rounds_strategies import rounds_strategies
from clgraph.algorithms.traversal.sources import default_source, source_numbers, vertex_ids, vertex_number
from clgraph.arguments import checked_count, checked_flag
from clgraph.data.graph import Graph, as_graph
from clgraph.engine.solve import solve
from clgraph.errors import InputError
from clgraph.model.strategy import Choice, Strategy, choose
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session, SessionLike, as_session
from clgraph.runtime.timing import RunInfo

_SOURCE = "traversal/bfs.cl"
_ALPHA, _LATE_ALPHA = 14, 2  # Beamer et al. take the former
_LEVEL_GROUP = 64  # work-items, where levels are launches
NO_PREDECESSOR = -9999


class _BFS(NamedTuple):
    distances: NDArray[np.int32]
    predecessors: NDArray[np.int32]


class BFS(_BFS):
    """Result of :func:`bfs`; unpacks as ``distances, predecessors``.

    Attributes
    ----------
    distances : int32 array, shape (n_vertices,)
        Edges on a shortest path from the nearest source; -1 if unreached.
    predecessors : int32 array, shape (n_vertices,)
        The vertex before on such a path; -9999 for sources and unreached vertices. Where there are several, which
        one may differ between runs.
    graph : Graph
    sources : int32 array
        Vertex numbers of the sources.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    sources: NDArray[np.int32]
    info: RunInfo

    def path_to(self, vertex: Any) -> list[Any]:
        """Return the ids on a shortest path from a source to *vertex*; empty if it is unreached."""
        return path_to(self.graph, self.predecessors, self.sources, vertex)


def path_to(graph: Graph, predecessors: NDArray[np.int32], sources: NDArray[np.int32], vertex: Any) -> list[Any]:
    """Return the ids on the way that *predecessors* show from a source to *vertex*; empty without one."""
    path = [vertex_number(graph, vertex)]
    while (before := int(predecessors[path[-1]])) != NO_PREDECESSOR:
        path.append(before)
    return vertex_ids(graph, path[::-1]) if path[-1] in sources else []


class _Frontier:
    """Top-down from the frontier, and bottom-up where that looks at fewer edges, if asked to.

    Attributes
    ----------
    distances, predecessors : DeviceArray
        After ``run()``, int32, in the first ``n_vertices`` items.
    """

    def __init__(
        self, session: Session, graph: Graph, sources: NDArray[np.int32] | None = None, max_depth: int | None = None, *,
        bottom_up: bool, alpha: int | None = None, beta: int = 24,
    ) -> None:
        n, m = graph.n_vertices, graph.n_edges
        if n > MAX_VERTICES:
            raise InputError(f"{n} vertices; breadth-first search takes at most {MAX_VERTICES}")
        if alpha is None:
            alpha = _LATE_ALPHA if has_few_units(session.facts) else _ALPHA
        alpha, beta = checked_count("alpha", alpha, 2**20), checked_count("beta", beta, 2**20)
        most = MAX_DEPTH if max_depth is None else checked_depth(max_depth)
        sources = default_source(graph) if sources is None else sources
        self.n = n
        on_device = device_graph(session, graph)
        reverse = device_graph(session, graph.reverse) if bottom_up else on_device
        self.distances, self.predecessors = session.empty(-(-n // 4) * 4, np.int32), session.empty(n, np.int32)
        one_launch = session.facts.dialect.has_grid_barrier
        short = one_launch and not bottom_up and int(graph.degrees.max(initial=0)) <= queues.PIECE
        group = queues.group_size(session, 512 if bottom_up else 1024) if one_launch else _LEVEL_GROUP
        defines: dict[str, int | str] = {
            **on_device.defines(), **queues.queue_defines(session, graph, group, 128), "BOTTOM_UP": int(bottom_up),
            "ONE_LAUNCH": int(one_launch), "ONLY_SHORT_ROWS": int(short),
            "STEPS": 4 if not one_launch or m >= 8 * n else 1 if m < 5 * n else 2,
        }  # fmt: skip
        program = session.program(_SOURCE, defines, work_group_size=group)
        self._program, self._state = program, queues.new_state(session, program)
        scope = {
            "n": n, "m": m, "max_depth": most, **on_device.scope, "in_offsets": reverse.row_offsets,
            "in_neighbors": reverse.column_indices, **queues.Lists(session, graph).scope, "state": self._state,
            "distances": self.distances, "predecessors": self.predecessors,
        }  # fmt: skip
        self._initialize = program.bind("initialize", max(n, self._state.size), scope)
        self._start = program.bind("start", 1, scope, n_sources=sources.size, sources=session.upload(sources))
        self._search: Callable[[], object]
        if one_launch:
            groups, bits = queues.group_count(session, program, 2 if bottom_up else 1), -(-n // 32)
            self._search = program.bind(
                "search", groups * group, scope, alpha=alpha, beta=beta, bits=session.empty(bits, np.uint32)
            )
        else:
            self._search = Levels(session, graph, program, scope, most, alpha if bottom_up else 0, beta)

    def run(self) -> None:
        """Search."""
        if self.n:
            self._initialize()
            self._start()
            self._search()

    def result(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return distances and predecessors after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        if self.n:
            queues.check_grid(self._program, self._state, "the levels of a breadth-first search")
        return self.distances.get(0, self.n), self.predecessors.get()


STRATEGIES: dict[str, Strategy] = {
    **rounds_strategies(levels=True),
    "frontier": Strategy("online", partial(_Frontier, bottom_up=False, alpha=1, beta=1), frontier_work),
    "direction_optimizing": Strategy("online", partial(_Frontier, bottom_up=True), direction_optimizing_work),
}


def choose_strategy(session: Session, graph: Graph, *, strategy: str = "auto") -> Choice:
    """Return *strategy*, or for ``"auto"`` the one that the cost model predicts to be fastest."""
    return choose(STRATEGIES, strategy, lambda: graph.stats, session.facts, session.profile.rates)


def bfs(
    graph: Any,
    source: Any,
    *,
    strategy: str = "auto",
    max_depth: int | None = None,
    session: SessionLike = None,
    verify: bool = False,
    **options: Any,
) -> BFS:
    """Search *graph* breadth-first: how many edges lead from *source* to each vertex, and on which way.

    Parameters
    ----------
    graph : Graph, scipy sparse array or networkx graph
        Directed or undirected; weights are not looked at.
    source : vertex id or sequence of them
        With several, distances are those from the nearest.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    max_depth : int, optional
        Vertices farther than this stay unreached.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, sequentially on the host.
    **options
        Options of the strategy: ``atomic`` and ``balance`` (of the first three: lower distances by atomics, and count
        the edges of each work-group into ``info.balance``), ``mda`` (``node_splitting``: a number, ``"histogram"`` or
        ``"model"``), ``threshold`` (``child_launch``), ``alpha`` and ``beta`` (``direction_optimizing``: bottom-up
        once the frontier has more than 1/alpha of the unexplored edges, top-down again once it has less than 1/beta of
        the vertices).

    Returns
    -------
    BFS
        int32 ``distances`` and ``predecessors`` of shape (n_vertices,), and ``info``.

    Raises
    ------
    SourceError
        *source* is no vertex; it is an :class:`IndexError`, too.
    InputError
        *graph* is no graph, or an option is out of range.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> result = cg.bfs(cg.generators.path(4), 1)
    >>> result.distances.tolist(), result.path_to(3)
    ([1, 0, 1, 2], [1, 2, 3])
    """
    verify = checked_flag("verify", verify)
    on, data = as_session(session), as_graph(graph)
    sources = source_numbers(data, source)
    (distances, predecessors), info = solve(
        on, STRATEGIES, lambda: choose_strategy(on, data, strategy=strategy), (data, sources, max_depth), options,
        lambda plan: plan.result(),
    )
    result = BFS(distances, predecessors)
    result.graph, result.sources, result.info = data, sources, info
    if verify:
        from clgraph.reference.bfs import check_bfs

        check_bfs(data, sources, distances, predecessors, max_depth=max_depth)
    return result
