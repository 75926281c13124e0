"""Reduction of chunks to one result on Dask.

Each worker adds chunks to its part, then pairs of workers merge parts.

If a worker is lost, its results are lost, too. Dask then runs the tasks of these results again on another worker.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Generic, TypeVar
from uuid import uuid4

import distributed

from clgraph.distributed.waiting import results, submit, wait_for
from clgraph.distributed.workers import devices_of, own_address
from clgraph.progress import begin
from clgraph.tables import plain

Value = TypeVar("Value")
Absorb = Callable[..., Value]
# Number of tasks per Dask worker. More tasks would produce more results, each of which has full size.
# With fewer tasks per worker, the loss of a worker would undo more work, because at least one task is lost.
_TASKS = 8


@dataclass(frozen=True)
class DistributedInfo:
    """A report on one call of a distributed algorithm: its workers, chunks, messages and time.

    Attributes
    ----------
    workers : tuple of str
        The address and the device of each worker.
    n_chunks, n_edges : int
        The numbers of chunks and of edges that were read.
    n_messages : int
        The number of results that were sent from one worker to another.
    bytes_sent, largest_message_bytes : int
        The size of all messages, and of the largest one, without chunks of arrays that the client sent.
    seconds : float
        The time from the call to the result.
    """

    workers: tuple[str, ...]
    n_chunks: int
    n_edges: int
    n_messages: int
    bytes_sent: int
    largest_message_bytes: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return a dictionary of all attributes of the report, with values that :func:`json.dumps` accepts."""
        document: dict[str, Any] = plain(asdict(self))
        return document


@dataclass(frozen=True)
class Part(Generic[Value]):
    """A Dask worker's result for some chunks, with counts of the messages that were sent to compute the result.

    *aside* is data that helps the worker with its next chunks; it is not sent in messages.
    """

    value: Value
    n_bytes: int
    address: str
    n_edges: int
    n_messages: int = 0
    bytes_sent: int = 0
    largest_message_bytes: int = 0
    aside: Any = field(default=None, compare=False)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.n_bytes  # Dask estimates the memory use of a worker from this size.

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "aside": None}

    def received(self) -> Part[Value]:
        """Return this part for the current worker.

        If another worker made the part, one more message is counted.
        """
        if (here := own_address()) == self.address:
            return self
        largest = max(self.n_bytes, self.largest_message_bytes)
        return replace(
            self, address=here, n_messages=self.n_messages + 1, bytes_sent=self.bytes_sent + self.n_bytes,
            largest_message_bytes=largest,
        )  # fmt: skip

    def grown(self, value: Value, n_bytes: int, n_edges: int, *others: Part[Value]) -> Part[Value]:
        """Return a part with a *value* computed from this part and *others*.

        Its counts are the sums of their counts.
        """
        parts = (self, *others)
        return Part(
            value, n_bytes, self.address, n_edges + sum(part.n_edges for part in parts),
            sum(part.n_messages for part in parts), sum(part.bytes_sent for part in parts),
            max(part.largest_message_bytes for part in parts),
        )  # fmt: skip


def folded(
    client: distributed.Client,
    chunks: Sequence[Any],
    absorb: Absorb[Part[Value]],
    merge: Callable[[Part[Value], Part[Value]], Part[Value]],
    what: str,
    finish: Callable[[Part[Value]], Part[Value]] | None = None,
) -> tuple[Part[Value], DistributedInfo]:
    """Reduce all *chunks* to one result on the Dask workers, and return the result and a report.

    ``absorb(part, places, *chunks)`` adds chunks to a worker's part, which is ``None`` at first. ``finish(part)`` is
    called once for each part before the merges, and ``merge(one, other)`` merges two parts.
    """
    began, token = time.perf_counter(), uuid4().hex
    workers = devices_of(client)
    tell = begin(what, len(chunks), "chunks")
    waiting = deque(grouped(chunks, max(1, len(chunks) // (_TASKS * len(workers)))))
    # The part of the result that each worker has made so far, by the worker's address.
    lanes: dict[str, distributed.Future] = {}
    # The worker's address and the number of chunks of each running task.
    running: dict[distributed.Future, tuple[str, int]] = {}

    def give(address: str) -> None:
        places = waiting.popleft()
        key = f"clgraph-absorb-{places[0]}-{token}"
        future = submit(
            client, address, absorb, lanes.get(address), places, *(chunks[place] for place in places), key=key
        )
        lanes[address], running[future] = future, (address, len(places))

    done = 0
    for worker in workers[: len(waiting)]:
        give(worker.address)
    while running:
        for future in wait_for(client, list(running), first=True):
            address, count = running.pop(future)
            if future.status in ("error", "cancelled"):
                results(client, [future])  # raises its error
            tell(done := done + count)
            if waiting:
                give(address)
    if finish is not None:
        for address, lane in lanes.items():
            lanes[address] = submit(client, address, finish, lane, key=f"clgraph-finish-{uuid4().hex}")
    level = list(lanes.items())
    while len(level) > 1:  # Adjacent workers merge their parts first, because they may be on the same host.
        merged = [
            (address, submit(client, address, merge, one, other, key=f"clgraph-merge-{uuid4().hex}"))
            for (address, one), (_, other) in zip(level[::2], level[1::2], strict=False)
        ]
        level = merged + level[2 * len(merged) :]
    ((_, last),) = level
    lanes.clear()
    part: Part[Value]
    (part,) = results(client, [last])
    info = DistributedInfo(
        tuple(f"{worker.address} {worker.device}" for worker in workers), len(chunks), part.n_edges, part.n_messages,
        part.bytes_sent, part.largest_message_bytes, time.perf_counter() - began,
    )  # fmt: skip
    return part, info


def grouped(chunks: Sequence[Any], most: int) -> list[list[int]]:
    """Return the positions of each task's chunks.

    Only chunks that are paths or functions share a task, at most *most*.
    """
    groups, was_light = list[list[int]](), False
    for place, chunk in enumerate(chunks):
        is_light = isinstance(chunk, str | os.PathLike) or callable(chunk)
        if groups and is_light and was_light and len(groups[-1]) < most:
            groups[-1].append(place)
        else:
            groups.append([place])
        was_light = is_light
    return groups
