"""Slabs, which are ranges of a graph's entries on one device, and the slots of memory that slabs use in turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clgraph.data.graphs.csr import offset_dtype
from clgraph.data.graphs.graph import Graph
from clgraph.multi_device.team import Team
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import typed_errors
from clgraph.runtime.graphs.device_graph import DeviceGraph
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.memory.staging import hold
from clgraph.runtime.session import Session

_SLOTS = 2  # While kernels read the slab in one slot, the next slab is copied to the other slot.


@dataclass(frozen=True)
class Slab:
    """A range of consecutive CSR entries of a graph, on one device."""

    graph: DeviceGraph  # A graph with all vertices and only the entries of this slab.
    first: int  # Position of the slab's first entry in the whole graph.


class Slots:
    """The slots of memory on one device to which the slabs of one graph are copied in turn.

    If *most*, the largest number of entries in a slab, is given, slabs use two slots of memory in turn. So a slab
    reuses the memory of the last slab but one.
    """

    def __init__(
        self, team: Team, session: Session, graph: Graph, most: int | None = None, *, weights: bool = True
    ) -> None:
        self._team, self._session, self._graph, self._most = team, session, graph, most
        self._weights = graph.edge_weights if weights else None
        self._turn = 0
        self._kept: list[dict[str, DeviceArray]] = [{} for _ in range(_SLOTS)]
        self._used: list[cl.Event | None] = [None] * _SLOTS

    def slab(self, first: int, stop: int) -> Slab:
        """Begin to copy the graph's entries *first* … *stop* − 1, and return their slab.

        Kernels enqueued later may read it.
        """
        session, graph = self._session, self._graph
        if (event := self._used[self._turn]) is not None:
            hold(session.commands, session.commands.copy_queue, session.queue, event)
        columns = self._copied("column_indices", graph.column_indices, first, stop)
        weights = None if self._weights is None else self._copied("edge_weights", self._weights, first, stop)
        part = DeviceGraph(session, self._offsets(first, stop), columns, weights, directed=graph.directed)
        return Slab(replace(part, has_sorted_rows=graph.has_sorted_rows), first)

    def used(self) -> None:
        """Record that all kernels that use the last slab of the graph have been enqueued."""
        if self._most is not None:
            with self._session.driver, typed_errors("ordering copies after kernels"):
                self._used[self._turn] = cl.enqueue_marker(self._session.queue)
                self._session.queue.flush()
            self._turn = (self._turn + 1) % _SLOTS

    def _copied(self, name: str, host: Any, first: int, stop: int) -> DeviceArray:
        session, part = self._session, host[first:stop]
        if session.facts.is_cpu:
            return session.upload(part, in_place=True)
        kept = self._kept[self._turn]
        if self._most is None or name not in kept:
            size = self._most or part.size
            with session.driver:
                session.check_memory({f"{name} of {size} entries": size * part.itemsize})
                place = None if self._most is None else (self._turn, name)
                buffer = self._team.room(session, place, size * part.itemsize)
                kept[name] = DeviceArray(session.memory, buffer, part.dtype, size)
        self._team.write(kept[name], 0, part)
        return kept[name] if kept[name].size == part.size else kept[name].view(0, part.size)

    def _offsets(self, first: int, stop: int) -> DeviceArray:
        session, graph = self._session, self._graph
        whole = graph.row_offsets
        place = whole.dtype.type
        first_row = int(np.searchsorted(whole, place(first), "right")) - 1
        stop_row = int(np.searchsorted(whole, place(stop), "left"))
        kind = np.dtype(offset_dtype(stop - first))
        types = {"OFFSET_T": "long" if kind.itemsize == 8 else "int"}
        types["WHOLE_OFFSET_T"] = "long" if whole.dtype.itemsize == 8 else "int"
        n = graph.n_vertices
        with session.driver:
            program = session.program("data/slab.cl", types)
            rows, offsets = session.empty(stop_row - first_row + 1, whole.dtype), session.empty(n + 1, kind)
            self._team.set_rows(rows, whole[first_row : stop_row + 1])
            program.bind(
                "clip_rows",
                n + 1,
                n=n,
                first_row=first_row,
                stop_row=stop_row,
                first_entry=first,
                stop_entry=stop,
                rows=rows,
                row_offsets=offsets,
            )()
        return offsets
