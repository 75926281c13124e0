"""Connected components of a graph on several GPUs.

Each GPU has a process of its own.

Each GPU finds a forest of its entries. If few vertices are in the forests of several GPUs, the host joins the trees
there (``boundaries.py``), and each GPU numbers the vertices of its own range. Otherwise each GPU writes its forest to
shared memory, and merges the forests of all other GPUs into its own. So all GPUs have the same trees and number them in
the same way. Each GPU copies its range of the answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph import shared_memory
from clgraph.algorithms.connected_components import boundaries, on_devices
from clgraph.algorithms.connected_components.boundaries import Boundary, BoundaryLaunches, Numbers, Range
from clgraph.algorithms.connected_components.messages import forest_message
from clgraph.algorithms.connected_components.strategies import STRATEGIES
from clgraph.engine.options import checked_options
from clgraph.model.strategy import Choice
from clgraph.multi_device.member import Member
from clgraph.multi_device.process_graph import ProcessGraph, part_of
from clgraph.multi_device.split_graph import ranges
from clgraph.runtime.driver.timing import RunInfo, Seconds
from clgraph.runtime.memory.arrays import DeviceArray

_FOREST, _BOUNDARY, _MESSAGE = "the forest of the running call", "the launches for its boundary", "its message"
_PACKED = 16  # A message gets memory for one word per 16 vertices. R-MAT graphs need only one word per 50 vertices.


@dataclass(frozen=True)
class _Local:
    """The report of one GPU's process about the spanning forest of its part of the graph.

    Attributes
    ----------
    strategy : str
    n_entries : int
    seconds : float
        Time of finding the forest and the size of its message.
    skips : list of int or None
        As :meth:`on_devices.Forest.skips`.
    boundary : Boundary or None
        ``None`` if the boundary is large. Then there is a message.
    size : int
        Words of the message.
    is_packed : bool
    """

    strategy: str
    n_entries: int
    seconds: float
    skips: list[int | None]
    boundary: Boundary | None
    size: int = 0
    is_packed: bool = False


def solve(graph: ProcessGraph, strategy: str, options: Mapping[str, Any]) -> tuple[int, NDArray[np.int32], RunInfo]:
    """Find the components of a graph on several GPUs.

    Return their number, each vertex's component, and the run's info.
    """
    on_devices.check_strategy(strategy)
    started, team, n = time.perf_counter(), graph.processes, graph.n_vertices
    if not n:
        return 0, np.zeros(0, np.int32), _info(graph, strategy, strategy, started, started, [])
    rooms = [shared_memory.empty(-(-n // _PACKED), np.uint32) for _ in range(len(team))]
    numbers = shared_memory.empty(n, np.int32)
    cuts = ranges(n, [1.0] * len(team))
    same = [[each] * len(team) for each in (strategy, dict(options), graph.reads_giants, boundaries.MAX_BOUNDARY)]
    local = team.each(_find, graph.parts, *same, rooms, graph.owned, needs=graph.generation)
    local_stopped = time.perf_counter()
    found = [each.boundary for each in local if each.boundary is not None]
    if len(found) == len(team):
        n_components, collect_seconds = _joined(graph, found, numbers)
    else:
        n_components, collect_seconds = _merged(graph, local, rooms, cuts, numbers)
    if not on_devices.all_seen([skip for each in local for skip in each.skips], numbers):
        graph.reads_giants = True
        n_components, numbers, info = solve(graph, strategy, options)
        return n_components, numbers, replace(info, details={**info.details, "giants_differed": True})
    info = _info(graph, strategy, local[0].strategy, started, local_stopped, local, collect_seconds)
    return n_components, numbers, info


def _joined(graph: ProcessGraph, found: Sequence[Boundary], numbers: NDArray[np.int32]) -> tuple[int, float]:
    """Join the trees at small boundaries, and write the answer to *numbers*.

    Return the number of components, and the seconds of copying the answer.
    """
    team, owned = graph.processes, graph.owned
    mentioned = np.unique(np.concatenate([each.pairs.ravel() for each in found]))
    labels = team.each(_look_up, boundaries.owned_by(mentioned, owned))
    n_components, given = boundaries.joined(found, owned, mentioned, labels)
    return n_components, max(team.each(_number, given, [numbers[first:last] for first, last in owned], owned))


def _merged(
    graph: ProcessGraph, local: Sequence[_Local], rooms: list[NDArray[np.uint32]], cuts: Sequence[Range],
    numbers: NDArray[np.int32],
) -> tuple[int, float]:  # fmt: skip
    """Merge the forests of all devices on each device, and write the answer to *numbers*.

    Return the number of components, and the seconds of copying the answer.
    """
    team = graph.processes
    if any(each.boundary is not None for each in local):
        sizes = team.each(_pack, rooms)
    else:
        sizes = [(each.size, each.is_packed) for each in local]
    if any(size > room.size for (size, _), room in zip(sizes, rooms, strict=True)):
        rooms = [shared_memory.empty(size, np.uint32) for size, _ in sizes]
        team.each(_send, rooms)
    messages = [(room[:size], is_packed) for room, (size, is_packed) in zip(rooms, sizes, strict=True)]
    others = [messages[:place] + messages[place + 1 :] for place in range(len(team))]
    merged = team.each(_join, others, [numbers[first:last] for first, last in cuts], cuts)
    return merged[0][0], max(seconds for _, seconds in merged)


def _info(
    graph: ProcessGraph, asked: str, strategy: str, started: float, local_stopped: float, local: Sequence[_Local],
    collect_seconds: float = 0.0,
) -> RunInfo:  # fmt: skip
    now = time.perf_counter()
    sizes = [4 * each.size if each.boundary is None else each.boundary.pairs.nbytes for each in local]
    told = {
        "device_entries": tuple(each.n_entries for each in local),
        "device_seconds": tuple(each.seconds for each in local),
        "local_seconds": local_stopped - started, "merge_rounds": 1,
        "merge_seconds": now - local_stopped - collect_seconds, "collect_seconds": collect_seconds,
        "merge_bytes": sum(sizes), "most_merge_bytes": max(sizes, default=0),
    }  # fmt: skip
    why = on_devices.reason(asked)
    seconds, names = Seconds(now - started, 0.0, 0.0, 0.0), ", ".join(graph.processes.names())
    return RunInfo(strategy, "online", names, why, seconds, {}, {}, told)


def _find(
    member: Member, part: Any, strategy: str, options: Mapping[str, Any], reads_giants: bool, most: int,
    room: NDArray[np.uint32], own: Range,
) -> _Local:  # fmt: skip
    """Find the spanning forest of one process's part of the graph, and its boundary, as *own* is the process's range.

    If *reads_giants*, read the rows of giant components, too. If the boundary has at least *most* pairs, write the
    forest to the shared memory *room* if it fits.
    """
    graph, started = part_of(member, part), time.perf_counter()
    picked = on_devices.picked(graph, strategy)
    given = checked_options(STRATEGIES, Choice(picked, strategy, {}), options)
    if reads_giants and picked == "afforest":
        given = {**given, "skip_giant": False}
    found = on_devices.local_forest(graph, 0, picked, given)
    forest = on_devices.bare_forest(member.session, graph.n_vertices) if found is None else found
    launches = BoundaryLaunches(forest.plan, own, most)
    # The host prepares the launches of the answer here, while the device finds the forest.
    forest.plan.numbering(*own).pieces(*own)
    member.kept[_FOREST], member.kept[_BOUNDARY] = forest, launches
    boundary = launches.boundary()
    size, is_packed = _pack(member, room) if boundary is None else (0, False)
    seconds, skips = time.perf_counter() - started, forest.skips() if found else []
    return _Local(picked, forest.n_entries, seconds, skips, boundary, size, is_packed)


def _look_up(member: Member, vertices: NDArray[np.int32]) -> boundaries.Pairs:
    """Return the labels of *vertices* of this process's range in its forest, and the ranks of the labels."""
    launches: BoundaryLaunches = member.kept[_BOUNDARY]
    return launches.look_up(vertices)


def _number(member: Member, given: Numbers, room: NDArray[np.int32], own: Range) -> float:
    """Write the component numbers of the vertices in the range *own* to *room*.

    Return the seconds after numbering them.
    """
    member.kept.pop(_BOUNDARY).set_numbers(given.pairs)
    return _collect(member, member.kept.pop(_FOREST), own, own, room, given.base)[1]


def _collect(
    member: Member, forest: on_devices.Forest, roots: Range, cut: Range, room: NDArray[np.int32], base: int = 0
) -> tuple[int, float]:
    """Number the components whose roots are in the range *roots*, and write those of the vertices of *cut* to *room*.

    Return the number of these roots, and the seconds after numbering.
    """
    count = forest.plan.part(
        forest.plan.numbering(*roots), *cut,
        lambda numbers, first, last: member.begin_read(numbers, first, room[first - cut[0] : last - cut[0]]), base,
    )  # fmt: skip
    numbered = time.perf_counter()
    member.finish_reads()
    forest.keep()
    return count, time.perf_counter() - numbered


def _pack(member: Member, room: NDArray[np.uint32]) -> tuple[int, bool]:
    """Pack this process's spanning forest into a message, and write it to the shared memory *room* if it fits.

    Return the words of the message, and whether it is packed.
    """
    forest = member.kept[_FOREST]
    labels, is_packed = forest_message(forest.session, forest.plan.scope["n"], forest.plan.labels)
    words = member.kept[_MESSAGE] = labels.view(0, labels.size, np.uint32)
    if words.size <= room.size:
        _send(member, room)
    return words.size, is_packed


def _send(member: Member, room: NDArray[np.uint32]) -> None:
    """Write the message that holds this process's spanning forest to the shared memory *room*."""
    words = member.kept[_MESSAGE]
    member.begin_read(words, 0, room[: words.size])
    member.finish_reads()


def _join(
    member: Member, others: Sequence[tuple[NDArray[np.uint32], bool]], room: NDArray[np.int32], cut: Range
) -> tuple[int, float]:
    """Merge the spanning forests of the other processes into the forest of this process.

    Return the number of components, and the seconds after numbering them.

    The component numbers of the vertices in the range *cut* are written to *room*.
    """
    forest = member.kept.pop(_FOREST)
    del member.kept[_MESSAGE], member.kept[_BOUNDARY]
    session = forest.session
    for place, (message, is_packed) in enumerate(others):
        # Each message has memory of its own, because it is copied while kernels still read the message before it.
        buffer = member.room(session, (_MESSAGE, place), message.nbytes)
        array = DeviceArray(session.memory, buffer, message.dtype, message.size)
        member.write(array, 0, message)
        other = array if is_packed else array.view(0, array.size, np.int32)
        forest.merge(other, is_packed=is_packed, flatten=place < len(others) - 1)
    return _collect(member, forest, (0, forest.plan.scope["n"]), cut, room)
