"""Large copies between a GPU and the user's memory through chunks of pinned memory.

A device copies pinned memory by itself, at the full rate of its bus. The user's memory is pageable: a driver copies it
through one small buffer with one thread (7 GB/s up and 3 GB/s down on an H200, whose bus reaches 50 GB/s). Here several
threads copy between the user's memory and pinned chunks, while the bus transfers other chunks. The threads also take
the page faults of a new host array, and start with this while the host waits for kernels.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clgraph.lent_memory import LentArray
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.driver.failure import typed_errors
from clgraph.runtime.memory.copiers import Copiers, HostArray

CHUNK_BYTES = 8 << 20  # Bytes of a chunk. Chunks are large, because the host makes a dozen steps for each chunk.
N_CHUNKS = 7
LAG = 3  # The memory of a chunk is reused when three later chunks are being copied.
LEAST_BYTES = 4 << 20  # Bytes. A smaller copy gains little from an overlap of copying and transferring.
_TOLD = 8  # Number of chunks that kernels get at a time, if kernels start before the whole array is uploaded.
_FEW_CHUNKS = 4  # A copy of fewer than 4 chunks is divided into half chunks, so that several transfers overlap.
# The most threads that copy chunks. On an H200's host with 16 cores, 12 threads and 7 chunks copy at 44 GB/s to the
# device, and 16 threads and 14 chunks at 37.
_MAX_THREADS = 12
# The same for memory of another process. On an H200's host 8 threads read it at 24 GB/s, 12 at 20 and 16 at 16.
_MAX_LENT_THREADS = 8
_TOUCHED = 3  # While kernels run, the threads touch the pages of 3 parts of a host array at a time.
# New memory may consist of huge pages. If two threads write to the same new page, one of them waits for the other. An
# H200's host writes 30 GB/s to new memory if whole chunks begin at huge pages, and 24 otherwise.
_HUGE_PAGE_BYTES = 2 << 20

# A copy to the device: the target buffer, the first byte in the buffer, and the host array.
_Copy: TypeAlias = tuple[Any, int, HostArray]


class Staging:
    """Chunks of pinned memory for one device, and the threads that copy to and from the chunks.

    Chunks and threads are made on first use, by the thread that holds the lock. This is necessary because since Python
    3.12, two threads that read a ``cached_property`` at once may each compute it and get different objects. The copying
    threads only copy between host arrays and never call the driver, because some drivers crash if several threads call
    them (``quirks.wants_one_thread``).

    If *beside_kernels*, copies are enqueued in the queue for copies. A thread that waits for such copies does not block
    other threads' calls of the driver, so several devices can copy at the same time.
    """

    def __init__(self, commands: Commands, *, beside_kernels: bool = False) -> None:
        self._commands, self._beside_kernels = commands, beside_kernels
        self._lock = threading.Lock()  # Only one transfer at a time uses the chunks, so it holds this lock.
        # The event of the last upload from each chunk, or None.
        self._sending: list[cl.Event | None] = [None] * N_CHUNKS

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
    def _copiers(self) -> Copiers:
        return Copiers(_MAX_THREADS)

    @cached_property
    def _lent_copiers(self) -> Copiers:
        return Copiers(_MAX_LENT_THREADS)

    @contextmanager
    def _copying(self, what: str, host: HostArray) -> Iterator[tuple[list[NDArray[np.uint8]], Copiers]]:
        """Reserve the chunks and threads for a transfer to or from *host* in the block.

        At its end, wait until the threads are done.
        """
        with self._lock, typed_errors(what):
            copiers = self._lent_copiers if isinstance(host, LentArray) else self._copiers
            try:
                yield self._chunks, copiers
            finally:
                copiers.finish()

    def _enqueue(self, queue: cl.CommandQueue, target: Any, source: Any, **place: Any) -> cl.Event:
        with self._commands.driver:
            event: cl.Event = cl.enqueue_copy(queue, target, source, is_blocking=False, **place)
            queue.flush()
        self._commands.record_transfer(event)
        return event

    def upload(self, buffer: Any, first_byte: int, host: HostArray) -> None:
        """Copy the contiguous host array *host* to *buffer* from *first_byte* on.

        *host* may change afterwards.
        """
        self.upload_all([(buffer, first_byte, host)])

    def upload_all(self, copies: Sequence[_Copy], then: Callable[[int, int], object] | None = None) -> None:
        """Copy several host arrays to the device as :meth:`upload` does, without a pause between them.

        If *then* is given, the copies are in the queue for copies, so that kernels can run meanwhile. ``then(start,
        stop)`` is called for successive ranges of bytes of the last array, which begin at multiples of half a chunk.
        This call enqueues kernels, which run when the range and all earlier arrays are on the device.
        """
        parts = [(copy, first, part) for copy in copies for first, part in _parts(copy[2])]
        commands = self._commands
        queue, last = self._queue if then is None else commands.copy_queue, copies[-1]

        with self._copying("copying to the device", last[2]) as (chunks, copiers):

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
                    # While the host waits here, the bus transfers the later chunks.
                    if LAG <= i < len(parts) - N_CHUNKS + LAG:
                        fill(i - LAG + N_CHUNKS)

    @contextmanager
    def _ordered(self, queue: cl.CommandQueue) -> Iterator[None]:
        """Make the block's commands in *queue* run after all earlier kernels and before all later kernels and reads."""
        if queue == self._queue:
            yield
            return
        kernels = self._commands.queue
        hold(self._commands, queue, kernels)
        try:
            yield
        finally:
            # The wait is necessary after an error, too, because the chunks' memory may then be reused.
            hold(self._commands, kernels, queue)

    def read(self, buffer: Any, first_byte: int, host: HostArray) -> None:
        """Fill the contiguous host array *host* with the bytes of *buffer*
        from *first_byte* on, after all earlier work.
        """
        parts, coming = _parts(host, _HUGE_PAGE_BYTES), list[cl.Event]()

        with self._copying("copying from the device", host) as (chunks, copiers):

            def ask(i: int) -> None:
                first, part = parts[i]
                chunk = chunks[i % N_CHUNKS][: part.size]
                coming.append(self._enqueue(self._queue, chunk, buffer, src_offset=first_byte + first))

            for i in range(min(N_CHUNKS, len(parts))):
                ask(i)
            # While the host waits for kernels, the threads touch the pages of *host*.
            # The threads write zeros into the pages of *host*, so they must be done before data arrives.
            for _, part in () if isinstance(host, LentArray) else parts:
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


def _parts(host: HostArray, alignment: int = 1) -> list[tuple[int, HostArray]]:
    """Return the bytes of *host* in parts, each with its position.

    A part fits into a chunk of pinned memory. All parts but the first begin at addresses that are multiples of
    *alignment*, if chunks are larger than that.
    """
    whole = host.bytes() if isinstance(host, LentArray) else host.reshape(-1).view(np.uint8)
    if not whole.size:
        return []
    size = CHUNK_BYTES if whole.size >= _FEW_CHUNKS * CHUNK_BYTES else CHUNK_BYTES // 2
    address = whole.address if isinstance(whole, LentArray) else whole.ctypes.data
    starts = [0, *range(-address % min(alignment, size) or size, whole.size, size)]
    return [(start, whole[start:stop]) for start, stop in pairwise([*starts, whole.size])]


def hold(commands: Commands, queue: cl.CommandQueue, other: cl.CommandQueue, event: cl.Event | None = None) -> None:
    """Make *queue* wait for *event* of the queue *other*, or by default for all commands that are in *other* now."""
    with commands.driver, typed_errors("ordering copies and kernels"):
        cl.enqueue_barrier(queue, wait_for=[event or cl.enqueue_marker(other)])
        other.flush()  # Without this flush, *queue* might wait for ever.
        queue.flush()
