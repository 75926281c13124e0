"""Memory of answers that nobody has any more, for the answers to come.

The system zeroes each page that a process touches for the first time. On a host whose GPU writes 50 GB/s that takes
longer than the copy, and for a call that repeats longer than its kernels. Pages that are there already cost nothing.
"""
from __future__ import annotations

import contextlib
import ctypes
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEAST_BYTES = 1 << 20  # the C library recycles what is smaller
_MOST_BYTES = 1 << 28  # that wait for an answer

_waiting: list[NDArray[np.uint8]] = []  # a collection may add to it at any time, so no lock guards it


def empty(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an uninitialised array, in memory of an earlier one if that has room; if none has, all that wait go."""
    n_bytes = size * dtype.itemsize
    if n_bytes < _LEAST_BYTES:
        return np.empty(size, dtype)
    memory = _taken(n_bytes)
    data: Any = memory
    owner: Any = (ctypes.c_char * n_bytes).from_buffer(data)  # lives as long as the array and its views
    weakref.finalize(owner, _give_back, memory).atexit = False
    return np.frombuffer(owner, dtype)


def _taken(n_bytes: int) -> NDArray[np.uint8]:
    others: list[NDArray[np.uint8]] = []
    with contextlib.suppress(IndexError):  # nothing is left, or another thread has taken it
        while True:
            memory = _waiting.pop()
            if n_bytes <= memory.size <= 2 * n_bytes:
                _waiting.extend(others)
                return memory
            others.append(memory)
    return np.empty(n_bytes, np.uint8)


def _give_back(memory: NDArray[np.uint8]) -> None:
    if sum(each.size for each in _waiting.copy()) + memory.size <= _MOST_BYTES:
        _waiting.append(memory)
