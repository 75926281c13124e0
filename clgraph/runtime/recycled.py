"""Memory of answers that nobody has any more, for the answers to come.

The system zeroes each page that a process touches for the first time. On a host whose GPU writes 50 GB/s that takes
longer than the copy, and for a call that repeats longer than its kernels. Pages that are there already cost nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEAST_BYTES = 1 << 16  # the C library recycles what is smaller
_MOST_BYTES = 1 << 28  # that wait for an answer
_MOST_PASSED = 8  # answers of other sizes, until memory that waits is freed

_waiting: list[Memory] = []  # a collection may add to it at any time, so no lock guards it
_n_forks = 0


class Memory:
    """Whole pages that one answer after the other gets.

    Attributes
    ----------
    bytes : uint8 array
    n_uses : int
        How many answers have had it.
    pinned_by : callable
        Returns who has pinned it, while that lives.
    """

    pinned_by: Callable[[], object]

    def __init__(self, n_bytes: int) -> None:
        whole = np.empty(n_bytes + mmap.PAGESIZE, np.uint8)
        first = -whole.ctypes.data % mmap.PAGESIZE
        self.bytes = whole[first : first + n_bytes]
        self.pinned_by = lambda: None
        self.n_uses = self._n_passed = 0
        self._n_forks = _n_forks

    def fits(self, n_bytes: int) -> bool:
        """Return whether *n_bytes* have room and waste little; how often they had not is counted."""
        size = self.bytes.size
        fits = n_bytes <= size <= 2 * n_bytes
        self._n_passed = 0 if fits else self._n_passed + 1
        return fits

    @property
    def may_wait(self) -> bool:
        """Whether it may be given again: not if it was passed often, nor if a child of this process shares its pages.

        A device that has such pages pinned might write to the child's.
        """
        return self._n_passed < _MOST_PASSED and self._n_forks == _n_forks


def empty(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an uninitialised array, in memory of an earlier one if that has room."""
    return lent(size, dtype)[0]


def lent(size: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], Memory | None]:
    """Return what :func:`empty` does, and its memory, if it will be recycled."""
    n_bytes = size * dtype.itemsize
    if n_bytes < _LEAST_BYTES:
        return np.empty(size, dtype), None
    memory = _taken(n_bytes)
    memory.n_uses += 1
    data: Any = memory.bytes
    owner: Any = (ctypes.c_char * n_bytes).from_buffer(data)  # lives as long as the array and its views
    weakref.finalize(owner, _give_back, memory).atexit = False
    return np.frombuffer(owner, dtype), memory


def _taken(n_bytes: int) -> Memory:
    found: Memory | None = None
    passed: list[Memory] = []
    with contextlib.suppress(IndexError):  # nothing is left, or another thread has taken it
        while True:
            memory = _waiting.pop()
            if memory.fits(n_bytes) and found is None:
                found = memory
            else:
                passed.append(memory)
    for memory in reversed(passed):
        if memory.may_wait:
            _waiting.append(memory)
    return Memory(n_bytes) if found is None else found


def _give_back(memory: Memory) -> None:
    waiting = sum(each.bytes.size for each in _waiting.copy())
    if memory.may_wait and waiting + memory.bytes.size <= _MOST_BYTES:
        _waiting.append(memory)


def _begin_fork() -> None:
    global _n_forks
    _n_forks += 1
    _waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_begin_fork)
