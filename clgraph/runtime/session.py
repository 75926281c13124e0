"""One context, one in-order queue for kernels, one memory pool, one program cache."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import threading
import time
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.arguments import checked_array, checked_count, checked_flag, shown
from clgraph.device.profile import DeviceProfile
from clgraph.errors import DeviceMemoryError, InputError
from clgraph.runtime import opencl as cl
from clgraph.runtime.discovery.query import available_bytes, platforms, query_facts
from clgraph.runtime.discovery.selection import check_works, profile_of, select_device
from clgraph.runtime.failure import check_fork, typed_errors
from clgraph.runtime.kept import Kept
from clgraph.runtime.memory import recycled
from clgraph.runtime.memory.arrays import DeviceArray, enqueue_copies, number_type
from clgraph.runtime.memory.staging import LEAST_BYTES, Staging
from clgraph.runtime.memory.transfers import Transfers
from clgraph.runtime.programs.program import Program
from clgraph.runtime.programs.source import known_to
from clgraph.runtime.quirks import (
    copies_to_pinned_memory,
    copies_whole_lines_faster,
    wants_one_thread,
    works_while_waiting,
)
from clgraph.runtime.timed_queue import Recording, TimedQueue

logger = logging.getLogger(__name__)

SessionLike: TypeAlias = "Session | str | cl.Device | cl.Context | cl.CommandQueue | None"

_CHECKED_BYTES = 1 << 24  # for less it is not worth asking how much memory is free: 25 to 165 us of a CPU's host
_SHARED_ALIGNMENT = 16  # bytes of the widest vector that kernels read
_FEW_BYTES = 64  # at most that many are read into a page that is pinned already
_LINE_BYTES, _MANY_LINES = 64, 1 << 17  # bytes; the latter are worth a second command
_one_thread = threading.RLock()  # for all sessions of a driver that lets one thread in, since its devices share it


class Session(TimedQueue):
    """Owns every OpenCL object of one device.

    Parameters
    ----------
    device : None, str, pyopencl.Device, pyopencl.Context or pyopencl.CommandQueue
        ``None`` takes the best device; a string is ``"gpu"``, ``"cpu"``, a part of a platform,
        vendor or device name (``"nvidia"``, ``"amd:1"``, ``"pocl"``), or a ``"platform:device"`` id.
        If a context has several devices, the first one is taken. If a queue is given, all work goes to it, after
        what is in it already; if it lacks ``PROFILING_ENABLE``, times of kernels and transfers are NaN.

    Attributes
    ----------
    facts : DeviceFacts
    profile : DeviceProfile
        Measured rates and tuned sizes, and where they came from.
    why : str
        How the device was chosen.
    driver : context manager
        What calls the driver holds it: with some drivers it lets one thread in at a time. Threads that share such a
        session and call more than the package's functions hold it, too.
    transfers : Transfers
        Copies that go on while kernels run.
    kept : Kept
        Choices and plans of earlier calls, while their graphs live; :meth:`release` drops them.

    Raises
    ------
    NoDeviceError
        No usable device matches, or it fails its self-test.
    InputError
        The queue runs its commands out of order.
    ForkError
        The process was forked after OpenCL was used.
    """

    def __init__(self, device: object = None) -> None:
        from pyopencl.tools import ImmediateAllocator, MemoryPool

        check_fork()
        kinds = cl.command_queue_properties
        with typed_errors("creating a session"):
            platforms()  # sets up what the drivers read from the environment
            queue = device if isinstance(device, cl.CommandQueue) else None
            if queue is not None:
                self.context, self.device, self.why = queue.context, queue.device, "given as a queue"
                if queue.properties & kinds.OUT_OF_ORDER_EXEC_MODE_ENABLE:
                    raise InputError("the queue runs out of order; make one without OUT_OF_ORDER_EXEC_MODE_ENABLE")
            elif isinstance(device, cl.Context):
                self.context, self.device, self.why = device, device.devices[0], "given as a context"
            else:
                self.device, self.why = select_device(device)
                self.context = cl.Context([self.device])
            check_works(self.device)
            self._queue = queue or cl.CommandQueue(self.context, self.device, properties=kinds.PROFILING_ENABLE)
            self.facts = query_facts(self.device)
        self.profile: DeviceProfile = profile_of(self.device, self.facts)
        self.driver = _one_thread if wants_one_thread(self.device) else contextlib.nullcontext()
        self._copies_lines = copies_whole_lines_faster(self.device)
        self._works_while_waiting = works_while_waiting(self.device)
        self._pool = MemoryPool(ImmediateAllocator(self._queue))
        self._programs: dict[tuple[Any, ...], Program] = {}
        self._recording = Recording()
        self._lock = threading.RLock()
        self.transfers = Transfers(self)
        self._staging = None if self.facts.is_cpu else Staging(self)
        self._pinned = recycled.Pinned(self.context) if copies_to_pinned_memory(self.device) else None
        self.device_graphs: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self.kept = Kept(self.facts.global_mem_bytes)

    def __repr__(self) -> str:
        return f"Session({self.facts.platform} / {self.facts.name})"

    @cached_property
    def _shares_memory(self) -> bool:
        """Whether kernels can read all memory of the host; Intel's CPU runtime copies what is not aligned otherwise."""
        return bool(self.device.svm_capabilities & cl.device_svm_capabilities.FINE_GRAIN_SYSTEM)

    @cached_property
    def alignment(self) -> int:
        """Bytes; a view of an array begins at a multiple of it (see :meth:`DeviceArray.view`)."""
        return max(64, int(self.device.mem_base_addr_align) // 8)

    # ---- programs

    def program(
        self,
        source: str,
        defines: Mapping[str, int | str] | None = None,
        *,
        work_group_size: int | None = None,
    ) -> Program:
        """Build kernel file *source* once for these defines.

        The work-group size is the argument, else the profile's tuned ``WG_SIZE``, else 256.
        """
        check_fork()
        merged = {"WG_SIZE": 256, **self.profile.tuning.get(source, {}), **(defines or {})}
        merged["WG_SIZE"] = min(work_group_size or int(merged["WG_SIZE"]), self.facts.max_work_group_size)
        asked = (source, *sorted(merged.items()))
        with self._lock:
            if asked not in self._programs:  # under what was asked for; programs of several such may be one
                seen = {**known_to(source, merged), "WG_SIZE": merged["WG_SIZE"]}
                key = (source, *sorted(seen.items()))
                if key not in self._programs:
                    started = time.perf_counter()
                    self._programs[key] = Program(self, source, seen)
                    self.record_compile(time.perf_counter() - started)
                self._programs[asked] = self._programs[key]
            return self._programs[asked]

    # ---- memory

    def check_memory(self, sizes: Mapping[str, int]) -> None:
        """Raise :class:`DeviceMemoryError` unless buffers of these sizes (bytes) fit together."""
        name, largest = max(sizes.items(), key=lambda item: item[1])
        if largest > self.facts.max_alloc_bytes:
            raise DeviceMemoryError(
                f"{name} needs {largest:,} bytes in one buffer; {self.facts.name} allows "
                f"{self.facts.max_alloc_bytes:,}. Use a device with larger buffers, or split the input"
            )
        total = sum(sizes.values())
        if total < _CHECKED_BYTES or total <= (available := self._available()):
            return
        if self.kept.forget():
            self._pool.free_held()
            available = self._available()
        if total > available:
            parts = ", ".join(f"{key} {size:,}" for key, size in sizes.items())
            raise DeviceMemoryError(
                f"needs {total:,} bytes ({parts}); {self.facts.name} has {available:,} available. "
                "Use a larger device, or free graphs that this session still holds"
            )

    def _available(self) -> int:
        return available_bytes(self.facts) - (0 if self.facts.is_cpu else self._pool.active_bytes)

    @property
    def allocated_bytes(self) -> int:
        """How many bytes this thread has allocated here in all, those included that are free again."""
        return self._recording.allocated_bytes

    def upload(self, host: NDArray[Any], *, in_place: bool = False) -> DeviceArray:
        """Copy *host* to the device; a CPU device reads it in place if it is read-only and aligned to 64 bytes.

        Kernels must not write it. With *in_place*, a CPU device reads it in place if it is contiguous and aligned to 16
        bytes, and the caller must not change it meanwhile.
        """
        check_fork()
        host, in_place = checked_array("host", host), checked_flag("in_place", in_place)
        if self.facts.is_cpu and host.size and host.flags.c_contiguous:
            if in_place and not host.ctypes.data % _SHARED_ALIGNMENT:
                return self.share(host, read_only=True)
            if not host.flags.writeable and not host.ctypes.data % 64:  # else it may change while kernels read it
                return self._wrapped(host, read_only=True)
        array = self.empty(host.size, host.dtype)
        if host.size:
            array.set(host)
        return array

    def share(self, host: NDArray[Any], *, read_only: bool = False) -> DeviceArray:
        """Return *host* as an array that kernels of a CPU write in place; :meth:`settle` tells when they have.

        With *read_only* they only read it. It is copied if it does not lie as drivers need it.

        Raises
        ------
        InputError
            *host* is no contiguous array, or may not be written though kernels will.
        """
        if not isinstance(host, np.ndarray) or not (host.flags.c_contiguous and (read_only or host.flags.writeable)):
            allowed = "a contiguous array" if read_only else "a contiguous array that may be written"
            raise InputError(f"host = {shown(host)}; allowed: {allowed}")
        if read_only and (not host.size or host.ctypes.data % _SHARED_ALIGNMENT):
            return self.upload(host)
        return self._wrapped(host, read_only=read_only, by_address=True)

    def _wrapped(self, host: NDArray[Any], *, read_only: bool, by_address: bool = False) -> DeviceArray:
        with typed_errors("wrapping a host array"):
            if by_address and self._shares_memory:  # pyopencl shares no array that is read-only
                words: Any = (ctypes.c_char * host.nbytes).from_address(host.ctypes.data)
                buffer: Any = cl.SVM(np.frombuffer(words, np.uint8))
            else:
                access = cl.mem_flags.READ_ONLY if read_only else cl.mem_flags.READ_WRITE
                buffer = cl.Buffer(self.context, access | cl.mem_flags.USE_HOST_PTR, hostbuf=host)
        return DeviceArray(self, buffer, host.dtype, host.size, host)

    def settle(self, *shared: DeviceArray) -> None:
        """Wait for all earlier work, and let the host see what kernels have written to arrays that it shares."""
        with self.driver, typed_errors("sharing memory with the host"):
            mapped: list[Any] = [
                cl.enqueue_map_buffer(
                    self.queue, array.buffer, cl.map_flags.READ, 0, (array.size,), array.dtype, is_blocking=False
                )
                for array in shared if not self._shares_memory
            ]  # fmt: skip
            self.wait(mapped[-1][1] if mapped else cl.enqueue_marker(self.queue))
            for view, _ in mapped:
                view.base.release(self.queue)

    def staging_for(self, n_bytes: int) -> Staging | None:
        """Return what copies *n_bytes* faster than the driver does, if anything: a CPU device has no bus."""
        return self._staging if n_bytes >= LEAST_BYTES else None

    def pieces(self, n_bytes: int) -> list[tuple[int, int]]:
        """Return where the pieces begin and end in which the driver copies *n_bytes* soonest."""
        whole = n_bytes - n_bytes % _LINE_BYTES if self._copies_lines and n_bytes >= _MANY_LINES else 0
        return [(first, last) for first, last in ((0, whole), (whole, n_bytes)) if first < last]

    def empty(self, size: int, dtype: DTypeLike) -> DeviceArray:
        """Allocate *size* items, uninitialised."""
        check_fork()
        size = checked_count("size", size, 2**62, least=0)
        kind = number_type(dtype)
        n_bytes = max(1, size) * kind.itemsize
        if n_bytes >= _CHECKED_BYTES:  # else the text alone costs too much
            self.check_memory({f"an array of {size} {kind}": n_bytes})
        self._recording.allocated_bytes += n_bytes
        with self.driver, typed_errors(f"allocating {n_bytes:,} bytes"):
            buffer = self._pool.allocate(n_bytes)
            if self.facts.is_cpu and n_bytes >= recycled.LEAST_HUGE_BYTES:
                recycled.ask_for_huge_pages(self._queue, buffer, n_bytes)
            return DeviceArray(self, buffer, kind, size)

    def zeros(self, size: int, dtype: DTypeLike) -> DeviceArray:
        """Allocate *size* items set to zero."""
        array = self.empty(size, dtype)
        array.fill(0)
        return array

    def read(self, *parts: tuple[DeviceArray, int, int]) -> list[NDArray[Any]]:
        """Return items ``start:stop`` of each array as new host arrays, after one wait for all earlier work."""
        hosts: list[NDArray[Any]] = []
        events: list[cl.Event] = []
        in_page: list[int] = []  # places in hosts
        with self.driver:
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
                    events += enqueue_copies(self, self.queue, array.buffer, first_byte, host, to_host=True)
            for event in reversed(events):  # the last one ends last
                self.wait(event)
        for place in in_page:
            hosts[place] = hosts[place].copy()
        return hosts

    def release(self) -> None:
        """Drop cached graphs and plans, and free the memory the pool holds."""
        self.kept.forget()
        self.device_graphs.clear()
        self._pool.free_held()
        if self._pinned is not None:
            self._pinned.release()


_default_lock = threading.Lock()


def as_session(session: SessionLike, graph: Any = None) -> Session:
    """Return *session*. A name, device, context or queue, or None, stands for a session that all calls share.

    If *graph* lives on a device, ``None`` stands for the session of that device.
    """
    check_fork()
    if session is None and (home := getattr(graph, "on_device", None)) is not None:
        session = home.session
    if isinstance(session, Session):
        return session
    if session is not None and not isinstance(session, str | cl.Device | cl.Context | cl.CommandQueue):
        raise InputError(
            "session must be a Session, a device name, a pyopencl Device, Context or CommandQueue, or None, "
            f"not {type(session).__name__}"
        )
    with _default_lock:
        return _shared(session)


@lru_cache(maxsize=16)  # few, since a session keeps its queue, its programs and the memory of its pool
def _shared(given: str | cl.Device | cl.Context | cl.CommandQueue | None) -> Session:
    return Session(given)
