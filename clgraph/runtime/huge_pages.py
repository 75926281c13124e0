"""Large pages for arrays of CPU devices, whose drivers ask the system for none.

A kernel that looks at many rows in turn, as a search of a wide mesh does, touches a page for each and misses the
processor's table of pages at every look. numpy asks for large pages, so arrays of the user's have them already.
"""

from __future__ import annotations

import ctypes
import mmap
from functools import cache
from typing import Any

import numpy as np

from clgraph.runtime import opencl as cl

LEAST_BYTES = 1 << 22  # below it too little of an array is whole pages; numpy has this bound, too
_BYTES: Any = np.dtype(np.uint8)


def ask_for(queue: cl.CommandQueue, buffer: Any, n_bytes: int) -> None:
    """Ask the system to hold *buffer* in large pages, where it has any; pages that are there already stay."""
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
