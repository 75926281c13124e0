"""Connected components of a graph on several GPUs.

Each GPU has a process of its own.

Each GPU finds a forest of its entries. If few vertices are in the forests of several GPUs, the processes join the trees
there (``boundaries.py``), and each GPU numbers the vertices of its own range. Otherwise each GPU writes its forest to
shared memory, and merges the forests of all other GPUs into its own. So all GPUs have the same trees and number them in
the same way. Each GPU copies its range of the answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph import shared_memory
from clgraph.algorithms.connected_components import boundaries, on_devices
from clgraph.algorithms.connected_components.boundaries import Boundary, BoundaryLaunches, Range
from clgraph.algorithms.connected_components.messages import forest_message
from clgraph.algorithms.connected_components.strategies import STRATEGIES
from clgraph.engine.options import checked_options
from clgraph.model.strategy import Choice
from clgraph.multi_device.exchange import Exchange
from clgraph.multi_device.member import Member
from clgraph.multi_device.process_graph import ProcessGraph, part_of
from clgraph.multi_device.split_graph import ranges
from clgraph.runtime.driver.timing import RunInfo, Seconds
from clgraph.runtime.memory.arrays import DeviceArray

_FOREST, _MESSAGE = "the forest of the running call", "its message"
_PICKLED = 1 << 12  # A pickled value has at most 4,096 bytes beside its arrays.
_PACKED = 8  # A message gets memory for one word per 8 vertices. Halves of R-MAT 24 need one word per 13 vertices.


@dataclass(frozen=True)
class _Report:
    """The report of one GPU's process about a call.

    Attributes
    ----------
    strategy : str
    n_entries : int
    local_seconds, collect_seconds : float
        Time of finding the forest, and of copying the numbers after the last kernel.
    skips : list of int or None
        As :meth:`on_devices.Forest.skips`.
    sent_bytes : int
        Bytes that the process has given to the others.
    n_components : int or None
        ``None`` if a message is too long for its room. Then the components are not numbered yet.
    """

    strategy: str
    n_entries: int
    local_seconds: float
    skips: list[int | None]
    sent_bytes: int
    n_components: int | None
    collect_seconds: float = 0.0


@dataclass(frozen=True)
class _Run:
    """The arguments of a call that all processes get.

    Attributes
    ----------
    strategy, options
        As the caller has named them.
    reads_giants : bool
        Whether rows of giant components are read, too.
    most : int
        A boundary of *most* pairs and more is large.
    owned : list of (int, int)
        The range of vertices of each process.
    cuts : list of (int, int)
        The range of the answer that each process copies if boundaries are large.
    """

    strategy: str
    options: dict[str, Any]
    reads_giants: bool
    most: int
    owned: list[Range]
    cuts: list[Range]


def solve(graph: ProcessGraph, strategy: str, options: Mapping[str, Any]) -> tuple[int, NDArray[np.int32], RunInfo]:
    """Find the components of a graph on several GPUs.

    Return their number, each vertex's component, and the run's info.
    """
    on_devices.check_strategy(strategy)
    started, team, n = time.perf_counter(), graph.processes, graph.n_vertices
    if not n:
        return 0, np.zeros(0, np.int32), _info(graph, strategy, strategy, started, [])
    rooms = shared_memory.empty(-(-n // _PACKED) * len(team), np.uint32).reshape(len(team), -1)
    numbers, cuts = shared_memory.empty(n, np.int32), ranges(n, [1.0] * len(team))
    run = _Run(strategy, dict(options), graph.reads_giants, boundaries.MAX_BOUNDARY, graph.owned, cuts)
    same = [[each] * len(team) for each in (run, rooms, numbers)]
    # A process finds at most the vertices of all other boundaries in its range: two for each pair.
    n_bytes = 16 * boundaries.MAX_BOUNDARY * len(team) + _PICKLED
    reports = team.each(_solve, graph.parts, *same, needs=graph.generation, exchange_bytes=n_bytes)
    n_components = reports[0].n_components
    if n_components is None:
        n_components = _merged(graph, [each.sent_bytes // 4 for each in reports], cuts, numbers)
    if not on_devices.all_seen([skip for each in reports for skip in each.skips], numbers):
        graph.reads_giants = True
        n_components, numbers, info = solve(graph, strategy, options)
        return n_components, numbers, replace(info, details={**info.details, "giants_differed": True})
    return n_components, numbers, _info(graph, strategy, reports[0].strategy, started, reports)


def _merged(graph: ProcessGraph, sizes: Sequence[int], cuts: Sequence[Range], numbers: NDArray[np.int32]) -> int:
    """Merge the forests of all devices on each device, by messages of *sizes* words, and write the answer to *numbers*.

    Return the number of components.
    """
    team, rooms = graph.processes, [shared_memory.empty(size, np.uint32) for size in sizes]
    are_packed = team.each(_send, rooms)
    many = [[each] * len(team) for each in (rooms, are_packed)]
    merged = team.each(_merge, range(len(team)), *many, [numbers[first:last] for first, last in cuts], cuts)
    return merged[0][0]


def _info(graph: ProcessGraph, asked: str, strategy: str, started: float, reports: Sequence[_Report]) -> RunInfo:
    total, sizes = time.perf_counter() - started, [each.sent_bytes for each in reports]
    local, collect = (
        max((getattr(each, name) for each in reports), default=0.0) for name in ("local_seconds", "collect_seconds")
    )
    told = {
        "device_entries": tuple(each.n_entries for each in reports),
        "device_seconds": tuple(each.local_seconds for each in reports),
        "local_seconds": local, "merge_rounds": 1, "merge_seconds": total - local - collect,
        "collect_seconds": collect, "merge_bytes": sum(sizes), "most_merge_bytes": max(sizes, default=0),
    }  # fmt: skip
    why, names = on_devices.reason(asked), ", ".join(graph.processes.names())
    return RunInfo(strategy, "online", names, why, Seconds(total, 0.0, 0.0, 0.0), {}, {}, told)


def _solve(
    member: Member, exchange: Exchange, part: Any, run: _Run, rooms: NDArray[np.uint32], numbers: NDArray[np.int32]
) -> _Report:  # fmt: skip
    """Find the components of a graph together with the other processes.

    Write the numbers of a range of vertices to the shared memory *numbers*. If boundaries are large, the forest goes to
    the row of this process in *rooms*, if it fits there.
    """
    graph, started, place = part_of(member, part), time.perf_counter(), exchange.place
    picked = on_devices.picked(graph, run.strategy)
    given = checked_options(STRATEGIES, Choice(picked, run.strategy, {}), run.options)
    if run.reads_giants and picked == "afforest":
        given = {**given, "skip_giant": False}
    found, own = on_devices.local_forest(graph, 0, picked, given), run.owned[place]
    forest = on_devices.bare_forest(member.session, graph.n_vertices) if found is None else found
    launches = BoundaryLaunches(forest.plan, own, run.most)
    # The host prepares the launches of the answer here, while the device finds the forest.
    forest.plan.numbering(*own).pieces(*own)
    boundary = launches.boundary()
    skips, local_seconds = forest.skips() if found else [], time.perf_counter() - started
    report = partial(_Report, picked, forest.n_entries, local_seconds, skips)

    known: list[Boundary | None] = exchange.all(boundary)
    small = [each for each in known if each is not None]
    if boundary is not None and len(small) == len(known):
        return report(boundary.pairs.nbytes, *_join(member, exchange, forest, launches, small, run.owned, numbers))
    return report(*_exchange_forests(member, exchange, forest, run.cuts[place], rooms, numbers))


def _join(
    member: Member, exchange: Exchange, forest: on_devices.Forest, launches: BoundaryLaunches,
    known: Sequence[Boundary], owned: Sequence[Range], numbers: NDArray[np.int32],
) -> tuple[int, float]:  # fmt: skip
    """Join the trees at small boundaries together with the other processes, and number the own range of vertices.

    Return the number of components, and the seconds after numbering.
    """
    place, own = exchange.place, owned[exchange.place]
    mentioned = np.unique(np.concatenate([each.pairs.ravel() for each in known]))
    found = exchange.all(launches.look_up(boundaries.owned_by(mentioned, owned)[place]))
    n_components, given = boundaries.joined(known, owned, mentioned, found)
    launches.set_numbers(given[place].pairs)
    return n_components, _collect(member, forest, own, own, numbers[slice(*own)], given[place].base)[1]


def _exchange_forests(
    member: Member, exchange: Exchange, forest: on_devices.Forest, cut: Range, rooms: NDArray[np.uint32],
    numbers: NDArray[np.int32],
) -> tuple[int, int | None, float]:  # fmt: skip
    """Send the forest to the other processes, merge theirs, and number the vertices in the range *cut*.

    Return the bytes of the message, the number of components, and the seconds after numbering. If a message is longer
    than its row of *rooms*, the number is ``None``.
    """
    place, session = exchange.place, forest.session
    labels, is_packed = forest_message(session, forest.plan.scope["n"], forest.plan.labels)
    words = labels.view(0, labels.size, np.uint32)
    member.kept[_FOREST], member.kept[_MESSAGE] = forest, (words, is_packed)
    if fits := words.size <= rooms[place].size:
        _send(member, rooms[place])
    sent: list[tuple[int, bool, bool]] = exchange.all((words.size, is_packed, fits))
    if not all(fits for _, _, fits in sent):
        return words.nbytes, None, 0.0
    messages = [room[:size] for room, (size, _, _) in zip(rooms, sent, strict=True)]
    are_packed = [is_packed for _, is_packed, _ in sent]
    return words.nbytes, *_merge(member, place, messages, are_packed, numbers[slice(*cut)], cut)


def _collect(
    member: Member, forest: on_devices.Forest, roots: Range, cut: Range, room: NDArray[np.int32], base: int = 0
) -> tuple[int, float]:
    """Number components, and write the numbers of the vertices in the range *cut* to *room*.

    Return the number of roots in the range *roots*, and the seconds after numbering.
    """
    count = forest.plan.part(
        forest.plan.numbering(*roots), *cut,
        lambda numbers, first, last: member.begin_read(numbers, first, room[first - cut[0] : last - cut[0]]), base,
    )  # fmt: skip
    numbered = time.perf_counter()
    member.finish_reads()
    forest.keep()
    return count, time.perf_counter() - numbered


def _send(member: Member, room: NDArray[np.uint32]) -> bool:
    """Write the message that holds this process's spanning forest to the shared memory *room*.

    Return whether it is packed.
    """
    words, is_packed = member.kept[_MESSAGE]
    member.begin_read(words, 0, room[: words.size])
    member.finish_reads()
    return bool(is_packed)


def _merge(
    member: Member, place: int, messages: Sequence[NDArray[np.uint32]], are_packed: Sequence[bool],
    room: NDArray[np.int32], cut: Range,
) -> tuple[int, float]:  # fmt: skip
    """Merge the forests in the *messages* of the other processes into the forest of this process, number *place*.

    Return the number of components, and the seconds after numbering them.

    The component numbers of the vertices in the range *cut* are written to *room*.
    """
    forest = member.kept.pop(_FOREST)
    del member.kept[_MESSAGE]
    session, others = forest.session, [k for k in range(len(messages)) if k != place]
    for k in others:
        # Each message has memory of its own, because it is copied while kernels still read the message before it.
        buffer = member.room(session, (_MESSAGE, k), messages[k].nbytes)
        array = DeviceArray(session.memory, buffer, messages[k].dtype, messages[k].size)
        member.write(array, 0, messages[k])
        other = array if are_packed[k] else array.view(0, array.size, np.int32)
        forest.merge(other, is_packed=are_packed[k], flatten=k != others[-1])
    return _collect(member, forest, (0, forest.plan.scope["n"]), cut, room)
