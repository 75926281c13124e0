"""Replicas of an R-MAT graph that are linked in a row, so that the components of a graph of any size are known.

To link two replicas, an edge that is in a cycle of its replica swaps one end with the same edge of the next replica,
so rows stay sorted and keep their lengths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import checkout  # noqa: F401 (whatever imports this first gets the package of this checkout)
import numpy as np
from numpy.typing import NDArray

import clgraph as cg
from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.runtime.graphs.device_graph import DeviceGraph
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_ALIGNED = 1024  # A part of a graph begins at a multiple of this number of entries.


@dataclass(frozen=True)
class Link:
    """The edge at which replicas are linked, and the R-MAT graph.

    Attributes
    ----------
    scale, edge_factor : int
        Of the R-MAT graph.
    n, m : int
        Its numbers of vertices and of entries.
    low, high : int
        The ends of the edge.
    last_of_low, first_of_high : int
        The places of its two entries: the last one in the row of *low*, and the first one in the row of *high*.
    """

    scale: int
    edge_factor: int
    n: int
    m: int
    low: int
    high: int
    last_of_low: int
    first_of_high: int

    def entries(self, k: int) -> Iterator[tuple[int, int]]:
        """Yield the entries of *k* replicas in which they differ from copies of the graph, and the vertex in each."""
        for r in range(k - 1):
            yield r * self.m + self.last_of_low, self.high + (r + 1) * self.n
            yield (r + 1) * self.m + self.first_of_high, self.low + r * self.n


def part(session: Session, place: int, n_places: int, link: Link, k: int) -> DeviceGraph:
    """Return part *place* of *n_places* of *k* replicas, made on the device of *session*.

    A part has whole replicas, or a range of the entries if there is only one replica.
    """
    made = cg.generators.rmat(link.scale, link.edge_factor, session=session).on_device
    if k == 1:
        first, stop = (link.m * each // n_places // _ALIGNED * _ALIGNED for each in (place, place + 1))
        stop = link.m if place == n_places - 1 else stop
        columns = session.empty(stop - first, np.int32)
        columns.copy_from(made.column_indices.view(first, stop))
        return replace(made, column_indices=columns, row_offsets=_clipped(made, 0, link.n, link.n, first, stop))
    first, stop = (k * each // n_places for each in (place, place + 1))
    n, m = link.n, link.m
    replicas = made.expanded(stop - first, first)
    for entry, vertex in link.entries(k):
        if first * m <= entry < stop * m:
            replicas.column_indices.set(np.array([vertex], np.int32), offset=entry - first * m)
    offsets = _clipped(replicas, first * n, stop * n, k * n, 0, (stop - first) * m)
    del made
    session.release()
    return replace(replicas, row_offsets=offsets)


def _clipped(graph: DeviceGraph, first_row: int, stop_row: int, n: int, first: int, stop: int) -> DeviceArray:
    """Return the offsets of a part of *n* vertices, whose rows *first_row* … *stop_row* − 1 come from *graph*.

    The part has the entries *first* … *stop* − 1 of *graph*. Its other rows are empty.
    """
    session, rows = graph.session, graph.row_offsets
    offsets = session.empty(n + 1, rows.dtype)
    kind = "long" if rows.dtype.itemsize == 8 else "int"
    program = session.program("data/slab.cl", {"OFFSET_T": kind, "WHOLE_OFFSET_T": kind})
    ranges = {"first_row": first_row, "stop_row": stop_row, "first_entry": first, "stop_entry": stop}
    program.bind("clip_rows", n + 1, {"n": n, **ranges, "rows": rows, "row_offsets": offsets})()
    session.finish()
    return offsets


@dataclass(frozen=True)
class Base:
    """The graph of which there are replicas, on the host, with its components and the edge that links its replicas."""

    graph: Graph
    labels: NDArray[np.int32]
    link: Link

    @classmethod
    def of(cls, scale: int, edge_factor: int, session: Session) -> Base:
        """Return the R-MAT graph of these parameters, and an edge of it that is in a cycle."""
        graph = cg.generators.rmat(scale, edge_factor, session=session).on_device.to_graph()
        offsets, columns = graph.row_offsets, graph.column_indices
        n_components, labels = cg.connected_components(graph, session=session)
        degrees = np.diff(offsets)
        for high in np.flatnonzero(degrees > 2)[::-1].tolist():
            low = int(columns[offsets[high]])
            if low >= high or degrees[low] < 3 or columns[offsets[low + 1] - 1] != high:
                continue
            cut = columns.copy()
            cut[offsets[high]], cut[offsets[low + 1] - 1] = high, low  # a loop at either end in place of the edge
            if cg.connected_components(Graph(offsets, cut), session=session).n_components == n_components:
                places = int(offsets[low + 1]) - 1, int(offsets[high])
                return cls(
                    graph, labels,
                    Link(scale, edge_factor, graph.n_vertices, graph.n_edges, low, high, *places),
                )  # fmt: skip
        raise VerificationError("no edge that can be changed is in a cycle")

    def on_host(self, k: int) -> Graph:
        """Return *k* replicas as one graph on the host."""
        graph = self.graph.expanded(k)
        columns = graph.column_indices.copy()
        for place, vertex in self.link.entries(k):
            columns[place] = vertex
        columns.setflags(write=False)
        return Graph._trusted(graph.row_offsets, columns, sorted_rows=True)

    def check(self, found: Any, k: int) -> None:
        """Raise unless *found* are the components of *k* replicas."""
        n, labels, giant = self.graph.n_vertices, self.labels, self.labels[self.link.low]
        n_others = int(labels.max())
        right = found.n_components == k * n_others + 1 and np.array_equal(found.labels[:n], labels)
        for r in range(1, k):
            if right:
                other = labels - (labels > giant) + (1 + n_others + (r - 1) * n_others)
                right = np.array_equal(found.labels[r * n : (r + 1) * n], np.where(labels == giant, giant, other))
        if not right:
            raise VerificationError(f"the components of {k} replicas are wrong")
