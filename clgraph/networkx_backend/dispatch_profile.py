"""Counts and times of the calls that networkx sends to the backend, for ``clgraph.networkx_backend.profile()``."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from clgraph.tables import table


@dataclass
class Calls:
    """Counts and times of the calls of one networkx function by this backend.

    Attributes
    ----------
    n_calls : int
        Calls that the backend answered.
    run_seconds : float
        Total time of these calls.
    n_conversions : int
        Graphs that were converted, without those in networkx's cache.
    conversion_seconds : float
        Total time of these conversions.
    fallbacks : Counter of str
        How many calls went back to networkx, by reason.
    """

    n_calls: int = 0
    run_seconds: float = 0.0
    n_conversions: int = 0
    conversion_seconds: float = 0.0
    fallbacks: Counter[str] = field(default_factory=Counter)


class Profile(dict[str, Calls]):
    """The calls that networkx has sent to this backend, by name of the function.

    It prints as a table.
    """

    def __str__(self) -> str:
        rows = [
            [
                name,
                calls.n_calls,
                f"{calls.run_seconds:.4f}",
                calls.n_conversions,
                f"{calls.conversion_seconds:.4f}",
                "; ".join(f"{count} x {reason}" for reason, count in calls.fallbacks.most_common()),
            ]
            for name, calls in sorted(self.items())
        ]
        return table(["function", "calls", "run s", "conversions", "conversion s", "went back"], rows)

    @property
    def n_calls(self) -> int:
        """Number of calls of all networkx functions that the backend has answered."""
        return sum(calls.n_calls for calls in self.values())


_calls, _lock = Profile(), threading.Lock()


def profile(*, reset: bool = False) -> Profile:
    """Return a copy of the profile of networkx's calls, since the start or the last *reset*."""
    with _lock:
        found = Profile({
            name: Calls(c.n_calls, c.run_seconds, c.n_conversions, c.conversion_seconds, Counter(c.fallbacks))
            for name, c in _calls.items()
        })  # fmt: skip
        if reset:
            _calls.clear()
    return found


def fell_back(name: str, reason: str) -> None:
    """Count a call of a networkx function that the backend leaves to networkx, and the *reason*."""
    with _lock:
        _calls.setdefault(name, Calls()).fallbacks[reason] += 1


def answered(name: str, seconds: float) -> None:
    """Count a call of a networkx function that the backend has answered in *seconds*."""
    with _lock:
        calls = _calls.setdefault(name, Calls())
        calls.n_calls += 1
        calls.run_seconds += seconds


@contextmanager
def converting(name: str) -> Iterator[None]:
    """Count and time the graph conversion inside the block, as a part of a call of the networkx function *name*."""
    began = time.perf_counter()
    yield
    with _lock:
        calls = _calls.setdefault(name, Calls())
        calls.n_conversions += 1
        calls.conversion_seconds += time.perf_counter() - began
