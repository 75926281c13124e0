"""Large copies between a GPU and the user's memory through chunks of pinned memory.

A device copies pinned memory by itself, at the full rate of its bus. The user's memory is pageable: a driver copies it
through one small buffer with one thread (7 GB/s up and 3 GB/s down on an H200, whose bus reaches 50 GB/s). Here several
threads copy between the user's memory and pinned chunks, while the bus transfers other chunks. The threads also take
the page faults of a new host array, and start with this while the host waits for kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.driver.failure import typed_errors
from clgraph.runtime.memory.chunks import ChunkedCopies, Copy

LEAST_BYTES = 4 << 20  # Bytes. A smaller copy gains little from an overlap of copying and transferring.
_TOLD = 8  # Number of chunks that kernels get at a time, if kernels start before the whole array is uploaded.


class Staging(ChunkedCopies):
    """Chunks of pinned memory for one device, and the threads that copy to and from the chunks.

    If *beside_kernels*, copies are enqueued in the queue for copies. A thread that waits for such copies does not block
    other threads' calls of the driver, so several devices can copy at the same time.
    """

    def __init__(self, commands: Commands, *, beside_kernels: bool = False) -> None:
        super().__init__()
        self._commands, self._beside_kernels = commands, beside_kernels

    @property
    def _queue(self) -> cl.CommandQueue:
        return self._commands.copy_queue if self._beside_kernels else self._commands.queue

    def _wait(self, transfer: cl.Event) -> None:
        if self._beside_kernels:
            self._commands.wait_aside(transfer)
        else:
            transfer.wait()

    def _is_done(self, transfer: cl.Event) -> bool:
        with self._commands.driver:
            return bool(transfer.command_execution_status <= cl.command_execution_status.COMPLETE)

    def _new_chunks(self, n_chunks: int, n_bytes: int) -> list[NDArray[np.uint8]]:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        access: Any = cl.map_flags.READ | cl.map_flags.WRITE
        byte_type: Any = np.dtype(np.uint8)
        with self._commands.driver:
            pinned = cl.Buffer(self._commands.context, flags, n_chunks * n_bytes)
            mapped, _ = cl.enqueue_map_buffer(self._queue, pinned, access, 0, (n_chunks, n_bytes), byte_type)
        return [*mapped]

    def _send(self, target: Any, first_byte: int, chunk: NDArray[np.uint8]) -> cl.Event:
        queue, buffer = target
        return self._enqueue(queue, buffer, chunk, dst_offset=first_byte)

    def _fetch(self, chunk: NDArray[np.uint8], source: Any, first_byte: int) -> cl.Event:
        return self._enqueue(self._queue, chunk, source, src_offset=first_byte)

    def _enqueue(self, queue: cl.CommandQueue, target: Any, source: Any, **place: Any) -> cl.Event:
        with self._commands.driver:
            event: cl.Event = cl.enqueue_copy(queue, target, source, is_blocking=False, **place)
            queue.flush()
        self._commands.record_transfer(event)
        return event

    def upload(self, buffer: Any, first_byte: int, host: NDArray[Any]) -> None:
        """Copy the contiguous host array *host* to *buffer* from *first_byte* on.

        *host* may change afterwards.
        """
        self._upload([((self._queue, buffer), first_byte, host)])

    def upload_all(self, copies: Sequence[Copy], then: Callable[[int, int], object]) -> None:
        """Copy several host arrays to the device as :meth:`upload` does, without a pause between them.

        The copies are in the queue for copies, so that kernels can run meanwhile. ``then(start, stop)`` is called for
        successive ranges of bytes of the last array, which begin at multiples of half a chunk. This call enqueues
        kernels, which run when the range and all earlier arrays are on the device.
        """
        commands = self._commands
        to_queue: list[Copy] = [((commands.copy_queue, buffer), first, host) for buffer, first, host in copies]
        told, untold = 0, 0

        def sent(copy: Copy, done: int, event: cl.Event) -> None:
            nonlocal told, untold
            if copy is not to_queue[-1]:
                return
            untold += 1
            if untold == _TOLD or done == copy[2].nbytes:
                hold(commands, commands.queue, commands.copy_queue, event)
                then(told, done)
                told, untold = done, 0

        with self._ordered(commands.copy_queue):
            self._upload(to_queue, sent)

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


def hold(commands: Commands, queue: cl.CommandQueue, other: cl.CommandQueue, event: cl.Event | None = None) -> None:
    """Make *queue* wait for *event* of the queue *other*, or by default for all commands that are in *other* now."""
    with commands.driver, typed_errors("ordering copies and kernels"):
        cl.enqueue_barrier(queue, wait_for=[event or cl.enqueue_marker(other)])
        other.flush()  # Without this flush, *queue* might wait for ever.
        queue.flush()
