"""Graphs divided into parts for several GPUs.

Each GPU's process holds a part, or reads it from shared memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from clgraph import shared_memory
from clgraph.arguments import check_choice, shown
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError
from clgraph.multi_device.member import Member
from clgraph.multi_device.processes import Processes, device_names, names_of, processes_of
from clgraph.multi_device.split_graph import (
    SPLIT_OPTIONS,
    SplitGraph,
    StreamedGraph,
    as_split,
    checked_segment,
    ranges,
)
from clgraph.runtime.devices import speed_of
from clgraph.runtime.graphs.device_graph import DeviceGraph
from clgraph.runtime.session import Session, as_session

# A graph that takes more than 40 % of a GPU's memory may leave too little memory for the algorithm's arrays.
_SHARE_OF_ONE = 0.4
_OWNED_ALIGNMENT = 32  # A device's own range of vertices begins at a multiple of 32, which bitmaps have in a word.


@dataclass(frozen=True)
class Arrays:
    """The arrays of a graph in shared memory, in the form in which a process receives them."""

    row_offsets: Any
    column_indices: Any
    edge_weights: Any
    directed: bool
    has_sorted_rows: bool

    @classmethod
    def of(cls, graph: Graph) -> Arrays:
        kept = graph.row_offsets, graph.column_indices, graph.edge_weights
        return cls(*kept, graph.directed, graph.has_sorted_rows)

    def graph(self) -> Graph:
        """Return the graph of these arrays, which were checked before and are not checked again."""
        return Graph._trusted(
            self.row_offsets, self.column_indices, self.edge_weights, directed=self.directed,
            sorted_rows=self.has_sorted_rows,
        )  # fmt: skip


@dataclass(frozen=True)
class Stream:
    """A range of a graph's entries that each call copies to a device in segments."""

    arrays: Arrays
    cut: tuple[int, int]
    segment_entries: int | None
    weights: bool


class ProcessGraph:
    """A graph divided into parts on several GPUs, with a process for each GPU.

    A part has all vertices and some of the entries. :meth:`from_graph` copies the parts to the GPUs, and
    :meth:`generate` makes the parts on the GPUs. All GPUs together find the components of the graph. If one of the
    processes ends, the parts are lost, and calls raise a :class:`DeviceError`.

    Attributes
    ----------
    n_vertices : int
    n_edges : int
        Entries of all parts.
    directed : bool
    source : Graph or None
        The graph of :meth:`from_graph`, in shared memory.
    """

    # ``processes`` is the Processes object that runs a process for each GPU.
    # ``parts`` is a list of the arguments of part_of(), one for each process.
    # ``owned`` is the range of vertices that each process owns. If the parts follow each other, these are the rows that
    # have entries in its part.
    # ``reads_giants`` is whether afforest reads the rows of giant components, since giants of parts were not one.
    # ``generation`` is Processes.generation at the time when the processes got the parts; None if they hold none.

    def __init__(self, processes: Processes, n_vertices: int, n_edges: int, *, directed: bool) -> None:
        self.processes, self.n_vertices, self.n_edges, self.directed = processes, n_vertices, n_edges, directed
        self.source: Graph | None = None
        self.parts: Sequence[Any] = ()
        self.owned: list[tuple[int, int]] = []
        self.reads_giants = False
        self.generation: int | None = None

    @classmethod
    def from_graph(cls, graph: Any, devices: object = "all", *, shares: str = "speed") -> ProcessGraph:
        """Copy a range of the entries of *graph* to each of the *devices*, and return the divided graph.

        Parameters
        ----------
        graph : Graph, scipy sparse array or networkx graph
            It is copied to shared memory first, unless :meth:`Graph.share_memory` has made it.
        devices : "all", or sequence of str
            Names of devices; ``"all"`` takes all GPUs.
        shares : {"speed", "equal"}
            Whether devices get entries in the ratio of their memory speeds in the profiles, or equal numbers.

        Raises
        ------
        DeviceMemoryError
            A part does not fit on its device.
        HostMemoryError
            There is no shared memory for the graph.
        InputError, NoDeviceError
            *devices* are no names, a device is named twice, or a device does not exist.
        """
        whole, processes = as_graph(graph), processes_of(device_names(devices))
        graph = whole if is_shared(whole) else whole.share_memory()
        made = cls(processes, graph.n_vertices, graph.n_edges, directed=graph.directed)
        made.source, arrays, cuts = graph, Arrays.of(graph), cuts_of(processes, graph.n_edges, shares)
        made._keep(_keep_range, [arrays] * len(processes), cuts)
        made._own(first_rows(graph, cuts))
        return made

    @classmethod
    def generate(cls, make: Callable[..., DeviceGraph], devices: object = "all", *arguments: Any) -> ProcessGraph:
        """Return a divided graph of which each of the *devices* generates its own part.

        Parameters
        ----------
        make : callable
            ``make(session, place, n_places, *arguments)`` returns part *place* of *n_places*, a :class:`DeviceGraph` on
            the device of *session* that has all vertices. It must be a function of a module that can be imported, and
            undirected parts together must have each edge from both of its ends.
        devices : "all", or sequence of str
            As for :meth:`from_graph`.
        *arguments
            Values that can be pickled.

        Raises
        ------
        InputError
            *make* cannot be imported, or the parts do not fit together.
        """
        if getattr(make, "__module__", "") == "__main__" or "<" in getattr(make, "__qualname__", ""):
            raise InputError(f"make = {shown(make)}; allowed: a function of a module that other processes can import")
        processes = processes_of(device_names(devices))
        made, n = cls(processes, 0, 0, directed=False), len(processes)
        found = made._keep(_keep_made, [make] * n, range(n), [n] * n, [arguments] * n)
        for name, values in zip(
            ("n_vertices", "directed"), zip(*(each[:2] for each in found), strict=True), strict=True
        ):
            if len({*values}) > 1:
                raise InputError(f"{name} of the parts are {sorted({*values})}; they must be the same")
        made.n_vertices, made.directed = found[0][:2]
        made.n_edges = sum(n_edges for _, _, n_edges, _ in found)
        made._own([first_row for *_, first_row in found])
        return made

    def _keep(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        key = self.processes.new_key(self)
        self.parts = [key] * len(self.processes)
        found = self.processes.each(function, self.parts, *arguments)
        self.generation = self.processes.generation
        return found

    def _own(self, firsts: Sequence[int]) -> None:
        """Set the ranges of vertices that processes own, whose parts have entries from the rows *firsts* on."""
        n, size = self.n_vertices, len(self.processes)
        cuts = [*firsts[1:]] if sorted(firsts) == [*firsts] else [n * k // size for k in range(1, size)]
        starts = [min(n, cut // _OWNED_ALIGNMENT * _OWNED_ALIGNMENT) for cut in cuts]
        self.owned = [*pairwise([0, *starts, n])]


def is_shared(graph: Graph) -> bool:
    """Return whether all arrays of *graph* are in shared memory."""
    arrays = graph.row_offsets, graph.column_indices, graph.edge_weights
    return all(array is None or shared_memory.place_of(array) is not None for array in arrays)


def streamed(
    graph: Graph, processes: Processes, *, shares: str = "speed", segment_entries: Any = None, weights: bool = False
) -> ProcessGraph:
    """Return a ProcessGraph of *graph*, which is in shared memory.

    Each process reads its part anew in each call.
    """
    made = ProcessGraph(processes, graph.n_vertices, graph.n_edges, directed=graph.directed)
    made.source, arrays, segment = graph, Arrays.of(graph), checked_segment(segment_entries)
    cuts = cuts_of(processes, graph.n_edges, shares)
    made.parts = [Stream(arrays, cut, segment, weights) for cut in cuts]
    made.reads_giants = True  # The bus takes longer than reading all rows.
    made._own(first_rows(graph, cuts))
    return made


def cuts_of(processes: Processes, n_entries: int, shares: str) -> list[tuple[int, int]]:
    """Return the range of the graph's entries that each process gets."""
    check_choice("shares", shares, ("speed", "equal"))
    weights = processes.each(_speed) if shares == "speed" else [1.0] * len(processes)
    return ranges(n_entries, weights)


def first_rows(graph: Graph, cuts: Sequence[tuple[int, int]]) -> list[int]:
    """Return the row of the first entry of each range of the entries of *graph*."""
    firsts = np.array([first for first, _ in cuts], graph.row_offsets.dtype)
    rows: list[int] = (np.searchsorted(graph.row_offsets, firsts, "right") - 1).tolist()
    return rows


def part_of(member: Member, part: Any) -> SplitGraph | StreamedGraph:
    """Return this process's part of a :class:`ProcessGraph`, as a split or streamed graph on its only device."""
    if isinstance(part, Stream):
        graph = part.arrays.graph()
        return StreamedGraph(graph, member, cuts=[part.cut], segment_entries=part.segment_entries, weights=part.weights)
    found: SplitGraph = member.kept[part]
    return found


def as_parts(
    graph: Any, devices: object, session: object, options: dict[str, Any], *, weights: bool = False
) -> SplitGraph | StreamedGraph | ProcessGraph | Session:
    """Return *graph* divided among several devices, and remove the options for the division from *options*.

    If the graph is in shared memory, named GPUs read their parts in processes of their own. Otherwise the first named
    GPU takes the whole graph, and its session is returned, because copying the graph to shared memory takes longer than
    one GPU needs to read and solve the graph. A graph that does not fit on this GPU goes to all named GPUs in segments.
    """
    if isinstance(graph, ProcessGraph):
        if devices is not None or session is not None:
            raise InputError(f"devices = {shown(devices)}; a ProcessGraph stays on the devices that have it")
        return graph
    names = None if session is not None or isinstance(graph, SplitGraph) else names_of(devices)
    if names is None:
        return as_split(graph, devices, session, options, weights=weights)
    whole = as_graph(graph)
    given = {name: options.pop(name) for name in SPLIT_OPTIONS if name in options}
    if is_shared(whole) and not weights:
        return streamed(whole, processes_of(names), **given)
    first = as_session(names[0])
    if not given and whole.nbytes < _SHARE_OF_ONE * first.facts.global_mem_bytes:
        return first
    return as_split(whole, names, None, given, weights=weights)


def _speed(member: Member) -> float:
    return speed_of(member.session)


def _keep_range(member: Member, key: int, arrays: Arrays, cut: tuple[int, int]) -> None:
    member.kept[key] = SplitGraph._of_ranges(arrays.graph(), member, [cut])
    member.session.finish()


def _keep_made(
    member: Member, key: int, make: Callable[..., DeviceGraph], place: int, n_places: int, arguments: tuple[Any, ...]
) -> tuple[int, bool, int, int]:
    """Keep the graph that *make* returns in this process.

    Return its number of vertices, whether it is directed, its number of entries, and the row of the first entry.
    """
    made = make(member.session, place, n_places, *arguments)
    if not isinstance(made, DeviceGraph):
        raise InputError(f"make() has returned {shown(made)}; allowed: a DeviceGraph")
    graph = SplitGraph([[made]])
    graph.team = member
    member.kept[key] = graph
    offsets = made.row_offsets
    first_row = bisect_right(range(graph.n_vertices + 1), 0, key=lambda v: int(offsets.get(v, v + 1)[0])) - 1
    return graph.n_vertices, graph.directed, graph.n_edges, first_row
