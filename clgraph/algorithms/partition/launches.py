"""Launches of kernels that a host-driven run of a partition repeats with other values."""

from __future__ import annotations

from typing import Any

from clgraph.runtime.programs.program import Launch


class Launches:
    """The launches of one run, bound when first used, and the arrays that the run enlarges."""

    def __init__(self, plan: Any) -> None:
        self.plan, self._session = plan, plan.session
        self._launches: dict[str, Launch] = {}

    def bound(self, source: str, kernel: str) -> Launch:
        """Return the launch of *kernel*.

        Its parameters that are not in the plan's scope are 0 until they are set.
        """
        launch = self._launches.get(kernel)
        if launch is None:
            plan, program = self.plan, self.plan.program(source)
            defaults = dict.fromkeys(set(program.parameters(kernel)) - plan.scope.keys(), 0)
            launch = self._launches[kernel] = program.bind(kernel, 1, {**plan.scope, **defaults})
        return launch

    def reserve(self, name: str, size: int, *, keeps: bool = False) -> bool:
        """Replace array *name* by a new array of at least *size* items, if it is shorter.

        Return whether it was.

        With *keeps*, the old contents are copied to the new array.
        """
        plan, old = self.plan, self.plan.arrays[name]
        if size <= old.size:
            return False
        if keeps:
            size = max(size, old.size * 3 // 2)
        self._session.check_memory({name: old.dtype.itemsize * size})
        new = self._session.empty(size, old.dtype)
        if keeps:
            new.copy_from(old)
        plan.arrays[name] = plan.scope[name] = new
        for launch in self._launches.values():
            launch.replace(old, new)
        return True
