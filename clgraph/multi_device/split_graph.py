"""Graphs whose CSR entries are split over several devices.

Each device has all vertices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from clgraph.arguments import check_choice, checked_count, shown
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError
from clgraph.multi_device.slabs import Slab, Slots
from clgraph.multi_device.team import Team
from clgraph.runtime.devices import speed_of
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import typed_errors
from clgraph.runtime.graphs.device_graph import DeviceGraph
from clgraph.runtime.session import Session

# Each device's range of entries begins at a multiple of 64, so that a CPU can read the host arrays in place.
_ALIGNMENT = 64
# Largest number of entries in a slab, because the slab's row offsets are 32-bit integers.
_MOST_ENTRIES = 2**31 - 2**16
# A GPU's range of entries is cut into 4 segments of at least 2**24 entries, or into fewer segments.
# While kernels read one segment, the next segment is copied to the device.
_SEGMENTS, _LEAST_SEGMENT = 4, 1 << 24
_MEMORY_SHARE = 8  # The columns and the weights of a segment each take at most 1/8 of the device's memory.
SPLIT_OPTIONS = "shares", "segment_entries"


class SplitGraph:
    """A graph in parts, which stay on several devices.

    A part has all vertices and some of the CSR entries.

    :meth:`from_graph` splits a graph. The constructor takes parts that are on the devices already, such as graphs that
    kernels have made there.

    Parameters
    ----------
    parts : list of list of DeviceGraph
        The parts of each device. They have the same number of vertices. Together they have each edge of an undirected
        graph from both of its ends, as one undirected graph would have it.

    Attributes
    ----------
    team : Team
    n_vertices : int
    n_edges : int
        Entries of all parts.
    directed : bool
    source : Graph or None
        The graph that :meth:`from_graph` has split.
    shares : {"speed", "equal"}
        How :meth:`from_graph` has split the graph.

    Raises
    ------
    InputError
        The parts do not fit together, or parts of a device are on another one.
    """

    source: Graph | None = None
    shares = "speed"
    segment_entries: int | None = None  # Only a StreamedGraph has segments, so this is None for other graphs.

    def __init__(self, parts: Sequence[Sequence[DeviceGraph]]) -> None:
        if not isinstance(parts, list | tuple) or not all(isinstance(each, list | tuple) for each in parts):
            raise InputError(f"parts = {shown(parts)}; allowed: for each device a list or tuple of DeviceGraphs")
        kept = [[*each] for each in parts]
        for k, graphs in enumerate(kept):
            for graph in graphs:
                if not isinstance(graph, DeviceGraph):
                    raise InputError(f"parts[{k}] has {shown(graph)}; allowed: DeviceGraphs")
                if graph.session is not graphs[0].session:
                    raise InputError(f"parts[{k}] has graphs on {graph.session} and on {graphs[0].session}")
        found = [graph for graphs in kept for graph in graphs]
        if not found or not all(kept):
            raise InputError(f"parts = {shown(parts)}; allowed: one graph at least for each device")
        for what in ("n_vertices", "directed"):
            if len(values := {getattr(graph, what) for graph in found}) > 1:
                raise InputError(f"{what} of the parts are {sorted(values)}; they must be the same")
        self.team = Team([graphs[0].session for graphs in kept])
        self.n_vertices, self.directed = found[0].n_vertices, found[0].directed
        self.n_edges = sum(graph.n_edges for graph in found)
        firsts = np.cumsum([0, *(graph.n_edges for graph in found)]).tolist()
        slabs = iter(map(Slab, found, firsts))
        self._slabs = [[next(slabs) for _ in graphs] for graphs in kept]

    @classmethod
    def from_graph(cls, graph: Any, devices: object = "all", *, shares: str = "speed") -> SplitGraph:
        """Copy a range of the entries of *graph* to each of the *devices*, and return the split graph.

        Parameters
        ----------
        graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        devices : "all", or sequence of str, Session or pyopencl.Device
        shares : {"speed", "equal"}
            Whether a device gets entries by the speed of its memory in its profile, or all get as many.

        Raises
        ------
        DeviceMemoryError
            A part does not fit on its device.
        InputError, NoDeviceError
            As :class:`clgraph.multi_device.team.Team`.
        """
        graph, team = as_graph(graph), Team(devices)
        made = cls._of_ranges(graph, team, split(graph.n_edges, team, shares))
        made.shares = shares
        return made

    @classmethod
    def _of_ranges(cls, graph: Graph, team: Team, cuts: Sequence[tuple[int, int]]) -> SplitGraph:
        """Copy to each device of *team* the range of the entries of *graph* that *cuts* gives to the device."""
        made = object.__new__(cls)
        made.source, made.team, made.directed = graph, team, graph.directed
        made.n_vertices, made.n_edges = graph.n_vertices, graph.n_edges

        def copied(place: int) -> list[Slab]:
            slots = Slots(team, team.sessions[place], graph)
            return [slots.slab(*cut) for cut in in_segments(*cuts[place], _MOST_ENTRIES)]

        made._slabs = team.each(copied)
        return made

    def slabs(self, place: int) -> Iterator[Slab]:
        """Yield the slabs (ranges of entries) of the graph on the device number *place*, without empty slabs."""
        place = checked_count("place", place, len(self._slabs) - 1, least=0)
        return (slab for slab in self._slabs[place] if slab.graph.n_edges)


class StreamedGraph:
    """A graph on the host, whose segments of CSR entries are copied to several devices in turn.

    So the graph may be larger than the devices' memory.
    """

    def __init__(
        self,
        graph: Graph,
        team: Team,
        *,
        shares: str = "speed",
        segment_entries: int | None = None,
        weights: bool = False,
        cuts: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        self.source, self.shares, self._weights = graph, shares, weights
        self.team, self.directed = team, graph.directed
        self.n_vertices, self.n_edges = graph.n_vertices, graph.n_edges
        self.segment_entries = checked_segment(segment_entries)
        self._cuts = split(graph.n_edges, team, shares) if cuts is None else cuts

    def slabs(self, place: int) -> Iterator[Slab]:
        """Yield the slabs (ranges of entries) of the graph for the device number *place* one by one.

        A slab may be overwritten as soon as the slab after the next is requested.
        """
        session, (first, stop) = self.team.sessions[place], self._cuts[place]
        most = self.segment_entries or segment_entries_for(session, stop - first)
        slots = Slots(self.team, session, self.source, min(most, stop - first), weights=self._weights)
        stats = None
        for cut in in_segments(first, stop, most):
            slab = slots.slab(*cut)
            if stats is None:
                # Waiting here for earlier work does not hold the driver's lock, since other threads need the driver.
                # Without a wait here, the statistics below would wait for earlier work with the driver's lock held.
                wait_for(session)
                with session.driver:
                    stats = slab.graph.stats
            # The statistics of the first segment are used for all segments.
            vars(slab.graph)["stats"] = replace(stats, n_edges=slab.graph.n_edges)
            yield slab
            slots.used()


def as_split(
    graph: Any, devices: object, session: object, options: dict[str, Any], *, weights: bool = False
) -> SplitGraph | StreamedGraph:
    """Return *graph* split over several devices, and remove the options for the split from *options*."""
    if session is not None:
        raise InputError(f"session = {shown(session)} and several devices; name the devices alone")
    if isinstance(graph, SplitGraph):
        if devices is not None:
            raise InputError(f"devices = {shown(devices)}; a SplitGraph stays on the devices that have it")
        return graph
    given = {name: options.pop(name) for name in SPLIT_OPTIONS if name in options}
    return StreamedGraph(as_graph(graph), Team(devices), weights=weights, **given)


def checked_segment(segment_entries: object) -> int | None:
    """Return *segment_entries*, or raise an :class:`InputError` if it is out of range."""
    return None if segment_entries is None else checked_count("segment_entries", segment_entries, 2**31 - 1)


def split(n_entries: int, team: Team, shares: str) -> list[tuple[int, int]]:
    """Return, for each device of the team, the range of the graph's entries that it gets."""
    check_choice("shares", shares, ("speed", "equal"))
    return ranges(n_entries, [speed_of(session) if shares == "speed" else 1.0 for session in team.sessions])


def ranges(n_entries: int, weights: Sequence[float]) -> list[tuple[int, int]]:
    """Cut the graph's entries 0 … *n_entries* − 1 into ranges whose lengths are in proportion to *weights*."""
    ends = np.cumsum(weights) / math.fsum(weights) * n_entries
    cuts = [0, *(min(n_entries, round(end / _ALIGNMENT) * _ALIGNMENT) for end in ends[:-1]), n_entries]
    return [*pairwise(cuts)]


def in_segments(first: int, stop: int, most: int) -> list[tuple[int, int]]:
    """Cut the graph's entries *first* … *stop* − 1 into segments of *most* entries.

    The last segment may be shorter.
    """
    return [(at, min(at + most, stop)) for at in range(first, stop, most)]


def segment_entries_for(session: Session, n_entries: int) -> int:
    """Return the number of entries per segment of a graph.

    A CPU gets the most, because it reads host memory directly.
    """
    facts = session.facts
    if facts.is_cpu:
        return _MOST_ENTRIES
    # The widest weights have 8 bytes per entry.
    room = min(facts.max_alloc_bytes, facts.global_mem_bytes // _MEMORY_SHARE) // 8
    wanted = max(_LEAST_SEGMENT, -(-n_entries // _SEGMENTS))
    return -(-min(_MOST_ENTRIES, room, wanted) // _ALIGNMENT) * _ALIGNMENT


def wait_for(session: Session) -> None:
    """Wait for all enqueued commands of a session.

    Other threads can call the driver meanwhile.
    """
    with session.driver, typed_errors("waiting for the device"):
        marker = cl.enqueue_marker(session.queue)
        session.queue.flush()
    session.commands.wait_aside(marker)
