"""The child process that drives one GPU. It runs the functions of this package that its parent process names."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Collection, Iterable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph import shared_memory
from clgraph.errors import ClgraphError, DeviceError
from clgraph.multi_device.team import Team
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import typed_errors
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.memory.staging import hold
from clgraph.runtime.session import Session

_SPIN_SECONDS = 1e-3  # A process polls for its next call for 1 ms before it sleeps, because waking takes 0.1 to 0.6 ms.


class Member(Team):
    """A team of one device, the only device of this child process.

    Arrays in shared memory are pinned once, so the device copies these arrays without a detour over pinned chunks.

    Attributes
    ----------
    kept : dict
        Values that stay in this process between calls, by the keys that the parent process gave to the values.
    """

    def __init__(self, device: object) -> None:
        super().__init__([device])
        if not self.session.facts.is_cpu:
            self.session.commands.expect_one_thread()
        self.kept: dict[Any, Any] = {}
        # Buffers that keep blocks of shared memory pinned, by the names of the blocks.
        self._pinned: dict[str, cl.Buffer] = {}
        self._reads: list[cl.Event] = []
        self._rooms: dict[object, cl.Buffer] = {}

    @property
    def session(self) -> Any:
        return self.sessions[0]

    def each(self, work: Any, places: Any = None) -> list[Any]:
        """Return ``[work(0)]``, or ``work(place)`` for each of *places*.

        All calls run in this thread, on its only device.
        """
        return [work(place) for place in ((0,) if places is None else places)]

    def write(self, array: DeviceArray, first: int, host: NDArray[Any]) -> None:
        """Begin to copy *host* to the items of *array* from *first* on, before all later kernels.

        *host* must not change until kernels have used the items.
        """
        if not self.is_pinned(host):
            super().write(array, first, host)
            return
        commands = array.memory.commands
        with typed_errors("copying to the device"):
            offset = first * array.dtype.itemsize
            cl.enqueue_copy(commands.copy_queue, array.buffer, host, dst_offset=offset, is_blocking=False)
        hold(commands, commands.queue, commands.copy_queue)

    def set_rows(self, array: DeviceArray, host: NDArray[Any]) -> None:
        """Copy *host* to the whole *array*, in order with the kernels.

        *host* must not change until the kernels have run.
        """
        if not self.is_pinned(host):
            super().set_rows(array, host)
        elif host.size:
            with typed_errors("copying to the device"):
                cl.enqueue_copy(self.session.queue, array.buffer, host, is_blocking=False)

    def room(self, session: Session, place: object, n_bytes: int) -> cl.Buffer:
        """Return a device buffer of at least *n_bytes* bytes that no enqueued kernel uses.

        It is the buffer that the last call used for *place*, if the size is right, because that call has ended. Without
        a place, the buffer is new.
        """
        if place is None:
            return super().room(session, place, n_bytes)
        if place not in self._rooms or not n_bytes <= self._rooms[place].size <= 2 * n_bytes:
            self._rooms.pop(place, None)
            self._rooms[place] = super().room(session, place, n_bytes)
        return self._rooms[place]

    def begin_read(self, array: DeviceArray, first: int, host: NDArray[Any]) -> None:
        """Begin to copy items of *array* from *first* on to the host array *host*, after all earlier work.

        Later kernels may run during the copy. :meth:`finish_reads` waits for the copy.
        """
        commands = array.memory.commands
        if not self.is_pinned(host):
            host[:] = array.get(first, first + host.size)
        elif host.size:
            hold(commands, commands.copy_queue, commands.queue)
            with typed_errors("copying from the device"):
                offset = first * array.dtype.itemsize
                event = cl.enqueue_copy(commands.copy_queue, host, array.buffer, src_offset=offset, is_blocking=False)
                commands.copy_queue.flush()
            self._reads.append(event)

    def finish_reads(self) -> None:
        """Wait for the copies to the host that :meth:`begin_read` has begun."""
        while self._reads:
            self.session.commands.wait(self._reads.pop())

    def keep_only(self, names: Collection[str]) -> None:
        """Begin a call: unpin and unmap the blocks of shared memory that the parent process has removed.

        *names* are all others.
        """
        for name in self._pinned.keys() - {*names}:
            del self._pinned[name]
        shared_memory.keep_only(names)

    def is_pinned(self, host: NDArray[Any]) -> bool:
        """Return whether *host* is in pinned shared memory.

        A block of shared memory is pinned on its first use.
        """
        place = shared_memory.place_of(host)
        if place is None or self.session.facts.is_cpu:
            return False
        if place[0] not in self._pinned:
            block = shared_memory.attached(place[0])
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
            whole = block.array(0, block.n_bytes, np.dtype(np.uint8))
            try:
                self._pinned[place[0]] = cl.Buffer(self.session.context, flags, hostbuf=whole)
            except cl.Error:  # The system limits the amount of memory that a process may pin.
                return False
        return True


def serve(connection: Connection, device: str) -> None:
    """Answer the calls of the parent process until it ends or closes the connection.

    A call is ``(function, arguments, living)``, with :func:`clgraph.shared_memory.living` of the parent process. The
    answer is the result of ``function(member, *arguments)``, or the exception that the function has raised.
    """
    member: Member | None = None
    while True:
        until = time.perf_counter() + _SPIN_SECONDS
        while time.perf_counter() < until and not connection.poll():
            pass
        try:
            call = connection.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            if member is None:
                member = Member(device)
            function, arguments, living = pickle.loads(call)
            member.keep_only(living)
            answer: tuple[bool, Any] = True, function(member, *arguments)
            del function, arguments
        except BaseException as error:
            if not isinstance(error, ClgraphError):
                # The note keeps the traceback, because pickling drops an exception's traceback.
                error.add_note(traceback.format_exc())
            answer = False, _plain(error)
        connection.send_bytes(shared_memory.dumps(answer))


def describe(member: Member) -> str:
    """Return the name of the device that this child process drives."""
    name: str = member.session.facts.name
    return name


def drop(member: Member, keys: Iterable[Any]) -> None:
    """Delete the values that the child process has kept under *keys*."""
    for key in keys:
        member.kept.pop(key, None)


def _plain(error: BaseException) -> BaseException:
    """Return *error* if it can be pickled and is not OpenCL's own; else a DeviceError with the same message."""
    if isinstance(error, Exception) and not isinstance(error, cl.Error):
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return DeviceError(f"{type(error).__name__}: {error}")
        return error
    return DeviceError(f"{type(error).__name__}: {error}")


def _end_with_parent() -> None:
    """End this child process when its parent process ends, which closes the other end of standard input."""
    # A read by sys.stdin would hold a lock with which the interpreter cannot shut down.
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def main() -> None:
    """Serve the calls of the parent process, with the connection and the device that the command line names."""
    # Ctrl-C reaches all processes, and only the parent process reacts to it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    serve(Connection(int(sys.argv[1])), sys.argv[2])
    os._exit(0)  # The interpreter's shutdown would wait for the driver, which may hang or abort.


if __name__ == "__main__":
    main()
