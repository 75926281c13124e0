"""One-dimensional arrays on a device, and copies between them and the host."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.arguments import refusing
from clgraph.errors import DeviceError
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.driver.failure import typed_errors
from clgraph.runtime.memory.staging import Staging


class Home(Protocol):
    """The part of the interface of :class:`clgraph.runtime.memory.memory.Memory` that device arrays use."""

    commands: Commands

    @property
    def alignment(self) -> int:
        """Alignment in bytes at which a view of a device array must begin."""

    def pieces(self, n_bytes: int) -> list[tuple[int, int]]:
        """Return the byte ranges into which a copy of *n_bytes* is divided, so that the driver is fastest."""

    def staging_for(self, n_bytes: int) -> Staging | None:
        """Return chunks of pinned memory if they copy *n_bytes* faster than the driver does, else ``None``."""

    @property
    def staging_aside(self) -> Staging:
        """Chunks of pinned memory for copies that overlap with kernels."""

    def check_memory(self, sizes: Mapping[str, int]) -> None:
        """Raise :class:`DeviceMemoryError` unless buffers of these sizes in bytes fit the device together."""

    def empty(self, size: int, dtype: DTypeLike) -> DeviceArray:
        """Return a new, uninitialised device array of *size* items."""

    def read(self, *parts: tuple[DeviceArray, int, int]) -> list[NDArray[Any]]:
        """Return the items ``start:stop`` of each device array as new host
        arrays, after one wait for all earlier work.
        """

    def finish_copies(self, array: DeviceArray) -> None:
        """Wait for the copies from and to the device array *array* in the queue of transfers."""


def number_type(dtype: DTypeLike) -> np.dtype[Any]:
    """Return *dtype*, or raise an :class:`InputError` unless it is a type of numbers in this machine's byte order."""
    with refusing("dtype", dtype, "a type of numbers"):
        kind = np.dtype(dtype)
        if kind.kind not in "biuf":
            raise TypeError("no numbers")
        if not kind.isnative:
            raise TypeError("the bytes are in another order than this machine's")
    return kind


class DeviceArray:
    """A typed buffer on a device.

    :meth:`Session.upload`, ``empty``, ``zeros`` and :meth:`view` make such arrays.
    """

    __slots__ = ("_first_byte", "_host", "_parent", "buffer", "dtype", "memory", "size")

    def __init__(
        self, memory: Home, buffer: Any, dtype: np.dtype[Any], size: int, host: NDArray[Any] | None = None
    ) -> None:
        self.memory = memory
        self._host = host  # The host array that the buffer wraps, or None. The attribute keeps the host memory alive.
        # The array whose memory this view shares, which the attribute keeps alive; None if this array is no view.
        self._parent: DeviceArray | None = None
        self._first_byte = 0  # The byte offset of a view in the memory of its parent; 0 if this array is no view.
        self.buffer = buffer
        self.dtype = dtype
        self.size = size

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def view(self, start: int = 0, stop: int | None = None, dtype: DTypeLike | None = None) -> DeviceArray:
        """Return the items ``start:stop`` of this device array as an array that shares its memory.

        Parameters
        ----------
        start, stop : int
            The view must begin at a multiple of :attr:`Session.alignment` bytes, so that kernels can take it.
        dtype : dtype, optional
            Another type for the same bytes.

        Raises
        ------
        DeviceError
            The range is not inside this array, its size is not a multiple of *dtype*'s item size, or *start* is
            not aligned.
        """
        last = self.size if stop is None else stop
        self.check_part(start, last - start)
        kind = self.dtype if dtype is None else np.dtype(dtype)
        n_bytes, own = (last - start) * self.dtype.itemsize, start * self.dtype.itemsize
        first, alignment = self._first_byte + own, self.memory.alignment
        if n_bytes % kind.itemsize:
            raise DeviceError(f"{n_bytes} bytes are no whole number of items of {kind}")
        if not n_bytes:  # OpenCL has no empty buffers, so an empty view gets some memory, which is never read.
            first = 0
        if first % alignment:
            raise DeviceError(
                f"a view that begins at item {start} would begin at byte {first}, which is no multiple of {alignment}, "
                f"as {self.memory.commands.facts.name} wants"
            )
        whole, part = self._parent or self, self.buffer
        if n_bytes < self.nbytes:
            with self.memory.commands.driver, typed_errors("making a view"):
                # The pool's buffers lack get_sub_region(), and OpenCL does not allow a view of a view.
                buffer: Any = cl.Buffer.from_int_ptr(whole.buffer.int_ptr, retain=True)
                part = buffer.get_sub_region(first, max(n_bytes, 1))
        made = DeviceArray(self.memory, part, kind, n_bytes // kind.itemsize)
        made._parent, made._first_byte = whole, first
        return made

    def overlaps(self, other: DeviceArray) -> bool:
        """Return whether this device array and *other* share memory."""
        ends = self._first_byte + self.nbytes, other._first_byte + other.nbytes
        is_shared = (self._parent or self) is (other._parent or other)
        return self is other or (is_shared and self._first_byte < ends[1] and other._first_byte < ends[0])

    def copy_from(self, source: DeviceArray) -> None:
        """Enqueue a copy of *source*, which has the same type and is not
        longer, to the first items of this device array.
        """
        self.check_part(0, source.size)
        if source.dtype != self.dtype:
            raise DeviceError(f"an array of {source.dtype} cannot be copied to one of {self.dtype}")
        for first, last in self.memory.pieces(source.nbytes):
            with self.memory.commands.driver, typed_errors("copying on the device"):
                event = cl.enqueue_copy(
                    self.memory.commands.queue,
                    self.buffer,
                    source.buffer,
                    byte_count=last - first,
                    src_offset=first,
                    dst_offset=first,
                )
            self.memory.commands.record_transfer(event)

    def set(self, host: NDArray[Any], *, offset: int = 0) -> None:
        """Copy the host array *host* to the items of this device array from *offset* on."""
        data = np.ascontiguousarray(host, self.dtype)
        self.check_part(offset, data.size)
        commands, first_byte = self.memory.commands, offset * self.dtype.itemsize
        with commands.driver:
            if (staging := self.memory.staging_for(data.nbytes)) is not None:
                staging.upload(self.buffer, first_byte, data)
            elif data.size:
                with typed_errors("copying to the device"):
                    events = enqueue_copies(self.memory, commands.queue, self.buffer, first_byte, data, to_host=False)
                    commands.wait(events[-1])

    def get(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the items ``start:stop`` of this device array as a new host
        array, after waiting for all earlier work.
        """
        last = self.size if stop is None else stop
        if self._host is not None:  # Kernels must not write to a wrapped host array, so the array can be read directly.
            self.check_part(start, last - start)
            return self._host[start:last].copy()
        (host,) = self.memory.read((self, start, last))
        return host

    def item(self, index: int = 0) -> Any:
        """Return one item of this device array as a Python number."""
        return self.get(index, index + 1)[0].item()

    def fill(self, value: Any, start: int = 0, stop: int | None = None) -> cl.Event | None:
        """Enqueue a command that sets the items ``start:stop`` of this device array to *value*."""
        last = self.size if stop is None else stop
        self.check_part(start, last - start)
        if last == start:
            return None
        size = self.dtype.itemsize
        with self.memory.commands.driver, typed_errors("filling a buffer"):
            event = cl.enqueue_fill_buffer(
                self.memory.commands.queue, self.buffer, self.dtype.type(value), start * size, (last - start) * size
            )
        self.memory.commands.record_kernel("fill", event)
        return event

    def check_part(self, start: int, count: int) -> None:
        """Raise a :class:`DeviceError` unless this device array has *count* items from item *start* on."""
        if start < 0 or count < 0 or start + count > self.size:
            raise DeviceError(f"items {start}:{start + count} of a device array of {self.size}")

    def release(self) -> None:
        """Release the array's device memory now, before its last reference is gone.

        A view only drops its reference.
        """
        self.memory.finish_copies(self)
        self._leave_host()
        if self._parent is None:
            self.buffer.release()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # At exit and in a forked child, there is no queue to wait for.
            self._leave_host()

    def _leave_host(self) -> None:
        if self._host is not None:
            # An enqueued kernel may still read the host array, so this call waits for the queue.
            self.memory.commands.queue.finish()
            self._host = None


def enqueue_copies(
    memory: Home,
    queue: cl.CommandQueue,
    buffer: Any,
    first_byte: int,
    host: NDArray[Any],
    *,
    to_host: bool,
    after: tuple[cl.Event, ...] = (),
) -> list[cl.Event]:
    """Enqueue copies of contiguous *host* to *buffer* from *first_byte* on; if *to_host*, from *buffer* to *host*."""
    data, offset, events = host.reshape(-1).view(np.uint8), "src_offset" if to_host else "dst_offset", []
    for first, last in memory.pieces(host.nbytes):
        ends: Any = (data[first:last], buffer) if to_host else (buffer, data[first:last])
        place: dict[str, Any] = {offset: first_byte + first}
        events.append(cl.enqueue_copy(queue, *ends, is_blocking=False, wait_for=after, **place))
        memory.commands.record_transfer(events[-1])
    return events
