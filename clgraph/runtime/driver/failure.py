"""Conversion of OpenCL errors, forks and the status words of kernels to clgraph's exceptions."""

from __future__ import annotations

import os

from clgraph.errors import (
    CapacityError,
    DeviceError,
    DeviceMemoryError,
    DeviceTimeoutError,
    ForkError,
    NoProgressError,
)
from clgraph.runtime.driver import opencl as cl

# Values of cl/common/status.h.
STATUS_OK, STATUS_CAPACITY, STATUS_TIMEOUT, STATUS_STUCK = 0, 1, 2, 3
_MEANINGS: dict[int, tuple[type[DeviceError], str]] = {
    STATUS_CAPACITY: (CapacityError, "a worklist overflowed; this is a bug of its size estimate"),
    STATUS_TIMEOUT: (
        DeviceTimeoutError,
        "a bounded wait on the device ran out; its work-groups did not make progress together",
    ),
    STATUS_STUCK: (NoProgressError, "no progress, though every round makes some; please report this with the input"),
}


class typed_errors:
    """A context manager that turns OpenCL errors into :class:`DeviceError`, or DeviceMemoryError if memory is short."""

    # typed_errors is a class, because a generator would take four times longer, and a call enters dozens of blocks.
    __slots__ = ("_what",)

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, cl.Error):
            raise as_device_error(self._what, error) from error


def as_device_error(what: str, error: cl.Error) -> DeviceError:
    """Return *error*, an exception of pyopencl, as an exception of clgraph."""
    if isinstance(error, cl.MemoryError):
        return DeviceMemoryError(f"{what}: the device is out of memory ({error})")
    return DeviceError(f"{what}: {error}")


def check_status(status: int, where: str) -> None:
    """Raise an error if *status*, the status word of a kernel, reports one."""
    if status != STATUS_OK:
        kind, reason = _MEANINGS.get(status, (DeviceError, f"unknown status {status}"))
        raise kind(f"{where}: {reason}")


# The id of the process that first used OpenCL. OpenCL's threads do not survive a fork, so children cannot use OpenCL.
_used_in: int | None = None


def mark_opencl_used() -> None:
    """Record that this process uses OpenCL. Raise :class:`ForkError` if its parent used OpenCL before the fork."""
    global _used_in
    check_fork()
    _used_in = os.getpid()


def check_fork() -> None:
    """Raise :class:`ForkError` if this process was forked from a process that had used OpenCL."""
    if _used_in is not None and _used_in != os.getpid():
        raise ForkError(
            f"OpenCL was used in process {_used_in} before it forked this one; no OpenCL runtime survives "
            "that. Start children with multiprocessing.get_context('spawn'), or first use clgraph in them"
        )
