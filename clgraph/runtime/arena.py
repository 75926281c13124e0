"""Many arrays in one allocation, given back in the reverse order: the levels of a multilevel run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import DTypeLike

from clgraph.arguments import checked_count
from clgraph.errors import DeviceError, DeviceMemoryError
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session


class Room:
    """The places of arrays in an arena, without memory: a rehearsal of a run tells how many bytes it will need.

    Parameters
    ----------
    session : Session
    n_bytes : int, optional
        The most that may be taken; without it, any number.

    Attributes
    ----------
    used_bytes, peak_bytes : int
        What is taken now, and the most that was taken at once.
    """

    def __init__(self, session: Session, n_bytes: int | None = None) -> None:
        self._alignment = session.alignment
        self.n_bytes = n_bytes
        self.used_bytes = self.peak_bytes = 0

    def place(self, size: int, dtype: DTypeLike) -> tuple[int, int]:
        """Take room for *size* items; return the bytes between which they stand.

        Raises
        ------
        DeviceMemoryError
            There is less room; the message names the request, the room and the peak.
        """
        kind = np.dtype(dtype)
        first = self.used_bytes
        last = first + checked_count("size", size, 2**62, least=0) * kind.itemsize
        after = -(-last // self._alignment) * self._alignment
        if self.n_bytes is not None and after > self.n_bytes:
            raise DeviceMemoryError(
                f"{size:,} items of {kind} need {after - first:,} bytes of an arena that has {self.n_bytes - first:,} "
                f"of {self.n_bytes:,} left; at most {self.peak_bytes:,} were taken before. Make a larger arena"
            )
        self.used_bytes, self.peak_bytes = after, max(self.peak_bytes, after)
        return first, last

    def mark(self) -> int:
        """Return where the arena stands, for :meth:`release`."""
        return self.used_bytes

    def release(self, mark: int) -> None:
        """Give back all that was taken since *mark*; who uses such an array afterwards finds others' values in it."""
        if not 0 <= mark <= self.used_bytes or mark % self._alignment:
            raise DeviceError(f"mark {mark} is no mark of an arena of which {self.used_bytes} bytes are taken")
        self.used_bytes = mark


class Arena(Room):
    """One allocation from which arrays are taken as from a stack.

    Kernels run in order, so an array may be given back as soon as the last kernel that uses it is enqueued.

    Parameters
    ----------
    session : Session
    n_bytes : int
        What a :class:`Room` has as its peak after the same calls, or :meth:`size_of`.

    Raises
    ------
    DeviceMemoryError
        The device has no room for it.

    Examples
    --------
    >>> from clgraph import Session
    >>> from clgraph.runtime.arena import Arena
    >>> session = Session("cpu")
    >>> arena = Arena(session, Arena.size_of(session, [(1000, "int32"), (50, "float32")]))
    >>> labels, mark = arena.take(1000, "int32"), arena.mark()
    >>> weights = arena.take(50, "float32")
    >>> arena.release(mark)
    >>> arena.take(50, "int32").size
    50
    """

    def __init__(self, session: Session, n_bytes: int) -> None:
        super().__init__(session, checked_count("n_bytes", n_bytes, 2**62, least=0))
        self._memory = session.empty(n_bytes, np.uint8)

    @staticmethod
    def size_of(session: Session, arrays: Iterable[tuple[int, DTypeLike]]) -> int:
        """Return the bytes that *arrays*, each of so many items of a type, need when all are taken at once."""
        room = Room(session)
        for size, dtype in arrays:
            room.place(size, dtype)
        return room.peak_bytes

    def take(self, size: int, dtype: DTypeLike) -> DeviceArray:
        """Return an array of *size* items, uninitialised, which keeps the arena's memory alive.

        Raises
        ------
        DeviceMemoryError
            The arena has less room; the message names the request, the room and the peak.
        """
        first, last = self.place(size, dtype)
        return self._memory.view(first, last, dtype)
