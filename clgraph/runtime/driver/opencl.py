"""pyopencl, imported at the first use of one of its names: a call that the host answers does without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyopencl import *  # noqa: F403


def __getattr__(name: str) -> Any:
    import pyopencl

    value = globals()[name] = getattr(pyopencl, name)  # a look-up by this function takes 1 us
    return value
