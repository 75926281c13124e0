"""Copies between host and device that overlap with kernels, because the copies have their own command queue."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import checked_array
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import check_fork, typed_errors
from clgraph.runtime.memory.arrays import DeviceArray, Home, enqueue_copies, number_type


class Transfer:
    """A copy in progress between a host array and a device array.

    Attributes
    ----------
    event : pyopencl.Event
    array : DeviceArray
        The device array that is read or written. Kernels may use the written data after :meth:`before_kernels` or
        :meth:`wait`.
    """

    def __init__(self, transfers: Transfers, event: cl.Event, array: DeviceArray, host: NDArray[Any]) -> None:
        self._transfers, self._commands, self._host = transfers, transfers.commands, host
        self.event, self.array = event, array

    @property
    def is_done(self) -> bool:
        """True if the copy has ended, successfully or not."""
        with self._commands.driver:
            return bool(self.event.command_execution_status <= cl.command_execution_status.COMPLETE)

    def before_kernels(self) -> DeviceArray:
        """Make all later kernels wait for this copy, and return its device array.

        The host does not wait.
        """
        with self._commands.driver, typed_errors("ordering kernels after a transfer"):
            cl.enqueue_barrier(self._commands.queue, wait_for=[self.event])
        return self.array

    def wait(self) -> NDArray[Any]:
        """Wait until this copy has ended, and return its host array.

        Raises
        ------
        DeviceError
            The copy failed.
        """
        try:
            self._commands.wait(self.event)
        finally:
            self._transfers.forget_done()
        return self._host


class Transfers:
    """The copies between the host and one device that run in a queue of their own, at the same time as kernels.

    A copy keeps its array alive until it has ended. Otherwise the pool could give the memory to a new array, which
    kernels could write at once, because they are in another queue. For the same reason, :meth:`upload` does not take
    memory from the pool: kernels that use a deleted array with that memory may still be enqueued.
    """

    def __init__(self, memory: Home) -> None:
        self._memory, self.commands = memory, memory.commands
        self._in_flight: list[Transfer] = []
        self._lock = threading.RLock()

    @property
    def queue(self) -> cl.CommandQueue:
        """The command queue of the copies, which is created on first use."""
        return self.commands.copy_queue

    def upload(self, host: NDArray[Any]) -> Transfer:
        """Start a copy of the host array *host* to a new device array.

        *host* must not change before the copy has ended.
        """
        check_fork()
        data = np.ascontiguousarray(checked_array("host", host))
        n_bytes = max(1, data.size) * number_type(data.dtype).itemsize
        self._memory.check_memory({f"an array of {data.size} {data.dtype}": n_bytes})
        with typed_errors(f"allocating {n_bytes:,} bytes"):
            buffer = cl.Buffer(self.commands.context, cl.mem_flags.READ_WRITE, n_bytes)
        return self._begin(DeviceArray(self._memory, buffer, data.dtype, data.size), data, 0, (), to_host=False)

    def read(
        self, array: DeviceArray, start: int = 0, stop: int | None = None, *, after: cl.Event | None = None
    ) -> Transfer:
        """Start a copy of the items ``start:stop`` of *array* to a new host array, which :meth:`Transfer.wait` returns.

        The copy starts when *after* has ended, by default when all kernels enqueued so far have ended. No kernel may
        write to these items before the copy has ended.
        """
        last = array.size if stop is None else stop
        array.check_part(start, last - start)
        return self._begin(array, np.empty(last - start, array.dtype), start, self._earlier(after), to_host=True)

    def finish(self, array: DeviceArray | None = None) -> None:
        """Wait for all copies, or only for the copies from and to *array*."""
        with self._lock:
            waited_for = [each for each in self._in_flight if array is None or each.array.overlaps(array)]
        for transfer in waited_for:
            transfer.wait()

    def forget_done(self) -> None:
        """Drop the references to arrays whose copies have ended."""
        with self.commands.driver, self._lock:
            self._in_flight = [transfer for transfer in self._in_flight if not transfer.is_done]

    def _earlier(self, after: cl.Event | None) -> tuple[cl.Event, ...]:
        with self.commands.driver, typed_errors("ordering a transfer after kernels"):
            event = cl.enqueue_marker(self.commands.queue) if after is None else after
            self.commands.queue.flush()  # Without this flush, the other queue might wait for ever.
        return (event,)

    def _begin(
        self, array: DeviceArray, host: NDArray[Any], first: int, after: tuple[cl.Event, ...], *, to_host: bool
    ) -> Transfer:
        first_byte = first * array.dtype.itemsize
        with self.commands.driver, typed_errors("beginning a transfer"):
            events = enqueue_copies(
                self._memory, self.queue, array.buffer, first_byte, host, to_host=to_host, after=after
            )
            event = events[-1] if events else cl.enqueue_marker(self.queue, wait_for=after)
            transfer = Transfer(self, event, array, host)
            with self._lock:
                self._in_flight.append(transfer)
            self.queue.flush()
        self.forget_done()
        return transfer
