"""One-dimensional arrays on a device."""
from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from clgraph.errors import DeviceError
from clgraph.runtime.failure import typed_errors

if TYPE_CHECKING:
    from clgraph.runtime.session import Session


class DeviceArray:
    """A typed device buffer; made by :meth:`Session.upload`, ``empty`` and ``zeros``."""

    __slots__ = ("_host", "_session", "buffer", "dtype", "size")

    def __init__(
        self, session: Session, buffer: Any, dtype: np.dtype[Any], size: int, host: NDArray[Any] | None = None
    ) -> None:
        self._session = session
        self._host = host  # keeps memory alive that the buffer only wraps
        self.buffer = buffer
        self.dtype = dtype
        self.size = size

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def set(self, host: NDArray[Any], *, offset: int = 0) -> None:
        """Copy *host* to the items from *offset* on."""
        data = np.ascontiguousarray(host, self.dtype)
        self._check(offset, data.size)
        if not data.size:
            return
        with typed_errors("copying to the device"):
            event = cl.enqueue_copy(
                self._session.queue, self.buffer, data,
                dst_offset=offset * self.dtype.itemsize, is_blocking=False,
            )
        self._session.record_transfer(event)
        self._session.wait(event)

    def get(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return items ``start:stop`` as a new host array, waiting for all earlier work."""
        last = self.size if stop is None else stop
        self._check(start, last - start)
        host = np.empty(last - start, self.dtype)
        if not host.size:
            return host
        with typed_errors("copying from the device"):
            event = cl.enqueue_copy(
                self._session.queue, host, self.buffer,
                src_offset=start * self.dtype.itemsize, is_blocking=False,
            )
        self._session.record_transfer(event)
        self._session.wait(event)
        return host

    def item(self, index: int = 0) -> Any:
        """Return one item as a Python number."""
        return self.get(index, index + 1)[0].item()

    def fill(self, value: Any, start: int = 0, stop: int | None = None) -> cl.Event | None:
        """Enqueue setting items ``start:stop`` to *value*."""
        last = self.size if stop is None else stop
        self._check(start, last - start)
        if last == start:
            return None
        size = self.dtype.itemsize
        with typed_errors("filling a buffer"):
            event = cl.enqueue_fill_buffer(
                self._session.queue, self.buffer, self.dtype.type(value), start * size, (last - start) * size
            )
        self._session.record_kernel("fill", event)
        return event

    def _check(self, start: int, count: int) -> None:
        if start < 0 or count < 0 or start + count > self.size:
            raise DeviceError(f"items {start}:{start + count} of a device array of {self.size}")

    def release(self) -> None:
        """Give the memory back now instead of when the last reference goes."""
        self._leave_host()
        self.buffer.release()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at exit, or in a forked child, there is no queue to wait for
            self._leave_host()

    def _leave_host(self) -> None:
        if self._host is not None:
            self._session.queue.finish()  # a kernel in flight may still read it
            self._host = None
