"""Copies between host arrays and a device, in chunks of memory that the device copies by itself.

Several threads copy between the host arrays and the chunks, while the bus transfers other chunks.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from queue import SimpleQueue
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clgraph.runtime.driver.failure import typed_errors

CHUNK_BYTES = 8 << 20  # Bytes of a chunk. Chunks are large, because the host makes a dozen steps for each chunk.
N_CHUNKS = 7
LAG = 2  # The memory of a chunk is reused when two later chunks are being copied.
_SLICES = 4  # A chunk is copied in four slices, by four threads.
_FEW_CHUNKS = 4  # A copy of fewer than 4 chunks is divided into half chunks, so that several transfers overlap.
_MAX_THREADS = 12  # Twelve threads that copy chunks saturate the bus.
_TOUCHED = 3  # While kernels run, the threads touch the pages of 3 parts of a host array at a time.
_PAGE_BYTES = 4096
_ZERO = np.zeros(1, np.uint8)

# A copy to the device: the target, the first byte in the target, and the host array.
Copy: TypeAlias = tuple[Any, int, NDArray[Any]]
_Tasks: TypeAlias = "SimpleQueue[tuple[NDArray[np.uint8], NDArray[np.uint8], threading.Lock] | None]"


class _Copiers:
    """A fixed pool of threads that copy between host arrays, with a list of the unfinished parts of a transfer.

    Slices arrive through a SimpleQueue, and a lock per slice signals that the slice is done. Both are implemented in C.
    Futures take many steps under Python's GIL, and the bus would be idle meanwhile.
    """

    def __init__(self) -> None:
        self._tasks: _Tasks = SimpleQueue()
        # For each part of a copy that still runs, the locks of its slices. A lock is released when its slice is done.
        self._parts: deque[list[threading.Lock]] = deque()
        n_threads = min(_MAX_THREADS, os.cpu_count() or 1)
        for k in range(n_threads):
            name = f"clgraph-copy-{k}"
            threading.Thread(target=_copy_all, args=(self._tasks,), name=name, daemon=True).start()
        weakref.finalize(self, _stop, self._tasks, n_threads)

    def submit(self, target: NDArray[np.uint8], source: NDArray[np.uint8] | None = None) -> None:
        """Let the threads copy *source* to *target*. If there is no *source*, they touch each page of *target*."""
        ends: list[threading.Lock] = []
        self._parts.append(ends)
        step = -(-target.size // _SLICES)
        for at in range(0, target.size, step):
            end = threading.Lock()
            end.acquire()
            slices = target[at : at + step : _PAGE_BYTES], _ZERO
            if source is not None:
                slices = target[at : at + step], source[at : at + step]
            self._tasks.put((*slices, end))
            ends.append(end)

    def wait(self) -> None:
        """Wait for the oldest unfinished part of the transfer."""
        for end in self._parts[0]:
            with end:
                pass
        self._parts.popleft()

    def finish(self, left: int = 0) -> None:
        """Wait until at most *left* parts of the transfer are unfinished."""
        while len(self._parts) > left:
            self.wait()


def _copy_all(tasks: _Tasks) -> None:
    while (task := tasks.get()) is not None:
        target, source, end = task
        np.copyto(target, source)
        del task, target, source  # The thread must not keep memory alive while it waits for the next task.
        end.release()


def _stop(tasks: _Tasks, n_threads: int) -> None:
    for _ in range(n_threads):
        tasks.put(None)


class ChunkedCopies(ABC):
    """Copies to and from a device in chunks.

    A subclass makes the chunks, and begins transfers between a chunk and the device. Chunks and threads are made on
    first use, by the thread that holds the lock. This is necessary because since Python 3.12, two threads that read a
    ``cached_property`` at once may each compute it and get different objects. The copying threads only copy between
    host arrays and never call the driver, because some drivers crash if several threads call them
    (``quirks.wants_one_thread``).
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # Only one transfer at a time uses the chunks, so it holds this lock.
        self._sending: list[Any] = [None] * N_CHUNKS  # The last transfer from each chunk, or None.

    @abstractmethod
    def _new_chunks(self, n_chunks: int, n_bytes: int) -> list[NDArray[np.uint8]]:
        """Return *n_chunks* new chunks of *n_bytes* bytes."""

    @abstractmethod
    def _send(self, target: Any, first_byte: int, chunk: NDArray[np.uint8]) -> Any:
        """Begin to transfer *chunk* to *target* from *first_byte* on, and return the transfer."""

    @abstractmethod
    def _fetch(self, chunk: NDArray[np.uint8], source: Any, first_byte: int) -> Any:
        """Begin to transfer bytes of *source* from *first_byte* on to *chunk*, and return the transfer."""

    @abstractmethod
    def _wait(self, transfer: Any) -> None:
        """Wait for a transfer."""

    @abstractmethod
    def _is_done(self, transfer: Any) -> bool:
        """Return whether a transfer has ended."""

    @cached_property
    def _chunks(self) -> list[NDArray[np.uint8]]:
        return self._new_chunks(N_CHUNKS, CHUNK_BYTES)

    @cached_property
    def _copiers(self) -> _Copiers:
        return _Copiers()

    @contextmanager
    def _copying(self, what: str) -> Iterator[tuple[list[NDArray[np.uint8]], _Copiers]]:
        """Reserve the chunks and threads for the transfer in the block.

        At its end, wait until the threads are done.
        """
        with self._lock, typed_errors(what):
            chunks = self._chunks  # Where there is no memory for chunks, no threads are started.
            try:
                yield chunks, self._copiers
            finally:
                self._copiers.finish()

    def _upload(self, copies: Sequence[Copy], sent: Callable[[Copy, int, Any], object] | None = None) -> None:
        """Copy several contiguous host arrays to the device without a pause between them.

        The arrays may change afterwards. ``sent(copy, done, transfer)`` is called after each chunk; *done* is the
        number of bytes of *copy* so far.
        """
        parts = [(copy, first, part) for copy in copies for first, part in _parts(copy[2])]

        with self._copying("copying to the device") as (chunks, copiers):

            def fill(i: int) -> None:
                if (transfer := self._sending[i % N_CHUNKS]) is not None:
                    self._wait(transfer)
                part = parts[i][2]
                copiers.submit(chunks[i % N_CHUNKS][: part.size], part)

            for i in range(min(N_CHUNKS, len(parts))):
                fill(i)
            for i, (copy, first, part) in enumerate(parts):
                copiers.wait()
                transfer = self._send(copy[0], copy[1] + first, chunks[i % N_CHUNKS][: part.size])
                self._sending[i % N_CHUNKS] = transfer
                if sent is not None:
                    sent(copy, first + part.size, transfer)
                # While the host waits here, the bus transfers the later chunks.
                if LAG <= i < len(parts) - N_CHUNKS + LAG:
                    fill(i - LAG + N_CHUNKS)

    def read(self, source: Any, first_byte: int, host: NDArray[Any]) -> None:
        """Fill the contiguous host array *host* with the bytes of *source*
        from *first_byte* on, after all earlier work.
        """
        parts, coming = _parts(host), list[Any]()

        with self._copying("copying from the device") as (chunks, copiers):

            def ask(i: int) -> None:
                first, part = parts[i]
                coming.append(self._fetch(chunks[i % N_CHUNKS][: part.size], source, first_byte + first))

            for i in range(min(N_CHUNKS, len(parts))):
                ask(i)
            # While the host waits for kernels, the threads touch the pages of *host*.
            # The threads write zeros into the pages of *host*, so they must be done before data arrives.
            for _, part in parts:
                if self._is_done(coming[0]):
                    break
                copiers.submit(part)
                copiers.finish(left=_TOUCHED)
            copiers.finish()
            for i, (_, part) in enumerate(parts):
                self._wait(coming[i])
                copiers.submit(part, chunks[i % N_CHUNKS][: part.size])
                if LAG <= i < len(parts) - N_CHUNKS + LAG:
                    copiers.wait()
                    ask(i - LAG + N_CHUNKS)


def _parts(host: NDArray[Any]) -> list[tuple[int, NDArray[np.uint8]]]:
    """Return the bytes of *host* in parts, each with its position.

    A part fits into a chunk.
    """
    whole = host.reshape(-1).view(np.uint8)
    size = CHUNK_BYTES if whole.size >= _FEW_CHUNKS * CHUNK_BYTES else CHUNK_BYTES // 2
    return [(start, whole[start : start + size]) for start in range(0, whole.size, size)]
