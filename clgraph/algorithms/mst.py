"""Minimum spanning forests by Borůvka's algorithm: in each round every component takes its lightest edge.

Strategies
----------
``edge_list``
    The first round from the rows, without atomics; then a list of edges that every sub-group shortens in place,
    light edges first [1]_.
``two_pass``
    The same for devices without 64-bit atomics: first the weights compete, then the edges that tie.
``segmented``
    Every round walks the matrix, in tiles of entries whose lanes find their rows by binary search [2]_; merges by
    hooking, or by transactions [3]_.

References
----------
.. [1] A. Fallin, A. Gonzalez, J. Seo, M. Burtscher. "A High-Performance MST Implementation for GPUs." SC 2023.
.. [2] F. Khorasani, R. Gupta, L. Bhuyan. "Scalable SIMD-efficient graph processing on GPUs." PACT 2015.
.. [3] S. Manoochehri, B. Goodarzi, D. Goswami. "An efficient transaction-based GPU implementation of minimum
   spanning forest algorithm." HPCS 2017.
"""
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.algorithms.mst_work import default_light_edges, edge_list_work, segmented_work, two_pass_work
from clgraph.arguments import check_choice, checked_flag, checked_number
from clgraph.csr import as_csr_array
from clgraph.device.facts import DeviceFacts
from clgraph.engine.solve import solve
from clgraph.errors import InputError
from clgraph.graph import Graph, as_graph
from clgraph.model.strategy import Choice, Strategy, choose
from clgraph.primitives.fill import Iota
from clgraph.primitives.scan import Scan
from clgraph.primitives.sort import Sort
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.failure import STATUS_TIMEOUT, check_status
from clgraph.runtime.program import Launch, Program
from clgraph.runtime.session import Session, SessionLike, as_session
from clgraph.runtime.timing import RunInfo

if TYPE_CHECKING:
    import networkx as nx

_MAX_VERTICES = 2**31 - 2**12  # a work-item's vertex must fit int32, rounded up to work-groups
_MAX_ENTRIES = 2**32 - 2**12  # positions of entries are uints, the last of which means none
_ROWS, _SEGMENTED, _EDGE_LIST, _RANKS = (f"mst/{name}.cl" for name in ("rows", "segmented", "edge_list", "ranks"))
_TILE = 512  # entries
_SAMPLES = 256
_CLIMB_LIMIT = 1024
_SEGMENT_GROUPS = 16  # a compute unit, for which the list has segments
_RESIDENT_GROUPS = 6  # a compute unit, that may run at once
_LINGER = 100  # turns; groups that come too late leave their segments to the others


class _SpanningForest(NamedTuple):
    weight: int | float
    edges: NDArray[np.int64]


class SpanningForest(_SpanningForest):
    """Result of :func:`minimum_spanning_forest`; unpacks as ``weight, edges``.

    Attributes
    ----------
    weight : int or float
        Total weight: exact for integers, summed pairwise in float64 for floats. An edge of an unweighted graph
        weighs 1.
    edges : int64 array, shape (n_vertices - n_trees,)
        Positions in ``graph.column_indices`` and ``graph.edge_weights``, rising; an edge stands in the row of its
        lesser end.
    graph : Graph
        Undirected, with sorted rows; the input itself if that is so.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    info: RunInfo

    @property
    def sources(self) -> NDArray[np.int32]:
        """Lesser end of each edge, int32."""
        rows: NDArray[Any] = np.searchsorted(self.graph.row_offsets, self.edges, "right") - 1
        return rows.astype(np.int32)

    @property
    def targets(self) -> NDArray[np.int32]:
        """Greater end of each edge, int32."""
        return self.graph.column_indices[self.edges]

    @property
    def weights(self) -> NDArray[Any] | None:
        """Weight of each edge; ``None`` for an unweighted graph."""
        return None if self.graph.edge_weights is None else self.graph.edge_weights[self.edges]

    def to_scipy(self) -> csr_array:
        """Return the upper triangle of the forest's adjacency matrix; edges of weight 0 are stored."""
        counts = np.bincount(self.sources, minlength=self.graph.n_vertices)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        data = np.ones(self.edges.size, bool) if self.weights is None else self.weights
        return as_csr_array(offsets, self.targets, data)

    def to_graph(self) -> Graph:
        """Return the forest as an undirected graph of all vertices, with their labels."""
        return _undirected(self.graph, self.sources, self.targets, self.weights)

    def to_networkx(self) -> nx.Graph:
        """Return the forest with the labels as nodes and the edge attribute ``weight``."""
        return self.to_graph().to_networkx()


class ForestPlan(ABC):
    """A compiled and allocated run on one undirected graph with sorted rows; ``run()`` may be called again."""

    def __init__(
        self, session: Session, graph: Graph, source: str, maximum: bool, **defines: int
    ) -> None:
        n, m = graph.n_vertices, graph.n_edges
        if n > _MAX_VERTICES or m > _MAX_ENTRIES:
            raise InputError(
                f"{n} vertices and {m} entries; a spanning forest takes at most {_MAX_VERTICES} and {_MAX_ENTRIES}"
            )
        self.session, self.n, self.m = session, n, m
        self.n_tiles = -(-m // _TILE)
        on_device = device_graph(session, graph)
        weights, kind = _weight_keys(session, graph)
        cpu = session.facts.is_cpu
        group = max(64, session.facts.sub_group_size) if cpu else 256
        values: dict[str, int | str] = {
            **on_device.defines(), "WEIGHT_KIND": kind, "MAXIMUM": int(maximum), "SPLIT_KEYS": 0, "TILE": _TILE,
            **defines,
        }  # fmt: skip
        self.phases = session.program(_ROWS, values, work_group_size=group)
        self.program = session.program(source, values, work_group_size=group)
        self.width = session.facts.sub_group_size
        split = bool(values["SPLIT_KEYS"])
        self.state = session.empty(self.phases.constant("STATE_WORDS"), np.uint32)
        self.scope: dict[str, Any] = {
            "n": n, "m": m, "n_tiles": self.n_tiles, **on_device.scope, "edge_weights": weights, "state": self.state,
            "best": session.empty(2 * n if split else n, np.uint32 if split else np.uint64),
            "tile_rows": session.empty(self.n_tiles, np.int32), "parent": session.empty(n, np.int32),
            "forest": session.empty(n, np.uint32),
        }  # fmt: skip
        self.initialize = self.phases.bind("initialize", max(n, self.state.size), self.scope)

    def is_alive(self, round_number: int) -> bool:
        """Wait for a round, and return whether it left edges between trees."""
        return bool(self.state.item(self.phases.constant("STATE_ALIVE")) == round_number)

    def run(self) -> None:
        """Find the forest; what it waits for depends on the strategy."""
        if self.n:
            self.initialize()
        if self.m:
            self.find_forest()

    @abstractmethod
    def find_forest(self) -> None:
        """Enqueue what follows the initialisation."""

    def edges(self) -> NDArray[np.int64]:
        """Return the entries of the forest's edges in rising order, after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        if not self.m:
            return np.zeros(0, np.int64)
        named, in_order = self.session.empty(self.n, np.uint32), self.session.empty(self.n, np.uint32)
        self.phases.bind("name_edges", self.n, self.scope, edges=named)()
        Sort(self.session, named, in_order, end_bit=self.m.bit_length()).run_checked()
        edges = in_order.get()
        return edges[: np.searchsorted(edges, self.phases.constant("NO_ENTRY"))].astype(np.int64)


def _weight_keys(session: Session, graph: Graph) -> tuple[DeviceArray, str]:
    """Return 32 bits an entry that order the edges as the weights do, and how kernels read them."""
    weights = graph.edge_weights
    if weights is None:
        return session.empty(1, np.uint32), "WEIGHT_NONE"
    if weights.dtype.itemsize == 4:
        on_device = device_graph(session, graph, weights=True).edge_weights
        assert on_device is not None
        return on_device, "WEIGHT_INT" if weights.dtype.kind == "i" else "WEIGHT_FLOAT"
    if weights.dtype.kind == "i":
        least, greatest = (int(weights.min()), int(weights.max())) if weights.size else (0, 0)
        if greatest - least < 2**32:
            return session.upload((weights - least).astype(np.uint32)), "WEIGHT_RANK"
    else:
        with np.errstate(over="ignore"):
            narrow = weights.astype(np.float32)
        if np.array_equal(narrow, weights):
            return session.upload(narrow), "WEIGHT_FLOAT"
        weights = weights + 0.0  # -0.0 is 0.0
    return _ranks(session, weights), "WEIGHT_RANK"


def _ranks(session: Session, weights: NDArray[Any]) -> DeviceArray:
    m = weights.size
    program = session.program(_RANKS)
    keys, in_order = session.upload(weights), session.empty(m, weights.dtype)
    entries, moved = session.empty(m, np.uint32), session.empty(m, np.uint32)
    Iota(session, entries).run()
    Sort(session, keys, in_order, entries, moved).run_checked()
    begins, ranks = session.empty(m, np.int32), session.empty(m, np.int32)
    program.bind("mark_values", m, m=m, sorted=in_order, begins=begins)()
    Scan(session, begins, ranks, inclusive=True).run_checked()
    program.bind("scatter_ranks", m, m=m, ranks=ranks, entries=moved, edge_weights=entries)()
    return entries


class _Segmented(ForestPlan):
    def __init__(
        self, session: Session, graph: Graph, maximum: bool = False, *, merge: str = "min_hook"
    ) -> None:
        check_choice("merge", merge, ("min_hook", "transactional"))
        super().__init__(session, graph, _SEGMENTED, maximum)
        self.scope |= {"round": 0, "component": session.empty(self.n, np.int32)}
        if merge == "transactional":
            self.scope["versions"] = session.zeros(self.n, np.uint32)
        self._label = self.program.bind("label_components", self.n, self.scope)
        self._discover = self.program.bind("discover_components", self.n_tiles * self.width, self.scope)
        self._merge = self.program.bind(f"merge_{merge}", self.n, self.scope)

    def find_forest(self) -> None:
        for round_number in range(1, self.program.constant("MAX_ROUNDS")):
            self._label()
            self._discover()
            self._merge.set(round=round_number)
            self._merge()
            if not self.is_alive(round_number):
                return
        check_status(STATUS_TIMEOUT, "merging components")


class _EdgeList(ForestPlan):
    def __init__(
        self, session: Session, graph: Graph, maximum: bool = False, *, light_edges: float | None = None,
        split_keys: bool = False,
    ) -> None:
        if light_edges is None:
            light_edges = default_light_edges(graph.stats)
        light_edges = checked_number("light_edges", light_edges)
        facts = session.facts
        self._persistent = facts.dialect.has_grid_barrier
        block = 4 * facts.sub_group_size if not facts.is_cpu else max(1024, 4 * facts.sub_group_size)
        super().__init__(
            session, graph, _EDGE_LIST, maximum, SPLIT_KEYS=int(split_keys), SAMPLES=_SAMPLES, VERTEX_BLOCK=block,
            CLIMB_LIMIT=_CLIMB_LIMIT if self._persistent else 0, LINGER=_LINGER,
        )
        self._max_rounds = self.program.constant("MAX_ROUNDS")
        # Segments of the list: a sub-group each, as many as run at once.
        per_unit = 4 if facts.is_cpu else _SEGMENT_GROUPS
        group_segments = self.program.work_group_size // self.width
        self._n_segments = n_segments = max(1, min(facts.compute_units * per_unit * group_segments, self.n_tiles))
        capacity = -(-self.n_tiles // n_segments) * _TILE
        root_capacity = -(-self.n // (n_segments * block)) * block
        self.scope |= {
            "n_segments": n_segments, "capacity": capacity, "root_capacity": root_capacity, "round": 0,
            "list": session.empty(4 * n_segments * capacity, np.uint32),
            "sizes": session.empty(n_segments, np.uint32), "n_roots": session.empty(n_segments, np.uint32),
            "roots": session.empty(n_segments * root_capacity, np.int32),
        }  # fmt: skip
        self._n_passes = 2 if split_keys else 1
        self._discover = self.phases.bind("discover_rows", self.n_tiles * self.width, self.scope, turn=0)
        self._hook_rows = self.phases.bind("hook_rows", self.n, self.scope)
        rank = round(_SAMPLES * min(1.0, light_edges * self.n / max(1, self.m / 2)))
        self._threshold = None
        if 0 < rank < _SAMPLES:
            self._threshold = self.program.bind("choose_threshold", 1, self.scope, rank=rank)
        parts = (0,) if self._threshold is None else (1, 2)
        self._parts = [self._bind_part(i, part) for i, part in enumerate(parts)]
        if not self._persistent:
            self._offer_entries, self._hook, self._settle, self._offer = (
                self._bind_segments(self.program, f"{kernel}_segment{kind}")
                for kernel, kind in (("offer", "_entries"), ("hook", "s"), ("settle", "s"), ("offer", "s"))
            )

    def _bind_segments(
        self, program: Program, kernel: str, *, max_groups: int | None = None, **arguments: int
    ) -> Launch:
        """Bind a kernel of which a sub-group takes a segment."""
        items = self._n_segments * self.width
        return program.bind(kernel, items, self.scope, max_groups=max_groups, **arguments)

    def _bind_part(self, number: int, part: int) -> list[Launch]:
        """Bind what lists the edges of a part, and where that is one launch, what joins them."""
        launches = []
        for turn in range(3 if self._persistent else 1):
            word = 1 + 3 * number + turn
            launches.append(self._bind_segments(self.phases, "flatten", turn=word, earlier=word - 1 if turn else 0))
        launches.append(self._bind_segments(self.program, "build", part=part))
        if self._persistent:
            first, words = self.program.constant("STATE_CONTROLS"), self.program.constant("STATE_CONTROL_WORDS")
            launches.append(self._bind_segments(
                self.program, "rounds", base=number * self._max_rounds, control_at=first + number * words,
                max_groups=_RESIDENT_GROUPS * self.session.facts.compute_units,
            ))
        return launches

    def find_forest(self) -> None:
        for turn in range(self._n_passes):
            self._discover.set(turn=turn)
            self._discover()
        self._hook_rows()
        if self._threshold is not None:
            self._threshold()
        for number, launches in enumerate(self._parts):
            for launch in launches:
                launch()
            if not self._persistent:
                self._join(number * self._max_rounds)

    def edges(self) -> NDArray[np.int64]:
        edges = super().edges()
        state, status = self.state.get(), self.program.constant("GRID_STATUS")
        first, words = self.program.constant("STATE_CONTROLS"), self.program.constant("STATE_CONTROL_WORDS")
        for control in range(first, state.size, words) if self.m else ():
            check_status(int(state[control + status]), "the rounds of the spanning forest")
        return edges

    def _join(self, base: int) -> None:
        """Run the rounds from the host."""
        for round_number in range(base + 1, base + self._max_rounds):
            if self._n_passes == 2:
                self._offer_entries()
            self._hook()
            self._settle()
            self._offer.set(round=round_number)
            self._offer()
            if not self.is_alive(round_number):
                return
        check_status(STATUS_TIMEOUT, "joining components")


def _two_pass(
    session: Session, graph: Graph, maximum: bool = False, *, light_edges: float | None = None
) -> ForestPlan:
    return _EdgeList(session, graph, maximum, light_edges=light_edges, split_keys=True)


def _edge_list(
    session: Session, graph: Graph, maximum: bool = False, *, light_edges: float | None = None
) -> ForestPlan:
    return _EdgeList(session, graph, maximum, light_edges=light_edges)


def _needs_int64_atomics(facts: DeviceFacts) -> str | None:
    return None if facts.has_int64_atomics else "it has no 64-bit atomics"


STRATEGIES: dict[str, Strategy] = {
    "edge_list": Strategy("online", _edge_list, edge_list_work, _needs_int64_atomics),
    "two_pass": Strategy("online", _two_pass, two_pass_work),
    "segmented": Strategy("online", _Segmented, segmented_work, _needs_int64_atomics),
}


def choose_strategy(session: Session, graph: Graph, *, strategy: str = "auto") -> Choice:
    """Return *strategy*, or for ``"auto"`` the one that the cost model predicts to be fastest."""
    return choose(STRATEGIES, strategy, lambda: graph.stats, session.facts, session.profile.rates)


def minimum_spanning_forest(
    graph: Any,
    *,
    strategy: str = "auto",
    maximum: bool = False,
    weight: str | None = "weight",
    session: SessionLike = None,
    verify: bool = False,
    **options: Any,
) -> SpanningForest:
    """Find the minimum spanning forest of *graph*: a minimum spanning tree of every component.

    Parameters
    ----------
    graph : Graph, scipy sparse array or networkx graph
        Weights of any of the four types. Of a directed graph every entry is an edge without direction, so of two
        opposite ones the lesser counts. Without weights every edge weighs 1.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    maximum : bool
        Find the maximum spanning forest.
    weight : str or None
        Edge attribute of a networkx graph to use; edges without it weigh 1.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, sequentially on the host.
    **options
        Options of the strategy: ``light_edges`` (``edge_list``, ``two_pass``: how many edges a vertex to join
        first, 0 for all at once) and ``merge`` (``segmented``: ``"min_hook"`` or ``"transactional"``).

    Returns
    -------
    SpanningForest
        ``weight`` and int64 ``edges``, ``info`` and ``graph``. Of edges that weigh the same the first entry wins,
        so the forest is unique: equal on every device and under every strategy.

    Raises
    ------
    InputError
        *graph* is no graph, or an option is out of range.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.Graph.from_edges([0, 1, 2], [1, 2, 0], [3, 5, 1])
    >>> forest = cg.minimum_spanning_forest(graph)
    >>> forest.weight, forest.sources.tolist(), forest.targets.tolist()
    (4, [0, 0], [1, 2])
    """
    maximum, verify = checked_flag("maximum", maximum), checked_flag("verify", verify)
    on, data = as_session(session), as_graph(graph, weight=weight)
    if data.directed or not data.has_sorted_rows:
        data = _undirected(data, *data.edge_list())
    edges, info = solve(
        on, STRATEGIES, lambda: choose_strategy(on, data, strategy=strategy), (data, maximum), options,
        lambda plan: plan.edges(),
    )
    result = SpanningForest(_total_weight(data, edges), edges)
    result.graph, result.info = data, info
    if verify:
        from clgraph.reference.mst import check_mst

        check_mst(data, edges, maximum=maximum)
    return result


def _undirected(graph: Graph, *edges: Any) -> Graph:
    """Return the graph of these sources, targets and weights on the vertices of *graph*."""
    plain = Graph.from_edges(*edges, n=graph.n_vertices)
    arrays = plain.row_offsets, plain.column_indices, plain.edge_weights
    return Graph._trusted(*arrays, labels=graph.labels, sorted_rows=True)


def _total_weight(graph: Graph, edges: NDArray[np.int64]) -> int | float:
    if graph.edge_weights is None:
        return edges.size
    weights = graph.edge_weights[edges]
    if weights.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):  # infinite weights are legal
            return float(weights.sum(dtype=np.float64))
    high, low = weights.astype(np.int64) >> 32, weights.astype(np.int64) & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())
