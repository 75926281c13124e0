"""Device arrays that grow while a plan runs: a kernel that finds its array full runs again with a longer array."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clgraph.runtime.driver.failure import STATUS_CAPACITY
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch


def capacity_of(array: str) -> str:
    """Return the name of the kernel parameter that passes the length of the device array named *array*."""
    return f"{array}_capacity"


class Growth:
    """A launcher of the kernel of one phase.

    It lengthens a device array whenever the kernel finds this array full.

    Before the kernel runs again, the array with the kernel's status word gets back its former values. So the kernel
    may count in that array with atomics as if it had never run.

    Parameters
    ----------
    arrays, scope : dict
        The plan's dictionaries, in which the longer array replaces the full one.
    name : str
        The name of the array that grows.
    block : DeviceArray
        The array that holds the status word.
    status, needed : int
        The positions in *block* to which the kernel writes ``STATUS_CAPACITY``, and the number of items that it needs.
        *needed* is -1 if it does not write this number.
    """

    def __init__(
        self, arrays: dict[str, DeviceArray], scope: dict[str, Any], name: str, block: DeviceArray, status: int,
        needed: int,
    ) -> None:  # fmt: skip
        self._arrays, self._scope, self._name = arrays, scope, name
        self._block, self._status, self._needed = block, status, needed
        self._before = block.memory.empty(block.size, block.dtype)

    def run(self, launch: Launch, launches: Iterable[Launch]) -> None:
        """Run *launch*, and repeat it with a longer array until its output fits.

        All *launches* then use the longer array.

        Raises
        ------
        DeviceMemoryError
            The device has no memory for a longer array. The plan may be run again.
        """
        self._before.copy_from(self._block)
        launch()
        while self._block.item(self._status) == STATUS_CAPACITY:
            if self._before.item(self._status) == STATUS_CAPACITY:
                return  # An earlier kernel wrote this status, and Plan.check() will raise its error.
            old = self._arrays[self._name]
            needed = 0 if self._needed < 0 else self._block.item(self._needed)
            self._block.copy_from(self._before)
            self._grow(old, max(needed, 2 * old.size), launches)
            launch()

    def _grow(self, old: DeviceArray, size: int, launches: Iterable[Launch]) -> None:
        memory, capacity = old.memory, capacity_of(self._name)
        memory.check_memory({self._name: size * old.dtype.itemsize})
        new = memory.empty(size, old.dtype)
        new.copy_from(old)
        self._arrays[self._name] = self._scope[self._name] = new
        self._scope[capacity] = size
        for launch in launches:
            launch.replace(old, new)
            if launch.takes(capacity):
                launch.set(**{capacity: size})
