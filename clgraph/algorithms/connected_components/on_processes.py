"""Connected components of a graph on several GPUs.

Each GPU has a process of its own.

Each GPU finds a forest of its entries, and writes it to shared memory. Then each GPU merges the forests of all other
GPUs into its own. So all GPUs have the same trees and number them in the same way. Each GPU copies its range of the
answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph import shared_memory
from clgraph.algorithms.connected_components import on_devices
from clgraph.algorithms.connected_components.messages import begin_message
from clgraph.algorithms.connected_components.strategies import STRATEGIES
from clgraph.engine.options import checked_options
from clgraph.model.strategy import Choice
from clgraph.multi_device.member import Member
from clgraph.multi_device.process_graph import ProcessGraph, part_of
from clgraph.multi_device.split_graph import ranges
from clgraph.runtime.driver.timing import RunInfo, Seconds
from clgraph.runtime.memory.arrays import DeviceArray

_FOREST, _MESSAGE = "the forest of the running call", "its message"
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
    size : int
        Words of the message.
    is_packed : bool
    """

    strategy: str
    n_entries: int
    seconds: float
    skips: list[int | None]
    size: int
    is_packed: bool


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
    many = [strategy] * len(team), [dict(options)] * len(team)
    local = team.each(_find, graph.parts, *many, rooms, cuts, needs=graph.generation)
    if any(each.size > room.size for each, room in zip(local, rooms, strict=True)):
        rooms = [shared_memory.empty(each.size, np.uint32) for each in local]
        team.each(_send, rooms)
    local_stopped = time.perf_counter()
    messages = [(room[: each.size], each.is_packed) for room, each in zip(rooms, local, strict=True)]
    others = [messages[:place] + messages[place + 1 :] for place in range(len(team))]
    joined = team.each(_join, others, [numbers[first:stop] for first, stop in cuts], cuts)
    if not on_devices.all_seen([skip for each in local for skip in each.skips], numbers):
        n_components, numbers, info = solve(graph, "rem", {})
        return n_components, numbers, replace(info, details={**info.details, "giants_differed": True})
    collect_seconds = max(seconds for _, seconds in joined)
    info = _info(graph, strategy, local[0].strategy, started, local_stopped, local, collect_seconds)
    return joined[0][0], numbers, info


def _info(
    graph: ProcessGraph, asked: str, strategy: str, started: float, local_stopped: float, local: Sequence[_Local],
    collect_seconds: float = 0.0,
) -> RunInfo:  # fmt: skip
    now = time.perf_counter()
    sizes = [4 * each.size for each in local]
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
    member: Member, part: Any, strategy: str, options: Mapping[str, Any], room: NDArray[np.uint32],
    cut: tuple[int, int],
) -> _Local:  # fmt: skip
    """Find the spanning forest of one process's part of the graph.

    Write the forest to the shared memory *room* if it fits. *cut* is the range of vertices that :func:`_join` numbers.
    """
    graph, started = part_of(member, part), time.perf_counter()
    picked = on_devices.picked(graph, strategy)
    given = checked_options(STRATEGIES, Choice(picked, strategy, {}), options)
    found = on_devices.local_forest(graph, 0, picked, given)
    forest = on_devices.bare_forest(member.session, graph.n_vertices) if found is None else found
    message = begin_message(forest.session, graph.n_vertices, forest.plan.labels)
    # The host prepares the launches of _join() here, while the device finds the forest.
    forest.plan.pieces(*cut)
    labels, is_packed = message()
    seconds = time.perf_counter() - started
    member.kept[_FOREST] = forest
    words = member.kept[_MESSAGE] = labels.view(0, labels.size, np.uint32)
    if words.size <= room.size:
        _send(member, room)
    return _Local(picked, forest.n_entries, seconds, forest.skips() if found else [], words.size, is_packed)


def _send(member: Member, room: NDArray[np.uint32]) -> None:
    """Write the message that holds this process's spanning forest to the shared memory *room*."""
    words = member.kept[_MESSAGE]
    member.begin_read(words, 0, room[: words.size])
    member.finish_reads()


def _join(
    member: Member, others: Sequence[tuple[NDArray[np.uint32], bool]], room: NDArray[np.int32], cut: tuple[int, int]
) -> tuple[int, float]:
    """Merge the spanning forests of the other processes into the forest of this process.

    Return the number of components, and the seconds after numbering them.

    The component numbers of the vertices in the range *cut* are written to *room*.
    """
    forest = member.kept.pop(_FOREST)
    del member.kept[_MESSAGE]
    session = forest.session
    for place, (message, is_packed) in enumerate(others):
        # Each message has memory of its own, because it is copied while kernels still read the message before it.
        buffer = member.room(session, (_MESSAGE, place), message.nbytes)
        array = DeviceArray(session.memory, buffer, message.dtype, message.size)
        member.write(array, 0, message)
        other = array if is_packed else array.view(0, array.size, np.int32)
        forest.merge(other, is_packed=is_packed, flatten=place < len(others) - 1)
    count: int = forest.plan.part(
        *cut, lambda numbers, first, last: member.begin_read(numbers, first, room[first - cut[0] : last - cut[0]])
    )
    numbered = time.perf_counter()
    member.finish_reads()
    forest.keep()
    return count, time.perf_counter() - numbered
