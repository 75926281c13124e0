"""Memory of the host that is pinned, so that a GPU writes to it by itself, at the full rate of its bus."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from numpy.typing import NDArray

from clgraph.runtime import opencl as cl
from clgraph.runtime.recycled import Memory

# To pin memory takes as long as two copies to it save, if it is large, and else as long as ten.
_LARGE_BYTES, _FROM_USE, _FROM_USE_OF_SMALL = 1 << 22, 2, 8
_WORDS_BYTES = 4096


class Pinned:
    """What was pinned for one context: recycled memory as long as that lives, and a page of each thread's own.

    The driver pins what a buffer of the host's memory is made of. The buffers are not released by whoever drops the
    memory, which may be any thread at any time, but before the next one is made.
    """

    def __init__(self, context: cl.Context) -> None:
        self._context, self._own = context, threading.local()
        self._buffers: dict[weakref.ref[Memory], cl.Buffer | None] = {}

    def holds(self, memory: Memory | None) -> bool:
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
        """A page for words that are read back, which nobody else uses before this thread has copied them."""
        if not hasattr(self._own, "memory"):
            self._own.memory = Memory(_WORDS_BYTES)
            self._own.buffer = self._pin(self._own.memory)
        words: NDArray[Any] = self._own.memory.bytes
        return words

    def _pin(self, memory: Memory) -> cl.Buffer | None:
        try:
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
            return cl.Buffer(self._context, flags, hostbuf=memory.bytes)
        except cl.Error:  # the system lets a process pin so much and no more
            return None
