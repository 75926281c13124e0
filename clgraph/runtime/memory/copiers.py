"""Threads that copy between host arrays, of which one may be in the memory of another process."""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from queue import SimpleQueue
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clgraph.lent_memory import LentArray

_SLICES = 4  # A chunk is copied in four slices, by four threads.
_PAGE_BYTES = 4096
_ZERO = np.zeros(1, np.uint8)

HostArray: TypeAlias = NDArray[Any] | LentArray
_Tasks: TypeAlias = "SimpleQueue[tuple[HostArray, HostArray, threading.Lock, list[BaseException]] | None]"


class Copiers:
    """A fixed pool of threads that copy between host arrays, with a list of the unfinished parts of a transfer.

    Slices arrive through a SimpleQueue, and a lock per slice signals that the slice is done. Both are implemented in C.
    Futures take many steps under Python's GIL, and the bus would be idle meanwhile.
    """

    def __init__(self, most: int) -> None:
        self._tasks: _Tasks = SimpleQueue()
        # For each part of a copy that still runs, the locks of its slices. A lock is released when its slice is done.
        self._parts: deque[list[threading.Lock]] = deque()
        self._errors: list[BaseException] = []
        n_threads = min(most, os.cpu_count() or 1)
        for k in range(n_threads):
            name = f"clgraph-copy-{k}"
            threading.Thread(target=_copy_all, args=(self._tasks,), name=name, daemon=True).start()
        weakref.finalize(self, _stop, self._tasks, n_threads)

    def submit(self, target: HostArray, source: HostArray | None = None) -> None:
        """Let the threads copy *source* to *target*. If there is no *source*, they touch each page of *target*."""
        ends: list[threading.Lock] = []
        self._parts.append(ends)
        step = -(-target.size // _SLICES)
        for at in range(0, target.size, step):
            end = threading.Lock()
            end.acquire()
            slices: tuple[HostArray, HostArray] = target[at : at + step : _PAGE_BYTES], _ZERO
            if source is not None:
                slices = target[at : at + step], source[at : at + step]
            self._tasks.put((*slices, end, self._errors))
            ends.append(end)

    def wait(self) -> None:
        """Wait for the oldest unfinished part of the transfer."""
        self.finish(len(self._parts) - 1)

    def finish(self, left: int = 0) -> None:
        """Wait until at most *left* parts of the transfer are unfinished, and raise the error of a thread."""
        while len(self._parts) > left:
            for end in self._parts.popleft():
                with end:
                    pass
        if self._errors:
            error = self._errors[0]
            self._errors.clear()  # The threads of several slices may have failed.
            raise error


def _copy_all(tasks: _Tasks) -> None:
    while (task := tasks.get()) is not None:
        target, source, end, errors = task
        try:
            _copy(target, source)
        except BaseException as error:
            errors.append(error)
        del task, target, source  # The thread must not keep memory alive while it waits for the next task.
        end.release()


def _copy(target: HostArray, source: HostArray) -> None:
    if isinstance(source, LentArray):
        source.read(target)  # type: ignore[arg-type]
    elif isinstance(target, LentArray):
        target.write(source)
    else:
        np.copyto(target, source)


def _stop(tasks: _Tasks, n_threads: int) -> None:
    for _ in range(n_threads):
        tasks.put(None)
