"""Arrays in memory that several processes map, so that each GPU's process copies its part over its own bus."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import io
import pickle
import weakref
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.errors import HostMemoryError

_ALIGNMENT = 128  # bytes; arrays of a graph begin at multiples of it
_MAX_SPARE_BYTES, _MAX_SPARE = 1 << 30, 16  # bytes and number of blocks that wait for the next array
_STEP_BYTES = 1 << 16  # A block has a multiple of it, so that it fits arrays of about the same size.


class Block:
    """A block of shared memory. The process that has made it removes it."""

    def __init__(self, memory: SharedMemory) -> None:
        self.memory, self.name = memory, memory.name
        # Only the address is kept: memory that an array has borrowed cannot be unmapped.
        view: Any = memory.buf
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(view))
        self.n_bytes = memory.size

    def array(self, offset: int, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return *size* items from byte *offset* on, as an array that keeps the block."""
        owner: Any = (ctypes.c_char * max(1, size * dtype.itemsize)).from_address(self.address + offset)
        owner._block = self  # from_address keeps nothing alive
        return np.frombuffer(owner, dtype, size)


_blocks: dict[str, weakref.ref[Block]] = {}  # all of this process, by name
_own: weakref.WeakValueDictionary[str, SharedMemory] = weakref.WeakValueDictionary()  # made by this process
_spare: list[SharedMemory] = []  # blocks without an owner, which the next array may get
_removed: list[str] = []  # names of blocks that are gone, since :func:`removed` was called


def empty(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return an uninitialised array in shared memory, in a block of an earlier one if that has room.

    Raises
    ------
    HostMemoryError
        The system has no room for it.
    """
    kind = np.dtype(dtype)
    return _new_block(max(1, size * kind.itemsize)).array(0, size, kind)


def copies(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Return copies of *arrays* in one block of shared memory."""
    firsts = np.cumsum([0, *(-(-array.nbytes // _ALIGNMENT) * _ALIGNMENT for array in arrays)]).tolist()
    block = _new_block(max(1, firsts[-1]))  # the system fills it with pages when they are written
    found = [block.array(first, a.size, a.dtype) for first, a in zip(firsts[:-1], arrays, strict=True)]
    for copy, array in zip(found, arrays, strict=True):
        np.copyto(copy, array)
        copy.flags.writeable = array.flags.writeable
    return found


def place_of(array: NDArray[Any]) -> tuple[str, int] | None:
    """Return the name of the block in which contiguous *array* lies and its first byte there, else ``None``."""
    first = array.ctypes.data
    for name, kept in list(_blocks.items()):
        block = kept()
        if block is not None and block.address <= first and first + array.nbytes <= block.address + block.n_bytes:
            return name, first - block.address
    return None


def attached(name: str) -> Block:
    """Return block *name*, which another process has made; the first call maps it."""
    kept = _blocks.get(name)
    block = None if kept is None else kept()
    if block is None:
        memory = SharedMemory(name)
        # Before Python 3.13, Python would remove the shared block when this process ends, though it has not made it.
        with contextlib.suppress(Exception):
            resource_tracker.unregister(memory._name, "shared_memory")  # type: ignore[attr-defined]
        block = Block(memory)
        _blocks[name] = weakref.ref(block)
    return block


def removed() -> list[str]:
    """Return the names of blocks that were removed since the last call, so that other processes can unmap them."""
    found = _removed.copy()
    del _removed[: len(found)]
    return found


def dumps(value: Any) -> bytes:
    """Return the pickle of *value*; an array in shared memory is pickled as its place."""
    file = io.BytesIO()
    _Pickler(file, pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if type(value) is np.ndarray and value.flags.c_contiguous and (place := place_of(value)) is not None:
            return _array, (*place, value.shape, value.dtype, value.flags.writeable)
        return NotImplemented


def _array(name: str, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any], writeable: bool) -> NDArray[Any]:
    found = attached(name).array(offset, int(np.prod(shape)), dtype).reshape(shape)
    found.flags.writeable = writeable
    return found


def _new_block(n_bytes: int) -> Block:
    n_bytes = -(-n_bytes // _STEP_BYTES) * _STEP_BYTES
    memory = next((each for each in _spare if n_bytes <= each.size <= 2 * n_bytes), None)
    if memory is not None:
        _spare.remove(memory)
    else:
        try:
            memory = SharedMemory(create=True, size=n_bytes)
        except OSError as error:
            raise HostMemoryError(f"no {n_bytes:,} bytes of shared memory: {error}") from error
        _own[memory.name] = memory
    block = Block(memory)
    _blocks[block.name] = weakref.ref(block)
    weakref.finalize(block, _give_back, memory).atexit = False
    return block


def _give_back(memory: SharedMemory) -> None:
    _blocks.pop(memory.name, None)
    _spare.append(memory)
    while len(_spare) > _MAX_SPARE or sum(each.size for each in _spare) > _MAX_SPARE_BYTES:
        _remove(_spare.pop(0))


def _remove(memory: SharedMemory) -> None:
    _removed.append(memory.name)
    _own.pop(memory.name, None)
    with contextlib.suppress(OSError, BufferError):
        memory.unlink()
        memory.close()


def remove_spare() -> None:
    """Remove the blocks that wait for the next array."""
    while _spare:
        _remove(_spare.pop())


@atexit.register
def _remove_own() -> None:
    """Remove the names of all blocks that this process has made; what is mapped stays so until it ends."""
    for memory in [*_own.values()]:
        with contextlib.suppress(OSError):
            memory.unlink()
