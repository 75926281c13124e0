"""The Memory class, which allocates, shares and reads the device arrays of one session."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.arguments import checked_array, checked_count, checked_flag, shown
from clgraph.device.facts import DeviceFacts
from clgraph.errors import DeviceMemoryError, InputError
from clgraph.host_memory import free_bytes
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.driver.failure import check_fork, typed_errors
from clgraph.runtime.driver.quirks import copies_to_pinned_memory, copies_whole_lines_faster
from clgraph.runtime.memory import recycled
from clgraph.runtime.memory.arrays import DeviceArray, enqueue_copies, number_type
from clgraph.runtime.memory.staging import LEAST_BYTES, Staging
from clgraph.runtime.memory.transfers import Transfers

# Free memory is not checked for arrays of less than 16 MiB, because a check takes 25 to 165 us on a CPU device.
_CHECKED_BYTES = 1 << 24
_SHARED_ALIGNMENT = 16  # Bytes. A shared host array must be aligned to the size of the widest vector that kernels read.
_FEW_BYTES = 64  # Reads of at most 64 bytes go to a page that is pinned already.
# The size of a cache line, and the least size of a copy that is faster if it is divided in two, both in bytes.
_LINE_BYTES, _MANY_LINES = 64, 1 << 17


def available_bytes(facts: DeviceFacts) -> int:
    """Return the number of bytes that new buffers may take.

    On a CPU device, the host's free memory limits it.
    """
    if not facts.is_cpu:
        return int(0.95 * facts.global_mem_bytes)
    return int(0.95 * min(facts.global_mem_bytes, free_bytes()))


class Memory:
    """The memory of one device: allocation of arrays, use of host arrays in place, and copies.

    Parameters
    ----------
    commands : Commands
    spare : callable
        A function that releases cached arrays, and returns whether there were any. It is called before an
        allocation fails.

    Attributes
    ----------
    transfers : Transfers
    """

    def __init__(self, commands: Commands, spare: Callable[[], bool]) -> None:
        from pyopencl.tools import ImmediateAllocator, MemoryPool

        self.commands, self._spare = commands, spare
        self._copies_lines = copies_whole_lines_faster(commands.device)
        self._pool = MemoryPool(ImmediateAllocator(commands.queue))
        self.transfers = Transfers(self)
        commands.others.append(self.transfers.finish)
        self._lock = threading.Lock()
        self._staging_aside: Staging | None = None
        self._staging = None if commands.facts.is_cpu else Staging(commands)
        self._pinned = recycled.Pinned(commands.context) if copies_to_pinned_memory(commands.device) else None

    def __repr__(self) -> str:
        return f"{self.commands.facts.platform} / {self.commands.facts.name}"

    @cached_property
    def _shares_memory(self) -> bool:
        """True if kernels can access all host memory by its address.

        Intel's CPU runtime can, and would otherwise copy host arrays that are not aligned.
        """
        return bool(self.commands.device.svm_capabilities & cl.device_svm_capabilities.FINE_GRAIN_SYSTEM)

    @cached_property
    def alignment(self) -> int:
        """Alignment in bytes at which a view of a device array must begin (see :meth:`DeviceArray.view`)."""
        return max(64, int(self.commands.device.mem_base_addr_align) // 8)

    def check_memory(self, sizes: Mapping[str, int]) -> None:
        """Raise :class:`DeviceMemoryError` unless buffers of these sizes in bytes fit the device together."""
        name, largest = max(sizes.items(), key=lambda item: item[1])
        if largest > self.commands.facts.max_alloc_bytes:
            raise DeviceMemoryError(
                f"{name} needs {largest:,} bytes in one buffer; {self.commands.facts.name} allows "
                f"{self.commands.facts.max_alloc_bytes:,}. Use a device with larger buffers, or split the input"
            )
        total = sum(sizes.values())
        if total < _CHECKED_BYTES or total <= (available := self._available()):
            return
        if self._spare():
            self._pool.free_held()
            available = self._available()
        if total > available:
            parts = ", ".join(f"{key} {size:,}" for key, size in sizes.items())
            raise DeviceMemoryError(
                f"needs {total:,} bytes ({parts}); {self.commands.facts.name} has {available:,} available. "
                "Use a larger device, or free graphs that this session still holds"
            )

    def _available(self) -> int:
        return available_bytes(self.commands.facts) - (0 if self.commands.facts.is_cpu else self._pool.active_bytes)

    @property
    def allocated_bytes(self) -> int:
        """Number of bytes of device memory that this thread has allocated so
        far, including memory that was freed again.
        """
        return self.commands.recording.allocated_bytes

    def upload(self, host: NDArray[Any], *, in_place: bool = False) -> DeviceArray:
        """Copy *host* to the device.

        A CPU device uses *host* without a copy if it is read-only and aligned to 64 bytes.

        Kernels must not write to the result. With *in_place*, a CPU device uses *host* without a copy if it is
        contiguous and aligned to 16 bytes, and the caller must not change it meanwhile.
        """
        check_fork()
        host, in_place = checked_array("host", host), checked_flag("in_place", in_place)
        if self.commands.facts.is_cpu and host.size and host.flags.c_contiguous:
            if in_place and not host.ctypes.data % _SHARED_ALIGNMENT:
                return self.share(host, read_only=True)
            # A writeable array is copied, because it may change while kernels run.
            if not host.flags.writeable and not host.ctypes.data % 64:
                return self._wrapped(host, read_only=True)
        array = self.empty(host.size, host.dtype)
        if host.size:
            array.set(host)
        return array

    def share(self, host: NDArray[Any], *, read_only: bool = False) -> DeviceArray:
        """Return the host array *host* as a device array.

        Kernels on a CPU read and write *host* in place.

        The host must call :meth:`settle` before it reads the results. If *read_only*, kernels must not write to the
        array, and *host* is copied if it is not aligned.

        Raises
        ------
        InputError
            *host* is not a contiguous array, or is read-only although *read_only* is false.
        """
        if not isinstance(host, np.ndarray) or not (host.flags.c_contiguous and (read_only or host.flags.writeable)):
            allowed = "a contiguous array" if read_only else "a contiguous array that may be written"
            raise InputError(f"host = {shown(host)}; allowed: {allowed}")
        if read_only and (not host.size or host.ctypes.data % _SHARED_ALIGNMENT):
            return self.upload(host)
        return self._wrapped(host, read_only=read_only, by_address=True)

    def _wrapped(self, host: NDArray[Any], *, read_only: bool, by_address: bool = False) -> DeviceArray:
        with typed_errors("wrapping a host array"):
            if by_address and self._shares_memory:  # pyopencl can share a read-only array only by its address.
                words: Any = (ctypes.c_char * host.nbytes).from_address(host.ctypes.data)
                buffer: Any = cl.SVM(np.frombuffer(words, np.uint8))
            else:
                access = cl.mem_flags.READ_ONLY if read_only else cl.mem_flags.READ_WRITE
                buffer = cl.Buffer(self.commands.context, access | cl.mem_flags.USE_HOST_PTR, hostbuf=host)
        return DeviceArray(self, buffer, host.dtype, host.size, host)

    def settle(self, *shared: DeviceArray) -> None:
        """Wait for all earlier work, and make the results that kernels wrote to *shared* arrays visible to the host."""
        with self.commands.driver, typed_errors("sharing memory with the host"):
            mapped: list[Any] = [
                cl.enqueue_map_buffer(
                    self.commands.queue, array.buffer, cl.map_flags.READ, 0, (array.size,), array.dtype,
                    is_blocking=False,
                )
                for array in shared if not self._shares_memory
            ]  # fmt: skip
            self.commands.wait(mapped[-1][1] if mapped else cl.enqueue_marker(self.commands.queue))
            for view, _ in mapped:
                view.base.release(self.commands.queue)

    def staging_for(self, n_bytes: int) -> Staging | None:
        """Return chunks of pinned memory if they copy *n_bytes* faster than the driver does, else ``None``.

        CPUs have none.
        """
        return self._staging if n_bytes >= LEAST_BYTES else None

    @property
    def staging_aside(self) -> Staging:
        """Chunks of pinned memory for copies that overlap with kernels.

        They are made on first use.

        A thread that waits for copies through these chunks does not block other threads' calls of the driver.
        """
        with self._lock:
            if self._staging_aside is None:
                self._staging_aside = Staging(self.commands, beside_kernels=True)
            return self._staging_aside

    def pieces(self, n_bytes: int) -> list[tuple[int, int]]:
        """Return the byte ranges into which a copy of *n_bytes* is divided, so that the driver is fastest."""
        whole = n_bytes - n_bytes % _LINE_BYTES if self._copies_lines and n_bytes >= _MANY_LINES else 0
        return [(first, last) for first, last in ((0, whole), (whole, n_bytes)) if first < last]

    def empty(self, size: int, dtype: DTypeLike) -> DeviceArray:
        """Return a new, uninitialised device array of *size* items."""
        check_fork()
        size = checked_count("size", size, 2**62, least=0)
        kind = number_type(dtype)
        n_bytes = max(1, size) * kind.itemsize
        # check_memory() skips small arrays, too, but even making the text for its argument takes too long for them.
        if n_bytes >= _CHECKED_BYTES:
            self.check_memory({f"an array of {size} {kind}": n_bytes})
        self.commands.recording.allocated_bytes += n_bytes
        with self.commands.driver, typed_errors(f"allocating {n_bytes:,} bytes"):
            buffer = self._pool.allocate(n_bytes)
            if self.commands.facts.is_cpu and n_bytes >= recycled.MIN_HUGE_BYTES:
                recycled.ask_for_huge_pages(self.commands.queue, buffer, n_bytes)
            return DeviceArray(self, buffer, kind, size)

    def zeros(self, size: int, dtype: DTypeLike) -> DeviceArray:
        """Return a new device array of *size* zeros."""
        array = self.empty(size, dtype)
        array.fill(0)
        return array

    def read(self, *parts: tuple[DeviceArray, int, int]) -> list[NDArray[Any]]:
        """Return the items ``start:stop`` of each device array as new host
        arrays, after one wait for all earlier work.
        """
        hosts: list[NDArray[Any]] = []
        events: list[cl.Event] = []
        in_page: list[int] = []  # Positions in *hosts* of the arrays that lie in the pinned page.
        with self.commands.driver:
            page = None if self._pinned is None else self._pinned.words
            for array, start, stop in parts:
                array.check_part(start, stop - start)
                n_bytes, first_byte = (stop - start) * array.dtype.itemsize, start * array.dtype.itemsize
                if page is not None and n_bytes <= min(_FEW_BYTES, page.size):
                    in_page.append(len(hosts))
                    host, page, is_pinned = page[:n_bytes].view(array.dtype), page[_FEW_BYTES:], True
                else:
                    host, memory = recycled.lent(stop - start, array.dtype)
                    is_pinned = self._pinned is not None and self._pinned.holds(memory)
                hosts.append(host)
                if not is_pinned and (staging := self.staging_for(n_bytes)) is not None:
                    staging.read(array.buffer, first_byte, host)
                    continue
                with typed_errors("copying from the device"):
                    events += enqueue_copies(self, self.commands.queue, array.buffer, first_byte, host, to_host=True)
            for event in reversed(events):  # Usually only the first wait takes time, because the last copy ends last.
                self.commands.wait(event)
        for place in in_page:
            hosts[place] = hosts[place].copy()
        return hosts

    def finish_copies(self, array: DeviceArray) -> None:
        """Wait for the copies from and to the device array *array* in the queue of transfers."""
        self.transfers.finish(array)

    def free_held(self) -> None:
        """Free the device memory that the pool holds for later arrays."""
        self._pool.free_held()
        if self._pinned is not None:
            self._pinned.release()
