"""Pages of the host's memory: recycled for later answers, pinned for GPUs, large for CPU devices.

The system zeroes each page that a process touches for the first time. On a host whose GPU writes 50 GB/s that takes
longer than the copy, and for a call that repeats longer than its kernels. Pages that are there already cost nothing,
so memory of an answer that is gone is kept for the next one. A GPU writes to pinned pages by itself, at the full rate
of its bus.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import threading
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.runtime.driver import opencl as cl

_LEAST_BYTES = 1 << 16  # the C library recycles smaller blocks
_MOST_BYTES = 1 << 28  # most memory that is kept for answers
_MOST_PASSED = 8  # answers of other sizes, until memory that waits is freed
# Pinning costs the time that two copies to large memory save, or ten to small memory; it is done from these uses on.
_LARGE_BYTES, _FROM_USE, _FROM_USE_OF_SMALL = 1 << 22, 2, 8
_WORDS_BYTES = 4096
LEAST_HUGE_BYTES = 1 << 22  # below it too little of an array is whole pages; numpy has this bound, too
_BYTES: Any = np.dtype(np.uint8)

_waiting: list[Pages] = []  # a collection may add to it at any time, so no lock guards it
_n_forks = 0


class Pages:
    """Whole pages that one answer after the other gets."""

    def __init__(self, n_bytes: int) -> None:
        whole = np.empty(n_bytes + mmap.PAGESIZE, np.uint8)
        first = -whole.ctypes.data % mmap.PAGESIZE
        self.bytes = whole[first : first + n_bytes]
        self.pinned_by: Callable[[], object] = lambda: None  # returns the Pinned that has pinned it, while that lives
        self.n_uses = 0  # answers that have had it
        self._n_passed = 0
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


def lent(size: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], Pages | None]:
    """Return what :func:`empty` does, and its memory, if it will be recycled."""
    n_bytes = size * dtype.itemsize
    if n_bytes < _LEAST_BYTES:
        return np.empty(size, dtype), None
    memory = _taken(n_bytes)
    memory.n_uses += 1
    data: Any = memory.bytes
    owner: Any = (ctypes.c_char * n_bytes).from_buffer(data)  # lives until the array and its views are gone
    weakref.finalize(owner, _give_back, memory).atexit = False
    return np.frombuffer(owner, dtype), memory


def _taken(n_bytes: int) -> Pages:
    found: Pages | None = None
    passed: list[Pages] = []
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
    return Pages(n_bytes) if found is None else found


def _give_back(memory: Pages) -> None:
    waiting = sum(each.bytes.size for each in _waiting.copy())
    if memory.may_wait and waiting + memory.bytes.size <= _MOST_BYTES:
        _waiting.append(memory)


def _begin_fork() -> None:
    global _n_forks
    _n_forks += 1
    _waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_begin_fork)


class Pinned:
    """Pages that is pinned for one context: recycled memory while it lives, and a page for each thread.

    The driver pins the memory of a buffer that is made of it. Any thread may drop the memory at any time; the buffer is
    released later, before the next one is made.
    """

    def __init__(self, context: cl.Context) -> None:
        self._context, self._own = context, threading.local()
        self._buffers: dict[weakref.ref[Pages], cl.Buffer | None] = {}

    def holds(self, memory: Pages | None) -> bool:
        """Return whether *memory* is pinned, as it is once it has come again, and small one often, if the driver can.

        No memory is pinned for two contexts, which drivers may refuse.
        """
        if memory is None or memory.pinned_by() not in (None, self):
            return False
        if memory.n_uses < (_FROM_USE if memory.bytes.size >= _LARGE_BYTES else _FROM_USE_OF_SMALL):
            return False
        key = weakref.ref(memory)
        if key not in self._buffers:
            self.release()
            self._buffers[key], memory.pinned_by = self._pin(memory), weakref.ref(self)
        return self._buffers[key] is not None

    def release(self) -> None:
        """Release what was pinned of memory that is gone."""
        for gone in [each for each in self._buffers if each() is None]:
            del self._buffers[gone]

    @property
    def words(self) -> NDArray[Any]:
        """A page for words that are read back; no other thread uses it before this one has copied them."""
        if not hasattr(self._own, "memory"):
            self._own.memory = Pages(_WORDS_BYTES)
            self._own.buffer = self._pin(self._own.memory)
        words: NDArray[Any] = self._own.memory.bytes
        return words

    def _pin(self, memory: Pages) -> cl.Buffer | None:
        try:
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
            return cl.Buffer(self._context, flags, hostbuf=memory.bytes)
        except cl.Error:  # the system limits the memory that a process may pin
            return None


def ask_for_huge_pages(queue: cl.CommandQueue, buffer: Any, n_bytes: int) -> None:
    """Ask the system to hold *buffer* of a CPU device in large pages, where it has any; pages that are there stay.

    A kernel that looks at many rows in turn, as a search of a wide mesh does, touches a page for each and misses the
    processor's table of pages at every look. No driver asks; numpy does, so arrays of the user's have large pages.
    """
    advise = _advise()
    if advise is None:
        return
    access: Any = cl.map_flags.WRITE_INVALIDATE_REGION  # the address is all that is wanted, and is there at once
    mapped, _ = cl.enqueue_map_buffer(queue, buffer, access, 0, (n_bytes,), _BYTES, is_blocking=False)
    begin = -(-mapped.ctypes.data // mmap.PAGESIZE) * mmap.PAGESIZE
    advise(begin, mapped.ctypes.data + n_bytes - begin, mmap.MADV_HUGEPAGE)
    mapped.base.release(queue)


@cache
def _advise() -> Any:
    """Return the C library's ``madvise``; ``None`` where a system has no large pages to ask for."""
    function = getattr(ctypes.CDLL(None), "madvise", None) if hasattr(mmap, "MADV_HUGEPAGE") else None
    if function is not None:
        function.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    return function
