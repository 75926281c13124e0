"""Helpers for the operations on device arrays: their base class, OpenCL names of types, and tuned kernel sizes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from clgraph.device.facts import DeviceFacts
from clgraph.errors import InputError
from clgraph.runtime.programs.program import Launch
from clgraph.runtime.session import Session

Tuning: TypeAlias = Mapping[str, Mapping[str, int]]
"""The tuned sizes of each kernel file, by its name."""

NOT_TUNED: Tuning = MappingProxyType({})
MAX_ITEMS = 2**31 - 1
_C_NAMES = {"int32": "int", "uint32": "uint", "int64": "long", "uint64": "ulong", "float32": "float"}


class Launches:
    """The base class of reusable operations on device arrays.

    A run enqueues the operation's launches in order.

    Attributes
    ----------
    launches : list of Launch
    """

    launches: list[Launch]

    def run(self) -> None:
        """Enqueue the kernel launches of the operation."""
        for launch in self.launches:
            launch()


def c_type(dtype: np.dtype[Any], allowed: str = " ".join(_C_NAMES)) -> str:
    """Return the OpenCL C name of the number type *dtype*, one of the names *allowed* (separated by blanks)."""
    if dtype.name not in allowed.split() or not dtype.isnative:
        raise InputError(f"dtype {dtype} is not supported here; use one of: {allowed}")
    return _C_NAMES[dtype.name]


def check_count(n: int) -> None:
    """Raise an :class:`InputError` if an array of *n* items is too long for 32-bit counts."""
    if n > MAX_ITEMS:
        raise InputError(f"{n} items; a primitive takes at most {MAX_ITEMS}")


def tuned_sizes(
    facts: DeviceFacts, tuning: Tuning, source: str, defaults: Mapping[str, int], given: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Return the kernel sizes that *defaults* names for the kernel file *source*:
    given, tuned for the device, or default.

    A value comes from *given*, else from *tuning*, else from *defaults*. The work-group size is limited to the device's
    maximum. Other sizes in *tuning* are for the kernels alone.
    """
    found = {name: size for name, size in tuning.get(source, {}).items() if name in defaults}
    sizes = {**defaults, **found, **(given or {})}
    sizes["WG_SIZE"] = min(sizes["WG_SIZE"], facts.max_work_group_size)
    return sizes


def tuned(
    session: Session, source: str, defaults: Mapping[str, int], given: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Return the kernel sizes of :func:`tuned_sizes` for the device of *session*, with the tuning in its profile."""
    return tuned_sizes(session.facts, session.profile.tuning, source, defaults, given)


def power_of_two_at_most(n: int) -> int:
    """Return the largest power of two that is at most *n*."""
    return 1 << (n.bit_length() - 1)
