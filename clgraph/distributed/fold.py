"""Chunks into one result: each worker adds chunk after chunk to what it has, then pairs of workers merge.

A worker's results are lost with it. Dask knows how they came about, and computes them again on another one.
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

from clgraph.distributed.workers import devices_of, own_address, results, submit, wait_for
from clgraph.progress import begin
from clgraph.tables import plain

Value = TypeVar("Value")
Absorb = Callable[..., Value]
_TASKS = 8  # of a worker: each leaves a whole result, and a worker that is lost loses one at least


@dataclass(frozen=True)
class DistributedInfo:
    """How a call ran.

    Attributes
    ----------
    workers : tuple of str
        The addresses of the workers, each with its device.
    n_chunks, n_edges : int
        What was read.
    n_messages : int
        Results that went from one worker to another one.
    bytes_sent, largest_message_bytes : int
        Of all of them, and of the largest. Chunks of arrays, which come from the client, do not count.
    seconds : float
        From the call to the result.
    """

    workers: tuple[str, ...]
    n_chunks: int
    n_edges: int
    n_messages: int
    bytes_sent: int
    largest_message_bytes: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return all attributes as :func:`json.dumps` takes them."""
        document: dict[str, Any] = plain(asdict(self))
        return document


@dataclass(frozen=True)
class Part(Generic[Value]):
    """What a worker has made of some chunks, and the messages that went into it.

    What is *aside* helps the worker with the next chunks, and is not in messages.
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
        return object.__sizeof__(self) + self.n_bytes  # by which Dask knows what a worker holds

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "aside": None}

    def received(self) -> Part[Value]:
        """Return this part as it is here: it was a message if another worker made it."""
        if (here := own_address()) == self.address:
            return self
        largest = max(self.n_bytes, self.largest_message_bytes)
        return replace(
            self, address=here, n_messages=self.n_messages + 1, bytes_sent=self.bytes_sent + self.n_bytes,
            largest_message_bytes=largest,
        )  # fmt: skip

    def grown(self, value: Value, n_bytes: int, n_edges: int, *others: Part[Value]) -> Part[Value]:
        """Return the part that this one and *others* have become."""
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
    """Return what *absorb*, of a part, places of chunks and these chunks, and *merge*, of two parts, make of all.

    Before parts merge each goes through *finish*.
    """
    began, token = time.perf_counter(), uuid4().hex
    workers = devices_of(client)
    tell = begin(what, len(chunks), "chunks")
    waiting = deque(grouped(chunks, max(1, len(chunks) // (_TASKS * len(workers)))))
    lanes: dict[str, distributed.Future] = {}  # what each worker has so far
    running: dict[distributed.Future, tuple[str, int]] = {}  # who has each task, and how many chunks are in it

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
    while len(level) > 1:  # neighbours first: they may be on one host
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
    """Return the places of chunks that are read in one task: several if the task only says where they are."""
    groups, was_light = list[list[int]](), False
    for place, chunk in enumerate(chunks):
        is_light = isinstance(chunk, str | os.PathLike) or callable(chunk)
        if groups and is_light and was_light and len(groups[-1]) < most:
            groups[-1].append(place)
        else:
            groups.append([place])
        was_light = is_light
    return groups
