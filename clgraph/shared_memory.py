"""Arrays in memory that several processes share.

Each GPU has a process, which copies its part of an array from the shared memory to the GPU over the GPU's own bus.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import io
import os
import pickle
import threading
import weakref
from collections.abc import Collection
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.errors import HostMemoryError

_ALIGNMENT = 128  # In a block of shared memory that holds several arrays, each array begins at a multiple of 128 bytes.
# At most 1 GiB of unused blocks, and at most 16 unused blocks, are kept for later arrays.
_MAX_SPARE_BYTES, _MAX_SPARE = 1 << 30, 16
# The size of a block is a multiple of 64 KiB, so that later arrays of a similar size fit into the block.
_STEP_BYTES = 1 << 16


class Block:
    """A block of memory that several processes share.

    The process that created the block also removes it.
    """

    def __init__(self, memory: SharedMemory) -> None:
        self.memory, self.name = memory, memory.name
        # Only the block's address is kept, because Python does not unmap memory while an object refers to its buffer.
        view: Any = memory.buf
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(view))
        self.n_bytes = memory.size

    def array(self, offset: int, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return *size* items of this shared block, from byte *offset* on, as an array.

        The array keeps the block alive.
        """
        owner: Any = (ctypes.c_char * max(1, size * dtype.itemsize)).from_address(self.address + offset)
        # The array must keep the block alive, because a ctypes object made by from_address() keeps nothing alive.
        owner._block = self
        return np.frombuffer(owner, dtype, size)


# All blocks of shared memory that this process uses, by the name of the block.
_blocks: dict[str, weakref.ref[Block]] = {}
# Blocks of shared memory that this process has created, by the name of the block.
_own: weakref.WeakValueDictionary[str, SharedMemory] = weakref.WeakValueDictionary()
_spare: list[SharedMemory] = []  # Blocks that no array uses at the moment. A later array may get one of these blocks.
# Blocks of other processes that this process has mapped, by the name of the block. Mapping a block again takes longer
# than a call, so it stays mapped until :func:`keep_only` drops it.
_attached: dict[str, Block] = {}
_lock = threading.RLock()  # A block may be deleted, and given back, while this thread looks for a block.


def empty(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return an uninitialised array in shared memory, perhaps in the block of a deleted array.

    Raises
    ------
    HostMemoryError
        The system has no shared memory left for the array.
    """
    kind = np.dtype(dtype)
    return _new_block(max(1, size * kind.itemsize)).array(0, size, kind)


def copies(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Return copies of *arrays* in shared memory.

    All copies are in one block.
    """
    firsts = np.cumsum([0, *(-(-array.nbytes // _ALIGNMENT) * _ALIGNMENT for array in arrays)]).tolist()
    # The system allocates each page of the new block only when the page is first written.
    block = _new_block(max(1, firsts[-1]))
    found = [block.array(first, a.size, a.dtype) for first, a in zip(firsts[:-1], arrays, strict=True)]
    for copy, array in zip(found, arrays, strict=True):
        np.copyto(copy, array)
        copy.flags.writeable = array.flags.writeable
    return found


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
    return copies(whole.reshape(-1))[0].reshape(whole.shape)


def place_of(array: NDArray[Any]) -> tuple[str, int] | None:
    """Return the shared block's name and the byte offset of a contiguous *array*, or ``None`` if it is in no block."""
    first = array.ctypes.data
    for name, kept in list(_blocks.items()):
        block = kept()
        if block is not None and block.address <= first and first + array.nbytes <= block.address + block.n_bytes:
            return name, first - block.address
    return None


def attached(name: str) -> Block:
    """Return the block of shared memory *name*, which another process created.

    The first call maps the block.
    """
    kept = _blocks.get(name)
    block = None if kept is None else kept()
    if block is None:
        memory = SharedMemory(name)
        # Python would otherwise remove the shared block when this process ends, though another process created it.
        with contextlib.suppress(Exception):
            resource_tracker.unregister(memory._name, "shared_memory")  # type: ignore[attr-defined]
        block = _attached[name] = Block(memory)
        _blocks[name] = weakref.ref(block)
    return block


def living() -> list[str]:
    """Return the names of all blocks that this process has created and not removed."""
    return [*_own]


def keep_only(names: Collection[str]) -> None:
    """Unmap the blocks of another process, except for blocks that it still has: *names* of its :func:`living`."""
    for name in _attached.keys() - {*names}:
        del _attached[name]


def dumps(value: Any) -> bytes:
    """Return the pickle of *value*, in which an array in shared memory is a block name and an offset, not its data."""
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
    with _lock:
        place = next((k for k, each in enumerate(_spare) if n_bytes <= each.size <= 2 * n_bytes), None)
        memory = None if place is None else _spare.pop(place)
    if memory is None:
        memory = _created(n_bytes)
    block = Block(memory)
    _blocks[block.name] = weakref.ref(block)
    weakref.finalize(block, _give_back, memory).atexit = False
    return block


def _created(n_bytes: int) -> SharedMemory:
    try:
        memory = SharedMemory(create=True, size=n_bytes)
    except OSError as error:
        raise HostMemoryError(f"no {n_bytes:,} bytes of shared memory: {error}") from error
    _own[memory.name] = memory
    # The system would end this process when it writes to pages for which there is no room.
    if (free := _free_bytes(memory)) < n_bytes:
        _remove(memory)
        raise HostMemoryError(f"no {n_bytes:,} bytes of shared memory, of which {free:,} are free")
    return memory


def _free_bytes(memory: SharedMemory) -> int:
    try:
        system = os.fstatvfs(memory._fd)  # type: ignore[attr-defined]
    except (AttributeError, OSError):  # Some systems do not tell.
        return memory.size
    return system.f_bavail * system.f_frsize


def _give_back(memory: SharedMemory) -> None:
    with _lock:
        _blocks.pop(memory.name, None)
        if memory.name not in _own:  # The block belongs to the parent, which forked this process.
            return
        _spare.append(memory)
        while len(_spare) > _MAX_SPARE or sum(each.size for each in _spare) > _MAX_SPARE_BYTES:
            _remove(_spare.pop(0))


def _remove(memory: SharedMemory) -> None:
    _own.pop(memory.name, None)
    with contextlib.suppress(OSError, BufferError):
        memory.unlink()
        memory.close()


def remove_spare() -> None:
    """Remove the unused blocks of shared memory that are kept for later arrays."""
    while _spare:
        _remove(_spare.pop())


@atexit.register
def _remove_own() -> None:
    """Remove the names of the shared blocks that this process created.

    Processes that have mapped a block keep its memory.
    """
    for memory in [*_own.values()]:
        with contextlib.suppress(OSError):
            memory.unlink()


def _leave_to_parent() -> None:
    """Leave all blocks to the process that forked this one and created them."""
    global _lock
    _lock = threading.RLock()  # Another thread of that process may hold the lock.
    _own.clear()
    _spare.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
