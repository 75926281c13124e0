"""Sizes of kernels that a device's profile may have tuned."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

Tuning: TypeAlias = Mapping[str, Mapping[str, int]]
NOT_TUNED: Tuning = MappingProxyType({})


def tuned_sizes(tuning: Tuning, source: str, defaults: Mapping[str, int], **given: int | None) -> dict[str, int]:
    """Return the sizes of kernel file *source*: those *given* that are not ``None``, else tuned, else *defaults*."""
    sizes = {**defaults}
    for name, size in tuning.get(source, {}).items():
        if name in defaults:
            sizes[name] = size
    for name, wanted in given.items():
        if wanted is not None:
            sizes[name] = wanted
    return sizes
