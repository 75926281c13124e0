"""Timed trials: grown until the clock can be trusted, repeated, and summed up by their median."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from clgraph.errors import DeviceError

TRIALS = 5
MAX_TURNS = 1 << 22


@dataclass(frozen=True)
class Trial:
    """Work that can be made longer.

    Attributes
    ----------
    run : callable
        ``run(turns)`` works in proportion to *turns*; returns operations and seconds.
    most_turns : int
        Limit (a counter would overflow).
    verify : callable
        ``verify(turns)`` after ``run(turns)`` raises :class:`DeviceError` unless the work was done:
        some drivers cut long loops short. Returns what else is to be told of the run.
    """

    run: Callable[[int], tuple[float, float]]
    most_turns: int = MAX_TURNS
    verify: Callable[[int], str] = lambda _: ""


@dataclass(frozen=True)
class Reading:
    """The median of the trials' rates, their relative spread (max − min) / median, and what else is to be told."""

    per_second: float
    spread: float
    note: str = ""

    @property
    def seconds(self) -> float:
        """Seconds of one operation."""
        return 1.0 / self.per_second


def read(trial: Trial, long_enough: float) -> Reading:
    """Grow *trial* until it takes *long_enough* seconds, then take the median of several.

    Parameters
    ----------
    trial : Trial
    long_enough : float
        Seconds from which on the clock is precise enough.

    Raises
    ------
    DeviceError
        The clock shows no time for the longest trial, or the work was not done.
    """
    trial.run(1)  # not timed: a driver may compile now, and caches warm
    turns = 1
    _, seconds = trial.run(turns)
    while seconds < long_enough and turns < trial.most_turns:
        growth = 1.3 * long_enough / seconds if seconds > 0.0 else math.inf
        turns = min(trial.most_turns, math.ceil(turns * min(64.0, max(2.0, growth))))
        _, seconds = trial.run(turns)
    results = [trial.run(turns) for _ in range(TRIALS)]
    if any(seconds <= 0.0 for _, seconds in results):
        raise DeviceError(f"the device clock shows no time for {turns} turns")
    rates = [operations / seconds for operations, seconds in results]
    median = statistics.median(rates)
    return Reading(median, (max(rates) - min(rates)) / median, trial.verify(turns))
