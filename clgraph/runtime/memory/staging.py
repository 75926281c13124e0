"""Large copies between a GPU and memory of the user's, by way of memory that the driver has pinned.

A device copies pinned memory by itself, at the full rate of its bus. The user's memory is pageable: a driver takes it
through one small buffer and one thread (7 GB/s up and 3 GB/s down on an H200, whose bus does 50). Here several threads
copy between the user's memory and pinned chunks while the bus moves other chunks; they also take the page faults of a
new host array, and begin with that while the host waits for kernels.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from queue import SimpleQueue
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.driver.failure import typed_errors

CHUNK_BYTES = 8 << 20  # of memory: each chunk costs the host a dozen steps
N_CHUNKS = 7
LAG = 2  # chunks that are on the bus, or with the threads, before the first of them is used again
LEAST_BYTES = 4 << 20  # a smaller copy has little to overlap
_TOLD = 8  # chunks that kernels take at once, if they begin before all have come
_SLICES = 4  # a chunk is copied by four threads
_FEW_CHUNKS = 4  # if there are fewer chunks, they are halved, so that copies overlap
_MOST_THREADS = 12  # more are no faster than the bus
_TOUCHED = 3  # parts at once, while kernels run
_PAGE_BYTES = 4096
_ZERO = np.zeros(1, np.uint8)

_Copy: TypeAlias = tuple[Any, int, NDArray[Any]]  # a buffer, its first byte, and what is copied there
_Tasks: TypeAlias = "SimpleQueue[tuple[NDArray[np.uint8], NDArray[np.uint8], threading.Lock] | None]"


class _Copiers:
    """Threads that copy between arrays of the host, and what was given to them by one copy to or from the device.

    A queue brings them each slice, and they open a lock when it is done, all in C. Futures take many steps under
    Python's lock, and the bus would wait for them.
    """

    def __init__(self) -> None:
        self._tasks: _Tasks = SimpleQueue()
        self._parts: deque[list[threading.Lock]] = deque()  # not waited for yet; a lock opens when its slice is done
        n_threads = min(_MOST_THREADS, os.cpu_count() or 1)
        for k in range(n_threads):
            name = f"clgraph-copy-{k}"
            threading.Thread(target=_copy_all, args=(self._tasks,), name=name, daemon=True).start()
        weakref.finalize(self, _stop, self._tasks, n_threads)

    def submit(self, target: NDArray[np.uint8], source: NDArray[np.uint8] | None = None) -> None:
        """Let the threads copy *source* to *target*, or without it write to each page of *target*."""
        ends: list[threading.Lock] = []
        self._parts.append(ends)
        step = -(-target.size // _SLICES)
        for at in range(0, target.size, step):
            end = threading.Lock()
            end.acquire()
            slices = target[at : at + step : _PAGE_BYTES], _ZERO
            if source is not None:
                slices = target[at : at + step], source[at : at + step]
            self._tasks.put((*slices, end))
            ends.append(end)

    def wait(self) -> None:
        """Wait for the first part that was not waited for."""
        for end in self._parts[0]:
            with end:
                pass
        self._parts.popleft()

    def finish(self, left: int = 0) -> None:
        """Wait for all parts but the last *left*."""
        while len(self._parts) > left:
            self.wait()


def _copy_all(tasks: _Tasks) -> None:
    while (task := tasks.get()) is not None:
        target, source, end = task
        np.copyto(target, source)
        del task, target, source  # while the thread waits it must not keep memory alive
        end.release()


def _stop(tasks: _Tasks, n_threads: int) -> None:
    for _ in range(n_threads):
        tasks.put(None)


class Staging:
    """The pinned chunks of one device and the threads that copy to and from them, both made on first use.

    Only the thread that has the lock makes them: since Python 3.12, two threads that ask for a ``cached_property``
    may both make it, and get one each. The other threads copy between arrays of the host and never call the driver,
    since some drivers do not stand several threads (``quirks.wants_one_thread``).

    With *beside_kernels* the copies are in the queue for transfers. A thread that waits for them leaves the driver to
    other threads, so that several devices copy at once.
    """

    def __init__(self, commands: Commands, *, beside_kernels: bool = False) -> None:
        self._commands, self._beside_kernels = commands, beside_kernels
        self._lock = threading.Lock()  # one copy at a time has the chunks
        self._sending: list[cl.Event | None] = [None] * N_CHUNKS  # the last event that read each chunk

    @property
    def _queue(self) -> cl.CommandQueue:
        return self._commands.copy_queue if self._beside_kernels else self._commands.queue

    def _wait(self, event: cl.Event) -> None:
        if self._beside_kernels:
            self._commands.wait_aside(event)
        else:
            event.wait()

    @cached_property
    def _chunks(self) -> list[NDArray[np.uint8]]:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        access: Any = cl.map_flags.READ | cl.map_flags.WRITE
        byte_type: Any = np.dtype(np.uint8)
        with self._commands.driver:
            pinned = cl.Buffer(self._commands.context, flags, N_CHUNKS * CHUNK_BYTES)
            mapped, _ = cl.enqueue_map_buffer(self._queue, pinned, access, 0, (N_CHUNKS, CHUNK_BYTES), byte_type)
        return [*mapped]

    @cached_property
    def _copiers(self) -> _Copiers:
        return _Copiers()

    @contextmanager
    def _copying(self, what: str) -> Iterator[tuple[list[NDArray[np.uint8]], _Copiers]]:
        """Give the chunks to one copy: what it gave to the threads has ended when the next one gets them."""
        with self._lock, typed_errors(what):
            try:
                yield self._chunks, self._copiers
            finally:
                self._copiers.finish()

    def _enqueue(self, queue: cl.CommandQueue, target: Any, source: Any, **place: Any) -> cl.Event:
        with self._commands.driver:
            event: cl.Event = cl.enqueue_copy(queue, target, source, is_blocking=False, **place)
            queue.flush()
        self._commands.record_transfer(event)
        return event

    def upload(self, buffer: Any, first_byte: int, host: NDArray[Any]) -> None:
        """Copy contiguous *host* to *buffer* from *first_byte* on; *host* may change afterwards."""
        self.upload_all([(buffer, first_byte, host)])

    def upload_all(self, copies: Sequence[_Copy], then: Callable[[int, int], object] | None = None) -> None:
        """Copy as :meth:`upload` does, with no gap between one array and the next.

        With *then* the copies are in the queue for transfers, so that kernels run beside them. It is called for one
        range of bytes of the last array after the other, which begin at multiples of half a chunk, and the kernels
        that it enqueues run once these, and all arrays before, are on the device.
        """
        parts = [(copy, first, part) for copy in copies for first, part in _parts(copy[2])]
        commands = self._commands
        queue, last = self._queue if then is None else commands.copy_queue, copies[-1]

        with self._copying("copying to the device") as (chunks, copiers):

            def fill(i: int) -> None:
                if (event := self._sending[i % N_CHUNKS]) is not None:
                    self._wait(event)
                part = parts[i][2]
                copiers.submit(chunks[i % N_CHUNKS][: part.size], part)

            with self._ordered(queue):
                for i in range(min(N_CHUNKS, len(parts))):
                    fill(i)
                told, untold = 0, 0
                for i, (copy, first, part) in enumerate(parts):
                    copiers.wait()
                    chunk = chunks[i % N_CHUNKS][: part.size]
                    event = self._enqueue(queue, copy[0], chunk, dst_offset=copy[1] + first)
                    self._sending[i % N_CHUNKS], done = event, first + part.size
                    if then is not None and copy is last:
                        untold += 1
                        if untold == _TOLD or done == last[2].nbytes:
                            hold(commands, commands.queue, queue, event)
                            then(told, done)
                            told, untold = done, 0
                    if LAG <= i < len(parts) - N_CHUNKS + LAG:  # the bus has others to move meanwhile
                        fill(i - LAG + N_CHUNKS)

    @contextmanager
    def _ordered(self, queue: cl.CommandQueue) -> Iterator[None]:
        """Run what the block enqueues in *queue* after all kernels before, and all kernels and reads after it."""
        if queue == self._queue:
            yield
            return
        kernels = self._commands.queue
        hold(self._commands, queue, kernels)
        try:
            yield
        finally:  # also after an error, since the memory may be given to others
            hold(self._commands, kernels, queue)

    def read(self, buffer: Any, first_byte: int, host: NDArray[Any]) -> None:
        """Copy bytes of *buffer* from *first_byte* on to all of contiguous *host*, after all earlier work."""
        parts, coming = _parts(host), list[cl.Event]()

        with self._copying("copying from the device") as (chunks, copiers):

            def ask(i: int) -> None:
                first, part = parts[i]
                chunk = chunks[i % N_CHUNKS][: part.size]
                coming.append(self._enqueue(self._queue, chunk, buffer, src_offset=first_byte + first))

            for i in range(min(N_CHUNKS, len(parts))):
                ask(i)
            for _, part in parts:  # touching writes a byte of 0, which must not come after the data
                with self._commands.driver:
                    if coming[0].command_execution_status <= cl.command_execution_status.COMPLETE:
                        break
                copiers.submit(part)
                copiers.finish(left=_TOUCHED)
            copiers.finish()
            for i, (_, part) in enumerate(parts):
                self._wait(coming[i])
                copiers.submit(part, chunks[i % N_CHUNKS][: part.size])
                if LAG <= i < len(parts) - N_CHUNKS + LAG:
                    copiers.wait()
                    ask(i - LAG + N_CHUNKS)


def _parts(host: NDArray[Any]) -> list[tuple[int, NDArray[np.uint8]]]:
    """Return the bytes of *host* in parts, each for a chunk, and where they begin."""
    whole = host.reshape(-1).view(np.uint8)
    size = CHUNK_BYTES if whole.size >= _FEW_CHUNKS * CHUNK_BYTES else CHUNK_BYTES // 2
    return [(start, whole[start : start + size]) for start in range(0, whole.size, size)]


def hold(commands: Commands, queue: cl.CommandQueue, other: cl.CommandQueue, event: cl.Event | None = None) -> None:
    """Let *queue* wait for *event*, or for all that is in the *other* queue of *commands*."""
    with commands.driver, typed_errors("ordering copies and kernels"):
        cl.enqueue_barrier(queue, wait_for=[event or cl.enqueue_marker(other)])
        other.flush()  # else the first queue might wait for ever
        queue.flush()
