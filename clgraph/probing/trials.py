"""Timed trials. A trial is made longer until the clock is precise enough, and the median of several runs counts."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from clgraph.errors import DeviceError

TRIALS = 5  # A trial is repeated this number of times.
MAX_TURNS = 1 << 22


@dataclass(frozen=True)
class Trial:
    """A piece of work to be timed.

    It can be made longer until the clock measures it precisely.

    Attributes
    ----------
    run : callable
        ``run(turns)`` does work in proportion to *turns*, and returns the number of operations and the seconds.
    most_turns : int
        Maximum of *turns*, beyond which a counter would overflow.
    verify : callable
        ``verify(turns)``, called after ``run(turns)``, raises :class:`DeviceError` unless all work was done,
        because some drivers cut long loops short. It returns a note on the run, or "".
    """

    run: Callable[[int], tuple[float, float]]
    most_turns: int = MAX_TURNS
    verify: Callable[[int], str] = lambda _: ""


@dataclass(frozen=True)
class Reading:
    """The median rate of several runs of a trial, their relative spread (max − min) / median, and a note."""

    per_second: float
    spread: float
    note: str = ""

    @property
    def seconds(self) -> float:
        """Seconds that one operation of the trial takes."""
        return 1.0 / self.per_second


def read(trial: Trial, long_enough: float) -> Reading:
    """Lengthen the work of *trial* until a run takes *long_enough* seconds, and return the median rate of several runs.

    Parameters
    ----------
    trial : Trial
    long_enough : float
        The duration in seconds from which the clock is precise enough.

    Raises
    ------
    DeviceError
        The clock shows no time for the longest trial, or the work was not done.
    """
    # The first run of a trial is not timed, because the driver may compile the kernel now, and caches are cold.
    trial.run(1)
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
