"""A run that takes longer than was promised is left, where the host drives it and so can see the time."""
from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from clgraph.model.strategy import Choice

_PATIENCE, _GRACE_SECONDS = 1.5, 2e-3  # times what was promised, and beside it
_LEAST_SECONDS = 1e-9  # graphs without vertices are promised to take none


class RunsLongError(Exception):
    """A run was left; users never see this."""


class _Watch:
    """Tells when a run is late; its time begins with the first look, when programs and arrays are there."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.until = seconds, 0.0


_WATCH: ContextVar[_Watch | None] = ContextVar("_WATCH", default=None)


@contextmanager
def leaving_after(seconds: float | None) -> Iterator[None]:
    """Let :func:`check_time` leave what runs inside the block after so many *seconds*; ``None`` lets it run."""
    token = _WATCH.set(None if seconds is None else _Watch(seconds))
    try:
        yield
    finally:
        _WATCH.reset(token)


def check_time() -> None:
    """Leave the run if it is late; rounds that the host drives, and long preparations, call this now and then.

    Raises
    ------
    RunsLongError
        It is late.
    """
    watch = _WATCH.get()
    if watch is None:
        return
    now = time.perf_counter()
    if not watch.until:
        watch.until = now + watch.seconds
    elif now > watch.until:
        raise RunsLongError


def second_best(choice: Choice, left: Mapping[str, float]) -> str | None:
    """Return what to run instead of the choice, if anything that was not *left* before is predicted."""
    others = (name for name in choice.predicted if name != choice.strategy and name not in left)
    return min(others, key=lambda name: choice.predicted[name].seconds, default=None)


def limit_seconds(choice: Choice, left: Mapping[str, float]) -> float | None:
    """Return after how long to leave the choice: it is past its estimate, and past what the second best then promises.

    Both are predicted by the rates of one device, often by the same ones. So what makes the one late is taken to make
    the other late by the square root of that.
    """
    other = second_best(choice, left)
    if other is None or left:  # what was taken instead runs to its end
        return None
    own, others = (max(choice.predicted[name].seconds, _LEAST_SECONDS) for name in (choice.strategy, other))
    return _PATIENCE * max(own, _PATIENCE * others * others / own) + _GRACE_SECONDS
