"""Host memory for answers: recycled for later answers, pinned for GPUs, and in huge pages for CPU devices.

The system zeroes each page that a process touches for the first time. On a host whose GPU writes 50 GB/s, this takes
longer than the copy, and in repeated calls longer than the kernels. Pages that are already mapped cost nothing, so the
memory of a deleted answer is kept for the next one. A GPU writes to pinned pages by itself, at the full rate of its
bus.
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

_MIN_BYTES = 1 << 16  # bytes; smaller blocks are recycled by the C library
_MAX_BYTES = 1 << 28  # bytes of memory kept for later answers
_MAX_PASSED = 8  # Waiting memory is freed after this number of answers that it did not fit.
# Pinning takes the time that two copies save for large memory, or ten copies for small memory. So memory is pinned from
# its second use on if it has at least 4 MiB, else from its eighth.
_LARGE_BYTES, _FROM_USE, _FROM_USE_OF_SMALL = 1 << 22, 2, 8
_WORDS_BYTES = 4096
MIN_HUGE_BYTES = 1 << 22  # bytes, the same bound as numpy's; too little of a smaller array is whole huge pages
_BYTES: Any = np.dtype(np.uint8)

_waiting: list[Pages] = []  # The garbage collector may append to it at any time, so it is not guarded by a lock.
_n_forks = 0  # number of times that this process was forked


class Pages:
    """Whole pages of memory that serve one answer after the other."""

    def __init__(self, n_bytes: int) -> None:
        whole = np.empty(n_bytes + mmap.PAGESIZE, np.uint8)
        first = -whole.ctypes.data % mmap.PAGESIZE
        self.bytes = whole[first : first + n_bytes]
        self.pinned_by: Callable[[], object] = lambda: None  # returns the Pinned that has pinned it, if that exists
        self.n_uses = 0  # number of answers that have lain in this memory
        self._n_passed = 0
        self._n_forks = _n_forks

    def fits(self, n_bytes: int) -> bool:
        """Return whether *n_bytes* fit and waste at most half of the memory; count successive misfits."""
        size = self.bytes.size
        fits = n_bytes <= size <= 2 * n_bytes
        self._n_passed = 0 if fits else self._n_passed + 1
        return fits

    @property
    def may_wait(self) -> bool:
        """Whether to keep it for a later answer.

        It is dropped if it did not fit several answers in a row. It must also be dropped after a fork, because a child
        shares its pages, and a device that has them pinned might write to the child's.
        """
        return self._n_passed < _MAX_PASSED and self._n_forks == _n_forks


def empty(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an uninitialised array, in the memory of a deleted one if possible."""
    return lent(size, dtype)[0]


def lent(size: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], Pages | None]:
    """Return an array as :func:`empty` does, and its memory, or ``None`` if that will not be recycled."""
    n_bytes = size * dtype.itemsize
    if n_bytes < _MIN_BYTES:
        return np.empty(size, dtype), None
    memory = _taken(n_bytes)
    memory.n_uses += 1
    data: Any = memory.bytes
    owner: Any = (ctypes.c_char * n_bytes).from_buffer(data)  # exists until the array and all its views are deleted
    weakref.finalize(owner, _give_back, memory).atexit = False
    return np.frombuffer(owner, dtype), memory


def _taken(n_bytes: int) -> Pages:
    found: Pages | None = None
    passed: list[Pages] = []
    with contextlib.suppress(IndexError):  # None is left, or another thread has just taken the last one.
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
    if memory.may_wait and waiting + memory.bytes.size <= _MAX_BYTES:
        _waiting.append(memory)


def _begin_fork() -> None:
    global _n_forks
    _n_forks += 1
    _waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_begin_fork)


class Pinned:
    """Memory that is pinned for one context: recycled memory while it exists, and a page for each thread.

    Memory is pinned by making an OpenCL buffer of it. Any thread may drop the memory at any time. The buffer is
    released later, before the next one is made.
    """

    def __init__(self, context: cl.Context) -> None:
        self._context, self._own = context, threading.local()
        self._buffers: dict[weakref.ref[Pages], cl.Buffer | None] = {}

    def holds(self, memory: Pages | None) -> bool:
        """Return whether *memory* is pinned; pin it first if it has been used often enough.

        Memory is not pinned for a second context, because drivers may refuse this.
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
        """Release the buffers whose memory no longer exists."""
        for gone in [each for each in self._buffers if each() is None]:
            del self._buffers[gone]

    @property
    def words(self) -> NDArray[Any]:
        """This thread's pinned page for small reads; the thread copies the words before it uses the page again."""
        if not hasattr(self._own, "memory"):
            self._own.memory = Pages(_WORDS_BYTES)
            self._own.buffer = self._pin(self._own.memory)
        words: NDArray[Any] = self._own.memory.bytes
        return words

    def _pin(self, memory: Pages) -> cl.Buffer | None:
        try:
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
            return cl.Buffer(self._context, flags, hostbuf=memory.bytes)
        except cl.Error:  # The system limits the memory that a process may pin.
            return None


def ask_for_huge_pages(queue: cl.CommandQueue, buffer: Any, n_bytes: int) -> None:
    """Ask the system to put *buffer* of a CPU device into huge pages, if it has any; mapped pages stay as they are.

    A kernel that reads many rows in turn, such as a search of a wide mesh, accesses a different page for each row and
    misses the TLB each time. No driver asks for huge pages. numpy does, so the user's arrays have them already.
    """
    advise = _advise()
    if advise is None:
        return
    access: Any = cl.map_flags.WRITE_INVALIDATE_REGION  # Only the address is needed, and this access copies nothing.
    mapped, _ = cl.enqueue_map_buffer(queue, buffer, access, 0, (n_bytes,), _BYTES, is_blocking=False)
    begin = -(-mapped.ctypes.data // mmap.PAGESIZE) * mmap.PAGESIZE
    advise(begin, mapped.ctypes.data + n_bytes - begin, mmap.MADV_HUGEPAGE)
    mapped.base.release(queue)


@cache
def _advise() -> Any:
    """Return the C library's ``madvise``, or ``None`` if the system has no huge pages."""
    function = getattr(ctypes.CDLL(None), "madvise", None) if hasattr(mmap, "MADV_HUGEPAGE") else None
    if function is not None:
        function.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    return function
