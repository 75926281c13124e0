"""Host memory for result arrays: recycled for later results, pinned for GPUs, and in huge pages for CPU devices.

The system zeroes each page that a process touches for the first time. On a host whose GPU writes 50 GB/s, this takes
longer than the copy, and in repeated calls longer than the kernels. Pages that are already mapped cost nothing, so the
memory of a deleted result is kept for a later result. A GPU writes to pinned pages by itself, at the full rate of its
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

_MIN_BYTES = 1 << 16  # Blocks of less than 64 KiB are not recycled here, because the C library recycles such blocks.
_MAX_BYTES = 1 << 28  # Largest number of bytes of memory that are kept for later results.
_MAX_PASSED = 8  # Kept memory is freed after 8 results in a row that did not fit into it.
# Memory of at least 4 MiB is pinned from its second use on, because pinning costs the time that two copies save.
# Smaller memory is pinned from its eighth use on, because pinning it costs the time of ten copies.
_LARGE_BYTES, _FROM_USE, _FROM_USE_OF_SMALL = 1 << 22, 2, 8
_WORDS_BYTES = 4096
# Arrays of at least 4 MiB get huge pages, as in numpy. In smaller arrays, whole huge pages would cover too little.
MIN_HUGE_BYTES = 1 << 22
_BYTES: Any = np.dtype(np.uint8)

_waiting: list[Pages] = []  # Without a lock: the garbage collector may append here while this thread holds one.
_n_forks = 0  # Number of times that this process was forked.


class Pages:
    """Whole pages of host memory that hold one result array after another."""

    def __init__(self, n_bytes: int) -> None:
        whole = np.empty(n_bytes + mmap.PAGESIZE, np.uint8)
        first = -whole.ctypes.data % mmap.PAGESIZE
        self.bytes = whole[first : first + n_bytes]
        # A function that returns the Pinned object that pinned this memory, or None.
        self.pinned_by: Callable[[], object] = lambda: None
        self.n_uses = 0  # Number of result arrays that have used this memory.
        self._n_passed = 0
        self._n_forks = _n_forks

    def fits(self, n_bytes: int) -> bool:
        """Return whether an array of *n_bytes* fits and uses at least half of these pages.

        Misfits in a row are counted.
        """
        size = self.bytes.size
        fits = n_bytes <= size <= 2 * n_bytes
        self._n_passed = 0 if fits else self._n_passed + 1
        return fits

    @property
    def may_wait(self) -> bool:
        """True if these pages are to be kept for a later result.

        Memory is dropped if several results in a row did not fit into it. Memory must also be dropped after a fork,
        because the child process shares the pages, and a device that has pinned them might write to the child's pages.
        """
        return self._n_passed < _MAX_PASSED and self._n_forks == _n_forks


def empty(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an uninitialised host array, in the memory of a deleted array if possible."""
    return lent(size, dtype)[0]


def lent(size: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], Pages | None]:
    """Return an uninitialised host array and its memory pages, or ``None`` for pages that will not be recycled."""
    n_bytes = size * dtype.itemsize
    if n_bytes < _MIN_BYTES:
        return np.empty(size, dtype), None
    memory = _taken(n_bytes)
    memory.n_uses += 1
    data: Any = memory.bytes
    # The owner object lives until the result array and all its views are deleted.
    owner: Any = (ctypes.c_char * n_bytes).from_buffer(data)
    weakref.finalize(owner, _give_back, memory).atexit = False
    return np.frombuffer(owner, dtype), memory


def _taken(n_bytes: int) -> Pages:
    found: Pages | None = None
    passed: list[Pages] = []
    with contextlib.suppress(IndexError):  # No memory is left, or another thread has just taken the last block.
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
    """Host memory that is pinned for one OpenCL context: recycled memory, and a page for each thread.

    Memory is pinned by making an OpenCL buffer of it. Any thread may drop the memory at any time. Its buffer is
    released later, before the next buffer is made.
    """

    def __init__(self, context: cl.Context) -> None:
        self._context, self._own = context, threading.local()
        self._buffers: dict[weakref.ref[Pages], cl.Buffer | None] = {}

    def holds(self, memory: Pages | None) -> bool:
        """Return whether *memory* is pinned.

        If *memory* has been used often enough, it is pinned first.

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
        """Release the OpenCL buffers that pin host memory which has been deleted."""
        for gone in [each for each in self._buffers if each() is None]:
            del self._buffers[gone]

    @property
    def words(self) -> NDArray[Any]:
        """The pinned page of this thread for small reads.

        The thread must copy the words before its next small read.
        """
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
    """Ask the operating system to put the *buffer* of a CPU device into huge pages, if the system has huge pages.

    Pages of the buffer that are mapped already stay as they are.

    A kernel that reads many rows in turn, such as a search of a wide mesh, accesses a different page for each row and
    misses the TLB each time. No driver asks for huge pages. numpy does, so the user's arrays have them already.
    """
    advise = _advise()
    if advise is None:
        return
    # WRITE_INVALIDATE copies nothing when the buffer is mapped. Only the address of the buffer is needed.
    access: Any = cl.map_flags.WRITE_INVALIDATE_REGION
    mapped, _ = cl.enqueue_map_buffer(queue, buffer, access, 0, (n_bytes,), _BYTES, is_blocking=False)
    begin = -(-mapped.ctypes.data // mmap.PAGESIZE) * mmap.PAGESIZE
    advise(begin, mapped.ctypes.data + n_bytes - begin, mmap.MADV_HUGEPAGE)
    mapped.base.release(queue)


@cache
def _advise() -> Any:
    """Return the function ``madvise`` of the C library, or ``None`` if the system has no huge pages."""
    function = getattr(ctypes.CDLL(None), "madvise", None) if hasattr(mmap, "MADV_HUGEPAGE") else None
    if function is not None:
        function.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    return function
