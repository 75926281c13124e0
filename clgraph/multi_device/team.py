"""Several devices that solve one problem: a thread for each device,
copies between devices, and the order of merging.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clgraph.errors import DeviceError
from clgraph.runtime.devices import sessions_of
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.driver.failure import as_device_error, typed_errors
from clgraph.runtime.driver.quirks import copies_faster_over_the_host
from clgraph.runtime.memory import recycled
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.memory.staging import LEAST_BYTES, hold
from clgraph.runtime.session import Session

# An array that is sent through host memory is cut into pieces: one piece is read while another is written.
_PIECE_BYTES = 32 << 20  # Largest size of a piece in bytes.
_LEAST_PIECES = 4  # An array is cut into at least 4 pieces, unless the pieces would be smaller than LEAST_BYTES.
_PIECES = 3  # Number of pieces of an array that are in host memory at a time.

_T = TypeVar("_T")


class Team:
    """A team of several devices: their sessions, with a thread for each device.

    Some drivers let one thread in. Work of different devices overlaps if no thread waits inside such a driver: a thread
    holds ``session.driver`` while it enqueues, and waits by ``session.commands.wait_aside`` after that.

    Parameters
    ----------
    devices : "all", or sequence of str, Session or pyopencl.Device
        Parts of a CPU, which :func:`clgraph.hetero.sub_devices` makes, are devices, too. Arrays go straight from one
        device to another where their sessions have one context: ``Session(cl.CommandQueue(context, device))``. NVIDIA's
        driver is slow at that, so there they never do.

    Attributes
    ----------
    sessions : tuple of Session
    sent_bytes : int
        How many bytes :meth:`send` has copied between devices.

    Raises
    ------
    NoDeviceError
        No device is given, or one is not there.
    InputError
        A device is given twice.
    """

    def __init__(self, devices: object) -> None:
        self.sessions: tuple[Session, ...] = tuple(sessions_of(devices))
        self.sent_bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.sessions)

    def names(self) -> list[str]:
        """Return the names of the team's devices."""
        return [session.facts.name for session in self.sessions]

    def each(self, work: Callable[[int], _T], places: Sequence[int] | None = None) -> list[_T]:
        """Return ``work(place)`` for each device, or for the devices at *places*.

        Each call runs in a thread of its own.

        Raises
        ------
        DeviceError
            A device has failed; the message says which. All threads have ended by then.
        """
        chosen = range(len(self)) if places is None else places
        if not chosen:
            return []
        with ThreadPoolExecutor(len(chosen), "clgraph-device") as threads:
            futures = [threads.submit(work, place) for place in chosen]
        for place, future in zip(chosen, futures, strict=True):
            if (error := future.exception()) is not None:
                raise self._named(place, error) from error
        return [future.result() for future in futures]

    def merge_rounds(self, places: Sequence[int] | None = None) -> list[list[tuple[int, int]]]:
        """Return the rounds in which all devices, or the devices at *places*, merge their results pairwise.

        A round is a list of pairs (receiver, sender). The pairs of a round have no device in common. Devices of one
        context merge first, because copies between them are direct, then devices of one platform. The receiver of the
        last round has the results of all devices.
        """
        chosen = list(range(len(self)) if places is None else places)

        def context(place: int) -> tuple[int, int]:
            session = self.sessions[place]
            return session.device.platform.int_ptr, session.context.int_ptr

        def platform(place: int) -> int:
            return context(place)[0]

        rounds: list[list[tuple[int, int]]] = []
        living = sorted(chosen, key=context)
        for key in (context, platform, lambda place: 0):
            groups = [list(group) for _, group in groupby(living, key)]
            while any(len(group) > 1 for group in groups):
                rounds.append([(a, b) for group in groups for a, b in zip(group[::2], group[1::2], strict=False)])
                groups = [group[::2] for group in groups]
            living = [group[0] for group in groups]
        return rounds

    def send(self, array: DeviceArray, to: Session) -> DeviceArray:
        """Return a copy of *array* on the device of session *to*.

        Kernels that are enqueued on that device from now on may read the copy. If both devices have one context, the
        driver copies directly, unless it is slow at that. Else the bytes go in pieces through pinned host memory.
        """
        own = array.memory.commands
        with self._lock:
            self.sent_bytes += array.nbytes
        with to.driver:
            copy = to.empty(array.size, array.dtype)
        if not array.size:
            return copy
        if own.context == to.context and not copies_faster_over_the_host(own.device):
            with own.driver, to.driver, typed_errors(f"copying from {own.facts.name} to {to.facts.name}"):
                ready = cl.enqueue_marker(own.queue)
                own.queue.flush()
                event = cl.enqueue_copy(to.queue, copy.buffer, array.buffer, byte_count=array.nbytes, wait_for=[ready])
                to.queue.flush()
            to.commands.wait_aside(event)
            return copy
        hold(own, own.copy_queue, own.queue)
        # The copy starts after all enqueued kernels, because they may still use the memory that it writes to.
        hold(to.commands, to.commands.copy_queue, to.queue)
        piece_bytes = min(_PIECE_BYTES, max(LEAST_BYTES, array.nbytes // _LEAST_PIECES))
        step = min(array.size, piece_bytes // array.dtype.itemsize)
        free = SimpleQueue[NDArray[Any]]()
        for _ in range(_PIECES):
            free.put(recycled.empty(step, array.dtype))

        def read(first: int) -> NDArray[Any]:
            host = free.get()[: array.size - first]
            self._read(array, first, host)
            return host

        with ThreadPoolExecutor(1, "clgraph-send") as reader:
            firsts = range(0, array.size, step)
            coming = [reader.submit(read, first) for first in firsts]
            try:
                for first, piece in zip(firsts, coming, strict=True):
                    self.write(copy, first, host := piece.result())
                    free.put(host)
            except BaseException:
                for piece in coming:
                    piece.cancel()
                # The reader thread may be waiting for a free piece of memory, so it gets one.
                free.put(np.empty(step, array.dtype))
                raise
        return copy

    def write(self, array: DeviceArray, first: int, host: NDArray[Any]) -> None:
        """Copy *host* to the items of *array* from *first* on, while kernels run.

        *host* may change afterwards.

        Kernels that are already enqueued must not use these items. Kernels that are enqueued from now on may use them.
        """
        memory = array.memory
        commands = memory.commands
        if commands.facts.is_cpu or host.nbytes < LEAST_BYTES:
            self._copy(commands, array.buffer, host, dst_offset=first * array.dtype.itemsize)
            return
        memory.staging_aside.upload(array.buffer, first * array.dtype.itemsize, host)
        hold(commands, commands.queue, commands.copy_queue)

    def set_rows(self, array: DeviceArray, host: NDArray[Any]) -> None:
        """Copy *host* to the whole *array*, after all earlier kernels and before all later ones."""
        array.set(host)

    def room(self, session: Session, place: object, n_bytes: int) -> cl.Buffer:
        """Return a device buffer of at least *n_bytes* bytes that no enqueued kernel uses.

        The buffer is not from the session's pool. Enqueued kernels may still use memory of the pool, and copies that
        overlap with kernels do not wait for them.
        """
        with session.driver, typed_errors(f"allocating {n_bytes:,} bytes"):
            return cl.Buffer(session.context, cl.mem_flags.READ_WRITE, n_bytes)

    def _read(self, array: DeviceArray, first: int, host: NDArray[Any]) -> None:
        memory = array.memory
        if memory.commands.facts.is_cpu or host.nbytes < LEAST_BYTES:
            self._copy(memory.commands, host, array.buffer, src_offset=first * array.dtype.itemsize)
        else:
            memory.staging_aside.read(array.buffer, first * array.dtype.itemsize, host)

    @staticmethod
    def _copy(commands: Commands, target: Any, source: Any, **place: Any) -> None:
        with commands.driver, typed_errors("copying between devices"):
            event = cl.enqueue_copy(commands.copy_queue, target, source, is_blocking=False, **place)
            commands.copy_queue.flush()
        commands.wait_aside(event)

    def _named(self, place: int, error: BaseException) -> BaseException:
        """Return *error*. If a device has caused the error, its message names the device."""
        who = f"devices[{place}], {self.sessions[place].facts.name}"
        if isinstance(error, cl.Error):
            return as_device_error(who, error)
        return type(error)(f"{who}: {error}") if isinstance(error, DeviceError) else error
