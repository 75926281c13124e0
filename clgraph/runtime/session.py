"""The Session class: the OpenCL objects of one device, with caches for later calls."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from numpy.typing import DTypeLike, NDArray

from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import DeviceProfile
from clgraph.errors import InputError
from clgraph.runtime.discovery.query import platforms, query_facts
from clgraph.runtime.discovery.selection import check_works, profile_of, select_device
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.driver.failure import check_fork, typed_errors
from clgraph.runtime.driver.timing import Recorder, RunInfo
from clgraph.runtime.kept import Kept
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.memory.memory import Memory
from clgraph.runtime.programs.built import Programs
from clgraph.runtime.programs.program import Program

SessionLike: TypeAlias = "Session | str | cl.Device | cl.Context | cl.CommandQueue | None"


class Session:
    """A connection to one device, which owns all of its OpenCL objects.

    Parameters
    ----------
    device : None, str, pyopencl.Device, pyopencl.Context or pyopencl.CommandQueue
        ``None`` takes the best device. A string is ``"gpu"``, ``"cpu"``, a part of a platform,
        vendor or device name (``"nvidia"``, ``"amd:1"``, ``"pocl"``), or a ``"platform:device"`` id.
        If a context has several devices, the first one is taken. If a queue is given, all work is enqueued in it, after
        the commands that it already has; without ``PROFILING_ENABLE``, times of kernels and transfers are NaN.

    Attributes
    ----------
    facts : DeviceFacts
        The device's properties as its driver reports them.
    profile : DeviceProfile
        Measured rates and tuned sizes, and their origin.
    why : str
        The reason why the device was chosen.
    driver : context manager
        A lock to hold while calling the driver, because some drivers allow calls of one thread only. Threads that
        share a session must hold the lock, too, if they call OpenCL directly.
    transfers : Transfers
        Copies that overlap with kernels.
    kept : Kept
        Cached choices and plans of earlier calls, while their graphs exist; :meth:`release` drops them.

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
        check_fork()
        with typed_errors("creating a session"):
            platforms()  # This call sets environment variables that the OpenCL drivers read.
            self.context, self.device, queue, self.why = _opened(device)
            self.commands = Commands(self.context, self.device, queue, query_facts(self.device))
        self.profile: DeviceProfile = profile_of(self.device, self.facts)
        self.kept = Kept(self.facts.global_mem_bytes)
        self.device_graphs: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self.memory = Memory(self.commands, spare=self.kept.forget)
        self.programs = Programs(self.commands)
        self.transfers = self.memory.transfers

    def __repr__(self) -> str:
        return f"Session({self.facts.platform} / {self.facts.name})"

    @property
    def facts(self) -> DeviceFacts:
        """The properties of the device, as its driver reports them."""
        return self.commands.facts

    # ---- commands

    @property
    def driver(self) -> AbstractContextManager[Any]:
        """A lock to hold while calling the driver, because some drivers allow calls of one thread only."""
        return self.commands.driver

    @property
    def queue(self) -> cl.CommandQueue:
        """The command queue of the device.

        In a forked child it would hang, so reading it raises a :class:`ForkError`.
        """
        return self.commands.queue

    def wait(self, event: cl.Event) -> None:
        """Wait for *event*. After Ctrl-C, the wait ends as soon as the commands in flight have finished."""
        self.commands.wait(event)

    def finish(self) -> None:
        """Wait for all enqueued commands of the device."""
        self.commands.finish()

    def measure(self, started: float | None = None) -> AbstractContextManager[Recorder]:
        """Record events and compile times inside the block.

        The total time starts at *started*, by default now.

        Returns
        -------
        context manager of Recorder
            Its ``seconds`` and ``kernels()`` can be read after the block.
        """
        return self.commands.measure(started)

    def run_info(
        self, recorder: Recorder, strategy: str, kind: str, predicted_seconds: dict[str, float], **more: Any
    ) -> RunInfo:
        """Return the ``info`` of the run that *recorder* recorded.

        *more* are further fields of the ``info``.
        """
        assert recorder.seconds is not None
        return RunInfo(
            strategy, kind, self.facts.name, self.why, recorder.seconds, predicted_seconds, recorder.kernels(), **more
        )

    # ---- programs

    def program(
        self,
        source: str,
        defines: Mapping[str, int | str] | None = None,
        *,
        work_group_size: int | None = None,
    ) -> Program:
        """Return the compiled program of the kernel file *source*.

        The first call with these definitions builds the program.

        The work-group size is *work_group_size*, else ``WG_SIZE`` in the profile's tuning, else 256.
        """
        check_fork()
        merged = {"WG_SIZE": 256, **self.profile.tuning.get(source, {}), **(defines or {})}
        merged["WG_SIZE"] = min(work_group_size or int(merged["WG_SIZE"]), self.facts.max_work_group_size)
        return self.programs.get(source, merged)

    # ---- memory

    @property
    def alignment(self) -> int:
        """Alignment in bytes at which a view of a device array must begin (see :meth:`DeviceArray.view`)."""
        return self.memory.alignment

    def check_memory(self, sizes: Mapping[str, int]) -> None:
        """Raise :class:`DeviceMemoryError` unless buffers of these sizes in bytes fit the device together."""
        self.memory.check_memory(sizes)

    def upload(self, host: NDArray[Any], *, in_place: bool = False) -> DeviceArray:
        """Copy *host* to the device.

        A CPU device uses *host* without a copy if it is read-only and aligned to 64 bytes.

        Kernels must not write to the result. With *in_place*, a CPU device uses *host* without a copy if it is
        contiguous and aligned to 16 bytes, and the caller must not change it meanwhile.
        """
        return self.memory.upload(host, in_place=in_place)

    def empty(self, size: int, dtype: DTypeLike) -> DeviceArray:
        """Return a new, uninitialised device array of *size* items."""
        return self.memory.empty(size, dtype)

    def zeros(self, size: int, dtype: DTypeLike) -> DeviceArray:
        """Return a new device array of *size* zeros."""
        return self.memory.zeros(size, dtype)

    def read(self, *parts: tuple[DeviceArray, int, int]) -> list[NDArray[Any]]:
        """Return the items ``start:stop`` of each device array as new host
        arrays, after one wait for all earlier work.
        """
        return self.memory.read(*parts)

    def release(self) -> None:
        """Drop the session's cached graphs and plans, and free the device memory that its pool holds."""
        self.kept.forget()
        self.device_graphs.clear()
        self.memory.free_held()


def _opened(given: object) -> tuple[cl.Context, cl.Device, cl.CommandQueue, str]:
    """Return the context, device and queue for *given*, as in :class:`Session`, and why the device was chosen."""
    kinds = cl.command_queue_properties
    if isinstance(given, cl.CommandQueue):
        if given.properties & kinds.OUT_OF_ORDER_EXEC_MODE_ENABLE:
            raise InputError("the queue runs out of order; make one without OUT_OF_ORDER_EXEC_MODE_ENABLE")
        check_works(given.device)
        return given.context, given.device, given, "given as a queue"
    if isinstance(given, cl.Context):
        context, device, why = given, given.devices[0], "given as a context"
    else:
        device, why = select_device(given)
        context = cl.Context([device])
    check_works(device)
    return context, device, cl.CommandQueue(context, device, properties=kinds.PROFILING_ENABLE), why


_default_lock = threading.Lock()


def as_session(session: SessionLike, graph: Any = None) -> Session:
    """Return *session* if it is a :class:`Session`, else a session on that device, which all calls share.

    It may be a name, device, context, queue or ``None``. If *graph* is on a device, ``None`` means the session of that
    device.
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


# At most 16 sessions are cached, because each session holds a queue, programs and a memory pool.
@lru_cache(maxsize=16)
def _shared(given: str | cl.Device | cl.Context | cl.CommandQueue | None) -> Session:
    return Session(given)
