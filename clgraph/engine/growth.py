"""Arrays that grow while a plan runs: a kernel that runs out of room says so, gets more, and runs again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clgraph.runtime.driver.failure import STATUS_CAPACITY
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch


def capacity_of(array: str) -> str:
    """Return the parameter by which kernels know how long *array* is."""
    return f"{array}_capacity"


class Growth:
    """What is done when the kernel of one phase finds an array full.

    Before the kernel runs again, the block of its status word gets back the values it had before. So the kernel may
    count there by atomics as if it had never run.

    Parameters
    ----------
    arrays, scope : dict
        The plan's, in which the longer array replaces the one that was full.
    name : str
        Which of the arrays grows.
    block : DeviceArray
        It has the status word.
    status, needed : int
        Where in *block* the kernel reports ``STATUS_CAPACITY``, and where it leaves how many items it needs; -1 for
        *needed* if it does not tell.
    """

    def __init__(
        self, arrays: dict[str, DeviceArray], scope: dict[str, Any], name: str, block: DeviceArray, status: int,
        needed: int,
    ) -> None:  # fmt: skip
        self._arrays, self._scope, self._name = arrays, scope, name
        self._block, self._status, self._needed = block, status, needed
        self._before = block.memory.empty(block.size, block.dtype)

    def run(self, launch: Launch, launches: Iterable[Launch]) -> None:
        """Run *launch* until its kernel has room; *launches*, which are all of the plan, get the longer array.

        Raises
        ------
        DeviceMemoryError
            The device has no room for a longer array. The plan may be run again.
        """
        self._before.copy_from(self._block)
        launch()
        while self._block.item(self._status) == STATUS_CAPACITY:
            if self._before.item(self._status) == STATUS_CAPACITY:
                return  # an earlier kernel has said so, and Plan.check tells it
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
