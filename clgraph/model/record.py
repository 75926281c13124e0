"""Immutable values that are made by the hundred while a strategy is chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_Kind = TypeVar("_Kind")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(kind: type[_Kind]) -> type[_Kind]:
    """Make *kind* a dataclass that is frozen for type checkers; making a truly frozen one takes four times as long."""
    return dataclass(unsafe_hash=True, slots=True)(kind)
