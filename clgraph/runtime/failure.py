"""Turn OpenCL errors and kernels' status words into clgraph's exceptions."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pyopencl as cl

from clgraph.errors import CapacityError, DeviceError, DeviceMemoryError, DeviceTimeoutError

# Values of cl/common/status.h.
STATUS_OK, STATUS_CAPACITY, STATUS_TIMEOUT = 0, 1, 2


@contextlib.contextmanager
def typed_errors(what: str) -> Iterator[None]:
    """Raise OpenCL errors of the block as :class:`DeviceError`, out of memory as its child."""
    try:
        yield
    except cl.Error as error:
        raise as_device_error(what, error) from error


def as_device_error(what: str, error: cl.Error) -> DeviceError:
    """Return the exception that stands for *error*."""
    if isinstance(error, cl.MemoryError):
        return DeviceMemoryError(f"{what}: the device is out of memory ({error})")
    return DeviceError(f"{what}: {error}")


def check_status(status: int, where: str) -> None:
    """Raise what a kernel wrote to its status word."""
    if status == STATUS_CAPACITY:
        raise CapacityError(f"{where}: a worklist overflowed; this is a bug of its size estimate")
    if status == STATUS_TIMEOUT:
        raise DeviceTimeoutError(
            f"{where}: a bounded wait on the device ran out; its work-groups did not make progress together"
        )
    if status != STATUS_OK:
        raise DeviceError(f"{where}: unknown status {status}")
