"""Values that the processes of several devices exchange during a call, without their parent process."""

from __future__ import annotations

import pickle
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph import shared_memory
from clgraph.errors import DeviceError

_LINE_BYTES = 64  # Words that different processes write are in different cache lines.
_LENGTH_BYTES = 8  # A value begins with its length.
_PAUSE_SECONDS = 20e-6  # Pause between two polls, after a process has polled for some time.


@dataclass
class Exchange:
    """One process's end of an exchange.

    In each turn all processes give a value, and get the values of all. There are two areas for values, so that a
    process can give its next value while others still read the last one.

    Parameters
    ----------
    room : uint8 array
        Shared memory from :func:`new_room`.
    size, place : int
        How many processes there are, and the number of this one.
    spin_seconds : float
        How long a process polls before it pauses between polls.
    """

    room: NDArray[np.uint8]
    size: int
    place: int
    spin_seconds: float
    _turn: int = 0
    _lock: Any = field(default_factory=threading.Lock, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Exchange, (self.room, self.size, self.place, self.spin_seconds)

    def all(self, value: Any = None) -> list[Any]:
        """Give *value*, and return the values of all processes in their order, once all have given theirs.

        Raises
        ------
        DeviceError
            The call has failed in another process.
        """
        self._turn += 1
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        area, turns = self._area(self.place), _turns(self.room, self.size)
        area[:_LENGTH_BYTES].view(np.int64)[0] = len(data)
        area[_LENGTH_BYTES : _LENGTH_BYTES + len(data)] = np.frombuffer(data, np.uint8)
        self._fence()
        turns[self.place] = self._turn
        until = time.perf_counter() + self.spin_seconds
        while turns[: self.size].min() < self._turn:
            if turns[self.size]:
                raise DeviceError("the call has failed on another device")
            if time.perf_counter() > until:
                time.sleep(_PAUSE_SECONDS)
        self._fence()
        areas = [self._area(place) for place in range(self.size)]
        lengths = [int(area[:_LENGTH_BYTES].view(np.int64)[0]) for area in areas]
        return [pickle.loads(area[_LENGTH_BYTES:][:n].tobytes()) for area, n in zip(areas, lengths, strict=True)]

    def _fence(self) -> None:
        """Let the processor complete all loads and stores before it begins others.

        Stores before the first release are not delayed beyond it, and loads after the second acquisition do not precede
        that.
        """
        for _ in range(2):
            with self._lock:
                pass

    def _area(self, place: int) -> NDArray[np.uint8]:
        """Return the area for the value of the process *place* in this turn."""
        areas = self.room[_LINE_BYTES * (self.size + 1) :]
        n_bytes = areas.size // (2 * self.size)
        first = (2 * place + self._turn % 2) * n_bytes
        return areas[first : first + n_bytes]


def new_room(size: int, n_bytes: int) -> NDArray[np.uint8]:
    """Return shared memory in which *size* processes exchange values whose pickles have at most *n_bytes* bytes."""
    n_bytes = -(-(n_bytes + _LENGTH_BYTES) // _LINE_BYTES) * _LINE_BYTES
    room = shared_memory.empty(_LINE_BYTES * (size + 1) + 2 * size * n_bytes, np.uint8)
    room[: _LINE_BYTES * (size + 1)] = 0
    return room


def end(room: NDArray[np.uint8], size: int) -> None:
    """End an exchange because the call has failed in one of the processes, so that the others do not wait for it."""
    _turns(room, size)[size] = 1


def _turns(room: NDArray[np.uint8], size: int) -> NDArray[np.int64]:
    """Return the turn of each process, followed by a word that is not 0 once the exchange has ended."""
    return room[: _LINE_BYTES * (size + 1)].view(np.int64)[:: _LINE_BYTES // 8]
