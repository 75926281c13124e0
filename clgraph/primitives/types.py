"""Types and tuned sizes that the primitives share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clgraph.errors import InputError
from clgraph.runtime.session import Session

MAX_ITEMS = 2**31 - 1
_C_NAMES = {"int32": "int", "uint32": "uint", "int64": "long", "uint64": "ulong", "float32": "float"}


def c_type(dtype: np.dtype[Any], allowed: str = " ".join(_C_NAMES)) -> str:
    """Return the OpenCL C name of *dtype*, which must be one of *allowed* (names with blanks between)."""
    if dtype.name not in allowed.split():
        raise InputError(f"dtype {dtype} is not supported here; use one of: {allowed}")
    return _C_NAMES[dtype.name]


def check_count(n: int) -> None:
    """Raise unless *n* items are few enough for 32-bit counts."""
    if n > MAX_ITEMS:
        raise InputError(f"{n} items; a primitive takes at most {MAX_ITEMS}")


def tuned(
    session: Session, source: str, defaults: Mapping[str, int], given: Mapping[str, int] | None
) -> dict[str, int]:
    """Return the tunables of kernel file *source*: *given*, else the profile's, else *defaults*."""
    profile = {k: v for k, v in session.profile.tuning.get(source, {}).items() if k in defaults}
    sizes = {**defaults, **profile, **(given or {})}
    sizes["WG_SIZE"] = min(sizes["WG_SIZE"], session.facts.max_work_group_size)
    return sizes


def power_of_two_at_most(n: int) -> int:
    """Return the largest power of two that is not above *n*."""
    return 1 << (n.bit_length() - 1)
