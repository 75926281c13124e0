"""A stand-in for pyopencl that imports pyopencl on first use, because calls that the host answers do not need it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyopencl import *  # noqa: F403


def __getattr__(name: str) -> Any:
    import pyopencl

    # The attribute of pyopencl is stored as a global, because each call of __getattr__ takes 1 us.
    value = globals()[name] = getattr(pyopencl, name)
    return value
