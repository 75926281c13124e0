"""Arrays of one value, and of their own indices."""

from __future__ import annotations

from typing import Any

from clgraph.primitives.types import c_type
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session

SOURCE = "primitives/fill.cl"


class Fill:
    """Set every item of *target* to *value*."""

    def __init__(self, session: Session, target: DeviceArray, value: Any) -> None:
        self.launches = _bind(session, "fill", target, value=value)

    def run(self) -> None:
        """Enqueue the fill."""
        for launch in self.launches:
            launch()


class Iota:
    """Set every item of *target* to its index."""

    def __init__(self, session: Session, target: DeviceArray) -> None:
        self.launches = _bind(session, "iota", target)

    def run(self) -> None:
        """Enqueue the fill."""
        for launch in self.launches:
            launch()


def _bind(session: Session, kernel: str, target: DeviceArray, **value: Any) -> list[Launch]:
    if not target.size:
        return []
    size, groups = (1, 4) if session.facts.is_cpu else (256, 16)
    program = session.program(SOURCE, {"T": c_type(target.dtype)}, work_group_size=size)
    groups *= session.facts.compute_units
    return [program.bind(kernel, target.size, n=target.size, out=target, max_groups=groups, **value)]


def fill(session: Session, target: DeviceArray, value: Any) -> None:
    """Enqueue setting every item of *target* to *value*."""
    Fill(session, target, value).run()


def iota(session: Session, target: DeviceArray) -> None:
    """Enqueue setting every item of *target* to its index."""
    Iota(session, target).run()
