"""The speed of calls of processes, and of copies between shared memory and their devices; and times that follow."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any

import checkout  # noqa: F401 (whatever imports this first gets the package of this checkout)
import numpy as np
from numpy.typing import NDArray

from clgraph import shared_memory
from clgraph.multi_device.member import Member
from clgraph.multi_device.processes import Processes

_CALLS, _COPIES = 50, 5


@dataclass(frozen=True)
class Links:
    """Rates of the processes of several devices.

    Attributes
    ----------
    call_seconds : float
        Time of a call of all processes that does nothing.
    to_device, from_device : float
        Bytes per second of one device's link, while no other device copies.
    to_all, from_all : float
        Bytes per second of all links together, while all copy: at most what the memory of the host gives.
    """

    call_seconds: float
    to_device: float
    from_device: float
    to_all: float
    from_all: float

    @classmethod
    def of(cls, processes: Processes, n_bytes: int) -> Links:
        """Measure with *n_bytes* a device."""
        n, seconds = len(processes), list[float]()
        arrays = [shared_memory.empty(n_bytes // 4, np.uint32) for _ in range(n)]
        for array in arrays:
            array[:] = 1
        for _ in range(_CALLS):
            started = time.perf_counter()
            processes.each(nothing)
            seconds.append(time.perf_counter() - started)
        first = [arrays[0], *(array[:0] for array in arrays[1:])]
        one, *_ = processes.each(copies, first)
        every = processes.each(copies, arrays)
        together = [n * n_bytes / max(each[k] for each in every) for k in (0, 1)]
        return cls(statistics.median(seconds), n_bytes / one[0], n_bytes / one[1], *together)

    def __str__(self) -> str:
        gb = {name: value / 1e9 for name, value in self.__dict__.items() if name != "call_seconds"}
        return f"a call of all processes {1e6 * self.call_seconds:.0f} us; GB/s: " + ", ".join(
            f"{name.replace('_', ' ')} {value:.1f}" for name, value in gb.items()
        )

    def sent(self, n_devices: int, n_bytes: float) -> float:
        """Return the seconds in which *n_devices* together read *n_bytes* from the memory of the host."""
        return n_bytes / min(n_devices * self.to_device, max(self.to_all, self.to_device))

    def collected(self, n_devices: int, n_bytes: float) -> float:
        """Return the seconds in which *n_devices* together write *n_bytes* to the memory of the host."""
        return n_bytes / min(n_devices * self.from_device, max(self.from_all, self.from_device))

    def model(self, row: dict[str, Any], alone: dict[str, Any]) -> float:
        """Return the seconds of *row* that follow from the row of one device *alone* and the rates.

        The work of one device, without the copies that are counted, is divided evenly. Nothing overlaps. Rows have
        ``devices, work, calls``, and bytes: ``sent_bytes`` from the host to devices, ``between_bytes`` that devices
        wrote for each other, ``answer_bytes``.
        """
        n, work = row["devices"], row["work"] / alone["work"]
        if n == 1:
            return float(row["wall_seconds"])
        own = alone["wall_seconds"] - self.sent(1, alone["sent_bytes"]) - self.collected(1, alone["answer_bytes"])
        # Each device reads what the others wrote.
        moved = self.sent(n, row["sent_bytes"] + (n - 1) * row["between_bytes"])
        calls = row["calls"] * self.call_seconds
        return max(0.0, own) * work / n + moved + self.collected(n, row["answer_bytes"]) + calls


def nothing(member: Member) -> None:
    """Answer a call."""


def copies(member: Member, host: NDArray[Any]) -> tuple[float, float]:
    """Return the median seconds in which the device reads *host*, and writes it."""
    if not host.size:
        return 0.0, 0.0
    array, seconds = member.session.empty(host.size, host.dtype), list[tuple[float, float]]()
    for _ in range(_COPIES):
        started = time.perf_counter()
        member.write(array, 0, host)
        member.session.finish()
        written = time.perf_counter()
        member.begin_read(array, 0, host)
        member.finish_reads()
        seconds.append((written - started, time.perf_counter() - written))
    return tuple(map(statistics.median, zip(*seconds, strict=True)))  # type: ignore[return-value]
