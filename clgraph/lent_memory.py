"""Arrays that a process lends to its child processes, which read and write them in place.

Linux copies between the memories of two processes by itself (``process_vm_readv``), if one may debug the other. So the
arrays need no copy in shared memory, and several threads of each child process copy at the same time.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.errors import DeviceError

_PR_SET_PTRACER = 0x59616D61  # Linux's option of prctl() that names a process that may read the caller's memory.


class _Vector(ctypes.Structure):
    """Linux's ``struct iovec``."""

    _fields_ = [("address", ctypes.c_void_p), ("n_bytes", ctypes.c_size_t)]


@dataclass(frozen=True)
class LentArray:
    """A contiguous array of *size* items at an *address* in the memory of *process*.

    The process must keep the array until the copies have ended.
    """

    process: int
    address: int
    size: int
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __getitem__(self, items: slice) -> LentArray:
        start, stop, _ = items.indices(self.size)
        return LentArray(self.process, self.address + start * self.dtype.itemsize, max(0, stop - start), self.dtype)

    def bytes(self) -> LentArray:
        """Return the same memory as an array of bytes."""
        return LentArray(self.process, self.address, self.nbytes, np.dtype(np.uint8))

    def read(self, target: NDArray[Any]) -> None:
        """Copy this array to the contiguous array *target*."""
        _copy("process_vm_readv", self, target)

    def write(self, source: NDArray[Any]) -> None:
        """Copy the contiguous array *source* to this array."""
        _copy("process_vm_writev", self, source)

    def copy(self) -> NDArray[Any]:
        """Return a copy in the memory of this process."""
        made = np.empty(self.size, self.dtype)
        self.read(made)
        return made


def lend(array: NDArray[Any]) -> LentArray:
    """Return the place of the contiguous *array* in the memory of this process."""
    return LentArray(os.getpid(), array.ctypes.data, array.size, array.dtype)


def let_children_read() -> None:
    """Let the child processes of this process read and write its memory, if a security module asks for that.

    Linux's module Yama lets only parent processes read the memory of their child processes by default.
    """
    if (prctl := getattr(_library(), "prctl", None)) is not None:
        # The descendants of the named process may read. Without the module, the call has no effect.
        prctl(_PR_SET_PTRACER, ctypes.c_ulong(os.getpid()), 0, 0, 0)


def is_readable(probe: LentArray) -> bool:
    """Return whether this process may read the memory of the process that lends *probe*."""
    try:
        probe.copy()
    except (DeviceError, AttributeError):  # The system has no such call, or forbids it.
        return False
    return True


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    for name in ("process_vm_readv", "process_vm_writev"):
        if hasattr(library, name):
            getattr(library, name).restype = ctypes.c_ssize_t
    return library


def _copy(call: str, lent: LentArray, own: NDArray[Any]) -> None:
    copied, one, done = getattr(_library(), call), ctypes.c_ulong(1), 0
    while done < lent.nbytes:  # Linux copies at most 2 GiB in a call.
        here = _Vector(own.ctypes.data + done, lent.nbytes - done)
        there = _Vector(lent.address + done, lent.nbytes - done)
        n = copied(lent.process, ctypes.byref(here), one, ctypes.byref(there), one, ctypes.c_ulong(0))
        if n <= 0:
            reason = os.strerror(ctypes.get_errno())
            raise DeviceError(f"copying {lent.nbytes:,} bytes between processes: {reason}")
        done += n
