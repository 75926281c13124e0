"""Reusable operations that fill a device array with a value or with its indices."""

from __future__ import annotations

from typing import Any

from clgraph.primitives.types import Launches, c_type
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

SOURCE = "primitives/fill.cl"


class Fill(Launches):
    """A reusable operation that sets every item of the device array *target* to *value*."""

    def __init__(self, session: Session, target: DeviceArray, value: Any) -> None:
        self._bind(session, "fill", target, value=value)

    def _bind(self, session: Session, kernel: str, target: DeviceArray, **value: Any) -> None:
        self.launches = []
        if not target.size:
            return
        size, groups = (1, 4) if session.facts.is_cpu else (256, 16)
        program = session.program(SOURCE, {"T": c_type(target.dtype)}, work_group_size=size)
        groups *= session.facts.compute_units
        self.launches = [program.bind(kernel, target.size, n=target.size, out=target, max_groups=groups, **value)]


class Iota(Fill):
    """A reusable operation that sets every item of the device array *target* to its index."""

    def __init__(self, session: Session, target: DeviceArray) -> None:
        self._bind(session, "iota", target)


def iota(session: Session, target: DeviceArray) -> None:
    """Enqueue a kernel that sets every item of the device array *target* to its index."""
    Iota(session, target).run()
