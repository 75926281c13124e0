"""Shortest paths by a near frontier and a pile of far vertices."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal import frontier as queues
from clgraph.algorithms.traversal.distances import Distances
from clgraph.algorithms.traversal.sources import default_source
from clgraph.csr import checked_number
from clgraph.errors import DistanceOverflowError, InputError
from clgraph.graph import Graph
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.failure import check_status
from clgraph.runtime.session import Session

_SOURCE, _PREDECESSORS = "traversal/sssp.cl", "traversal/predecessors.cl"
_MAX_VERTICES = 2**31 - 2**12
# Words of cl/traversal/sssp.cl.
_OVERFLOW, _STATE_WORDS, _MODE, _TURN, _PROGRESS_WORDS, _DONE = 608, 640, 4, 8, 9, 4
_TURNS = 4096  # of a work-group alone in one launch
_LAST_TURN = 2**32 - 1


class NearFar:
    """Shortest paths from sources; light edges first if asked to.

    Attributes
    ----------
    distances : DeviceArray
        After ``run()``, as :class:`Distances` holds them.
    """

    def __init__(
        self, session: Session, graph: Graph, sources: NDArray[np.int32] | None, limit: float | None, *,
        light_first: bool, delta: float | None,
    ) -> None:
        if graph.n_vertices > _MAX_VERTICES:
            raise InputError(f"{graph.n_vertices} vertices; shortest paths take at most {_MAX_VERTICES}")
        self.session, self.graph, self.n = session, graph, graph.n_vertices
        self._sources = default_source(graph) if sources is None else sources
        self._limit = limit if limit is None else checked_number("limit", limit)
        self._light_first = light_first
        self._delta = _default_delta(graph) if delta is None else checked_number("delta", delta)
        weights = graph.edge_weights
        self._longest = self.n * (1 if weights is None or not weights.size else float(weights.max()))
        self._bind(wide=False)

    def _bind(self, *, wide: bool) -> None:
        session, graph, n = self.session, self.graph, self.n
        on_device = device_graph(session, graph)
        rows = on_device.row_offsets, on_device.column_indices
        self.held = held = Distances(session, graph, wide=wide)
        self.distances = session.empty(n, held.dtype)
        self._alone = not session.facts.dialect.has_grid_barrier
        short = not self._light_first and int(graph.degrees.max(initial=0)) <= queues.PIECE
        self._defines: dict[str, int | str] = {
            **on_device.defines(), **queues.queue_defines(session, graph), **held.defines,
            "LIGHT_FIRST": int(self._light_first), "ONLY_SHORT_ROWS": int(short), "ALONE": int(self._alone),
        }  # fmt: skip
        lists, settled = queues.Lists(session, graph, _STATE_WORDS), queues.Lists(session, graph, 1)
        piles, stamps = session.empty(2 * n, np.int32), [session.empty(n, np.uint32) for _ in range(2)]
        stamps.append(session.empty(n if self._light_first else 1, np.uint32))
        self._state, self._progress = lists.state, session.empty(_PROGRESS_WORDS, held.dtype)
        group = queues.group_size(session)
        program = session.program(_SOURCE, self._defines, work_group_size=group)
        self._initialize = program.bind(
            "initialize", max(n, _STATE_WORDS), np.int32(n), self.distances, *stamps, self._state, self._progress
        )
        self._start = program.bind(
            "start", 1, np.int32(self._sources.size), np.float32(self._delta), *lists.arguments,
            session.upload(self._sources), rows[0], *lists.arrays, self.distances, self._progress,
        )
        groups = queues.group_count(session)
        self._search = program.bind(
            "search", groups * group, np.int32(n), np.uint32(_LAST_TURN), held.limit(self._limit), *lists.arguments,
            settled.arguments[1], *rows, held.weights, lists.light, lists.heavy, settled.light, settled.heavy, piles,
            *stamps, self._state, self.distances, self._progress,
        )

    def run(self) -> None:
        """Find the distances; if 32 bits are too few, again with 64.

        Raises
        ------
        DistanceOverflowError
            A distance has more than 63 bits.
        """
        if not self.n:
            return
        self._run()
        if self._longest >= 2**32 - 1 and not self.held.is_float and self._state.item(_OVERFLOW):
            if not self.held.wide:
                self._bind(wide=True)
                self._run()
            if self.held.wide and self._state.item(_OVERFLOW):
                self._check_reached()

    def _run(self) -> None:
        self._initialize()
        self._start()
        turn = 0
        while self._alone:
            self._search.set_scalar(1, np.uint32(turn + _TURNS - 1))
            self._search()
            progress = self._progress.get()
            if int(progress[_TURN]) < turn + _TURNS:
                return
            turn = int(progress[_TURN])
        self._search()

    def _check_reached(self) -> None:
        """Raise if a way that was too long to count is the only one."""
        distances = self.held.on_host(self.distances.get())
        rows, columns = self.graph.sources(), self.graph.column_indices
        bad = (distances[rows] >= 0) & (distances[columns] < 0)
        if self._limit is None and bad.any():
            at = int(bad.argmax())
            raise DistanceOverflowError(
                f"the shortest path to vertex {columns[at]} is longer than {2**63 - 1}, the greatest distance"
            )

    def result(self) -> NDArray[Any]:
        """Return the distances after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        if self.n:
            check_status(self._state.item(queues.GRID_STATUS), "the turns of shortest paths")
        return self.held.on_host(self.distances.get())

    def predecessors(self) -> DeviceArray:
        """Return the least predecessor of every vertex, int32, after ``run()``."""
        session, n = self.session, np.int32(self.n)
        found, rounds = session.empty(self.n, np.int32), session.empty(self.n, np.int32)
        state = session.zeros(1, np.uint32)
        if not self.n:
            return found
        on_device = device_graph(session, self.graph)
        edges = on_device.row_offsets, on_device.column_indices, self.held.weights, self.distances, found, rounds
        program = session.program(_PREDECESSORS, self._defines, work_group_size=max(64, session.facts.sub_group_size))
        program.bind("start", self.n, n, found, rounds)()
        sources = session.upload(self._sources)
        program.bind("find", self.n, n, *edges)()
        program.bind("mark_sources", self._sources.size, np.int32(self._sources.size), sources, rounds)()
        weights = self.graph.edge_weights
        if weights is not None and weights.size and (self.held.is_float or weights.min() == 0):
            find_level = program.bind("find_level", self.n, n, np.int32(0), *edges, state)
            for number in range(2, self.n + 2):
                find_level.set_scalar(1, np.int32(number))
                find_level()
                if state.item() != number:
                    break
        program.bind("finish", self.n, n, found)()
        return found


def _default_delta(graph: Graph) -> float:
    """Mean weight times 32 over the mean degree (Davidson et al.), which the search then adapts."""
    if graph.edge_weights is None or not graph.n_edges:
        return 32.0
    weights = graph.edge_weights[:: max(1, graph.n_edges >> 16)]
    finite = weights[np.isfinite(weights)] if weights.dtype.kind == "f" else weights
    mean = float(finite.mean(dtype=np.float64)) if finite.size else 1.0
    delta = 32.0 * mean * graph.n_vertices / graph.n_edges
    return min(delta, 1e30) if graph.edge_weights.dtype.kind == "f" else max(1.0, min(delta, 1e30))
