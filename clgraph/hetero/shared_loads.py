"""Copies of the arrays of loads in shared memory, for the processes of several GPUs."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph import shared_memory
from clgraph.errors import HostMemoryError, InputError

_LEAST_BYTES = 1 << 16  # Smaller arrays go to a process in the call itself.
_CHUNK_BYTES = 1 << 20


@dataclass
class _Copy:
    """A copy of a whole array, of which only the chunks that were asked for are filled in."""

    array: NDArray[Any]
    bytes: NDArray[np.uint8]
    is_filled: NDArray[np.bool_] = field(init=False)
    is_used: bool = True

    def __post_init__(self) -> None:
        self.is_filled = np.zeros(-(-self.bytes.size // _CHUNK_BYTES), np.bool_)

    def part(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the copy of *array*, which is a part of the whole array."""
        first = array.ctypes.data - self.array.ctypes.data
        whole = self.array.reshape(-1).view(np.uint8)
        chunks = np.arange(first // _CHUNK_BYTES, -(-(first + array.nbytes) // _CHUNK_BYTES))
        # Two threads may copy a chunk at once, and both write the same bytes.
        for chunk in chunks[~self.is_filled[chunks]]:
            place = slice(chunk * _CHUNK_BYTES, (chunk + 1) * _CHUNK_BYTES)
            self.bytes[place] = whole[place]
        self.is_filled[chunks] = True
        self.is_used = True
        return self.bytes[first : first + array.nbytes].view(array.dtype).reshape(array.shape)


def new_output(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an uninitialised array, in shared memory if there is room."""
    try:
        return shared_memory.empty(math.prod(shape), dtype).reshape(shape)
    except HostMemoryError:
        return np.empty(shape, dtype)


def shared_copy(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of *array* in shared memory, which the processes of several GPUs read without further copies.

    Raises
    ------
    HostMemoryError
        The system has no shared memory left for the array.

    Examples
    --------
    >>> x = shared_copy(np.arange(1e6, dtype=np.float32))
    >>> results, report = HeteroScheduler("all").run(work, [x] * 3)
    """
    whole = np.ascontiguousarray(array)
    return shared_memory.copies(whole.reshape(-1))[0].reshape(whole.shape)


class SharedLoads:
    """Copies of arrays in shared memory, which last until a load does not use them.

    Loads that follow each other are often the same arrays, so each byte of these is copied once. Threads copy the parts
    for their processes at the same time.
    """

    def __init__(self) -> None:
        self._copies: dict[int, _Copy] = {}
        self._lock = threading.Lock()

    def values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return *values* with a copy in shared memory in place of each large array.

        Raises
        ------
        HostMemoryError
            There is no shared memory for an array.
        """
        return {name: self.of(name, v) if isinstance(v, np.ndarray) else v for name, v in values.items()}

    def of(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of *array* in shared memory; *array* itself if it is there, or is small."""
        if array.ndim != 1 or not array.flags.c_contiguous:
            raise InputError(f"{name} of a part has shape {array.shape}; allowed: contiguous arrays of one dimension")
        if array.nbytes < _LEAST_BYTES or shared_memory.place_of(array) is not None:
            return array
        whole = array
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        if not whole.flags.c_contiguous:
            return shared_memory.copies(array)[0]
        with self._lock:
            copy = self._copies.get(id(whole))
            if copy is None:
                try:
                    room = shared_memory.empty(whole.nbytes, np.uint8)
                except HostMemoryError:  # There may be room for this part of the whole array.
                    return shared_memory.copies(array)[0]
                copy = self._copies[id(whole)] = _Copy(whole, room)
        return copy.part(array)

    def end_load(self) -> None:
        """Drop the copies that the load that has just ended did not use."""
        self._copies = {key: copy for key, copy in self._copies.items() if copy.is_used}
        for copy in self._copies.values():
            copy.is_used = False

    def clear(self) -> None:
        """Drop all copies, because the caller may change the arrays from now on."""
        self._copies.clear()
